"""The audit log: a line for every call that changes something, and nothing secret in it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from model_maker import add_model, mixed_tree
from service import keyring
from service.keyring import Scope
from service.rotating_file import RotatingFile
from stack import ROOT, Stack, poll

SECRET = "a-cell-of-a-row"
NO_MODEL = "mdl_" + 32 * "0"
WRITERS, LINES = 3, 2000


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, str, str]]:
    """A server with keys; a key and its id."""
    folder = tmp_path_factory.mktemp("noted")
    key, entry = keyring.add(folder / "keys.json", "ann", "lab", frozenset({Scope.READ, Scope.TRAIN}))
    with Stack(folder / "stack", LITERATI_API_KEYS_FILE=str(folder / "keys.json")) as stack:
        stack.start_api()
        yield stack, key, entry.id


def lines(stack: Stack, count: int) -> list[dict[str, Any]]:
    """Those of the file once there are so many; it is emptied."""
    path = stack.folder / "state" / "logs" / "audit.log"
    poll(lambda: path.exists() and path.read_bytes().count(b"\n") >= count, what=f"{count} lines")
    found = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("")
    assert len(found) == count, found
    return found


def test_every_change_is_noted(noted: tuple[Stack, str, str]) -> None:
    stack, key, key_id = noted
    stack.connection.flushall()
    with stack.client(headers={"Authorization": f"Bearer {key}"}) as client:
        table = f"x,y,label\n1,{SECRET},a\n2,other,b\n3,{SECRET},a\n"
        headers = {"Content-Type": "text/csv", "X-Request-ID": "my-upload"}
        dataset = client.post("/v1/datasets?target=label", content=table, headers=headers).json()["id"]
        client.get(f"/v1/datasets/{dataset}/preview")
        client.post("/v1/jobs?validate_only=true", json={"dataset_id": dataset})
        job = client.post("/v1/jobs", json={"dataset_id": dataset, "name": SECRET}).json()["id"]
        client.post(f"/v1/jobs/{job}/predict", json={"records": [{"x": 1, "y": SECRET}]})
        client.delete(f"/v1/datasets/{dataset}")
        client.patch(f"/v1/datasets/{dataset}", json={"notes": SECRET})
        client.patch(f"/v1/jobs/{job}", json={"tags": {SECRET: SECRET}})
        client.post(f"/v1/jobs/{job}/cancel")
        client.delete(f"/v1/jobs/{job}")
        client.post(f"/v1/jobs/{job}/restore")
        client.post(f"/v1/datasets/{dataset[:-1]}x/restore")
        client.patch("/v1/models/best", json={"name": SECRET})
        client.post(f"/v1/models/{NO_MODEL}/restore")
        client.put("/v1/models/aliases/best", json={"model_id": NO_MODEL})
        client.post("/v1/jobs", content=b"{", headers={"Content-Type": "application/json"})
    found = lines(stack, 13)
    assert [(line["action"], line["object"], line["status"], line["outcome"]) for line in found] == [
        ("create_dataset", dataset, 201, "done"),
        ("create_job", job, 202, "done"),
        ("delete_dataset", dataset, 409, "refused"),
        ("update_dataset", dataset, 200, "done"),
        ("update_job", job, 200, "done"),
        ("cancel_job", job, 202, "done"),
        ("delete_job", job, 204, "done"),
        ("restore_job", job, 200, "done"),
        ("restore_dataset", f"{dataset[:-1]}x", 404, "refused"),
        ("update_model", "best", 404, "refused"),
        ("restore_model", NO_MODEL, 404, "refused"),
        ("set_alias", "best", 422, "refused"),
        ("create_job", None, 400, "refused"),
    ]
    assert {(line["tenant"], line["key"], line["address"]) for line in found} == {
        ("lab", key_id, "127.0.0.1")
    }
    assert found[0]["request_id"] == "my-upload"
    text = json.dumps(found)
    assert key not in text
    assert key.split("_")[2] not in text
    assert SECRET not in text


def test_a_key_that_may_not(noted: tuple[Stack, str, str]) -> None:
    """It is known whose it is, though it gets no further."""
    stack, _, _ = noted
    key, entry = keyring.add(stack.folder.parent / "keys.json", "bob", "lab", frozenset({Scope.READ}))
    with stack.client(headers={"Authorization": f"Bearer {key}"}) as client:
        assert client.post("/v1/jobs", json={}).status_code == 403
    poll(lambda: any(line["key"] == entry.id for line in _noted(stack)), what="its line")
    (line,) = (line for line in _noted(stack) if line["key"] == entry.id)
    assert (line["tenant"], line["status"], line["outcome"]) == ("lab", 403, "refused")
    (stack.folder / "state" / "logs" / "audit.log").write_text("")


def _noted(stack: Stack) -> list[dict[str, Any]]:
    path = stack.folder / "state" / "logs" / "audit.log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_who_gets_no_further(noted: tuple[Stack, str, str]) -> None:
    """Refused at the door: noted, but not so often that the rest is forgotten."""
    stack, key, _ = noted
    with stack.client() as client:
        for _ in range(150):
            client.post("/v1/jobs", headers={"Authorization": f"Bearer {key[:-1]}"})
    path = stack.folder / "state" / "logs" / "audit.log"
    poll(lambda: path.read_bytes().count(b"\n") >= 99, what="lines")
    found = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("")
    assert 99 <= len(found) < 150
    assert {(line["status"], line["outcome"], line["key"]) for line in found} == {(401, "refused", None)}
    assert key[:-1] not in json.dumps(found)


def test_the_file_is_private(noted: tuple[Stack, str, str]) -> None:
    stack, key, _ = noted
    httpx.delete(f"{stack.url}/v1/jobs/job_x", headers={"Authorization": f"Bearer {key}"})
    lines(stack, 1)
    path = stack.folder / "state" / "logs" / "audit.log"
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("where", ["stderr", "off"])
def test_elsewhere(tmp_path: Path, api: Stack, where: str) -> None:
    with Stack(tmp_path, server=api.server, LITERATI_AUDIT_LOG=where) as stack:
        process = stack.start_api()
        model = add_model(stack, mixed_tree())
        httpx.delete(f"{stack.url}/v1/models/{model}")
        if where == "stderr":
            poll(lambda: '"action": "delete_model"' in process.text(), what="the line")
    assert not (tmp_path / "state" / "logs").exists()
    assert ('"action"' in process.text()) == (where == "stderr")


WRITER = """
import sys
from pathlib import Path
from service.rotating_file import RotatingFile
file = RotatingFile(Path(sys.argv[1]), most_bytes=20_000, kept=100)
for number in range(int(sys.argv[3])):
    file.write(f"{sys.argv[2]} {number:05d}\\n".encode())
"""


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "audit.log")]
    writers = [subprocess.Popen([*command, str(name), str(LINES)], cwd=ROOT) for name in range(WRITERS)]
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    files = _files(tmp_path)
    assert len(files) > 2
    assert all(file.stat().st_size < 21_000 for file in files)
    found = [line for file in files for line in file.read_text().splitlines()]
    assert sorted(found) == [f"{name} {number:05d}" for name in range(WRITERS) for number in range(LINES)]


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix != ".lock"]


def test_the_oldest_goes(tmp_path: Path) -> None:
    file = RotatingFile(tmp_path / "audit.log", most_bytes=100, kept=2)
    for number in range(100):
        file.write(b"%09d\n" % number)
    file.close()
    found = sorted(line for path in _files(tmp_path) for line in path.read_text().splitlines())
    assert found == [f"{number:09d}" for number in range(70, 100)]
