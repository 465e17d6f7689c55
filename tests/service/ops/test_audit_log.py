"""The audit log has a line for every call that changes something, and no secrets."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog.testing

from service.auth import key_file
from service.auth.key_file import Scope
from service.ops.audit import AuditFileHandler
from tests.support.paths import ROOT
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.stack.stack import Stack, poll

SECRET = "a-cell-of-a-row"
NO_MODEL = "mdl_" + 32 * "0"
WRITERS, LINES = 3, 2000


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, str, str]]:
    """Provide a server with keys, a key and its id."""
    folder = tmp_path_factory.mktemp("noted")
    key, entry = key_file.add(folder / "keys.json", "ann", "lab", frozenset({Scope.READ, Scope.TRAIN}))
    with Stack.with_api(folder / "stack", LITERATI_API_KEYS_FILE=str(folder / "keys.json")) as stack:
        yield stack, key, entry.id


def lines(stack: Stack, count: int) -> list[dict[str, Any]]:
    """Wait for this number of lines, empty the file and return the lines."""
    path = stack.folder / "state" / "logs" / "audit.log"
    poll(lambda: path.exists() and path.read_bytes().count(b"\n") >= count, what=f"{count} lines")
    found = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("")
    assert len(found) == count, found
    return found


def test_every_change_is_recorded(noted: tuple[Stack, str, str]) -> None:
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
        client.post(f"/v1/jobs/{job}/score", json={"records": [{"x": 1, "y": SECRET, "label": "a"}]})
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
        client.put("/v1/models/aliases/predict", json={"model_id": NO_MODEL})
        client.post("/v1/jobs", content=b"{", headers={"Content-Type": "application/json"})
    found = lines(stack, 14)
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
        ("set_alias", "predict", 422, "refused"),
        ("create_job", None, 400, "refused"),
    ]
    assert {(line["tenant"], line["key"], line["address"]) for line in found} == {
        ("lab", key_id, "127.0.0.1")
    }
    assert found[0]["request_id"] == "my-upload"
    text = json.dumps(found)
    assert key not in text
    assert key.split("_", 2)[2] not in text
    assert SECRET not in text


def test_a_key_without_the_scope(noted: tuple[Stack, str, str]) -> None:
    """The line names the key and its tenant."""
    stack, _, _ = noted
    key, entry = key_file.add(stack.folder.parent / "keys.json", "bob", "lab", frozenset({Scope.READ}))
    with stack.client(headers={"Authorization": f"Bearer {key}"}) as client:
        assert client.post("/v1/jobs", json={}).status_code == 403
    poll(lambda: any(line["key"] == entry.id for line in _noted(stack)), what="its line")
    (line,) = (line for line in _noted(stack) if line["key"] == entry.id)
    assert (line["tenant"], line["status"], line["outcome"]) == ("lab", 403, "refused")
    (stack.folder / "state" / "logs" / "audit.log").write_text("")


def _noted(stack: Stack) -> list[dict[str, Any]]:
    path = stack.folder / "state" / "logs" / "audit.log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_lines_about_unauthenticated_callers_are_limited(noted: tuple[Stack, str, str]) -> None:
    """They are recorded, but not so often that they fill the disk."""
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
def test_other_destinations(tmp_path: Path, api: Stack, where: str) -> None:
    with Stack(tmp_path, server=api.server, LITERATI_AUDIT_LOG=where) as stack:
        process = stack.start_api()
        model = add_model(stack, mixed_tree())
        httpx.delete(f"{stack.url}/v1/models/{model}")
        if where == "stderr":
            poll(lambda: '"action": "delete_model"' in process.text(), what="the line")
    assert not (tmp_path / "state" / "logs").exists()
    assert ('"action"' in process.text()) == (where == "stderr")


WRITER = """
import logging, sys, time
from pathlib import Path
from service.ops.audit import AuditFileHandler
handler = AuditFileHandler(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    handler.handle(logging.makeLogRecord({"msg": f"{sys.argv[2]} {number:05d}"}))
"""


def test_rotation_by_another_process_loses_no_line(tmp_path: Path) -> None:
    """Several processes append while the file is renamed, as logrotate does it."""
    path = tmp_path / "audit.log"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, str(name), str(LINES)], cwd=ROOT) for name in range(WRITERS)]
    rotations = 0
    while any(writer.poll() is None for writer in writers):
        if path.exists() and path.stat().st_size > 5000:
            rotations += 1
            path.rename(tmp_path / f"audit.log.{rotations}")
    assert [writer.returncode for writer in writers] == [0] * WRITERS
    assert rotations > 0
    found = [line for file in tmp_path.iterdir() for line in file.read_text().splitlines()]
    assert sorted(found) == [f"{name} {number:05d}" for name in range(WRITERS) for number in range(LINES)]


def test_a_line_that_cannot_be_written_is_logged(tmp_path: Path) -> None:
    (tmp_path / "logs").touch()
    with structlog.testing.capture_logs() as logged:
        AuditFileHandler(tmp_path / "logs" / "audit.log").handle(logging.makeLogRecord({"msg": "a line"}))
    assert [(entry["event"], entry["line"]) for entry in logged] == [("audit line not written", "a line")]
