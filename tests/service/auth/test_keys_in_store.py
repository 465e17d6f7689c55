"""API keys in the store: every API process sees a new or revoked key at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from tests.support.http.event_client import listen
from tests.support.http.service_client import problem
from tests.support.paths import ROOT
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.stack import Process, Stack, poll

AT_ONCE = 0.5  # seconds for the news to come round


class Site:
    """A store with API processes, and the command line."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.addresses: list[str] = []
        self.processes: list[Process] = []

    def start(self, **more: str) -> Process:
        self.stack.environment.update(more)
        process = self.stack.start_api()
        for name in more:
            del self.stack.environment[name]
        self.addresses.append(self.stack.url)
        self.processes.append(process)
        return process

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "service.keys", *words],
            cwd=ROOT,
            env={**self.stack.environment, **more},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def command(self, *words: str, expected: int = 0, **more: str) -> str:
        done = self.run(*words, **more)
        assert done.returncode == expected, done.stderr
        return done.stdout.strip() if expected == 0 else done.stderr

    def statuses(self, key: str | None) -> list[int]:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        return [httpx.get(f"{address}/v1/jobs", headers=headers).status_code for address in self.addresses]

    def become(self, key: str | None, expected: list[int], seconds: float = AT_ONCE) -> None:
        """Fail unless every API returns this status soon."""
        deadline = time.monotonic() + seconds
        while (found := self.statuses(key)) != expected:
            assert time.monotonic() < deadline, found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Stack(tmp_path / "stack") as stack:
        yield Site(stack)


def identity(key: str) -> str:
    return key.split("_")[1]


def test_every_process_sees_a_key_at_once(site: Site) -> None:
    site.start()
    site.start()
    assert site.statuses(None) == [200, 200]
    key = site.command("add", "laptop")
    assert site.statuses(key) == [200, 200]
    site.become(None, [401, 401])
    other = site.command("add", "phone", "--tenant", "lab", "--scopes", "read")
    assert site.statuses(other) == [200, 200], "no request finds a key missing that was made before it"
    assert [line.split()[2:5] for line in site.command("list").splitlines()] == [
        ["store", "default", "read,train"],
        ["store", "lab", "read"],
    ]
    site.command("revoke", identity(key))
    site.become(key, [401, 401])
    assert site.statuses(other) == [200, 200]
    assert "There is no key" in site.command("revoke", identity(key), expected=1)


def test_all_requests_are_refused_after_the_last_key_is_revoked(site: Site) -> None:
    site.start()
    key = site.command("add", "laptop")
    site.command("revoke", identity(key))
    site.become(key, [401])
    assert site.statuses(None) == [401]
    site.start()
    assert site.statuses(None) == [401, 401], "after a restart too"


def test_only_the_digest_of_a_key_is_stored(site: Site) -> None:
    key = site.command("add", "laptop")
    connection: Any = site.stack.connection
    (kept,) = connection.hvals("literati:keys")
    assert key.split("_", 2)[2].encode() not in kept
    assert identity(key).encode() in kept


def test_a_stream_ends_with_its_key(site: Site) -> None:
    site.start()
    key = site.command("add", "laptop")
    stack = site.stack
    with stack.client(headers={"Authorization": f"Bearer {key}"}) as client:
        body = {"dataset_id": add_dataset(stack.store, stack.blobs, easy()).id}
        job_id = client.post("/v1/jobs", json=body).json()["id"]
        stream = listen(client, f"/v1/jobs/{job_id}/events", timeout=12.0)
        assert next(stream).event == "state"
        site.command("revoke", identity(key))
        revoked = time.monotonic()
        assert list(stream) == []
        assert time.monotonic() - revoked < AT_ONCE


