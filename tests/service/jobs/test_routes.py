"""Jobs over HTTP: start, look, list, delete."""

from __future__ import annotations

import threading
import time
from typing import Any

import httpx
import pytest
from redis import Redis

from tests.support.http.service_client import NO_DATASET, NOWHERE, pointers, problem, submit
from tests.support.records.jobs import add_dataset, noise
from tests.support.stack.acting_worker import ActingWorker, costs
from tests.support.stack.stack import Stack, poll
from worker.domain.datasets import Dataset
from worker.domain.jobs import JobState, StopReason

FIELDS = {
    *("id", "state", "stop_reason", "revision", "progress", "proven_optimal", "proven_space", "parameters"),
    *("limits", "dataset_id", "dataset_sha256", "engine_version", "parent_job_id", "sweep_id", "model_id"),
    *("model_revision", "metrics", "notes"),
    *("error", "created_at", "queued_at", "started_at", "first_incumbent_at", "finished_at", "heartbeat_at"),
    *("transitions", "links", "name", "tags", "priority", "validation", "threads"),
}


def test_a_job_is_accepted_and_can_be_looked_at(client: httpx.Client, dataset: Dataset) -> None:
    answer = client.post(
        "/v1/jobs",
        json={
            "dataset_id": dataset.id,
            "name": "café",
            "tags": {"team": "a"},
            "parameters": {"max_depth": 2, "class_weight": {"in": 2.0}},
            "limits": {"time_limit": None, "max_expansions": 10},
            "validation": {"fraction": 0.25},
        },
    )
    assert answer.status_code == 202
    job = answer.json()
    assert set(job) == FIELDS
    assert answer.headers["location"] == f"/v1/jobs/{job['id']}"
    assert answer.headers["retry-after"] == "1"
    assert (job["state"], job["name"], job["tags"]) == ("QUEUED", "café", {"team": "a"})
    assert job["parameters"]["max_changepoints"] == 2  # a default
    assert job["limits"]["time_limit"] is None
    assert job["validation"] == {"fraction": 0.25, "seed": 0}
    assert job["dataset_sha256"] == dataset.sha256
    assert [step["state"] for step in job["transitions"]] == ["QUEUED"]
    assert job["created_at"].endswith("Z")
    assert client.get(job["links"]["self"]).json() == job


