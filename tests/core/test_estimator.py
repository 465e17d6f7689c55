"""LiteratiClassifier: scikit-learn's conventions, frames, pickles, progress, interruption."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from literati import LiteratiClassifier, SearchLimits, SearchReport, ShapeTree, StopReason
from literati.estimator import definitions
from literati.search.options import ProgressOptions, SolverOptions
from literati.search.report import TRACE_DTYPE, relative_gap
from literati.tree.nodes import BEYOND_SPACE

X, Y = load_iris(return_X_y=True)


def noise(rows: int = 500) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, 8)), rng.integers(0, 3, rows)


class ClaimsGoodScores(LiteratiClassifier):
    """The defaults without the tag that excuses them from scikit-learn's checks of scores."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = False
        return tags


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [LiteratiClassifier(), LiteratiClassifier(split_penalty=0.5)]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def noise_is_fitted(estimator: Any) -> dict[str, str]:
    return {"check_class_weight_classifiers": "without a penalty the optimum fits every row of pure noise"}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [ClaimsGoodScores()], expected_failed_checks=noise_is_fitted
)
def test_the_tag_excuses_the_defaults_from_one_check_only(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_tag_is_only_for_trees_without_a_penalty() -> None:
    assert get_tags(LiteratiClassifier()).classifier_tags.poor_score
    assert not get_tags(LiteratiClassifier(split_penalty=0.5)).classifier_tags.poor_score


def test_the_signature() -> None:
    parameters = inspect.signature(LiteratiClassifier).parameters
    assert {name: p.default for name, p in parameters.items()} == {
        "max_depth": 4,
        "max_changepoints": 2,
        "split_penalty": 0.0,
        "changepoint_penalty": 0.0,
        "candidates": parameters["candidates"].default,  # chosen by measurement
        "candidate_leaves": 17,
        "time_limit": 60.0,
        "max_expansions": None,
        "memory_limit": None,
        "gap": 0.0,
        "gap_absolute": 0.0,
        "patience": None,
        "or_selection": "mixed",
        "and_selection": "round_robin",
        "heuristic": "cart",
        "criterion": "gini",
        "polish": True,
        "class_weight": None,
        "n_threads": 1,
        "verbose": 0,
        "callback": None,
        "categories": "ordered",
        "min_samples_leaf": 1,
        "probability_smoothing": 0.5,
    }
    assert {name: entry.default for name, entry in definitions().items()} == {
        name: p.default for name, p in parameters.items()
    }
    groups = (SolverOptions, SearchLimits, ProgressOptions)
    assert set(parameters) == {name for group in groups for name in group.definitions()}


def test_a_pickle_of_another_version() -> None:
    """Absent parameters take their defaults; one of a later version is refused by name."""
    state = json.loads(LiteratiClassifier(max_depth=3).__getstate__()["json"])
    again = LiteratiClassifier.__new__(LiteratiClassifier)
    again.__setstate__({"json": json.dumps({**state, "parameters": {"max_depth": 3}})})
    assert again.get_params() == LiteratiClassifier(max_depth=3).get_params()
    with pytest.raises(ValueError, match="does not have the pickle's parameter 'speed'"):
        again.__setstate__({"json": json.dumps({**state, "parameters": {"speed": 1}})})
    report = LiteratiClassifier(max_depth=1).fit(X, Y).report_
    assert SearchReport.from_dict({**report.to_dict(), "speed": 1}) == report


def test_the_docstring_describes_every_parameter() -> None:
    text = LiteratiClassifier.__doc__ or ""
    for name, entry in definitions().items():
        assert f"\n    {name} : {entry.values}, default={entry.default!r}\n" in text
        assert entry.sentences() in " ".join(text.split())


def test_what_fit_leaves_behind() -> None:
    model = LiteratiClassifier(max_depth=2)
    assert model.fit(X, Y) is model
    assert isinstance(model.tree_, ShapeTree)
    assert model.objective_ == (model.predict(X) != Y).sum() <= model.upper_bound_
    assert model.lower_bound_ == model.upper_bound_
    assert model.gap_ == relative_gap(model.upper_bound_, model.lower_bound_) == 0.0
    assert model.proven_optimal_
    assert model.proven_space_ == model.candidates
    assert model.stop_reason_ is StopReason.PROVEN_OPTIMAL
    assert model.n_expansions_ >= 1
    assert model.fit_seconds_ > 0
    assert model.trace_.dtype == TRACE_DTYPE
    assert model.trace_["upper"][-1] == model.upper_bound_
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.decision_path(X).shape == (150, len(model.tree_.nodes))
    np.testing.assert_array_equal(model.apply(X), model.tree_.apply(X))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_nothing_before_fit(method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(LiteratiClassifier(), method)(X)


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    data = pd.DataFrame(
        {
            "size": rng.normal(size=120).round(2),
            "colour": rng.choice(["red", "green", "blue"], 120),
            "ripe": rng.random(120) < 0.5,
        }
    )
    data.loc[::7, "size"] = np.nan
    data.loc[::11, "colour"] = None
    return data


def labels(data: pd.DataFrame) -> Any:
    return np.where((data["size"].fillna(0) > 0.3) & (data["colour"] != "red"), "eat", "leave")


@pytest.mark.parametrize(
    "convert",
    [
        lambda data: data,
        lambda data: data.astype({"colour": "category", "ripe": "boolean"}),
        pl.from_pandas,
        pa.Table.from_pandas,
        lambda data: data.to_numpy(dtype=object),
    ],
    ids=["pandas", "pandas-types", "polars", "arrow", "objects"],
)
def test_frames_of_every_kind(convert: Any) -> None:
    data = frame()
    model = LiteratiClassifier(max_depth=2).fit(convert(data), labels(data))
    expected = LiteratiClassifier(max_depth=2).fit(data, labels(data))
    assert model.objective_ == expected.objective_ == 0
    np.testing.assert_array_equal(model.predict(convert(data)), labels(data))
    assert model.tree_.nodes == expected.tree_.nodes


def test_columns_may_come_in_any_order() -> None:
    data = frame()
    model = LiteratiClassifier(max_depth=2).fit(data, labels(data))
    assert model.feature_names_in_.tolist() == ["size", "colour", "ripe"]
    np.testing.assert_array_equal(model.predict(data[["ripe", "size", "colour"]]), labels(data))
    with pytest.raises(ValueError, match="yet now missing: 'size'"):
        model.predict(data[["ripe", "colour"]])
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4


def test_labels_of_every_kind() -> None:
    for names in (["a", "b", "c"], [10, 20, 30], [("x", 1), ("x", 2), ("y", 1)]):
        y = [names[k] for k in Y]
        model = LiteratiClassifier(max_depth=2).fit(X, y)
        assert model.predict(X[:1]).tolist() == [y[0]]
        assert list(model.classes_) == names


def test_clone_and_grid_search() -> None:
    model = LiteratiClassifier(max_depth=2, candidate_leaves=[9, 5], class_weight={0: 2.0})
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(
        LiteratiClassifier(), {"max_depth": [1, 2], "split_penalty": [0.0, 1.0]}, cv=3, n_jobs=1
    )
    search.fit(X, Y)
    assert search.best_score_ > 0.9
    assert search.best_params_["max_depth"] == 2
    pipeline = make_pipeline(StandardScaler(), LiteratiClassifier(max_depth=2))
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > 0.9


def test_pickles_are_json() -> None:
    data = frame()
    model = LiteratiClassifier(
        max_depth=2,
        candidate_leaves=(9, 5),
        class_weight={"eat": np.float64(2.0)},
        callback=print,
        time_limit=None,
    )
    model.set_params(callback=lambda report: None).fit(data, labels(data))
    state = model.__getstate__()
    assert set(state) == {"json"}
    assert json.loads(state["json"])["fitted"]["tree"]["format"] == "literati-tree"
    back = pickle.loads(pickle.dumps(model))
    assert back.get_params() == {**model.get_params(), "callback": None, "candidate_leaves": [9, 5]}
    np.testing.assert_array_equal(back.predict(data), model.predict(data))
    assert back.tree_ == model.tree_
    assert back.report_ == model.report_
    np.testing.assert_array_equal(back.trace_, model.trace_)
    assert back.stop_reason_ is model.stop_reason_
    assert back.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    unfitted = pickle.loads(pickle.dumps(LiteratiClassifier(gap=0.5)))
    assert unfitted.gap == 0.5
    assert not hasattr(unfitted, "tree_")


def test_pickles_of_another_version_are_refused() -> None:
    state = LiteratiClassifier().__getstate__()
    state["json"] = state["json"].replace('"version": 1', '"version": 9')
    with pytest.raises(ValueError, match="reads pickles of version 1, not 9"):
        LiteratiClassifier.__new__(LiteratiClassifier).__setstate__(state)


def test_sample_weight_counts_rows() -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, len(Y))
    weighted = LiteratiClassifier(max_depth=2).fit(X, Y, sample_weight=weights)
    repeated = LiteratiClassifier(max_depth=2).fit(X.repeat(weights, axis=0), Y.repeat(weights))
    assert weighted.objective_ == repeated.objective_
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_callback_sees_reports_and_may_stop() -> None:
    seen: list[SearchReport] = []

    def callback(report: SearchReport) -> bool:
        seen.append(report)
        return len(seen) == 3

    model = LiteratiClassifier(max_depth=6, max_changepoints=3, callback=callback).fit(*noise())
    assert len(seen) == 3
    assert model.stop_reason_ is StopReason.USER_STOP
    assert not model.proven_optimal_
    assert [report.stop_reason for report in seen] == [StopReason.RUNNING] * 3
    assert seen[0].elapsed_seconds < seen[1].elapsed_seconds < seen[2].elapsed_seconds
    finished: list[SearchReport] = []
    LiteratiClassifier(max_depth=1, callback=finished.append).fit(X, Y)
    assert finished[-1].stop_reason is StopReason.PROVEN_OPTIMAL


def test_an_error_in_the_callback_is_the_users() -> None:
    def callback(report: SearchReport) -> None:
        raise KeyError("mine")

    model = LiteratiClassifier(max_depth=6, callback=callback)
    with pytest.raises(KeyError, match="mine"):
        model.fit(*noise())
    assert not hasattr(model, "tree_")


def test_progress_line(capsys: pytest.CaptureFixture[str]) -> None:
    LiteratiClassifier(max_depth=6, max_changepoints=3, time_limit=0.8, verbose=1).fit(*noise())
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.endswith("\n")
    progress, _, explanation = written.err.partition("\n")
    assert explanation in ("", f"{BEYOND_SPACE}\n")
    lines = progress.strip().split("\r")
    assert len(lines) >= 3
    for word in ("upper", "lower", "gap", "expansions/s", "MiB"):
        assert word in lines[-1]
    LiteratiClassifier(max_depth=1).fit(X, Y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("parameter", "value", "error"),
    [
        ("max_depth", 0, ValueError),
        ("max_depth", "3", TypeError),
        ("candidates", "none", ValueError),
        ("time_limit", -1, ValueError),
        ("gap", 2, ValueError),
        ("n_threads", 0, ValueError),
        ("verbose", "loud", ValueError),
        ("verbose", 7, ValueError),
        ("callback", 3, TypeError),
        ("class_weight", "fair", ValueError),
        ("categories", None, ValueError),
        ("memory_limit", 0, ValueError),
    ],
)
def test_nonsense_parameters_are_named(parameter: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"^{parameter}: "):
        LiteratiClassifier(**{parameter: value}).fit(X, Y)


@pytest.mark.usefixtures("heard_interrupts")
def test_interruption_raises_and_leaves_the_old_fit() -> None:
    model = LiteratiClassifier(max_depth=2).fit(X, Y)
    before = model.tree_
    model.set_params(max_depth=6, max_changepoints=3, time_limit=30.0)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noise())
    assert model.tree_ is before
    np.testing.assert_array_equal(model.predict(X), before.predict(X))
    assert model.set_params(max_depth=1).fit(X, Y).tree_.depth == 1


def test_an_unpickled_model_needs_no_training_code() -> None:
    """The pickle is small: no training data in it."""
    data, y = noise(5000)
    model = LiteratiClassifier(max_depth=2, time_limit=2.0).fit(data, y)
    assert len(pickle.dumps(model)) < 20_000
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer).predict([[0.0] * 8])[0])"
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(model), capture_output=True, check=True
    )
    assert int(done.stdout) == model.predict([[0.0] * 8])[0]


def test_one_hot_coding_of_a_column_with_one_category_and_missing_values() -> None:
    clf = LiteratiClassifier(categories="one_hot", max_depth=2).fit(pd.DataFrame({"c": ["k", None]}), [2, 0])
    assert clf.predict(pd.DataFrame({"c": ["k", None, "k"]})).tolist() == [2, 0, 2]
    assert clf.proven_optimal_
    assert clf.objective_ == 0
