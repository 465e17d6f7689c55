"""Whole sweeps, run in this process: the choice is that of independent computations on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from literati import LiteratiClassifier, LiteratiClassifierCV, Search, SearchLimits, ShapeTree
from tests.support.records import jobs, sweeps
from worker.blobs.local import Blobs
from worker.domain.datasets import Dataset
from worker.domain.jobs import JobState
from worker.domain.sweeps import SweepState, SweepStopReason, TrialState
from worker.domain.validation import RandomFolds
from worker.store import Store
from worker.sweeps.fold_trees import NoTreeOfFoldError, fold_tree, held_out_predictions
from worker.sweeps.trials import trial_table
from worker.training.folds import fold_numbers
from worker.training.path_trees import unpack_trees
from worker.training.tables import DatasetRows, load

EXPANSIONS = 400


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def rows_of(dataset: Dataset, blobs: Blobs) -> DatasetRows:
    return load(blobs.path(dataset.blob), dataset)


def folds_of(rows: DatasetRows, folds: RandomFolds) -> list[tuple[Any, Any]]:
    nothing = np.zeros(rows.n_rows, dtype=bool)
    numbers = [fold_numbers(rows, folds, fold, nothing) for fold in range(folds.folds)]
    return [
        (np.flatnonzero(found != fold), np.flatnonzero(found == fold)) for fold, found in enumerate(numbers)
    ]


@pytest.mark.parametrize("select", ["BEST", "ONE_STANDARD_ERROR"])
@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "balanced_accuracy"])
def test_a_sweep_of_paths_chooses_what_the_library_chooses(
    store: Store, blobs: Blobs, select: str, metric: str
) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(200, seed=3))
    spec = sweeps.spec(
        dataset,
        space={"max_depth": [1, 2, 3], "max_changepoints": [1, 2]},
        trial_limits={"time_limit": None, "max_expansions": EXPANSIONS},
        select=select,
        metric=metric,
    )
    sweeps.submit(store, spec)
    assert sweeps.run_all(store, blobs) == 3 * 2 * 3 + 1
    sweep = sweeps.look(store, spec.id)
    assert (sweep.state, sweep.stop_reason) == (SweepState.SUCCEEDED, SweepStopReason.COMPLETE)

    rows = rows_of(dataset, blobs)
    names = {"accuracy": "accuracy", "log_loss": "neg_log_loss", "balanced_accuracy": "balanced_accuracy"}
    library = LiteratiClassifierCV(
        max_depth=(1, 2, 3),
        max_changepoints=(1, 2),
        cv=folds_of(rows, RandomFolds(folds=3)),
        select=select.lower(),
        scoring=names[metric],
        time_limit=None,
        max_expansions=EXPANSIONS,
    ).fit(rows.X, rows.y)
    assert library.cv_results_["proven_folds"].min() == 3, (
        "no limit was reached, so warm starts do not matter"
    )
    table = trial_table(sweep.spec, store.sweeps.results(spec.id), ended=True)
    found = [(trial.mean or 0.0, trial.leaves or 0.0) for trial in table.trials]
    means = library.cv_results_["mean_test_score"] * (-1 if metric == "log_loss" else 1)
    np.testing.assert_allclose([mean for mean, _ in found], means, rtol=1e-12)
    np.testing.assert_allclose([leaves for _, leaves in found], library.cv_results_["mean_leaves"])
    assert sweep.choice is not None
    assert sweep.choice.trial == library.best_index_
    assert sweep.choice.parameters["split_penalty"] == pytest.approx(library.best_params_["split_penalty"])
    assert sweep.choice.parameters["max_depth"] == library.best_params_["max_depth"]
    assert sweep.model_id is not None
    model = store.models.get(jobs.TENANT, sweep.model_id)
    assert model is not None
    tree = ShapeTree.from_dict(store.models.tree(jobs.TENANT, sweep.model_id))
    assert tree.nodes == library.tree_.nodes
    assert np.array_equal(tree.predict(rows.X), library.predict(rows.X))


def test_a_sweep_of_penalties_equals_separate_searches(store: Store, blobs: Blobs) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(150, seed=5))
    spec = sweeps.spec(
        dataset,
        space={"max_depth": [1, 2], "max_changepoints": [1, 2], "split_penalty": [0.5, 3.0, 12.0]},
        fixed={"polish": False},
        select="BEST",
    )
    sweeps.submit(store, spec)
    sweeps.run_all(store, blobs)
    sweep = sweeps.look(store, spec.id)
    table = trial_table(sweep.spec, store.sweeps.results(spec.id), ended=True)
    rows = rows_of(dataset, blobs)
    folds = folds_of(rows, RandomFolds(folds=3))
    for trial in table.trials:
        if trial.state is TrialState.PRUNED:
            continue
        parameters = sweep.spec.parameters(trial.parameters)
        for fold, (train, held) in enumerate(folds):
            share = len(train) / rows.n_rows
            tree = LiteratiClassifier(
                max_depth=parameters.max_depth,
                max_changepoints=parameters.max_changepoints,
                split_penalty=share * parameters.split_penalty,
                changepoint_penalty=share * parameters.changepoint_penalty,
                polish=False,
                time_limit=None,
            ).fit(rows.X.take(train), rows.y[train])
            assert trial.fold_scores[fold] == pytest.approx(tree.score(rows.X.take(held), rows.y[held]))
    assert sweep.choice is not None
    best = max(trial.mean for trial in table.trials if trial.mean is not None)
    assert sweep.choice.mean == best
    refit = Search(
        rows.X,
        rows.y,
        limits=SearchLimits(time_limit=None),
        max_depth=sweep.choice.parameters["max_depth"],
        max_changepoints=sweep.choice.parameters["max_changepoints"],
        split_penalty=sweep.choice.parameters["split_penalty"],
        polish=False,
    )
    refit.run()
    assert sweep.model_id is not None
    model = store.models.get(jobs.TENANT, sweep.model_id)
    assert model is not None
    assert model.objective == refit.incumbent().objective
    assert model.proven_optimal


def test_test_rows_are_seen_by_the_last_job_only(store: Store, blobs: Blobs) -> None:
    cells = jobs.easy(200, seed=1)
    dataset = jobs.add_dataset(store, blobs, cells)
    spec = sweeps.spec(dataset, test={"fraction": 0.25, "seed": 4})
    sweeps.submit(store, spec)
    sweeps.run_all(store, blobs)
    sweep = sweeps.look(store, spec.id)
    results = store.sweeps.results(spec.id)
    for job_id in results.jobs.values():
        job = store.jobs.get(jobs.TENANT, job_id)
        assert job is not None
        assert job.snapshot is not None, "its trees"
        trees = [ShapeTree.from_dict(tree) for _, tree in unpack_trees(blobs.get(job.snapshot))]
        assert {tree.nodes[0].rows for tree in trees} == {100}, "two of three folds of 150 rows"
    assert sweep.model_id is not None
    model = store.models.get(jobs.TENANT, sweep.model_id)
    assert model is not None
    assert (model.metrics["train"]["rows"], model.metrics["validation"]["rows"]) == (150, 50)


def test_folds_of_a_column(store: Store, blobs: Blobs) -> None:
    cells = jobs.easy(120, seed=2)
    cells["fold"] = np.arange(120) % 4
    dataset = jobs.add_dataset(store, blobs, cells)
    spec = sweeps.spec(dataset, validation={"column": "fold"}, n_folds=4)
    sweeps.submit(store, spec)
    assert sweeps.run_all(store, blobs) == 2 * 4 + 1
    sweep = sweeps.look(store, spec.id)
    assert sweep.state is SweepState.SUCCEEDED
    assert sweep.model_id is not None
    tree = store.models.tree(jobs.TENANT, sweep.model_id)
    assert tree is not None
    assert "fold" not in [column["name"] for column in tree["columns"]]


def test_a_failed_setting_does_not_stop_the_others(store: Store, blobs: Blobs) -> None:
    cells = {"x": np.arange(40.0), "label": ["a"] * 20 + ["b"] * 20}
    cells["fold"] = np.array([0] * 20 + [1] * 20)  # each fold lacks a class
    dataset = jobs.add_dataset(store, blobs, cells)
    spec = sweeps.spec(dataset, validation={"column": "fold"}, n_folds=2)
    sweeps.submit(store, spec)
    sweeps.run_all(store, blobs)
    sweep = sweeps.look(store, spec.id)
    assert (sweep.state, sweep.error and sweep.error.code) == (SweepState.FAILED, "NO_COMPLETE_TRIAL")
    trials = trial_table(sweep.spec, store.sweeps.results(spec.id), ended=True).trials
    assert [trial.state for trial in trials] == 2 * [TrialState.FAILED]
    assert all(trial.reason and "class" in trial.reason for trial in trials)


def test_too_many_failed_settings_fail_the_sweep(store: Store, blobs: Blobs) -> None:
    cells = {"x": np.arange(40.0), "label": ["a"] * 20 + ["b"] * 20}
    cells["fold"] = np.array([0] * 20 + [1] * 20)
    dataset = jobs.add_dataset(store, blobs, cells)
    spec = sweeps.spec(dataset, validation={"column": "fold"}, n_folds=2, limits={"max_failed_trials": 0})
    sweeps.submit(store, spec)
    assert sweeps.run_all(store, blobs) == 1
    sweep = sweeps.look(store, spec.id)
    assert (sweep.state, sweep.stop_reason) == (SweepState.FAILED, SweepStopReason.FAILED_TRIALS)
    found = store.jobs.list(jobs.TENANT, sweep_id=spec.id).items
    assert all(job.state.terminal for job in found)


def test_the_jobs_of_a_sweep_are_hidden_and_make_no_models(store: Store, blobs: Blobs) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(100))
    spec = sweeps.spec(dataset, space={"max_depth": [1, 2], "max_changepoints": [1], "split_penalty": [1.0]})
    sweeps.submit(store, spec)
    sweeps.run_all(store, blobs)
    assert store.jobs.list(jobs.TENANT).items == []
    found = store.jobs.list(jobs.TENANT, sweep_id=spec.id).items
    assert len(found) == 7
    assert {job.state for job in found} == {JobState.SUCCEEDED}
    sweep = sweeps.look(store, spec.id)
    assert [model.id for model in store.models.list(jobs.TENANT).items] == [sweep.model_id]
    assert [job.model_id for job in found if job.model_id is not None] == [sweep.model_id]
    assert store.jobs.list("another tenant", sweep_id=spec.id).items == []


def test_pruning_never_changes_the_choice(store: Store, blobs: Blobs) -> None:
    """A setting that cannot become the best one is given up, and the choice is the same as without that."""
    cells = jobs.easy(200, seed=8)
    dataset = jobs.add_dataset(store, blobs, cells)
    space = {"max_depth": [2, 1], "max_changepoints": [1], "split_penalty": [0.5, 1000.0]}
    fields = {"space": space, "validation": {"folds": 8}, "metric": "balanced_accuracy"}
    best = sweeps.spec(dataset, select="BEST", constraints=[], **fields)
    sweeps.submit(store, best)
    sweeps.run_all(store, blobs)
    sweep = sweeps.look(store, best.id)
    table = trial_table(sweep.spec, store.sweeps.results(best.id), ended=True)
    pruned = [trial for trial in table.trials if trial.state is TrialState.PRUNED]
    assert pruned, "a single leaf has a balanced accuracy of a half"
    assert all(trial.pruned_at_fold is not None and trial.pruned_at_fold < 8 for trial in pruned)
    whole = sweeps.spec(dataset, select="ONE_STANDARD_ERROR", **fields)
    sweeps.submit(store, whole)
    sweeps.run_all(store, blobs)
    complete = trial_table(whole, store.sweeps.results(whole.id), ended=True)
    means = {trial.setting: trial.mean for trial in complete.trials}
    assert sweep.choice is not None
    assert sweep.choice.mean == max(mean for mean in means.values() if mean is not None)
    for trial in pruned:
        assert (means[trial.setting] or 0) < sweep.choice.mean


def test_patience_counts_settings_in_their_order(store: Store, blobs: Blobs) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(150, seed=1))
    spec = sweeps.spec(
        dataset,
        space={"max_depth": [1], "split_penalty": [1.0, 500.0, 600.0, 700.0, 800.0, 900.0]},
        fixed={"max_changepoints": 1},
        limits={"patience_trials": 2},
        select="BEST",
    )
    sweeps.submit(store, spec)
    ran = sweeps.run_all(store, blobs)
    sweep = sweeps.look(store, spec.id)
    assert (sweep.state, sweep.stop_reason) == (SweepState.SUCCEEDED, SweepStopReason.NO_IMPROVEMENT)
    assert ran == 3 * 3 + 1
    assert sweep.choice is not None
    assert sweep.choice.setting == 0


@pytest.mark.parametrize("penalties", ["path", [1.0]])
def test_held_out_predictions_give_the_scores(store: Store, blobs: Blobs, penalties: Any) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(130, seed=6))
    spec = sweeps.spec(
        dataset,
        space={"max_depth": [2], "max_changepoints": [2], "split_penalty": penalties},
        validation={"folds": 4, "repeats": 2},
        metric="log_loss",
    )
    sweeps.submit(store, spec)
    sweeps.run_all(store, blobs)
    sweep = sweeps.look(store, spec.id)
    assert sweep.choice is not None
    table = held_out_predictions(store, blobs, sweep, dataset)
    assert table.num_rows == 2 * 130
    frame = {name: np.array(table.column(name).to_pylist()) for name in table.column_names}
    trials = trial_table(spec, store.sweeps.results(spec.id), ended=True).trials
    chosen = next(trial for trial in trials if trial.number == sweep.choice.trial)
    for fold in range(8):
        part = frame["fold"] == fold
        target = frame["target"][part]
        shares = np.where(target == "in", frame["probability_in"][part], frame["probability_out"][part])
        assert -np.log(shares).mean() == pytest.approx(chosen.fold_scores[fold])
    rows = rows_of(dataset, blobs)
    assert frame["target"].tolist() == np.repeat(rows.y, 2).tolist()
    with pytest.raises(NoTreeOfFoldError):
        fold_tree(store, blobs, sweep, store.sweeps.results(spec.id), 0, 99)