def test_a_wake_up_is_sent_with_the_job(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    submit(client, dataset)
    assert _waiting(api.connection) == 1


def _waiting(connection: Redis) -> Any:
    return connection.llen("literati")


def test_validate_only_shows_the_job_and_starts_nothing(
    api: Stack, client: httpx.Client, dataset: Dataset
) -> None:
    answer = client.post(
        "/v1/jobs",
        params={"validate_only": "true"},
        json={"dataset_id": dataset.id, "parameters": {"max_depth": 3}},
    )
    assert answer.status_code == 200
    assert answer.json()["parameters"]["max_depth"] == 3
    assert answer.json()["limits"]["time_limit"] == 60
    assert set(answer.json()) == FIELDS
    assert client.get("/v1/jobs").json()["items"] == []
    assert _waiting(api.connection) == 0
    bad = client.post("/v1/jobs", params={"validate_only": "true"}, json={"dataset_id": NO_DATASET})
    assert pointers(bad) == ["/body/dataset_id"]


class TestIdempotency:
    def test_the_same_key_and_body_are_the_same_job(self, client: httpx.Client, dataset: Dataset) -> None:
        body = {"dataset_id": dataset.id, "priority": 1}
        first = client.post("/v1/jobs", json=body, headers={"Idempotency-Key": "k1"})
        again = client.post(
            "/v1/jobs",
            content=f'{{"priority": 1,   "dataset_id": "{dataset.id}"}}',  # another spelling
            headers={"Idempotency-Key": "k1", "Content-Type": "application/json"},
        )
        assert first.status_code == again.status_code == 202
        assert first.json() == again.json()
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        assert len(client.get("/v1/jobs").json()["items"]) == 1

    def test_the_same_job_though_its_dataset_is_gone(self, client: httpx.Client, dataset: Dataset) -> None:
        """Whoever tries again because an answer was lost wants that answer."""
        body, key = {"dataset_id": dataset.id}, {"Idempotency-Key": "k4"}
        first = client.post("/v1/jobs", json=body, headers=key).json()
        assert client.post(first["links"]["cancel"]).status_code == 202
        assert client.delete(first["links"]["dataset"]).status_code == 204
        again = client.post("/v1/jobs", json=body, headers=key)
        assert (again.status_code, again.json()["id"]) == (202, first["id"])
        assert again.headers["idempotency-replayed"] == "true"
        other = client.post("/v1/jobs", json={**body, "priority": 1}, headers=key)
        assert pointers(other) == ["/header/Idempotency-Key"]

    def test_another_body_under_the_same_key_is_refused(self, client: httpx.Client, dataset: Dataset) -> None:
        for priority, status in ((1, 202), (2, 422)):
            answer = client.post(
                "/v1/jobs",
                json={"dataset_id": dataset.id, "priority": priority},
                headers={"Idempotency-Key": "k2"},
            )
            assert answer.status_code == status
        assert pointers(answer) == ["/header/Idempotency-Key"]

    @pytest.mark.parametrize("key", ["", "with space", "x" * 256, "é"])
    def test_a_key_is_a_plain_word(self, client: httpx.Client, dataset: Dataset, key: str) -> None:
        answer = client.post(
            "/v1/jobs", json={"dataset_id": dataset.id}, headers={b"Idempotency-Key": key.encode()}
        )
        assert pointers(answer) == ["/header/Idempotency-Key"]

    def test_many_at_once_make_one_job(self, api: Stack, dataset: Dataset) -> None:
        seen: list[str] = []

        def send() -> None:
            with api.client() as client:
                answer = client.post(
                    "/v1/jobs", json={"dataset_id": dataset.id}, headers={"Idempotency-Key": "k3"}
                )
                seen.append(answer.json()["id"])

        threads = [threading.Thread(target=send) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 8
        assert len(set(seen)) == 1


class TestList:
    def test_pages_newest_first(self, client: httpx.Client, dataset: Dataset) -> None:
        ids = [submit(client, dataset)["id"] for _ in range(5)]
        seen, token, pages = [], None, 0
        while pages == 0 or token:
            query = {"page_size": 2} | ({"page_token": token} if token else {})
            page = client.get("/v1/jobs", params=query).json()
            assert set(page) == {"items", "next_page_token"}
            seen += [job["id"] for job in page["items"]]
            token, pages = page["next_page_token"], pages + 1
        assert seen == ids[::-1]
        assert pages == 3

    def test_by_state(self, api: Stack, client: httpx.Client, dataset: Dataset) -> None:
        cancelled, queued = submit(client, dataset)["id"], submit(client, dataset)["id"]
        client.post(f"/v1/jobs/{cancelled}/cancel")

        def ids(query: str) -> list[str]:
            return [job["id"] for job in client.get(f"/v1/jobs?{query}").json()["items"]]

        assert ids("state=CANCELLED") == [cancelled]
        assert ids("state=QUEUED") == [queued]
        assert ids("state=QUEUED&state=CANCELLED") == [queued, cancelled]
        assert ids("state=RUNNING") == []

    @pytest.mark.parametrize(
        ("query", "pointer"),
        [
            ("page_size=0", "/query/page_size"),
            ("page_size=201", "/query/page_size"),
            ("page_size=two", "/query/page_size"),
            ("page_token=nonsense", "/query/page_token"),
            ("page_token=%ff%00", "/query/page_token"),
            ("state=running", "/query/state/0"),
        ],
    )
    def test_bad_queries(self, client: httpx.Client, query: str, pointer: str) -> None:
        assert pointers(client.get(f"/v1/jobs?{query}")) == [pointer]


class TestLook:
    def test_what_the_client_has_is_not_sent_again(
        self, api: Stack, client: httpx.Client, dataset: Dataset
    ) -> None:
        job = submit(client, dataset)
        answer = client.get(f"/v1/jobs/{job['id']}")
        tag = answer.headers["etag"]
        assert tag.startswith('W/"')
        assert answer.headers["cache-control"] == "private, no-cache"
        for given in (tag, f'"x", {tag}', "*"):
            same = client.get(f"/v1/jobs/{job['id']}", headers={"If-None-Match": given})
            assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
        ActingWorker(api.store)
        changed = client.get(f"/v1/jobs/{job['id']}", headers={"If-None-Match": tag})
        assert changed.status_code == 200
        assert changed.headers["etag"] != tag
        assert changed.json()["state"] == "STARTING"

    def test_waiting_ends_when_the_revision_changes(
        self, api: Stack, client: httpx.Client, dataset: Dataset
    ) -> None:
        job = submit(client, dataset)
        tag = client.get(f"/v1/jobs/{job['id']}").headers["etag"]
        for headers in ({"If-None-Match": tag}, {}):
            if not headers:
                client.post(f"/v1/jobs/{job['id']}/pause")
            timer = threading.Timer(0.3, lambda: client_of_its_own(api, job["id"]))
            timer.start()
            started = time.monotonic()
            answer = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=30", **headers})
            timer.join()
            assert answer.status_code == 200
            assert answer.headers["preference-applied"] == "wait=30"
            assert "prefer" in answer.headers["vary"].lower()
            assert 0.2 < time.monotonic() - started < 10
            assert answer.json()["revision"] > job["revision"]

    def test_waiting_ends_when_the_time_is_up(self, client: httpx.Client, dataset: Dataset) -> None:
        job = submit(client, dataset)
        tag = client.get(f"/v1/jobs/{job['id']}").headers["etag"]
        started = time.monotonic()
        answer = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=1", "If-None-Match": tag})
        assert answer.status_code == 304
        assert 0.9 < time.monotonic() - started < 5

    def test_nothing_is_waited_for_when_there_is_news_or_none_can_come(
        self, api: Stack, client: httpx.Client, dataset: Dataset
    ) -> None:
        job = submit(client, dataset)
        started = time.monotonic()
        headers = {"Prefer": "respond-async, wait=60", "If-None-Match": 'W/"0"'}
        assert client.get(f"/v1/jobs/{job['id']}", headers=headers).status_code == 200
        client.post(f"/v1/jobs/{job['id']}/cancel")
        answer = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=3600"})
        assert answer.json()["state"] == "CANCELLED"
        assert answer.headers["preference-applied"] == "wait=60"  # the most that is granted
        assert time.monotonic() - started < 10

    @pytest.mark.parametrize("prefer", ["wait", "wait=", "wait=-1", "wait=x", "return=minimal", "wait=1e9"])
    def test_preferences_that_mean_nothing_are_ignored(
        self, client: httpx.Client, dataset: Dataset, prefer: str
    ) -> None:
        answer = client.get(f"/v1/jobs/{submit(client, dataset)['id']}", headers={"Prefer": prefer})
        assert answer.status_code == 200
        assert "preference-applied" not in answer.headers


def client_of_its_own(api: Stack, job_id: str) -> None:
    """A change made by someone else, while the test's own client waits."""
    with api.client() as client:
        verb = "resume" if client.get(f"/v1/jobs/{job_id}").json()["state"] == "PAUSED" else "pause"
        assert client.post(f"/v1/jobs/{job_id}/{verb}").status_code == 202


def test_a_finished_job_says_why_and_links_to_its_model(
    api: Stack, client: httpx.Client, dataset: Dataset
) -> None:
    job = submit(client, dataset)
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.prove()
    job = client.get(f"/v1/jobs/{job['id']}").json()
    assert (job["state"], job["stop_reason"], job["proven_optimal"]) == ("SUCCEEDED", "PROVEN_OPTIMAL", True)
    assert job["links"]["model"] == f"/v1/models/{job['model_id']}"
    assert not {"finish", "cancel", "pause", "resume"} & set(job["links"])
    assert job["progress"]["gap_absolute"] == 0
    assert job["finished_at"] >= job["first_incumbent_at"] >= job["started_at"] >= job["queued_at"]


def test_the_trace_has_every_point(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job = submit(client, dataset)
    here = f"/v1/jobs/{job['id']}/trace"
    assert client.get(here).json() == {"job_id": job["id"], "points": []}
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.checkpoint(20, tree=1)
    answer = client.get(here)
    points = answer.json()["points"]
    assert [(point["upper"], point["lower"]) for point in points] == [(costs()[0], 10), (costs()[1], 20)]
    assert set(points[0]) == {"seconds", "expansions", "upper", "lower", "explored", "stage"}
    assert client.get(here, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304


class TestDelete:
    def test_an_ended_job_goes_with_its_blobs(
        self, api: Stack, client: httpx.Client, dataset: Dataset
    ) -> None:
        job = submit(client, dataset)
        worker = ActingWorker(api.store)
        blob = api.blobs.put(b"the search itself")
        worker.checkpoint(10, tree=0, snapshot=blob)
        problem(client.delete(f"/v1/jobs/{job['id']}"), 409, "job-live")
        worker.finish(10, state=JobState.FAILED, reason=StopReason.ERROR)
        answer = client.delete(f"/v1/jobs/{job['id']}")
        assert (answer.status_code, answer.content) == (204, b"")
        problem(client.get(f"/v1/jobs/{job['id']}"), 404, "not-found")
        problem(client.delete(f"/v1/jobs/{job['id']}"), 404, "not-found")
        assert client.get("/v1/jobs").json()["items"] == []
        assert api.store.retention.expire("deleted", 0, 10) == 1
        poll(lambda: not (api.blobs.folder / blob[:2] / blob).exists(), what="the blob's end")

    def test_a_queued_job_is_live(self, client: httpx.Client, dataset: Dataset) -> None:
        problem(client.delete(f"/v1/jobs/{submit(client, dataset)['id']}"), 409, "job-live")


@pytest.mark.parametrize("identity", [NOWHERE, "x", "job_", "job_" + 32 * "F", "%00", "job_%0a", "a:b"])
@pytest.mark.parametrize(
    ("method", "tail"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("GET", "/incumbent"),
        ("GET", "/trace"),
        ("GET", "/scores"),
        ("GET", "/events"),
        ("POST", "/finish"),
        ("POST", "/cancel"),
        ("POST", "/pause"),
        ("POST", "/resume"),
    ],
)
def test_a_job_that_is_not_there(client: httpx.Client, identity: str, method: str, tail: str) -> None:
    problem(client.request(method, f"/v1/jobs/{identity}{tail}"), 404, "not-found")


def test_parent_jobs_need_a_tree(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    parent = submit(client, dataset)["id"]
    body = {"dataset_id": dataset.id, "parent_job_id": parent}
    assert pointers(client.post("/v1/jobs", json=body)) == ["/body/parent_job_id"]
    ActingWorker(api.store).checkpoint(10, tree=0)
    job = client.post("/v1/jobs", json=body).json()
    assert job["parent_job_id"] == parent
    assert job["links"]["parent"] == f"/v1/jobs/{parent}"


def test_the_number_of_live_jobs_has_a_limit(narrow: Stack, dataset: Dataset) -> None:
    limits = {"time_limit": 1, "memory_limit": 900_000}
    with narrow.client() as client:
        first = submit(client, dataset, limits=limits)
        submit(client, dataset, limits=limits)
        refused = client.post("/v1/jobs", json={"dataset_id": dataset.id, "limits": limits})
        problem(refused, 429, "too-many-jobs")
        assert int(refused.headers["retry-after"]) > 0
        client.post(f"/v1/jobs/{first['id']}/cancel")
        submit(client, dataset, limits=limits)


def test_priority_comes_before_order(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    low, high, next_low = (submit(client, dataset, priority=p)["id"] for p in (0, 5, 0))
    assert [ActingWorker(api.store).id for _ in range(3)] == [high, low, next_low]


def test_weights_by_class_are_spelt_as_text(api: Stack, client: httpx.Client) -> None:
    cells = noise()
    cells["label"] = [bool(i % 2) for i in range(600)]
    dataset = add_dataset(api.store, api.blobs, cells)
    submit(client, dataset, parameters={"class_weight": {"true": 2.0, "false": 1.0}})
    bad = {"dataset_id": dataset.id, "parameters": {"class_weight": {"True": 2.0, "a/b": 1.0}}}
    assert pointers(client.post("/v1/jobs", json=bad)) == [
        "/body/parameters/class_weight/True",
        "/body/parameters/class_weight/a~1b",
    ]
