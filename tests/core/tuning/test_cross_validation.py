"""LiteratiClassifierCV: scikit-learn's conventions, folds, the choice, limits, interruption and plots."""

from __future__ import annotations

import io
import math
import os
import pickle
import signal
import threading
from collections.abc import Callable
from contextlib import redirect_stderr
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError, UndefinedMetricWarning
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from literati import LiteratiClassifier, LiteratiClassifierCV, ShapeTree
from literati.tuning.candidates import Candidate, Setting
from literati.tuning.cross_validation import CVProgress
from literati.tuning.selection import choose, explain_choice

X, Y = load_iris(return_X_y=True)


def small(**options: Any) -> LiteratiClassifierCV:
    """Two settings, so that a fit takes a tenth of a second."""
    defaults: dict[str, Any] = {"max_depth": (1, 2), "max_changepoints": 1, "cv": 3, "time_limit": None}
    return LiteratiClassifierCV(**(defaults | options))


@parametrize_with_checks([small()])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_scores_are_those_of_the_trees_on_their_held_out_rows() -> None:
    """The table is recomputed from the paths and the folds, with an independent fit at every candidate."""
    model = small().fit(X, Y)
    table = model.cv_results_
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, Y))
    for row in range(len(table["penalty_from"])):
        end = table["penalty_to"][row]
        middle = (
            2 * table["penalty_from"][row] + 1 if math.isinf(end) else (table["penalty_from"][row] + end) / 2
        )
        for fold, (train, test) in enumerate(folds):
            penalty = middle * len(train) / len(Y)
            fitted = LiteratiClassifier(
                max_depth=int(table["param_max_depth"][row]),
                max_changepoints=1,
                split_penalty=penalty,
                changepoint_penalty=penalty / 2,
                polish=False,
            ).fit(X[train], Y[train])
            depth = int(table["param_max_depth"][row])
            segment = model.paths_[depth, 1][fold].at(penalty)
            assert fitted.objective_ == pytest.approx(segment.cost(penalty, 0.5), abs=1e-9)
            score = accuracy_score(Y[test], segment.tree.predict(X[test]))
            assert table[f"split{fold}_test_score"][row] == score
    assert table["mean_test_score"][model.best_index_] == model.best_score_


def test_the_choice() -> None:
    best, small_tree = small(select="best").fit(X, Y), small().fit(X, Y)
    table = best.cv_results_
    assert best.best_score_ == table["mean_test_score"].max()
    assert best.best_index_ in np.flatnonzero(table["rank_test_score"] == 1)
    error = table["standard_error"][best.best_index_]
    assert small_tree.best_score_ >= best.best_score_ - error
    near = table["mean_test_score"] >= best.best_score_ - error
    assert round(table["mean_leaves"][small_tree.best_index_]) == table["mean_leaves"][near].round().min()
    assert "the best mean over 3 folds" in best.choice_


def test_max_leaves_holds_on_all_rows() -> None:
    data, y = load_breast_cancer(return_X_y=True)
    model = LiteratiClassifierCV(3, 1, select="best", max_leaves=3, cv=3, time_limit=20).fit(data, y)
    assert model.tree_.n_leaves <= 3
    assert (model.cv_results_["mean_leaves"] > 3).any()


def test_the_tree_is_fitted_to_all_rows_with_the_chosen_parameters() -> None:
    model = small().fit(X, Y)
    again = LiteratiClassifier(**model.best_params_, polish=False).fit(X, Y)
    assert again.tree_ == model.tree_
    assert isinstance(model.tree_, ShapeTree)
    assert (model.predict(X) == again.predict(X)).all()
    assert (model.predict_proba(X) == again.predict_proba(X)).all()
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    row = model.best_index_
    assert model.cv_results_["penalty_from"][row] <= model.best_params_["split_penalty"]
    assert model.best_params_["split_penalty"] <= model.cv_results_["penalty_to"][row]


def test_held_out_predictions() -> None:
    model = small().fit(X, Y)
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, Y)
    scores = [accuracy_score(Y[test], model.oof_predictions_[test]) for _, test in folds]
    assert np.mean(scores) == model.best_score_
    part = small(cv=[(np.arange(0, 150, 2), np.arange(1, 150, 4))]).fit(X, Y)
    assert part.oof_predictions_[0] is None
    assert part.oof_predictions_[1] is not None


