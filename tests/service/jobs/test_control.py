"""finish, cancel, pause and resume over HTTP: 202, a repeat 200, a wrong state 409."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.http.service_client import pointers, problem, submit
from tests.support.stack.acting_worker import ActingWorker, costs
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import ControlRequest, JobState, StopReason


@pytest.fixture
def job(client: httpx.Client, dataset: Dataset) -> str:
    return str(submit(client, dataset)["id"])


def do(client: httpx.Client, job: str, verb: str, status: int) -> dict[str, Any]:
    answer = client.post(f"/v1/jobs/{job}/{verb}")
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_queued_job(client: httpx.Client, job: str) -> None:
    assert do(client, job, "pause", 202)["state"] == "PAUSED"
    assert do(client, job, "pause", 200)["state"] == "PAUSED"
    assert do(client, job, "resume", 202)["state"] == "QUEUED"
    assert do(client, job, "resume", 200)["state"] == "QUEUED"
    do(client, job, "finish", 409)  # there is no tree to finish with
    assert do(client, job, "cancel", 202)["state"] == "CANCELLED"
    cancelled = do(client, job, "cancel", 200)
    assert (cancelled["state"], cancelled["stop_reason"]) == ("CANCELLED", "USER_CANCEL")
    for verb in ("finish", "pause", "resume"):
        problem(client.post(f"/v1/jobs/{job}/{verb}"), 409, "wrong-state")


def test_a_running_job_is_paused_and_resumed(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    assert do(client, job, "pause", 202)["state"] == "PAUSING"
    assert do(client, job, "pause", 200)["state"] == "PAUSING"
    problem(client.post(f"/v1/jobs/{job}/resume"), 409, "wrong-state")
    assert worker.checkpoint(11) is ControlRequest.PAUSE
    worker.finish(12, state=JobState.PAUSED, reason=None)
    paused = client.get(f"/v1/jobs/{job}").json()
    assert paused["state"] == "PAUSED"
    assert {"resume", "cancel", "finish"} <= set(paused["links"])
    assert do(client, job, "resume", 202)["state"] == "QUEUED"
    ActingWorker(api.store).prove()
    assert client.get(f"/v1/jobs/{job}").json()["state"] == "SUCCEEDED"


def test_a_running_job_is_finished(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    assert do(client, job, "finish", 202)["state"] == "STOPPING"
    assert do(client, job, "finish", 200)["state"] == "STOPPING"
    problem(client.post(f"/v1/jobs/{job}/cancel"), 409, "wrong-state")
    assert worker.checkpoint(11) is ControlRequest.FINISH


def test_a_job_that_ended_before_it_was_finished(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.prove()
    told = problem(client.post(f"/v1/jobs/{job}/finish"), 409, "wrong-state")["detail"]
    assert "its best tree is already its model" in told


def test_a_running_job_is_cancelled(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    assert do(client, job, "cancel", 202)["state"] == "STOPPING"
    assert worker.checkpoint(11) is ControlRequest.CANCEL
    worker.finish(12, state=JobState.CANCELLED)
    ended = client.get(f"/v1/jobs/{job}").json()
    assert (ended["state"], ended["model_id"]) == ("CANCELLED", None)
    assert client.get(f"/v1/jobs/{job}/incumbent").status_code == 200  # the tree can still be looked at


def test_a_paused_job_with_a_tree_is_finished_at_once(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.finish(12, state=JobState.PAUSED, reason=None)
    done = do(client, job, "finish", 202)
    assert (done["state"], done["stop_reason"], done["proven_optimal"]) == ("SUCCEEDED", "USER_FINISH", False)
    assert done["model_id"]
    assert do(client, job, "finish", 200)["model_id"] == done["model_id"]


def test_a_resumed_job_wakes_a_worker(api: Stack, client: httpx.Client, job: str) -> None:
    do(client, job, "pause", 202)
    api.connection.delete("literati")
    do(client, job, "resume", 202)
    assert api.connection.llen("literati") == 1


def test_links_are_what_can_be_done(api: Stack, client: httpx.Client, job: str) -> None:
    def verbs() -> set[str]:
        links = client.get(f"/v1/jobs/{job}").json()["links"]
        return set(links) & {"finish", "cancel", "pause", "resume"}

    assert verbs() == {"cancel", "pause"}
    worker = ActingWorker(api.store)
    assert verbs() == {"finish", "cancel", "pause"}
    worker.checkpoint(10, tree=0)
    do(client, job, "pause", 202)
    assert verbs() == {"finish", "cancel"}
    do(client, job, "finish", 202)
    assert verbs() == set()


def finish(client: httpx.Client, job: str, body: Any, status: int) -> httpx.Response:
    answer = client.post(f"/v1/jobs/{job}/finish", json=body)
    assert answer.status_code == status, answer.text
    return answer


def test_finish_with_an_earlier_tree(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.checkpoint(11, tree=1)
    assert finish(client, job, {"revision": 1}, 202).json()["state"] == "STOPPING"
    worker.finish(12, reason=StopReason.USER_FINISH)
    ended = client.get(f"/v1/jobs/{job}").json()
    model = client.get(ended["links"]["model"]).json()
    assert (model["incumbent_revision"], model["objective"]) == (1, costs()[0])
    assert (ended["model_revision"], ended["progress"]["incumbents"]) == (1, 2)
    assert client.get("/v1/jobs").json()["items"][0]["model_revision"] == 1
    assert model["tree"]["proof"]["objective"] == costs()[0]
    assert model["metrics"] == client.get(f"/v1/jobs/{job}/incumbent?revision=1").json()["metrics"]


def test_an_ended_job_makes_another_model(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    for tree in range(3):
        worker.checkpoint(10, tree=tree)
    worker.prove()
    ended = client.get(f"/v1/jobs/{job}").json()
    first = ended["model_id"]
    assert ended["model_revision"] == 3
    made = finish(client, job, {"revision": 2}, 201)
    second = made.json()["model_id"]
    assert made.headers["location"] == f"/v1/models/{second}"
    assert (made.json()["state"], made.json()["model_revision"]) == ("SUCCEEDED", 2)
    again = finish(client, job, {"revision": 3}, 200).json()
    assert (again["model_id"], again["model_revision"]) == (first, 3)
    assert finish(client, job, {"revision": 2}, 200).json()["model_id"] == second != first
    assert client.get(f"/v1/models/{first}").json()["proven_optimal"]
    earlier = client.get(f"/v1/models/{second}").json()
    assert not earlier["proven_optimal"]
    assert earlier["objective"] == earlier["upper_bound"] == costs()[1]
    row = {"columns": ["x0", "x1"], "data": [[0.1, 0.2]]}
    assert client.post(f"/v1/models/{second}/predict", json=row).status_code == 200


def test_bodies_of_finish(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    bodies: list[Any] = [{"revision": 0}, {"revision": "1"}, {"revisions": 1}, {"revision": 2}, [], 1]
    for body in bodies:
        assert pointers(client.post(f"/v1/jobs/{job}/finish", json=body))
    text = client.post(f"/v1/jobs/{job}/finish", content="1", headers={"Content-Type": "text/plain"})
    problem(text, 415)
    assert finish(client, job, {}, 202).json()["state"] == "STOPPING"
    assert finish(client, job, {"revision": None}, 200).json()["state"] == "STOPPING"


def test_a_cancelled_job_is_told_how_to_keep_a_tree(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.finish(12, state=JobState.CANCELLED, reason=StopReason.USER_CANCEL)
    assert "revision" in problem(client.post(f"/v1/jobs/{job}/finish"), 409)["detail"]
    made = finish(client, job, {"revision": 1}, 201).json()
    assert (made["state"], made["stop_reason"]) == ("CANCELLED", "USER_CANCEL")
    assert client.get(made["links"]["model"]).json()["stop_reason"] == "USER_FINISH"


def test_a_script_that_fails_is_our_error_and_no_reason_to_try_again(
    api: Stack, client: httpx.Client, job: str
) -> None:
    api.connection.delete("literati:ended")
    api.connection.set("literati:ended", "of a wrong type")
    try:
        answer = client.post(f"/v1/jobs/{job}/cancel")
    finally:
        api.connection.delete("literati:ended")
    assert "Retry-After" not in answer.headers
    assert "does not answer" not in problem(answer, 500)["detail"]
    api.store.jobs.reconcile()
    assert client.get(f"/v1/jobs/{job}").json()["state"] == "QUEUED"
    assert client.post(f"/v1/jobs/{job}/cancel").json()["state"] == "CANCELLED"
