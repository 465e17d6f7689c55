"""A sweep with a real worker: from the dataset to predictions of the model."""

from __future__ import annotations

from typing import Any

import httpx

from tests.service.sweeps.test_submission import start
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll


def ended(client: httpx.Client, sweep: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = client.get(sweep, headers={"Prefer": "wait=5"}).json()
        return found if found["finished_at"] else None

    return poll(look, seconds=120, what="the end of the sweep")


def test_a_path_is_chosen_from(stack: Stack) -> None:
    dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.easy(200))
    with stack.client() as client:
        space = {"max_depth": [1, 2], "max_changepoints": [1, 2]}
        made = start(client, dataset, space=space, validation={"folds": 3}, test={"fraction": 0.2})
        done = ended(client, made["links"]["self"])
        assert (done["state"], done["stop_reason"], done["error"]) == ("SUCCEEDED", "COMPLETE", None)
        assert done["progress"]["done"] == done["progress"]["jobs"] == 12
        assert done["best"]["number"] == done["choice"]["trial"]
        assert done["choice"]["mean"] > 0.7
        board = client.get(done["links"]["leaderboard"]).json()
        assert (board["final"], board["chosen"]) == (True, done["best"])
        paths = client.get(done["links"]["paths"]).json()["settings"]
        assert [len(setting["folds"]) for setting in paths] == 4 * [3]
        for setting in paths:
            for fold in setting["folds"]:
                segments = fold["segments"]
                assert segments[0]["penalty_from"] == 0
                assert segments[-1]["penalty_to"] is None
                leaves = [segment["leaves"] for segment in segments]
                assert leaves == sorted(leaves, reverse=True)
        model = client.get(done["links"]["model"]).json()
        assert model["metrics"]["validation"]["accuracy"] > 0.6, "on the test rows"
        rows = {"records": [{"x": 0.1, "z": 1}]}
        assert client.post(f"{done['links']['model']}/predict", json=rows).status_code == 200


def test_settings_without_a_path(stack: Stack) -> None:
    dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.easy(200, seed=1))
    with stack.client() as client:
        space = {"max_depth": [1, 2], "max_changepoints": [2], "split_penalty": [0.0, 3.0]}
        made = start(client, dataset, space=space, validation={"column": "z"}, metric="log_loss", refit=False)
        done = ended(client, made["links"]["self"])
        assert (done["state"], done["model_id"]) == ("SUCCEEDED", None)
        trials = client.get(done["links"]["trials"]).json()["items"]
        assert [trial["state"] for trial in trials] == 4 * ["SUCCEEDED"]
        assert all(len(trial["fold_scores"]) == 5 for trial in trials)
        best = min(trials, key=lambda trial: trial["mean"])
        assert best["rank"] == 1
