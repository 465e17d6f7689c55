"""Authentication by API keys, and the key file."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.auth import key_file
from service.auth.api_keys import ApiKeys
from service.auth.authentication import LOCAL_CALLER, needed_scope
from service.auth.key_file import Scope
from service.errors import StartError
from service.listen_address import check_api_keys
from service.settings import Settings
from tests.support.http.event_client import listen
from tests.support.http.service_client import problem
from tests.support.paths import ROOT
from tests.support.records import store_records
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.stack import Stack, poll

OPEN = {"/", "/docs", "/assets/docs.js", "/openapi.json", "/healthz", "/readyz", "/version"}


def keys_command(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command without a store."""
    environment = {**os.environ, "LITERATI_API_KEYS_FILE": str(path), "LITERATI_STATE_DIR": str(path.parent)}
    command = [sys.executable, "-m", "service.keys", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def keys_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    key_file.add(path, "the first", "default", frozenset({Scope.READ, Scope.TRAIN}))
    return path


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory, keys_path: Path) -> Iterator[Stack]:
    """Use a separate store, because every API on a store with keys requires one."""
    with Stack(tmp_path_factory.mktemp("closed"), LITERATI_API_KEYS_FILE=str(keys_path)) as stack:
        stack.start_api()
        yield stack


@pytest.fixture
def visitor(closed: Stack) -> Iterator[httpx.Client]:
    closed.connection.flushall()
    with closed.client() as client:
        yield client


def new_key(path: Path, *scopes: Scope, tenant: str = "default") -> dict[str, str]:
    key, _ = key_file.add(path, "test", tenant, frozenset(scopes))
    return {"Authorization": f"Bearer {key}"}


def test_public_routes_need_no_key(visitor: httpx.Client) -> None:
    for path in OPEN:
        assert visitor.get(path, follow_redirects=True).status_code == 200


def test_scopes(visitor: httpx.Client, keys_path: Path, closed: Stack) -> None:
    dataset = add_dataset(closed.store, closed.blobs, easy())
    reader, trainer, admin = (new_key(keys_path, scope) for scope in (Scope.READ, Scope.TRAIN, Scope.ADMIN))
    body = {"dataset_id": dataset.id}

    def status(headers: dict[str, str], method: str, path: str, **more: Any) -> int:
        return visitor.request(method, path, headers=headers, **more).status_code

    assert status(reader, "GET", "/v1/jobs") == 200
    assert status(trainer, "GET", "/v1/jobs") == 403
    assert status(admin, "GET", "/v1/jobs") == 200
    assert status(reader, "POST", "/v1/jobs", json=body) == 403
    assert status(trainer, "POST", "/v1/jobs", json=body) == 202
    assert status(admin, "POST", "/v1/jobs", json=body) == 202
    assert status(reader, "GET", "/metrics") == 403
    assert status(admin, "GET", "/metrics") == 200
    assert status(reader, "POST", "/v1/models/x/predict", json={}) != 403
    problem(visitor.delete("/v1/jobs/x", headers=reader), 403, "scope-needed")


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "/v1/jobs", Scope.READ),
        ("HEAD", "/v1/jobs", Scope.READ),
        ("POST", "/v1/models/m/predict", Scope.READ),
        ("POST", "/v1/jobs/j/predict", Scope.READ),
        ("POST", "/v1/models/m/score", Scope.READ),
        ("POST", "/v1/jobs/j/score", Scope.READ),
        ("PUT", "/v1/models/aliases/score", Scope.TRAIN),
        ("POST", "/v1/jobs", Scope.TRAIN),
        ("PUT", "/v1/models/aliases/a", Scope.TRAIN),
        ("PUT", "/v1/models/aliases/predict", Scope.TRAIN),
        ("DELETE", "/v1/models/predict", Scope.TRAIN),
        ("GET", "/metrics", Scope.ADMIN),
        ("GET", "/v1/tenants", Scope.ADMIN),
        ("GET", "/v1/tenants/lab", Scope.ADMIN),
        ("PUT", "/v1/tenants/lab", Scope.ADMIN),
        ("POST", "/v1/tenants/predict", Scope.ADMIN),
    ],
)
def test_the_scope_that_a_request_needs(method: str, path: str, scope: Scope) -> None:
    assert needed_scope(method, path) is scope


def test_the_file_is_read_again_when_it_changes(visitor: httpx.Client, keys_path: Path) -> None:
    headers = new_key(keys_path, Scope.READ)
    assert visitor.get("/v1/jobs", headers=headers).status_code == 200
    key_file.revoke(keys_path, headers["Authorization"].split("_")[1])
    assert visitor.get("/v1/jobs", headers=headers).status_code == 401