class TestAKeyFile:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "keys.json"

    def test_is_imported(self, site: Site, file: Path) -> None:
        key, _ = key_file.add(file, "first", "default", frozenset({Scope.READ}))
        site.start(LITERATI_API_KEYS_FILE=str(file))
        site.start()  # knows of no file
        site.become(key, [200, 200])
        assert site.statuses(None) == [401, 401]
        later, _ = key_file.add(file, "later", "default", frozenset({Scope.READ}))
        site.become(later, [200, 200], seconds=2.0)

    def test_a_key_removed_from_the_file_is_refused_everywhere(self, site: Site, file: Path) -> None:
        key, entry = key_file.add(file, "first", "default", frozenset({Scope.READ}))
        key_file.add(file, "second", "default", frozenset({Scope.READ}))
        site.start(LITERATI_API_KEYS_FILE=str(file))
        site.start()
        site.become(key, [200, 200])
        key_file.revoke(file, entry.id)
        site.become(key, [401, 401], seconds=2.0)

    def test_a_copy_of_the_file_does_not_restore_a_revoked_key(self, site: Site, file: Path) -> None:
        key, entry = key_file.add(file, "first", "default", frozenset({Scope.READ}))
        copy = file.with_name("copy.json")
        copy.write_bytes(file.read_bytes())
        copy.chmod(0o600)
        site.start(LITERATI_API_KEYS_FILE=str(file))
        site.start(LITERATI_API_KEYS_FILE=str(copy))
        site.become(key, [200, 200])
        site.command("revoke", entry.id, LITERATI_API_KEYS_FILE=str(file))
        site.become(key, [401, 401])
        assert key_file.read(file).keys == ()
        assert len(key_file.read(copy).keys) == 1
        site.start(LITERATI_API_KEYS_FILE=str(copy))
        site.become(key, [401, 401, 401])
        assert site.command("list", LITERATI_API_KEYS_FILE=str(copy)) == ""

    def test_a_read_only_file(self, site: Site, file: Path) -> None:
        """Secrets in a container are mounted read-only."""
        key, entry = key_file.add(file, "first", "default", frozenset({Scope.READ}))
        site.start(LITERATI_API_KEYS_FILE=str(file))
        site.become(key, [200])
        file.with_name("keys.json.lock").unlink()
        file.with_name("keys.json.lock").mkdir()  # nobody can lock it, not even root
        assert "revoked" in site.command("revoke", entry.id, LITERATI_API_KEYS_FILE=str(file))
        site.become(key, [401])

    def test_keys_of_the_store_work_with_a_file(self, site: Site, file: Path) -> None:
        key_file.add(file, "first", "default", frozenset({Scope.READ}))
        site.start(LITERATI_API_KEYS_FILE=str(file))
        key = site.command("add", "laptop", LITERATI_API_KEYS_FILE=str(file))
        assert site.statuses(key) == [200]
        assert len(key_file.read(file).keys) == 1
        listed = site.command("list", LITERATI_API_KEYS_FILE=str(file)).splitlines()
        assert sorted(line.split()[-1] for line in listed) == ["first", "laptop"]

    def test_the_command_uses_the_file_without_a_store(self, site: Site, file: Path) -> None:
        away = {"REDIS_URL": "unix:///nowhere/valkey.sock"}
        key = site.command("add", "laptop", expected=0, LITERATI_API_KEYS_FILE=str(file), **away)
        assert key_file.read(file).find(key) is not None
        said = site.command("revoke", "00000000", expected=1, LITERATI_API_KEYS_FILE=str(file), **away)
        assert "the store, which may have it, does not answer" in said
        assert "LITERATI_API_KEYS_FILE" in site.command("add", "laptop", expected=2, **away)

    def test_the_list_says_that_the_store_is_missing(self, site: Site, file: Path) -> None:
        away = {"REDIS_URL": "unix:///nowhere/valkey.sock"}
        assert "The store does not answer. Start the service" in site.command("list", expected=2, **away)
        named = {"LITERATI_API_KEYS_FILE": str(file)}
        site.command("add", "laptop", expected=0, **named, **away)
        listed = site.run("list", **named, **away)
        assert (listed.returncode, len(listed.stdout.splitlines())) == (0, 1)
        assert f"Only the keys in {file} are listed" in listed.stderr
        empty = site.run("list", LITERATI_API_KEYS_FILE=str(file.parent / "none.json"), **away)
        assert "The store does not answer. Start the service" in empty.stderr
        assert "which does not exist" in empty.stderr
        assert "There are no keys in the store" in site.run("list").stderr


class TestStart:
    def test_keys_of_the_store_allow_an_open_host(self, site: Site) -> None:
        environment = {**site.stack.environment, "LITERATI_HOST": "0.0.0.0"}
        command = [sys.executable, "-m", "service.server"]
        refused = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert refused.returncode == 1
        assert "python -m service.keys add NAME" in refused.stderr
        key = site.command("add", "laptop")
        site.start(LITERATI_HOST="0.0.0.0")
        site.addresses[-1] = site.addresses[-1].replace("0.0.0.0", "127.0.0.1")
        assert site.statuses(key) == [200]
        assert site.statuses(None) == [401]

    def test_an_open_host_with_an_unavailable_store(self, tmp_path: Path) -> None:
        environment = {**os.environ, "LITERATI_HOST": "0.0.0.0", "REDIS_URL": "unix:///nowhere/valkey.sock"}
        command = [sys.executable, "-m", "service.server"]
        refused = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert refused.returncode == 1
        assert "start the store first" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_an_unavailable_store(site: Site) -> None:
    """Known keys work for what needs no store; unknown keys cannot be checked."""
    site.start()
    admin, revoked = (site.command("add", name, "--scopes", "admin") for name in ("watcher", "old"))
    assert site.statuses(admin) == [200]
    site.command("revoke", identity(revoked))
    site.become(revoked, [401])
    site.stack.server.stop()
    with site.stack.client() as client:

        def ask(key: str, path: str) -> httpx.Response:
            return client.get(path, headers={"Authorization": f"Bearer {key}"})

        metrics = poll(lambda: _away(ask(admin, "/metrics")), what="the store to be away")
        assert "literati_store_up 0.0" in metrics
        problem(ask(admin, "/v1/jobs"), 503)
        problem(ask(revoked, "/metrics"), 503, "unavailable")
        problem(client.get("/metrics"), 401)


def _away(answer: httpx.Response) -> str | None:
    return answer.text if answer.status_code == 200 and "literati_store_up 0.0" in answer.text else None