def test_groups_stay_together() -> None:
    groups = np.arange(150) // 10
    model = small().fit(X, Y, groups=groups)
    assert model.n_splits_ == 3
    given = small(cv=GroupKFold(3)).fit(X, Y, groups=groups)
    assert given.n_splits_ == 3
    with pytest.raises(ValueError, match="groups"):
        small(cv=GroupKFold(3)).fit(X, Y)


def test_given_folds() -> None:
    folds = list(KFold(4, shuffle=True, random_state=1).split(X))
    one, two = small(cv=folds).fit(X, Y), small(cv=KFold(4, shuffle=True, random_state=1)).fit(X, Y)
    assert one.cv_results_.keys() == two.cv_results_.keys()
    assert (one.cv_results_["mean_test_score"] == two.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="cv: fold 0 has training rows of one class only"):
        small(cv=[(np.arange(50), np.arange(50, 150))]).fit(X, Y)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss", "f1_macro", "roc_auc_ovr"])
def test_scorers(scoring: str) -> None:
    model = small(scoring=scoring).fit(X, Y)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


def test_frames_of_every_library() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["kind"] = np.where(frame["a"] > 5.5, "long", "short")
    expected = small().fit(frame, Y)
    assert list(expected.feature_names_in_) == ["a", "b", "c", "d", "kind"]
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert small().fit(table, Y).tree_ == expected.tree_
    labels = pd.Series(np.array(["x", "y", "z"])[Y])
    assert set(small().fit(frame, labels).predict(frame)) <= {"x", "y", "z"}


def test_jobs_do_not_change_the_result() -> None:
    one, two = small(n_jobs=1).fit(X, Y), small(n_jobs=2).fit(X, Y)
    assert one.tree_ == two.tree_
    for name, column in one.cv_results_.items():
        assert (column == two.cv_results_[name]).all(), name


def noise() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(1500, 12)), rng.integers(0, 3, 1500)


def test_a_time_limit_is_shared_and_said() -> None:
    data, y = noise()
    model = LiteratiClassifierCV((1, 5), (1, 3), cv=2, time_limit=3.0).fit(data, y)
    assert model.fit_seconds_ < 8  # loading and scoring come on top, also on a busy machine
    deep = model.cv_results_["param_max_depth"] == 5
    assert (model.cv_results_["proven_folds"][deep] < 2).any()
    assert (model.cv_results_["proven_folds"][~deep] == 2).all()
    assert set(model.paths_) == {(1, 1), (1, 3), (5, 1), (5, 3)}


def test_a_callback_stops_it_with_the_best_so_far() -> None:
    data, y = noise()
    seen: list[CVProgress] = []

    def stop(progress: CVProgress) -> bool:
        seen.append(progress)
        return progress.paths_done >= 2

    model = LiteratiClassifierCV((1, 6), 3, cv=2, time_limit=600, callback=stop).fit(data, y)
    assert set(model.paths_) == {(1, 3)}
    assert model.best_params_["max_depth"] == 1
    assert seen[-1].best_score == model.best_score_
    assert seen[-1].paths == 4
    assert model.predict(data).shape == y.shape


def test_an_interrupt_stops_it_with_the_best_so_far() -> None:
    data, y = noise()
    started = threading.Event()

    def watch(progress: CVProgress) -> None:
        if progress.paths_done >= 2 and not started.is_set():
            started.set()
            os.kill(os.getpid(), signal.SIGINT)

    model = LiteratiClassifierCV((1, 6), 3, cv=2, time_limit=600, callback=watch).fit(data, y)
    assert started.is_set()
    assert set(model.paths_) == {(1, 3)}


def most_leaves(model: Any, data: Any, y: Any) -> float:
    return float(model.tree.n_leaves)


def press_ctrl_c() -> bool:
    os.kill(os.getpid(), signal.SIGINT)
    return False


