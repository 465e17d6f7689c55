"""The explored share, the stages and the threads of a job over HTTP."""

from __future__ import annotations

import threading
import time
from typing import Any

import httpx
import pytest

from literati import ShapeTree
from tests.support.http.service_client import pointers, submit
from tests.support.stack.acting_worker import ActingWorker, costs
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import StopReason
from worker.store.leases import WorkerCores

PART: dict[str, Any] = {"explored": 0.25, "seconds_left": 40.0, "stage": 0, "space": "adaptive"}
WIDER: dict[str, Any] = {"explored": 0.5, "seconds_left": None, "stage": 1, "space": "shape"}


def part_of(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in PART}


def test_every_view_has_the_explored_share(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    here = f"/v1/jobs/{submit(client, dataset)['id']}"
    queued = client.get(here).json()
    assert part_of(queued["progress"]) == {
        "explored": 0.0,
        "seconds_left": None,
        "stage": 0,
        "space": "adaptive",
    }
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0, **PART)
    job = client.get(here).json()
    assert part_of(job["progress"]) == PART
    (listed,) = client.get("/v1/jobs").json()["items"]
    assert part_of(listed["progress"]) == PART
    assert part_of(client.get(f"{here}/incumbent").json()) == PART
    (point,) = client.get(f"{here}/trace").json()["points"]
    assert (point["explored"], point["stage"]) == (0.25, 0)
    events = client.get(f"{here}/events").json()["items"]
    told = {event["type"]: event["data"] for event in events}
    assert part_of(told["incumbent"]) == part_of(told["bound"]) == PART
    worker.prove()
    ended = client.get(here).json()
    assert (ended["progress"]["explored"], ended["progress"]["seconds_left"]) == (1.0, 0.0)
    model = client.get(ended["links"]["model"]).json()
    assert (model["explored"], model["space"], model["proven_space"]) == (1.0, "adaptive", "adaptive")


def test_the_stages_of_a_search(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    here = f"/v1/jobs/{submit(client, dataset)['id']}"
    worker = ActingWorker(api.store)
    proven = {"explored": 1.0, "space": "adaptive", "proven_space": "adaptive", "last_stage": False}
    worker.checkpoint(costs()[0], tree=0, **proven)
    worker.checkpoint(30, **WIDER, proven_space="adaptive", last_stage=False)
    job = client.get(here).json()
    assert part_of(job["progress"]) == WIDER
    assert (job["progress"]["lower_bound"], job["proven_space"], job["proven_optimal"]) == (
        30,
        "adaptive",
        False,
    )
    best = client.get(f"{here}/incumbent").json()
    assert part_of(best) == WIDER
    assert (best["lower_bound"], best["proven_space"]) == (30, "adaptive")
    assert best["tree"]["proof"]["lower_bound"] != 30, "the proof in the tree is about its own space"
    first = client.get(f"{here}/incumbent?revision=1").json()
    assert (first["explored"], first["stage"], first["lower_bound"]) == (1.0, 0, costs()[0])
    assert (first["space"], first["proven_space"]) == ("adaptive", "adaptive")
    points = client.get(f"{here}/trace").json()["points"]
    assert [(point["stage"], point["lower"]) for point in points] == [(0, costs()[0]), (1, 30)]
    worker.checkpoint(35, tree=1, **WIDER, proven_space="adaptive", last_stage=False)
    best = client.get(f"{here}/incumbent").json()
    assert best["tree"]["proof"]["lower_bound"] == 35
    assert ShapeTree.from_dict(best["tree"]).objective == costs()[1]
    worker.finish(36, reason=StopReason.TIME_LIMIT)  # said of stage 0 by this worker: not believed
    ended = client.get(here).json()
    assert (ended["progress"]["lower_bound"], ended["stop_reason"]) == (35, "TIME_LIMIT")
    model = client.get(ended["links"]["model"]).json()
    assert (model["space"], model["proven_space"], model["proven_optimal"]) == ("shape", "adaptive", False)


class TestWaiting:
    def test_the_explored_share_alone_is_not_awaited(
        self, api: Stack, client: httpx.Client, dataset: Dataset
    ) -> None:
        here = f"/v1/jobs/{submit(client, dataset)['id']}/incumbent"
        worker = ActingWorker(api.store)
        worker.checkpoint(10, tree=0, explored=0.25)
        before = client.get(here)
        timer = threading.Timer(0.2, lambda: worker.checkpoint(10, explored=0.5))
        timer.start()
        start = time.monotonic()
        tag = before.headers["etag"]
        answer = client.get(here, headers={"Prefer": "wait=1", "If-None-Match": tag})
        timer.join()
        assert time.monotonic() - start > 0.9
        assert (answer.status_code, answer.json()["explored"]) == (200, 0.5), "the bytes are others"
        assert answer.headers["etag"] != tag
        again = client.get(here, headers={"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304

    def test_another_stage_is_awaited(self, api: Stack, client: httpx.Client, dataset: Dataset) -> None:
        here = f"/v1/jobs/{submit(client, dataset)['id']}/incumbent"
        worker = ActingWorker(api.store)
        worker.checkpoint(10, tree=0)
        tag = client.get(here).headers["etag"]
        timer = threading.Timer(0.2, lambda: worker.checkpoint(10, **WIDER))
        timer.start()
        answer = client.get(here, headers={"Prefer": "wait=30", "If-None-Match": tag})
        timer.join()
        assert answer.json()["stage"] == 1


class TestThreads:
    @pytest.mark.parametrize(("n_threads", "threads"), [(1, 1), (3, 3), (16, 4), (-1, 4)])
    def test_a_job_has_as_many_cores_as_threads(
        self, api: Stack, client: httpx.Client, dataset: Dataset, n_threads: int, threads: int
    ) -> None:
        job = submit(client, dataset, parameters={"n_threads": n_threads})
        assert (job["parameters"]["n_threads"], job["threads"]) == (n_threads, None)
        assert api.store.jobs.claim("child", WorkerCores("busy", threads - 1, 4)) is None
        claim = api.store.jobs.claim("child", WorkerCores("free", 4, 4))
        assert claim is not None
        assert claim.threads == threads
        assert client.get(f"/v1/jobs/{job['id']}").json()["threads"] == threads
        assert api.store.measure().busy_cores == threads

    @pytest.mark.parametrize("mode", ["all", "quantile"])
    def test_a_mode_without_threads_has_one_core(
        self, api: Stack, client: httpx.Client, dataset: Dataset, mode: str
    ) -> None:
        submit(client, dataset, parameters={"n_threads": -1, "candidates": mode})
        claim = api.store.jobs.claim("child", WorkerCores("free", 1, 4))
        assert claim is not None
        assert claim.threads == 1

    @pytest.mark.parametrize("n_threads", [0, -2, 17, 1.5, "2", None, True])
    def test_numbers_that_are_refused(
        self, client: httpx.Client, dataset: Dataset, n_threads: object
    ) -> None:
        body = {"dataset_id": dataset.id, "parameters": {"n_threads": n_threads}}
        answer = client.post("/v1/jobs", json=body)
        assert pointers(answer) == ["/body/parameters/n_threads"]

    def test_zero_is_explained_with_a_remedy(self, client: httpx.Client, dataset: Dataset) -> None:
        body = {"dataset_id": dataset.id, "parameters": {"n_threads": 0}}
        problem = client.post("/v1/jobs", json=body).json()
        assert "-1 or an integer from 1 to 16" in problem["errors"][0]["message"]
        assert problem["fixes"][0]["label"] == "Use the default of `n_threads`"
