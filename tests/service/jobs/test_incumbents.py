"""The best tree of a job over HTTP: with the bounds of now, or numbered and frozen; waited for, or not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest

from literati import ShapeTree
from tests.support.http.service_client import pointers, problem, submit
from tests.support.stack.acting_worker import ActingWorker, costs, trees
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import JobState, StopReason

FIELDS = {
    *("job_id", "revision", "objective", "upper_bound", "lower_bound", "gap_absolute", "gap_relative"),
    *("beyond_space", "proven_optimal", "proven_space", "tree", "metrics", "found_at", "found_seconds"),
    *("explored", "seconds_left", "stage", "space"),
}


@pytest.fixture
def job(client: httpx.Client, dataset: Dataset) -> str:
    return str(submit(client, dataset)["id"])


@pytest.fixture
def here(job: str) -> str:
    return f"/v1/jobs/{job}/incumbent"


def test_before_the_first_tree(api: Stack, client: httpx.Client, job: str, here: str) -> None:
    answer = client.get(here)
    assert answer.status_code == 202
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json() == {"job_id": job, "state": "QUEUED", "revision": 0}
    problem(client.get(here, params={"revision": 1}), 404, "not-found")
    client.post(f"/v1/jobs/{job}/cancel")
    problem(client.get(here), 404, "not-found")  # none will come


def test_the_best_tree_has_the_bounds_of_now(api: Stack, client: httpx.Client, here: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    first = client.get(here)
    worker.checkpoint(50)
    second = client.get(here)
    for answer, lower in ((first, 10), (second, 50)):
        body = answer.json()
        assert set(body) == FIELDS
        assert (body["revision"], body["objective"]) == (1, costs()[0])
        assert (body["upper_bound"], body["lower_bound"]) == (costs()[0], lower)
        assert body["gap_absolute"] == costs()[0] - lower
        assert body["gap_relative"] == (costs()[0] - lower) / costs()[0]
        assert body["tree"]["proof"]["lower_bound"] == body["tree"]["nodes"][0]["bound"] == lower
        assert ShapeTree.from_dict(body["tree"]).objective == costs()[0]
    assert first.headers["etag"] != second.headers["etag"]
    worker.prove()
    proven = client.get(here).json()
    assert proven["proven_optimal"]
    assert proven["tree"]["proof"]["proven_optimal"]
    assert proven["tree"]["nodes"][0]["proven"]
    assert proven["gap_relative"] == 0


def test_the_scores_of_all_trees(api: Stack, client: httpx.Client, job: str) -> None:
    here = f"/v1/jobs/{job}/scores"
    empty = client.get(here)
    assert empty.json() == {"job_id": job, "points": []}
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.checkpoint(20, tree=1)
    answer = client.get(here)
    points = answer.json()["points"]
    assert [(point["revision"], point["objective"]) for point in points] == [(1, costs()[0]), (2, costs()[1])]
    for point in points:
        tree = client.get(f"/v1/jobs/{job}/incumbent", params={"revision": point["revision"]}).json()
        assert point["leaves"] == sum(node["split"] is None for node in tree["tree"]["nodes"])
        assert point["train_accuracy"] == tree["metrics"]["train_accuracy"]
        assert point["found_seconds"] == tree["found_seconds"]
    assert client.get(here, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert client.get(here, headers={"If-None-Match": empty.headers["etag"]}).status_code == 200


def test_a_numbered_tree_is_frozen(api: Stack, client: httpx.Client, here: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    before = client.get(here, params={"revision": 1})
    worker.checkpoint(50, tree=1)
    worker.prove()
    after = client.get(here, params={"revision": 1})
    assert before.content == after.content
    assert before.headers["etag"] == after.headers["etag"]
    assert not before.headers["etag"].startswith("W/")
    assert after.json()["lower_bound"] == 10
    assert after.json()["tree"] == trees()[0]
    assert client.get(here, params={"revision": 2}).json()["objective"] == costs()[1]
    problem(client.get(here, params={"revision": 3}), 404, "not-found")


@pytest.mark.parametrize("revision", ["0", "-1", "x", "1.5", str(1 << 60), ""])
def test_bad_revisions(client: httpx.Client, here: str, revision: str) -> None:
    assert pointers(client.get(here, params={"revision": revision})) == ["/query/revision"]


def test_what_the_client_has_is_not_sent_again(api: Stack, client: httpx.Client, here: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    for query in ({}, {"revision": 1}):
        tag = client.get(here, params=query).headers["etag"]
        same = client.get(here, params=query, headers={"If-None-Match": tag})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    worker.checkpoint(11)
    tag = client.get(here).headers["etag"]
    assert client.get(here, headers={"If-None-Match": tag}).status_code == 304
    assert client.get(here, params={"revision": 1}, headers={"If-None-Match": tag}).status_code == 200


def after(seconds: float, step: Any) -> threading.Timer:
    timer = threading.Timer(seconds, step)
    timer.start()
    return timer


class TestWaiting:
    def test_for_the_first_tree(self, api: Stack, client: httpx.Client, here: str) -> None:
        worker = ActingWorker(api.store)
        timer = after(0.2, lambda: worker.checkpoint(10, tree=0))
        answer = client.get(here, headers={"Prefer": "wait=30"})
        timer.join()
        assert answer.status_code == 200
        assert answer.headers["preference-applied"] == "wait=30"

    def test_for_better_bounds(self, api: Stack, client: httpx.Client, here: str) -> None:
        worker = ActingWorker(api.store)
        worker.checkpoint(10, tree=0)
        tag = client.get(here).headers["etag"]
        timer = after(0.2, lambda: worker.checkpoint(11))
        answer = client.get(here, headers={"Prefer": "wait=30", "If-None-Match": tag})
        timer.join()
        assert answer.json()["lower_bound"] == 11

    def test_in_vain(self, api: Stack, client: httpx.Client, job: str, here: str) -> None:
        headers = {"Prefer": "wait=1"}
        for query in ({}, {"revision": 1}):
            answer = client.get(here, params=query, headers=headers)
            assert (answer.status_code, answer.headers["preference-applied"]) == (202, "wait=1")
            assert "retry-after" in answer.headers
        ActingWorker(api.store).checkpoint(10, tree=0)
        tag = client.get(here).headers["etag"]
        assert client.get(here, headers={**headers, "If-None-Match": tag}).status_code == 304
        assert client.get(here, params={"revision": 2}, headers=headers).json()["revision"] == 1

    def test_ends_with_the_job(self, api: Stack, client: httpx.Client, here: str) -> None:
        worker = ActingWorker(api.store)
        timer = after(0.2, lambda: worker.finish(10, state=JobState.FAILED, reason=StopReason.ERROR))
        started = time.monotonic()
        answer = client.get(here, params={"revision": 1}, headers={"Prefer": "wait=60"})
        timer.join()
        problem(answer, 404, "not-found")
        assert time.monotonic() - started < 20


def every_revision(client: httpx.Client, here: str) -> Iterator[dict[str, Any]]:
    """What a client does that wants to see all trees in order."""
    revision = 1
    while True:
        answer = client.get(here, params={"revision": revision}, headers={"Prefer": "wait=20"})
        if answer.status_code == 404:
            return
        assert answer.status_code in (200, 202), answer.text
        if answer.status_code == 200:
            yield answer.json()
            revision += 1


def test_a_waiting_client_sees_every_tree_in_order(api: Stack, client: httpx.Client, here: str) -> None:
    worker = ActingWorker(api.store)

    def work() -> None:
        for tree in range(len(trees())):
            worker.checkpoint(10 * tree, tree=tree)
            worker.checkpoint(10 * tree + 5)
        worker.prove()

    timer = after(0.2, work)
    seen = list(every_revision(client, here))
    timer.join()
    assert [tree["revision"] for tree in seen] == list(range(1, len(trees()) + 1))
    assert [tree["objective"] for tree in seen] == costs()
    uppers, lowers = ([tree[name] for tree in seen] for name in ("upper_bound", "lower_bound"))
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers)


def test_a_client_that_polls_for_news_sees_bounds_only_tighten(
    api: Stack, client: httpx.Client, here: str
) -> None:
    worker = ActingWorker(api.store)

    def work() -> None:
        for step in range(40):
            worker.checkpoint(step, tree=step // 10 if step % 10 == 0 else None)
        worker.prove()

    timer = after(0.2, work)
    seen: list[dict[str, Any]] = []
    tag = '"none"'
    while not (seen and seen[-1]["proven_optimal"]):
        answer = client.get(here, headers={"Prefer": "wait=20", "If-None-Match": tag})
        assert answer.status_code in (200, 202, 304), answer.text
        if answer.status_code == 200:
            seen.append(answer.json())
            tag = answer.headers["etag"]
    timer.join()
    for before, now in pairwise(seen):
        assert now["revision"] >= before["revision"]
        assert now["upper_bound"] <= before["upper_bound"]
        assert now["lower_bound"] >= before["lower_bound"]
        assert now["objective"] <= now["upper_bound"]
        assert (now["upper_bound"], now["lower_bound"]) != (before["upper_bound"], before["lower_bound"])