def test_a_stream_ends_with_its_key(visitor: httpx.Client, keys_path: Path, closed: Stack) -> None:
    headers = new_key(keys_path, Scope.READ, Scope.TRAIN)
    body = {"dataset_id": add_dataset(closed.store, closed.blobs, easy()).id}
    job_id = visitor.post("/v1/jobs", headers=headers, json=body).json()["id"]
    with closed.client(headers=headers) as listener:
        stream = listen(listener, f"/v1/jobs/{job_id}/events", timeout=12.0)  # less than a sign of life takes
        assert next(stream).event == "state"
        key_file.revoke(keys_path, headers["Authorization"].split("_")[1])
        assert list(stream) == []
    assert store_records.look(closed.store, job_id).state == "QUEUED", "it was not the job that ended"


@pytest.mark.parametrize("damage", ["{", '{"version": 2, "keys": []}', "\0" * 100])
def test_a_damaged_file_refuses_all_requests(
    visitor: httpx.Client, keys_path: Path, closed: Stack, damage: str
) -> None:
    headers = new_key(keys_path, Scope.READ)
    assert visitor.get("/v1/jobs", headers=headers).status_code == 200
    text = keys_path.read_text()
    keys_path.write_text(damage)
    for given in (headers, {}):
        detail = problem(visitor.get("/v1/jobs", headers=given), 503, "unavailable")["detail"]
        assert "key file of the server cannot be read" in detail
        assert str(keys_path) not in detail
    assert visitor.get("/healthz").status_code == 200
    keys_path.write_text(text)
    assert visitor.get("/v1/jobs", headers=headers).status_code == 200


def test_a_file_that_others_may_write_is_not_trusted(visitor: httpx.Client, keys_path: Path) -> None:
    headers = new_key(keys_path, Scope.READ)
    keys_path.chmod(0o620)
    problem(visitor.get("/v1/jobs", headers=headers), 503)
    keys_path.chmod(0o644)
    assert visitor.get("/v1/jobs", headers=headers).status_code == 200
    keys_path.chmod(0o600)


def test_a_key_is_replaced_without_a_break(visitor: httpx.Client, keys_path: Path) -> None:
    """Create the new key, use both, and revoke the old one, without a restart."""
    old, new = new_key(keys_path, Scope.READ), new_key(keys_path, Scope.READ)
    for headers in (old, new):
        assert visitor.get("/v1/jobs", headers=headers).status_code == 200
    key_file.revoke(keys_path, old["Authorization"].split("_")[1])
    assert visitor.get("/v1/jobs", headers=old).status_code == 401
    assert visitor.get("/v1/jobs", headers=new).status_code == 200


def test_a_deleted_file_refuses_all_requests(visitor: httpx.Client, keys_path: Path) -> None:
    headers = new_key(keys_path, Scope.READ)
    assert visitor.get("/v1/jobs", headers=headers).status_code == 200
    aside = keys_path.rename(keys_path.with_name("aside.json"))
    assert visitor.get("/v1/jobs", headers=headers).status_code == 401
    assert visitor.get("/v1/jobs").status_code == 401
    aside.rename(keys_path)
    assert visitor.get("/v1/jobs", headers=headers).status_code == 200