@pytest.mark.parametrize(
    ("end", "max_leaves"), [(lambda: True, None), (lambda: True, 1000), (press_ctrl_c, None)]
)
def test_the_last_fit_is_stopped_with_its_best_tree(end: Callable[[], bool], max_leaves: int | None) -> None:
    """The folds train on few rows, so that only the last fit takes long."""
    data, y = noise()
    seconds: list[float] = []  # when the folds were finished, and later

    def stop(progress: CVProgress) -> bool:
        if progress.paths_done == 2:
            seconds.append(progress.elapsed_seconds)
        return bool(seconds) and seconds[-1] > seconds[0] + 0.5 and end()

    model = LiteratiClassifierCV(
        4,
        3,
        cv=[(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))],
        scoring=most_leaves,
        select="best",
        time_limit=600,
        max_leaves=max_leaves,
        callback=stop,
    ).fit(data, y)
    assert model.fit_seconds_ < seconds[-1] + 2  # a second on a machine that is not busy
    assert model.tree_.n_leaves > 1
    assert not model.tree_.proof.proven_optimal


def test_stopped_before_anything_is_known() -> None:
    data, y = noise()
    with pytest.raises(RuntimeError, match="stopped before the first path was finished"):
        LiteratiClassifierCV(6, 3, cv=2, callback=lambda _: True).fit(data, y)


def test_the_progress_line() -> None:
    shown = io.StringIO()
    with redirect_stderr(shown):
        small(verbose=1).fit(X, Y)
    assert "6 of 6 paths  best score" in shown.getvalue()


def test_clones_and_pickles() -> None:
    model = small(callback=lambda _: False).fit(X, Y)
    assert clone(model).get_params()["cv"] == 3
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.paths_[2, 1][0][0].tree == model.paths_[2, 1][0][0].tree
    assert again.callback is None


def test_without_refit() -> None:
    model = small(refit=False).fit(X, Y)
    assert not hasattr(model, "tree_")
    assert model.best_params_["max_depth"] in (1, 2)


