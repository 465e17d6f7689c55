"""What a sweep shows of its trials: the numbers are computed by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.service.sweeps.test_submission import start
from tests.support.http.service_client import pointers, problem
from tests.support.records import sweep_results as acting
from tests.support.records.sweep_results import one_tree, path, segment
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import JobState

TWO_FOLDS = {"folds": 2}
ONE_SETTING = {"max_depth": [2], "max_changepoints": [1]}
TWO_SETTINGS = {"max_depth": [2, 3], "max_changepoints": [1]}
# Fold 0 has half of the weight, so its penalties for all rows are 0, 4 and 8; those of fold 1 are 0 and 5.
FOLD_0 = path(
    segment(0.0, 2.0, 0.5, 8, train=0.9),
    segment(2.0, 4.0, 0.75, 4, train=0.8),
    segment(4.0, None, 0.25, 1, train=0.4, proven=False, gap=0.125),
    weight=0.5,
)
FOLD_1 = path(segment(0.0, 5.0, 1.0, 4, train=0.7), segment(5.0, None, 0.5, 2, train=0.6))
# By interval: 0-4 (0.5, 1.0), 4-5 (0.75, 1.0), 5-8 (0.75, 0.5), from 8 on (0.25, 0.5)
MEANS = [0.75, 0.875, 0.625, 0.375]
LEAVES = [6.0, 4.0, 3.0, 1.5]


def get(client: httpx.Client, where: str, **query: Any) -> dict[str, Any]:
    answer = client.get(where, params=query or None)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.fixture
def here(api: Stack, client: httpx.Client, dataset: Dataset) -> str:
    """Start a sweep of two settings, the first of which is complete, and return its address."""
    sweep = start(client, dataset, space=TWO_SETTINGS, validation=TWO_FOLDS)
    acting.run(api.store, FOLD_0, FOLD_1)
    return str(sweep["links"]["self"])


def test_trials_of_a_path(client: httpx.Client, here: str) -> None:
    body = get(client, f"{here}/trials")
    assert (body["total"], body["metric"], body["sweep_id"]) == (5, "accuracy", here.rpartition("/")[2])
    done, waiting = body["items"][:4], body["items"][4]
    assert [trial["number"] for trial in body["items"]] == [0, 1, 2, 3, None]
    assert [trial["state"] for trial in done] == 4 * ["SUCCEEDED"]
    assert [trial["penalty_range"] for trial in done] == [
        {"low": 0.0, "high": 4.0},
        {"low": 4.0, "high": 5.0},
        {"low": 5.0, "high": 8.0},
        {"low": 8.0, "high": None},
    ]
    assert [trial["mean"] for trial in done] == MEANS
    assert [trial["leaves"] for trial in done] == LEAVES
    assert [trial["rank"] for trial in done] == [2, 1, 3, 4]
    assert [trial["fold_scores"] for trial in done] == [[0.5, 1.0], [0.75, 1.0], [0.75, 0.5], [0.25, 0.5]]
    assert [trial["std"] for trial in done] == [0.25, 0.125, 0.125, 0.125]
    # The standard deviation with n - 1 is |a - b| / sqrt(2), and divided by sqrt(2) it is |a - b| / 2.
    assert [trial["standard_error"] for trial in done] == pytest.approx([0.25, 0.125, 0.125, 0.125])
    assert [trial["train_mean"] for trial in done] == pytest.approx([0.8, 0.75, 0.7, 0.5])
    assert [trial["proven_folds"] for trial in done] == [2, 2, 2, 1]
    assert [trial["gap_max"] for trial in done] == [0.0, 0.0, 0.0, 0.125]
    # The geometric middle, or half of the end of the first interval.
    assert [trial["penalty"] for trial in done[:3]] == pytest.approx([2.0, 20**0.5, 40**0.5])
    assert done[0]["stop_reasons"] == {"PROVEN_OPTIMAL": 2}
    assert done[0]["seconds"] == 1.0
    assert all(name.startswith("job_") for name in done[0]["job_ids"])
    assert (waiting["state"], waiting["setting"], waiting["mean"]) == ("QUEUED", 1, None)
    assert waiting["parameters"] == {"max_depth": 3, "max_changepoints": 1}


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"sort": "number"}, [0, 1, 2, 3, None]),
        ({"sort": "number", "order": "desc"}, [3, 2, 1, 0, None]),
        ({"sort": "mean"}, [3, 2, 0, 1, None]),
        ({"sort": "mean", "order": "desc"}, [1, 0, 2, 3, None]),
        ({"sort": "leaves"}, [3, 2, 1, 0, None]),
        ({"sort": "leaves", "state": "SUCCEEDED"}, [3, 2, 1, 0]),
        ({"sort": "seconds"}, [None, 0, 1, 2, 3]),
        ({"state": "QUEUED"}, [None]),
        ({"state": ["QUEUED", "SUCCEEDED"]}, [0, 1, 2, 3, None]),
        ({"state": "FAILED"}, []),
        ({"limit": 2}, [0, 1]),
        ({"limit": 2, "offset": 3}, [3, None]),
    ],
)
def test_the_order_of_trials(
    client: httpx.Client, here: str, query: dict[str, Any], numbers: list[int | None]
) -> None:
    body = get(client, f"{here}/trials", **query)
    assert [trial["number"] for trial in body["items"]] == numbers
    assert body["total"] == (len(numbers) if "limit" not in query else 5)


@pytest.mark.parametrize("query", ["sort=rank", "order=up", "limit=0", "offset=-1", "of=3"])
def test_wrong_options_of_trials(client: httpx.Client, here: str, query: str) -> None:
    assert pointers(client.get(f"{here}/trials?{query}")) == [f"/query/{query.partition('=')[0]}"]


def test_an_unknown_state_of_trials(client: httpx.Client, here: str) -> None:
    assert pointers(client.get(f"{here}/trials?state=DONE")) == ["/query/state/0"]


def test_the_best_trial_so_far(client: httpx.Client, here: str) -> None:
    """Within one standard error, 0.125, of 0.875 lie the trials 0 and 1; trial 1 is smaller."""
    sweep = get(client, here)
    assert (sweep["state"], sweep["best"]["number"], sweep["best"]["mean"]) == ("RUNNING", 1, 0.875)
    assert sweep["choice"] is None
    assert "finish" in sweep["links"]
    done = sweep["progress"]
    assert (done["settings"], done["jobs"], done["done"], done["queued"]) == (2, 4, 2, 2)
    assert sweep["seconds"] > 0


def test_the_leaderboard(client: httpx.Client, here: str) -> None:
    board = get(client, f"{here}/leaderboard")
    assert [trial["number"] for trial in board["items"]] == [1, 0, 2, 3]
    assert [trial["rank"] for trial in board["items"]] == [1, 2, 3, 4]
    assert (board["chosen"]["number"], board["final"], board["total"]) == (1, False, 4)
    assert "Of 4 candidates, depth 2 with 1 change point" in board["explanation"]
    assert "scores 0.875 (accuracy)" in board["explanation"]
    assert len(get(client, f"{here}/leaderboard", limit=2)["items"]) == 2
    assert pointers(client.get(f"{here}/leaderboard?limit=0")) == ["/query/limit"]


def test_equal_ranks_are_ordered_by_leaves(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    sweep = start(client, dataset, space=TWO_SETTINGS, validation=TWO_FOLDS, select="BEST")
    acting.run_scores(api.store, [0.5, 0.5], leaves=9)
    acting.run_scores(api.store, [0.25, 0.75], leaves=3)
    board = get(client, sweep["links"]["leaderboard"])
    assert [(trial["rank"], trial["leaves"]) for trial in board["items"]] == [(1, 3.0), (1, 9.0)]
    assert board["final"]
    assert board["explanation"] == get(client, sweep["links"]["self"])["choice"]["explanation"]


def test_the_smallest_tree_within_one_standard_error(
    api: Stack, client: httpx.Client, dataset: Dataset
) -> None:
    """The best mean is 0.75 with a standard error of 0.25, so a mean of 0.5 is near enough."""
    sweep = start(client, dataset, space=TWO_SETTINGS, validation=TWO_FOLDS, refit=False)
    acting.run_scores(api.store, [0.5, 0.5], leaves=2)
    acting.run_scores(api.store, [0.5, 1.0], leaves=7)
    found = get(client, sweep["links"]["self"])
    assert (found["state"], found["choice"]["trial"], found["choice"]["setting"]) == ("SUCCEEDED", 0, 0)
    assert (found["choice"]["mean"], found["choice"]["standard_error"]) == (0.5, 0.0)
    assert found["best"]["number"] == 0
    assert "smallest tree within one standard error (0.25)" in found["choice"]["explanation"]


def test_a_smaller_log_loss_is_better(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    sweep = start(client, dataset, space=TWO_SETTINGS, validation=TWO_FOLDS, metric="log_loss", select="BEST")
    acting.run_scores(api.store, [0.5, 0.7])
    acting.run_scores(api.store, [0.25, 0.35])
    board = get(client, sweep["links"]["leaderboard"])
    assert [(trial["setting"], trial["rank"]) for trial in board["items"]] == [(1, 1), (0, 2)]
    assert board["items"][0]["mean"] == pytest.approx(0.3)
    assert board["chosen"]["setting"] == 1


def test_paths(client: httpx.Client, here: str) -> None:
    body = get(client, f"{here}/paths")
    first, second = body["settings"]
    assert [point["mean"] for point in first["trials"]] == MEANS
    assert [point["leaves"] for point in first["trials"]] == LEAVES
    assert [point["penalty_range"]["low"] for point in first["trials"]] == [0.0, 4.0, 5.0, 8.0]
    assert [point["rank"] for point in first["trials"]] == [2, 1, 3, 4]
    assert [fold["fold"] for fold in first["folds"]] == [0, 1]
    assert first["folds"][0]["segments"] == [
        {
            "penalty_from": low,
            "penalty_to": high,
            "score": score,
            "train_score": train,
            "leaves": leaves,
            "changepoints": leaves // 2,
            "proven": high is not None,
            "gap": 0.0 if high else 0.125,
        }
        for low, high, score, train, leaves in (
            (0.0, 4.0, 0.5, 0.9, 8),
            (4.0, 8.0, 0.75, 0.8, 4),
            (8.0, None, 0.25, 0.4, 1),
        )
    ]
    assert (second["setting"], second["trials"], second["folds"]) == (1, [], [])
    assert get(client, f"{here}/paths", setting=0)["settings"] == [first]
    assert pointers(client.get(f"{here}/paths?setting=2")) == ["/query/setting"]


def test_trees_and_metrics_of_searches(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    """Without a path, a trial is one setting, and its jobs publish trees as other jobs do."""
    space = {**ONE_SETTING, "split_penalty": [1.0, 2.0]}
    sweep = start(client, dataset, space=space, validation=TWO_FOLDS)
    for score in (0.5, 1.0):
        acting.end_with_tree(api.store, acting.claim(api.store), score)
    first, second = get(client, sweep["links"]["trials"])["items"]
    assert (first["mean"], first["fold_scores"], first["train_mean"]) == (0.75, [0.5, 1.0], 0.75)
    assert (first["penalty_range"], first["penalty"]) == (None, 1.0)
    assert (first["proven_folds"], first["seconds"]) == (2, 4.0)
    assert (second["number"], second["state"]) == (None, "QUEUED")
    (point,) = get(client, sweep["links"]["paths"], setting=0)["settings"][0]["trials"]
    assert (point["mean"], point["penalty"]) == (0.75, 1.0)
    (fold, _) = get(client, sweep["links"]["paths"], setting=0)["settings"][0]["folds"]
    assert (fold["segments"][0]["score"], fold["segments"][0]["penalty_from"]) == (0.5, None)


def test_failed_trials_say_why(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    sweep = start(client, dataset, space=TWO_SETTINGS, validation=TWO_FOLDS)
    acting.end(api.store, acting.claim(api.store), acting.FAILED)
    acting.run(api.store, one_tree(0.5), one_tree(0.5))
    failed = get(client, sweep["links"]["trials"], state="FAILED")["items"]
    assert [(trial["setting"], trial["reason"]) for trial in failed] == [(0, "As told.")]
    assert get(client, sweep["links"]["self"])["progress"]["failed"] == 1


def test_the_refit_makes_a_model(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    sweep = start(client, dataset, space=ONE_SETTING, validation=TWO_FOLDS, name="flowers")
    acting.run(api.store, FOLD_0, FOLD_1)
    chosen = get(client, sweep["links"]["self"])
    assert chosen["state"] == "REFITTING"
    assert chosen["links"]["refit_job"] == f"/v1/jobs/{chosen['refit_job_id']}"
    assert chosen["choice"]["parameters"]["split_penalty"] == pytest.approx(20**0.5)
    assert chosen["choice"]["parameters"]["changepoint_penalty"] == pytest.approx(20**0.5 / 2)
    acting.end_with_tree(api.store, acting.claim(api.store))
    done = get(client, sweep["links"]["self"])
    assert (done["state"], done["stop_reason"]) == ("SUCCEEDED", "COMPLETE")
    assert get(client, done["links"]["model"])["id"] == done["model_id"]
    assert datetime.fromisoformat(done["finished_at"]) >= datetime.fromisoformat(done["started_at"])
    assert [step["state"] for step in done["transitions"]] == [
        *("QUEUED", "RUNNING", "CHOOSING", "REFITTING", "SUCCEEDED")
    ]


def test_jobs_of_a_sweep_are_listed_only_if_asked_for(
    api: Stack, client: httpx.Client, dataset: Dataset
) -> None:
    sweep = start(client, dataset, space=ONE_SETTING, validation=TWO_FOLDS)
    assert client.get("/v1/jobs").json()["items"] == []
    listed = get(client, sweep["links"]["jobs"])["items"]
    assert len(listed) == 2
    assert {job["sweep_id"] for job in listed} == {sweep["id"]}
    job = get(client, listed[0]["links"]["self"])
    assert (job["sweep_id"], job["links"]["sweep"]) == (sweep["id"], sweep["links"]["self"])
    assert not {"cancel", "pause", "finish"} & set(job["links"])
    acting.end(api.store, acting.claim(api.store))
    ended = client.get(f"/v1/jobs?sweep_id={sweep['id']}&state=SUCCEEDED").json()["items"]
    assert len(ended) == 1
    single = client.post("/v1/jobs", json={"dataset_id": dataset.id}).json()
    assert single["sweep_id"] is None
    assert [job["id"] for job in client.get("/v1/jobs").json()["items"]] == [single["id"]]
    nobody = "swp_" + 32 * "f"
    assert client.get(f"/v1/jobs?sweep_id={nobody}").json()["items"] == []
    assert pointers(client.get("/v1/jobs?sweep_id=x")) == ["/query/sweep_id"]


def test_jobs_of_a_sweep_are_controlled_by_the_sweep(
    api: Stack, client: httpx.Client, dataset: Dataset
) -> None:
    sweep = start(client, dataset, space=ONE_SETTING, validation=TWO_FOLDS)
    job = get(client, sweep["links"]["jobs"])["items"][0]["links"]["self"]
    calls = [client.post(f"{job}/{verb}") for verb in ("finish", "cancel", "pause", "resume")]
    calls += [client.delete(job), client.patch(job, json={"priority": 3})]
    for answer in calls:
        told = problem(answer, 409, "job-of-sweep")
        assert told["detail"] == "The job belongs to a sweep; control the sweep instead."
    assert get(client, job)["state"] == JobState.QUEUED


def test_a_list_of_sweeps(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    made = [start(client, dataset, name=f"sweep {number}")["id"] for number in range(5)]
    client.post(f"/v1/sweeps/{made[2]}/cancel")
    seen: list[str] = []
    token: dict[str, str] = {}
    while True:
        page = get(client, "/v1/sweeps", page_size=2, **token)
        seen += [sweep["id"] for sweep in page["items"]]
        if page["next_page_token"] is None:
            break
        token = {"page_token": page["next_page_token"]}
    assert seen == made[::-1]
    assert [sweep["id"] for sweep in get(client, "/v1/sweeps", state="CANCELLED")["items"]] == [made[2]]
    assert len(get(client, "/v1/sweeps", state=["CANCELLED", "QUEUED"])["items"]) == 5
    assert get(client, "/v1/sweeps", state="RUNNING")["items"] == []
    summary = get(client, "/v1/sweeps")["items"][0]
    whole = get(client, summary["links"]["self"])
    assert summary == {name: whole[name] for name in summary}
    assert set(whole) - set(summary) == {
        *("constraints", "changepoint_ratio", "seed", "validation", "test", "limits", "trial_limits"),
        *("refit", "dataset_sha256", "engine_version", "best", "transitions"),
    }
    assert pointers(client.get("/v1/sweeps?state=DONE")) == ["/query/state/0"]
    assert pointers(client.get("/v1/sweeps?page_token=x")) == ["/query/page_token"]


def test_unknown_sweeps(client: httpx.Client) -> None:
    for name in ("swp_" + 32 * "f", "swp_x", "job_" + 32 * "f"):
        for part in ("", "/trials", "/leaderboard", "/paths", "/events"):
            told = problem(client.get(f"/v1/sweeps/{name}{part}"), 404, "not-found")
            assert told["detail"] == "There is no such sweep."
