"""Through the real worker: upload, start, watch the bounds meet, steer, predict."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest
from sklearn.datasets import load_breast_cancer

from literati import ShapeTree
from literati.tree.nodes import BEYOND_SPACE
from tests.support.http.event_client import Seen, listen
from tests.support.http.service_client import submit
from tests.support.records.jobs import add_dataset, easy, noise, spec
from tests.support.stack.stack import Stack, poll
from worker.domain.datasets import Dataset
from worker.domain.validation import ValidationColumn

LONG = {"max_depth": 6, "max_changepoints": 3}  # on noise it does not end by itself


@pytest.fixture
def user(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client() as client:
        yield client


@pytest.fixture(scope="session")
def easy_data(stack: Stack) -> Dataset:
    return add_dataset(stack.store, stack.blobs, easy())


@pytest.fixture(scope="session")
def noisy_data(stack: Stack) -> Dataset:
    return add_dataset(stack.store, stack.blobs, noise())


def wait_for_end(client: httpx.Client, job_id: str) -> dict[str, Any]:
    """As a client should: long polls, not busy ones."""
    tag = '""'
    while True:
        answer = client.get(f"/v1/jobs/{job_id}", headers={"Prefer": "wait=20", "If-None-Match": tag})
        if answer.status_code == 200:
            job: dict[str, Any] = answer.json()
            tag = answer.headers["etag"]
            if job["state"] in ("SUCCEEDED", "CANCELLED", "FAILED"):
                return job


def wait_for_state(client: httpx.Client, job_id: str, state: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        job: dict[str, Any] = client.get(f"/v1/jobs/{job_id}").json()
        return job if job["state"] == state else None

    return poll(look, what=state)


def wait_for_tree(client: httpx.Client, job_id: str) -> None:
    answer = client.get(f"/v1/jobs/{job_id}/incumbent", headers={"Prefer": "wait=30"})
    assert answer.status_code == 200


def test_a_job_ends_with_a_proof(user: httpx.Client, easy_data: Dataset) -> None:
    job = submit(user, easy_data, parameters={"max_depth": 2}, validation={"fraction": 0.2})
    done = wait_for_end(user, job["id"])
    assert (done["state"], done["stop_reason"], done["proven_optimal"]) == (
        "SUCCEEDED",
        "PROVEN_OPTIMAL",
        True,
    )
    assert done["progress"]["lower_bound"] == done["progress"]["upper_bound"]
    assert 0 < done["metrics"]["validation_accuracy"] <= 1
    model = user.get(done["links"]["model"]).json()
    assert model["proven_optimal"]
    incumbent = user.get(done["links"]["incumbent"]).json()
    importances = model["tree"]["summary"]["feature_importances"]
    assert importances == incumbent["tree"]["summary"]["feature_importances"]
    assert importances[0]["feature"] == "x"
    saved = model["tree"]["nodes"][0]["error"] - model["objective"]
    assert sum(entry["errors_saved"] for entry in importances) == saved
    rows = {"records": [{"x": 0.1, "z": 1}, {"x": 2.0, "z": 1}]}
    predicted = user.post(f"{done['links']['model']}/predict", json=rows).json()
    assert set(predicted["predictions"]) <= {"in", "out"}


def test_a_tree_polished_beyond_its_space_says_so_everywhere(stack: Stack, user: httpx.Client) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    cells = {f"x{place}": X[:, place] for place in range(X.shape[1])} | {"label": y.astype(str)}
    data = add_dataset(stack.store, stack.blobs, cells)
    job = submit(user, data, parameters={"max_depth": 3, "candidate_leaves": 2})
    done = wait_for_end(user, job["id"])
    progress = done["progress"]
    assert progress["objective"] < progress["upper_bound"] == progress["lower_bound"]
    assert progress["beyond_space"] is True
    incumbent = user.get(done["links"]["incumbent"]).json()
    first = user.get(done["links"]["incumbent"], params={"revision": 1}).json()
    model = user.get(done["links"]["model"]).json()
    listed = user.get("/v1/models").json()["items"][0]
    for shown in (incumbent, first, model, listed):
        assert shown["beyond_space"] is (shown["objective"] < shown["upper_bound"])
        if "tree" in shown:
            assert shown["tree"]["proof"]["beyond_space"] is shown["beyond_space"]
    assert incumbent["beyond_space"] is model["beyond_space"] is True
    events = user.get(done["links"]["events"]).json()["items"]
    told = [event["data"] for event in events if event["type"] in ("incumbent", "bound")]
    assert all(data["beyond_space"] is (data["objective"] < data["upper_bound"]) for data in told)
    assert told[-1]["beyond_space"] is True
    assert BEYOND_SPACE in user.get(model["links"]["rules"]).text
    assert BEYOND_SPACE in user.get(model["links"]["tree_svg"]).text


def test_integers_beyond_2_53_can_be_learned_from(user: httpx.Client) -> None:
    big = 1 << 60
    text = "id,label\n" + "".join(f"{big + 1000 * k},{'ab'[k > 20]}\n" for k in range(40))
    headers = {"Content-Type": "text/csv"}
    data = user.post("/v1/datasets", params={"target": "label"}, content=text, headers=headers).json()
    job = user.post("/v1/jobs", json={"dataset_id": data["id"], "parameters": {"max_depth": 1}}).json()
    done = wait_for_end(user, job["id"])
    assert (done["state"], done["error"], done["progress"]["objective"]) == ("SUCCEEDED", None, 0.0)


def test_every_revision_in_order_with_bounds_that_only_tighten(
    user: httpx.Client, noisy_data: Dataset
) -> None:
    job = submit(user, noisy_data, parameters=LONG, limits={"time_limit": 3})
    here = f"/v1/jobs/{job['id']}/incumbent"
    seen: list[dict[str, Any]] = []
    while True:
        query = {"revision": len(seen) + 1}
        answer = user.get(here, params=query, headers={"Prefer": "wait=20"})
        if answer.status_code == 404:
            break
        if answer.status_code == 200:
            seen.append(answer.json())
    assert [tree["revision"] for tree in seen] == list(range(1, len(seen) + 1))
    assert len(seen) >= 2
    for before, now in pairwise(seen):
        assert now["objective"] < before["objective"]
        assert now["upper_bound"] <= before["upper_bound"]
        assert now["lower_bound"] >= before["lower_bound"]
    for tree in seen:
        assert ShapeTree.from_dict(tree["tree"]).objective == tree["objective"]
        assert tree["lower_bound"] <= tree["upper_bound"]
    done = wait_for_end(user, job["id"])
    assert done["stop_reason"] == "TIME_LIMIT"
    assert not done["proven_optimal"]
    assert done["progress"]["incumbents"] == len(seen)


def test_a_stream_that_drops_and_comes_back_misses_nothing(
    stack: Stack, user: httpx.Client, noisy_data: Dataset
) -> None:
    job = submit(user, noisy_data, parameters=LONG, limits={"time_limit": 2})
    here = f"/v1/jobs/{job['id']}/events"
    whole: list[Seen] = []

    def watch() -> None:
        with stack.client() as other:
            whole.extend(listen(other, here))

    watcher = threading.Thread(target=watch)
    watcher.start()
    dropped: list[Seen] = []
    while not (dropped and dropped[-1].event == "done"):
        for number, event in enumerate(listen(user, here, last=dropped[-1].id if dropped else None)):
            dropped.append(event)
            if number == 2:
                break
    watcher.join()
    assert dropped == whole
    assert {"state", "incumbent", "bound", "done"} <= {event.event for event in whole}


def test_finish_keeps_the_best_tree(user: httpx.Client, noisy_data: Dataset) -> None:
    job = submit(user, noisy_data, parameters=LONG, limits={"time_limit": None})["id"]
    wait_for_tree(user, job)
    assert user.post(f"/v1/jobs/{job}/finish").status_code in (200, 202)
    done = wait_for_end(user, job)
    assert (done["state"], done["stop_reason"]) == ("SUCCEEDED", "USER_FINISH")
    assert user.get(done["links"]["model"]).json()["objective"] == done["progress"]["objective"]
    assert user.delete(f"/v1/jobs/{job}").status_code == 204
    assert user.get(done["links"]["model"]).status_code == 200  # the model stays


def test_cancel_makes_no_model(user: httpx.Client, noisy_data: Dataset) -> None:
    job = submit(user, noisy_data, parameters=LONG, limits={"time_limit": None})["id"]
    wait_for_tree(user, job)
    assert user.post(f"/v1/jobs/{job}/cancel").status_code == 202
    done = wait_for_end(user, job)
    assert (done["state"], done["stop_reason"], done["model_id"]) == ("CANCELLED", "USER_CANCEL", None)


def test_a_paused_job_goes_on_from_where_it_was(user: httpx.Client, noisy_data: Dataset) -> None:
    job = submit(user, noisy_data, parameters=LONG, limits={"time_limit": None})["id"]
    wait_for_tree(user, job)
    assert user.post(f"/v1/jobs/{job}/pause").status_code == 202
    paused = wait_for_state(user, job, "PAUSED")
    assert user.post(f"/v1/jobs/{job}/resume").status_code == 202
    running = wait_for_state(user, job, "RUNNING")
    assert running["progress"]["expansions"] >= paused["progress"]["expansions"] > 0
    assert running["progress"]["lower_bound"] >= paused["progress"]["lower_bound"]
    assert running["progress"]["upper_bound"] <= paused["progress"]["upper_bound"]
    user.post(f"/v1/jobs/{job}/cancel")
    wait_for_end(user, job)


def test_a_child_starts_from_its_parents_tree(user: httpx.Client, noisy_data: Dataset) -> None:
    parent = submit(user, noisy_data, parameters=LONG, limits={"time_limit": 1})
    found = wait_for_end(user, parent["id"])["progress"]["objective"]
    child = submit(
        user,
        noisy_data,
        parameters={**LONG, "split_penalty": 0.0},
        limits={"max_expansions": 1},
        parent_job_id=parent["id"],
    )
    assert wait_for_end(user, child["id"])["progress"]["objective"] <= found


def test_data_that_cannot_be_used_fail_with_a_reason(stack: Stack, user: httpx.Client) -> None:
    """A split that keeps no row back is refused when the job is submitted; one that was accepted fails."""
    cells = easy()
    cells["fold"] = [0] * len(cells["x"])
    dataset = add_dataset(stack.store, stack.blobs, cells)
    wanted = {"dataset_id": dataset.id, "validation": {"column": "fold"}}
    assert user.post("/v1/jobs", json=wanted).status_code == 422
    accepted = spec(dataset, validation=ValidationColumn(column="fold"))
    job = {"id": stack.store.jobs.submit(accepted).job.spec.id}
    done = wait_for_end(user, job["id"])
    assert (done["state"], done["stop_reason"], done["error"]["code"]) == ("FAILED", "ERROR", "DATA")
    assert "fold" in done["error"]["message"]


def test_scores_and_warnings_of_a_real_search(stack: Stack, user: httpx.Client, noisy_data: Dataset) -> None:
    """A deep tree of noise is right on its training rows only, and its metrics say so with their evidence."""
    body = {
        "dataset_id": noisy_data.id,
        "parameters": {"max_depth": 5, "max_changepoints": 3},
        "limits": {"max_expansions": 30, "time_limit": None},
        "validation": {"fraction": 0.3, "seed": 0},
    }
    job = user.post("/v1/jobs", json=body).json()
    ended = wait_for_end(user, job["id"])
    assert ended["state"] == "SUCCEEDED"
    metrics = ended["metrics"]
    codes = {warning["code"] for warning in metrics["warnings"]}
    assert "OVERFIT" in codes
    held_out = metrics["validation"]
    assert held_out["accuracy_interval"]["low"] < held_out["accuracy"] < held_out["accuracy_interval"]["high"]
    assert sum(entry["weight"] for entry in held_out["calibration"]) == held_out["rows"]
    points = user.get(f"/v1/jobs/{job['id']}/scores").json()["points"]
    assert points[-1]["validation_log_loss"] == pytest.approx(held_out["log_loss"])
    assert points[-1]["validation_accuracy"] == held_out["accuracy"]
    assert [point["revision"] for point in points] == list(range(1, len(points) + 1))
    model = user.get(f"/v1/models/{ended['model_id']}").json()
    assert model["metrics"]["warnings"] == metrics["warnings"]
    assert model["tree"]["settings"]["probability_smoothing"] == 0.5
