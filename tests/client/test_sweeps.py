"""Sweeps: create, follow, wait, read the result, and extend."""

from __future__ import annotations

import pytest

from literati.client import Client, ConflictError, Dataset, EndedWithoutModelError, InvalidRequestError

SPACE = {"max_depth": [1, 2], "max_changepoints": [1]}


def test_a_sweep_from_its_start_to_its_model(
    client: Client, dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = client.sweeps.create(
        dataset,
        space=SPACE,
        fixed={"min_samples_leaf": 2},
        validation={"folds": 3},
        trial_limits={"max_expansions": 1000},
        limits={"max_trials": 1},
        name="small",
        select="BEST",
    )
    events = list(sweep.events())
    assert [event.type for event in events].count("trial") >= 1
    assert events[-1].type == "done"
    model = sweep.wait(progress=True)
    assert "SUCCEEDED  3 of 3 jobs" in capsys.readouterr().err
    assert sweep.model_id == model.id
    assert sweep.choice is not None
    board = sweep.leaderboard(limit=1)
    assert board["chosen"]["number"] == sweep.choice["trial"]
    assert board["explanation"] in sweep._repr_html_()
    trials = list(sweep.trials(sort="mean", order="desc"))
    assert len(trials) == len({trial["number"] for trial in trials}) >= 2
    best = trials[0]
    tree = sweep.fold_tree(best["setting"], 0, best["penalty"])
    assert tree.n_leaves >= 1
    assert len(sweep.paths()["settings"]) == 1
    assert sweep.id in [found.id for found in client.sweeps.list(state="SUCCEEDED", page_size=1)]
    assert len(list(client.jobs.list(sweep_id=sweep.id))) == 4
    assert repr(sweep) == f"<sweep {sweep.id}: SUCCEEDED, 3 of 3 jobs>"
    sweep.extend(max_trials=2)
    assert sweep.wait_for_choice().progress["done"] == 6
    sweep.delete()
    assert sweep.restore().state == "SUCCEEDED"
    client.sweeps.delete(sweep.id)


def test_control(client: Client, endless: Dataset) -> None:
    sweep = client.sweeps.create(endless, space={"max_depth": [5], "split_penalty": [0.0, 1.0]})
    assert sweep.pause().state in ("PAUSING", "PAUSED")
    assert sweep.resume().state in ("QUEUED", "RUNNING")
    with pytest.raises(ConflictError):
        sweep.extend(max_trials=300)
    sweep.cancel()
    with pytest.raises(EndedWithoutModelError, match="was cancelled"):
        sweep.wait()


def test_a_sweep_without_a_model(client: Client, dataset: Dataset) -> None:
    space = {**SPACE, "split_penalty": [0.0, 3.0]}
    sweep = client.sweeps.create(dataset, space=space, validation={"folds": 2}, refit=False)
    with pytest.raises(EndedWithoutModelError, match="has no model"):
        sweep.wait()
    assert sweep.choice is not None


def test_a_wrong_space(client: Client, dataset: Dataset) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        client.sweeps.create(dataset, space={"max_depth": [99]})
    assert caught.value.errors[0].pointer == "/body/space/max_depth/0"
