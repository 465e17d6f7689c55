"""Jobs, sweeps, models, events and saved searches of two versions on one store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.http.event_client import listen
from tests.support.records import jobs
from tests.support.stack.stack import Process, poll
from tests.upgrade.conftest import ROOTS, TwoVersions
from worker.training.search_snapshot import SearchSnapshot

VERSIONS = tuple(ROOTS)
SWEEP = {"space": {"max_depth": [1, 2], "split_penalty": "path"}, "validation": {"folds": 2}}
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


def test_each_version_runs_its_own_code() -> None:
    for root in ROOTS.values():
        variables = {**os.environ, "PYTHONPATH": f"{root}:{root / 'core'}"}
        code = "import literati, service.app, worker.tasks; from literati._engine import _engine; "
        code += "print(literati.__file__, service.app.__file__, worker.tasks.__file__, _engine.__file__)"
        found = subprocess.check_output([sys.executable, "-c", code], cwd=root, env=variables, text=True)
        names = [str(Path(name).relative_to(root)) for name in found.split()]
        assert [name.partition("/")[0] for name in names] == ["core", "service", "worker", "core"]


def ended(two: TwoVersions, version: str, path: str) -> dict[str, Any]:
    """Wait with long polls at this version until a job or a sweep has ended."""

    def look() -> dict[str, Any] | None:
        record: dict[str, Any] = two.get(version, path, Prefer="wait=5")
        return record if record["state"] in ENDED else None

    return poll(look, seconds=180, what=f"the end of {path}")


def stopped(worker: Process) -> None:
    worker.stop()
    assert worker.process.returncode is not None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_worker_runs_what_both_apis_accept(two: TwoVersions, version: str) -> None:
    """Both APIs read the results, and predict the same with each model."""
    table = jobs.easy()
    rows = [{"x": float(x), "z": int(z)} for x, z in zip(table["x"][:40], table["z"][:40], strict=True)]
    worker = two.stack.start_worker(ROOTS[version])
    try:
        for submitted_at in VERSIONS:
            dataset = two.dataset(submitted_at, table)
            body = {"dataset_id": dataset, "parameters": {"max_depth": 3}, "validation": {"fraction": 0.2}}
            job = two.post(submitted_at, "/v1/jobs", body)
            sweep = two.post(submitted_at, "/v1/sweeps", {"dataset_id": dataset, **SWEEP})
            for read_at in VERSIONS:
                found = ended(two, read_at, f"/v1/jobs/{job['id']}")
                assert (found["state"], found["proven_optimal"]) == ("SUCCEEDED", True), found
                tuned = ended(two, read_at, f"/v1/sweeps/{sweep['id']}")
                assert tuned["state"] == "SUCCEEDED", tuned
                for page in ("/v1/jobs", "/v1/sweeps", "/v1/models"):
                    assert two.get(read_at, page)["items"]
            for model in (found["model_id"], tuned["model_id"]):
                trees = [two.get(read_at, f"/v1/models/{model}")["tree"] for read_at in VERSIONS]
                assert trees[0] == trees[1]
                answers = [two.post(at, f"/v1/models/{model}/predict", {"records": rows}) for at in VERSIONS]
                assert answers[0] == answers[1]
    finally:
        stopped(worker)


@pytest.mark.parametrize("ending", ["paused", "killed"])
@pytest.mark.parametrize(("first", "second"), [VERSIONS, VERSIONS[::-1]])
def test_a_saved_search_goes_on_in_the_other_version(
    two: TwoVersions, first: str, second: str, ending: str
) -> None:
    dataset = two.dataset(first, jobs.noise())
    body = {"dataset_id": dataset, "parameters": {"max_depth": 5}, "limits": {"time_limit": 600}}
    path = f"/v1/jobs/{two.post(first, '/v1/jobs', body)['id']}"
    worker = two.stack.start_worker(ROOTS[first])
    store = two.stack.store.jobs

    def saved() -> Any:
        job = store.get(jobs.TENANT, path.rpartition("/")[2])
        return job if job is not None and job.snapshot is not None else None

    try:
        poll(lambda: two.get(first, path)["progress"]["expansions"] > 50, seconds=60, what="some expansions")
        if ending == "paused":
            two.post(second, f"{path}/pause")
            poll(lambda: two.get(first, path)["state"] == "PAUSED", seconds=60, what="the pause")
        else:
            poll(saved, seconds=120, what="a saved search")
            os.killpg(worker.process.pid, signal.SIGKILL)
    finally:
        stopped(worker)
    before = saved()
    assert SearchSnapshot.from_bytes(two.stack.blobs.get(before.snapshot)).total().expansions > 0
    worker = two.stack.start_worker(ROOTS[second])
    try:
        if ending == "paused":
            two.post(first, f"{path}/resume")

        def went_on() -> bool:
            now = two.get(second, path)["progress"]
            assert now["upper_bound"] <= before.progress.upper_bound
            assert now["lower_bound"] >= before.progress.lower_bound
            return bool(now["expansions"] > before.progress.expansions + 50)

        poll(went_on, seconds=120, what="further expansions")
        two.post(second, f"{path}/finish")
        assert ended(two, first, path)["state"] == "SUCCEEDED"
        logs = [event["data"].get("message", "") for event in two.get(first, f"{path}/events")["items"]]
        assert any("resuming the saved search" in text for text in logs), logs
    finally:
        stopped(worker)


def test_notes_of_the_newer_version_do_not_disturb_the_older(two: TwoVersions) -> None:
    dataset = two.dataset("older", jobs.easy())
    job = two.post("older", "/v1/jobs", {"dataset_id": dataset})
    sweep = two.post("newer", "/v1/sweeps", {"dataset_id": dataset, **SWEEP})
    for path in (f"/v1/jobs/{job['id']}", f"/v1/sweeps/{sweep['id']}"):
        answer = two.clients["newer"].patch(path, json={"notes": "try again", "name": "a"})
        assert answer.status_code == 200, answer.text
        assert two.get("older", path)["name"] == "a"
        if "jobs" in path:
            assert two.clients["older"].patch(path, json={"name": "b"}).status_code == 200
        assert two.get("newer", path)["notes"] == "try again"
        two.post("older", f"{path}/cancel")
        assert ended(two, "newer", path)["state"] == "CANCELLED"


@pytest.mark.parametrize(("first", "second"), [VERSIONS, VERSIONS[::-1]])
def test_a_stream_goes_on_at_the_other_version(two: TwoVersions, first: str, second: str) -> None:
    dataset = two.dataset(first, jobs.noise(seed=1))
    body = {"dataset_id": dataset, "parameters": {"max_depth": 5}, "limits": {"max_expansions": 300}}
    path = f"/v1/jobs/{two.post(first, '/v1/jobs', body)['id']}"
    worker = two.stack.start_worker(ROOTS[second])
    try:
        events = listen(two.clients[first], f"{path}/events")
        seen = [next(events) for _ in range(3)]
        events.close()  # type: ignore[attr-defined]
        seen += listen(two.clients[second], f"{path}/events", seen[-1].id)
        assert [event.id for event in seen] == [
            event["id"] for event in two.get(first, f"{path}/events?page_size=500")["items"]
        ]
        assert seen[-1].data["state"] == "SUCCEEDED"
    finally:
        stopped(worker)
