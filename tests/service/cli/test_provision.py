"""`python -m service.provision`, and the service with the rights of its access list."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from service.auth import key_file
from service.auth.key_file import Scope
from service.cli import healthcheck, provision
from tests.support.http.service_client import submit
from tests.support.paths import ROOT
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.stack import Stack, poll
from worker.store.client import connect

KEY = re.compile(r"lit_\S+")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("secrets", "redis", "prometheus", "grafana", "backup"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_the_key_is_printed_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert provision.main(["--root", str(root)]) == 0
    (key,) = KEY.findall(capsys.readouterr().out)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert provision.main(["--root", str(root)]) == 0
    assert "lit_" not in capsys.readouterr().out
    assert {path: path.read_bytes() for path in before} == before, "nothing changes"

    keys = key_file.read(root / "secrets" / "keys.json")
    found = keys.find(key)
    assert found is not None
    assert found.scopes == {Scope.READ, Scope.TRAIN}
    scraping = keys.find((root / "prometheus" / "key").read_text().strip())
    assert scraping is not None
    assert scraping.scopes == {Scope.ADMIN}


def test_file_permissions(root: Path) -> None:
    provision.main(["--root", str(root)])
    modes = {path.name: path.stat().st_mode & 0o777 for path in root.rglob("*") if path.is_file()}
    assert modes == {
        "redis-password": 0o600,
        "keys.json": 0o600,
        "keys.json.lock": 0o600,
        "users.acl": 0o644,
        "key": 0o644,
        "password": 0o644,
    }
    password = (root / "secrets" / "redis-password").read_text().strip()
    assert password not in (root / "redis" / "users.acl").read_text()


def test_a_volume_that_cannot_be_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "redis").rmdir()
    assert provision.main(["--root", str(root)]) == 1
    assert "cannot be created" in capsys.readouterr().err


def test_the_default_user_is_off_but_may_read_the_file() -> None:
    """Without it the server would lose transactions when it reads its own file."""
    first, second, _ = provision.access_list("password", "another").splitlines()
    assert first == "user default off ~* &* +@all"
    assert second.startswith("user literati on #")
    assert "nopass" not in second


@pytest.fixture(scope="module")
def confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Provide an API and a worker that use the store as the user of the access list."""
    folder = tmp_path_factory.mktemp("confined")
    password = folder / "password"
    password.write_text("its password\n")
    with Stack(folder, LITERATI_REDIS_PASSWORD_FILE=str(password)) as stack:
        stack.environment["REDIS_URL"] = stack.server.url.replace("unix://", f"unix://{provision.USER}@")
        _, *users = provision.access_list("its password", "another").splitlines()
        admin: Any = stack.connection
        for user in users:
            admin.execute_command("ACL", "SETUSER", *user.split()[1:])
        stack.start_worker()
        stack.start_api()
        yield stack


def test_a_job_runs_with_these_rights(confined: Stack) -> None:
    with confined.client() as client:
        job = submit(client, add_dataset(confined.store, confined.blobs, easy()))["id"]
        poll(lambda: client.get(f"/v1/jobs/{job}").json()["state"] == "SUCCEEDED", what="the job's end")
        assert client.get("/readyz").status_code == 200
        assert client.get("/metrics").status_code == 200
        assert client.delete(f"/v1/jobs/{job}").status_code == 204
    admin: Any = confined.connection
    assert admin.execute_command("ACL", "LOG") == [], "nothing that was refused"


def test_a_backup_with_these_rights(confined: Stack, tmp_path: Path) -> None:
    url = confined.server.url.replace("unix://", f"unix://{provision.BACKUP_USER}:another@")
    create = [sys.executable, "-m", "service.backup", "create", str(tmp_path / "backups")]
    environment = {**confined.environment, "REDIS_URL": url, "LITERATI_REDIS_PASSWORD_FILE": ""}
    done = subprocess.run(create, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    with connect(url) as client:
        for words in ("CONFIG GET dir", "FLUSHALL", "KEYS *", "SHUTDOWN NOSAVE", "EVAL return 0"):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*words.split())
    admin: Any = confined.connection
    admin.execute_command("ACL", "LOG", "RESET")


def test_administrative_commands_are_denied(confined: Stack) -> None:
    admin: Any = confined.connection
    client: Any = redis.Redis(
        unix_socket_path=str(confined.server.socket), username=provision.USER, password="its password"
    )
    with client:
        for words in ("CONFIG GET dir", "FLUSHALL", "KEYS *", "SHUTDOWN NOSAVE", "ACL LIST", "SYNC"):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*words.split())
        with pytest.raises(redis.exceptions.NoPermissionError):
            client.get("of:others")
    admin.execute_command("ACL", "LOG", "RESET")


def test_health(confined: Stack, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("REDIS_URL", confined.environment["REDIS_URL"])
    monkeypatch.setenv("LITERATI_REDIS_PASSWORD_FILE", confined.environment["LITERATI_REDIS_PASSWORD_FILE"])
    monkeypatch.setenv("LITERATI_PORT", confined.url.rpartition(":")[2])
    assert healthcheck.main(["api"]) == 0
    assert healthcheck.main(["worker"]) == 0
    assert healthcheck.main([]) == 0, "what process 1 of this machine is no worker of ours"
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
    assert healthcheck.main(["worker"]) == 1
    assert "no recent heartbeat of a worker on elsewhere" in capsys.readouterr().out
    monkeypatch.setenv("REDIS_URL", "unix:///nowhere")
    monkeypatch.setenv("LITERATI_PORT", "1")
    assert healthcheck.main(["worker"]) == 1
    assert healthcheck.main(["api"]) == 1
