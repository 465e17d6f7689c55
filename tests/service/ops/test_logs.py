"""Log lines are JSON, and the request id of the response is in the lines of the worker."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from structlog.contextvars import bound_contextvars, merge_contextvars
from structlog.testing import capture_logs

from tests.support.paths import ROOT
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.training.tree_evaluator import Baseline, Fitted


def test_the_request_id_reaches_the_worker(stack: Stack) -> None:
    dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.easy(seed=5))
    with stack.client() as client:
        answer = client.post("/v1/jobs", json={"dataset_id": dataset.id})
        request_id, job_id = answer.headers["x-request-id"], answer.json()["id"]
        ended = poll(lambda: _said(stack, job_id, "job ended"), what="the worker's last word")
    [accepted] = [line for line in stack.log_lines("api") if line.get("job_id") == job_id]
    assert (accepted["message"], accepted["request_id"]) == ("job accepted", request_id)
    told = [line for line in stack.log_lines("worker") if line.get("job_id") == job_id]
    assert [line["message"] for line in told] == ["job claimed", "job ended"]
    assert {line["request_id"] for line in told} == {request_id}
    assert {line["epoch"] for line in told} == {1}
    assert ended["outcome"] == "SUCCEEDED"
    assert ended["process"] != accepted["process"]


def _said(stack: Stack, job_id: str, message: str) -> dict[str, Any] | None:
    about = (line for line in stack.log_lines("worker") if line.get("job_id") == job_id)
    return next((line for line in about if line["message"] == message), None)


def test_every_line_is_json_and_unique(stack: Stack) -> None:
    for name in ("api", "worker"):
        lines = stack.log_lines(name)
        assert lines
        assert all({"message", "level", "timestamp", "process"} <= line.keys() for line in lines)
        said = [(line["timestamp"], line["process"], line["message"]) for line in lines]
        assert len(set(said)) == len(said)
    assert any(line["message"].endswith(" ready.") for line in stack.log_lines("worker"))  # Celery's own


def test_the_threads_of_a_job_name_it() -> None:
    with bound_contextvars(job_id="job_1"), capture_logs(processors=[merge_contextvars]) as lines:
        Baseline(lambda: Fitted({"accuracy": 1 / 0}, None), inline=True).fitted()
    assert [line["job_id"] for line in lines] == ["job_1"]


@pytest.mark.parametrize(
    ("level", "said"), [("debug", ["a", "b", "c"]), ("INFO", ["b", "c"]), ("Warning", ["c"])]
)
def test_the_level(level: str, said: list[str]) -> None:
    code = (
        "import logging, structlog; from worker import logs; from worker.settings import WorkerSettings;"
        "logs.configure(WorkerSettings().log_level); log = structlog.get_logger('x');"
        "logging.getLogger('y').debug('a'); log.info('b'); log.warning('c')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={"LITERATI_LOG_LEVEL": level}, capture_output=True
    )
    assert [json.loads(line)["message"] for line in done.stderr.splitlines()] == said
    assert not done.stdout