class TestKeysOfOneProcess:
    def test_no_key_is_required_without_a_file(self) -> None:
        assert not ApiKeys(None).required

    def test_a_key_is_required_with_an_empty_file(self, tmp_path: Path) -> None:
        path = tmp_path / "keys.json"
        path.touch(mode=0o600)
        assert ApiKeys(path).required
        _, entry = key_file.add(path, "a", "default", frozenset({Scope.READ}))
        key_file.revoke(path, entry.id)
        assert ApiKeys(path).required  # after a restart too
        assert ApiKeys(path).entries() == ()

    def test_a_key_stays_required(self, tmp_path: Path) -> None:
        path = tmp_path / "keys.json"
        key, entry = key_file.add(path, "a", "default", frozenset({Scope.READ}))
        keys = ApiKeys(path)
        assert keys.find(key) is not None
        assert keys.knows(entry.id)
        key_file.revoke(path, entry.id)
        assert not keys.knows(entry.id)
        assert keys.required
        assert keys.find(key) is None
        path.unlink()
        keys.refresh()
        assert keys.required

    @pytest.mark.parametrize("module", ["service.server", "service.embedded"])
    @pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
    def test_a_named_file_must_exist(self, tmp_path: Path, module: str, host: str) -> None:
        """A misspelt path must not disable authentication."""
        path = tmp_path / "kyes.json"
        environment = {**os.environ, "LITERATI_API_KEYS_FILE": str(path), "LITERATI_HOST": host}
        environment |= {"LITERATI_STATE_DIR": str(tmp_path / "state"), "LITERATI_PORT": "0"}
        command = [sys.executable, "-m", module]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 1
        assert done.stderr == (
            f"LITERATI_API_KEYS_FILE={path} does not exist; create it and a key with "
            f"`python -m service.keys --file {path} add NAME`, or unset the variable.\n"
        )
        assert not (tmp_path / "state").exists()

    @pytest.mark.parametrize(
        ("text", "mode", "reason"),
        [
            ('{"keys": [{"id": "x"}]}', 0o600, "damaged .keys.0.id"),
            ("{", 0o600, "damaged"),
            ("", 0o602, "chmod 600"),
        ],
    )
    def test_a_damaged_or_shared_file(self, tmp_path: Path, text: str, mode: int, reason: str) -> None:
        path = tmp_path / "keys.json"
        path.write_text(text)
        path.chmod(mode)
        with pytest.raises(StartError, match=f"LITERATI_API_KEYS_FILE.*{reason}"):
            check_api_keys(Settings(api_keys_file=path))

    @pytest.mark.parametrize("module", ["service.server", "service.embedded"])
    def test_the_server_does_not_start(self, tmp_path: Path, module: str) -> None:
        path = tmp_path / "keys.json"
        path.write_text("{")
        environment = {**os.environ, "LITERATI_API_KEYS_FILE": str(path)}
        environment["LITERATI_STATE_DIR"] = str(tmp_path / "state")
        command = [sys.executable, "-m", module]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "LITERATI_API_KEYS_FILE" in done.stderr
        assert "Traceback" not in done.stderr

    def test_local_callers_have_the_default_tenant(self) -> None:
        assert (LOCAL_CALLER.tenant, LOCAL_CALLER.scopes) == ("default", frozenset(Scope))


class TestWithoutKeys:
    @pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:9", "[::1]:80", "x.localhost"])
    def test_loopback_names_are_served(self, client: httpx.Client, host: str) -> None:
        assert client.get("/v1/jobs", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "10.0.0.1", "localhost.evil", ""])
    def test_other_names_are_refused(self, client: httpx.Client, host: str) -> None:
        """A page that rebinds its own name to 127.0.0.1 gets no data."""
        problem(client.get("/v1/jobs", headers={"Host": host}), 403, "keys-needed")

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_pages_of_other_sites_are_refused(self, client: httpx.Client, site: str) -> None:
        problem(client.post("/v1/jobs", headers={"Sec-Fetch-Site": site}), 403, "keys-needed")
        assert client.get("/v1/jobs", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


class TestCommand:
    def test_add_list_revoke(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "keys.json"
        made = keys_command(path, "add", "nightly", "--tenant", "lab", "--scopes", "read")
        key = made.stdout.strip()
        assert re.fullmatch(r"lit_[0-9a-f]{8}_[A-Za-z0-9_-]{43}", key)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert key not in path.read_text()
        assert key.split("_", 2)[2] not in path.read_text()
        entry = json.loads(path.read_text())["keys"][0]
        assert (entry["name"], entry["tenant"], entry["scopes"]) == ("nightly", "lab", ["read"])
        found = key_file.read(path).find(key)
        assert found is not None
        assert found.tenant == "lab"
        shown = keys_command(path, "list").stdout
        assert entry["id"] in shown
        assert "nightly" in shown
        assert keys_command(path, "revoke", entry["id"]).returncode == 0
        assert key_file.read(path).find(key) is None
        assert keys_command(path, "revoke", entry["id"]).returncode == 1

    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["add"],
            ["add", "x", "--scopes", "all"],
            ["add", "x", "--tenant", "A B"],
            ["add", "a\nb"],
            ["drop"],
        ],
    )
    def test_invalid_arguments(self, tmp_path: Path, words: list[str]) -> None:
        path = tmp_path / "keys.json"
        assert keys_command(path, *words).returncode == 2
        assert not path.exists()

    def test_a_damaged_file_is_not_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "keys.json"
        path.write_text("{")
        assert keys_command(path, "add", "x").returncode == 1
        assert path.read_text() == "{"

    def test_concurrent_changes(self, tmp_path: Path) -> None:
        path = tmp_path / "keys.json"
        words = [sys.executable, "-m", "service.keys", "--file", str(path), "add"]
        running = [subprocess.Popen([*words, f"n{i}"], cwd=ROOT, stdout=subprocess.DEVNULL) for i in range(6)]
        poll(lambda: all(process.poll() == 0 for process in running), what="six keys")
        assert sorted(entry.name for entry in key_file.read(path).keys) == [f"n{i}" for i in range(6)]