def test_plots() -> None:
    matplotlib.use("Agg")
    model = small(max_changepoints=(1, 2)).fit(X, Y)
    cv, path = model.plot_cv(), model.plot_path()
    assert next(text.get_text() for text in cv.get_legend().get_texts()) == "chosen"
    assert cv.get_xlabel() == "leaves (mean over the folds)"
    assert len(path.lines) == 5  # four settings and the choice
    assert model.plot_cv(ax=cv) is cv


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": ()}, "max_depth: expected one value or more"),
        ({"max_depth": (1, 0)}, "max_depth: expected an integer from 1 to 12, got 0"),
        ({"max_changepoints": 9}, "max_changepoints: expected an integer from 1 to 8"),
        ({"select": "largest"}, "select: expected one of best, one_standard_error, got 'largest'"),
        ({"max_leaves": 0}, "max_leaves: expected None or an integer >= 1"),
        ({"time_limit": -1}, "time_limit: expected None or a finite number > 0"),
        ({"candidates": "widening"}, "candidates: expected one of adaptive, shape, quantile, all for a path"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        small(**options).fit(X, Y)


def candidate(**changes: Any) -> Candidate:
    known: dict[str, Any] = {
        "setting": Setting(3, 1),
        "penalty_from": 2.0,
        "penalty_to": 8.0,
        "scores": (0.8, 0.9),
        "train_scores": (0.9, 0.9),
        "leaves": 5.0,
        "changepoints": 0.0,
        "proven_folds": 2,
        "max_gap": 0.0,
        "found_penalty": 3.0,
    }
    return Candidate(**(known | changes))


def test_the_penalty_of_a_candidate() -> None:
    """In a proven interval it is the geometric middle; otherwise where the scored trees were found."""
    assert candidate().penalty == 4.0
    assert candidate(penalty_from=0.0).penalty == 4.0
    assert candidate(penalty_to=math.inf).penalty == 4.0
    assert candidate(proven_folds=1).penalty == 3.0
    assert candidate(proven_folds=1, found_penalty=0.0).penalty == 2.0
    assert candidate(proven_folds=0, found_penalty=100.0).penalty == 8.0


def test_of_trees_of_the_same_size_the_proven_one_is_chosen() -> None:
    proven = candidate(leaves=9.2, scores=(0.80, 0.82))
    smaller = candidate(leaves=8.6, proven_folds=1, scores=(0.80, 0.82))
    assert choose([smaller, proven], "one_standard_error", None) is proven
    assert choose([smaller, proven], "best", None) is proven
    much_smaller = candidate(leaves=8.4, proven_folds=0, scores=(0.80, 0.82))
    assert choose([much_smaller, proven], "one_standard_error", None) is much_smaller
    better = candidate(leaves=30.0, proven_folds=0, scores=(0.80, 0.83))
    assert choose([better, proven], "best", None) is better
    assert "the smallest proven tree within" in explain_choice(proven, [better, smaller, proven], None, "x")
    assert "the smallest tree within" in explain_choice(proven, [better, proven], None, "x")


def test_a_fit_that_is_cut_short_keeps_the_size_that_was_scored() -> None:
    data, y = load_breast_cancer(return_X_y=True)
    model = LiteratiClassifierCV(5, 3, cv=3, select="best", max_expansions=12, time_limit=None).fit(data, y)
    row = model.best_index_
    assert model.cv_results_["proven_folds"][row] < 3
    scored = model.cv_results_["mean_leaves"][row]
    assert scored / 2 <= model.tree_.n_leaves <= 2 * scored


def test_weights_of_a_class_that_a_fold_lacks() -> None:
    y = Y.copy()
    y[0] = 7  # one row: no other fold has it in training
    folds = [(np.arange(1, 150), np.arange(0, 150, 3)), (np.arange(0, 150, 2), np.arange(1, 150, 2))]
    model = small(cv=folds, class_weight={7: 3.0, 1: 2.0}).fit(X, y)
    given = np.where(y == 7, 3.0, np.where(y == 1, 2.0, 1.0))
    same = small(cv=folds).fit(X, y, sample_weight=given)
    assert model.tree_.nodes == same.tree_.nodes
    assert model.best_score_ != same.best_score_  # scores do not count weights of classes


def test_a_second_fit_leaves_nothing_of_the_first() -> None:
    model = small().fit(X, Y)
    model.set_params(refit=False).fit(X[:, :2], Y)
    assert not hasattr(model, "tree_")
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(NotFittedError, match="fit with refit=True"):
        model.predict(X)


def test_functions_as_scorers() -> None:
    seen: list[Any] = []

    def right(estimator: Any, rows: Any, y: Any) -> float:
        seen.append(rows)
        return float((estimator.predict(rows) == y).mean())

    function = small(scoring=right).fit(X, Y, sample_weight=np.ones(150))
    named = small(scoring=None).fit(X, Y)
    assert (function.cv_results_["mean_test_score"] == named.cv_results_["mean_test_score"]).all()
    assert all(rows.shape[1] == 4 for rows in seen)
    assert "(right)" in function.choice_
    assert "(accuracy)" in named.choice_


def test_a_score_that_is_not_defined_names_the_fold() -> None:
    two = Y[:100]
    folds = [(np.arange(0, 100, 2), np.arange(1, 50, 2))]  # the test rows have one class
    with (
        pytest.warns(UndefinedMetricWarning),
        pytest.raises(ValueError, match="scoring: roc_auc is not defined on fold 0"),
    ):
        small(cv=folds, scoring="roc_auc").fit(X[:100], two)


def test_the_choice_explains_the_limit_of_leaves() -> None:
    data, y = load_breast_cancer(return_X_y=True)
    model = LiteratiClassifierCV(3, 1, select="best", max_leaves=2, cv=3, time_limit=20).fit(data, y)
    table = model.cv_results_
    allowed = table["mean_leaves"] <= 2
    assert model.best_score_ == table["mean_test_score"][allowed].max() < table["mean_test_score"].max()
    assert f"Of {allowed.sum()} candidates with at most 2 leaves" in model.choice_
    assert model.tree_.n_leaves <= 2


def test_max_leaves_holds_when_nothing_is_proven() -> None:
    data, y = noise()
    for leaves in (2, 4, 6):
        model = LiteratiClassifierCV(5, 2, cv=2, max_leaves=leaves, max_expansions=8, time_limit=None)
        assert model.fit(data, y).tree_.n_leaves <= leaves


def test_numbers_of_folds() -> None:
    one, two = small(cv=np.int64(3)).fit(X, Y), small(cv=3).fit(X, Y)
    assert (one.cv_results_["mean_test_score"] == two.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="cv: expected one fold or more, got none"):
        small(cv=[]).fit(X, Y)
    with pytest.raises(TypeError):
        small().fit(X, Y, np.ones(150))  # type: ignore[call-arg]
