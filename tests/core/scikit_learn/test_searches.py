"""Classifiers in scikit-learn's model selection: searches, validation, curves and thresholds."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)

from literati import LiteratiClassifier
from tests.core.scikit_learn.conftest import small_cv

FOLDS = StratifiedKFold(3)
GRID = {"max_depth": [1, 2], "split_penalty": np.array([0.5, 4.0])}


def test_grid_search(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> None:
    search = GridSearchCV(classifier, GRID, cv=FOLDS).fit(rows, repaid)
    for parameters, mean in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        model = clone(classifier).set_params(**parameters)
        assert mean == pytest.approx(cross_val_score(model, rows, repaid, cv=FOLDS).mean())
    best = clone(classifier).set_params(**search.best_params_).fit(rows, repaid)
    assert search.best_estimator_.tree_ == best.tree_
    assert search.classes_.tolist() == ["no", "yes"]
    assert pickle.loads(pickle.dumps(search)).predict(rows).tolist() == best.predict(rows).tolist()


@pytest.mark.slow
def test_grid_search_in_processes(
    classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series
) -> None:
    grid = {"max_depth": [1, 2]}
    one, two = (GridSearchCV(classifier, grid, cv=2, n_jobs=jobs).fit(rows, repaid) for jobs in (1, 2))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert one.best_estimator_.tree_ == two.best_estimator_.tree_


def test_randomized_search(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> None:
    """Distributions draw NumPy's numbers, with which a classifier is fitted and stored as with Python's."""
    space = {
        "max_depth": randint(1, 3),
        "split_penalty": loguniform(0.1, 10),
        "min_samples_leaf": np.arange(1, 9),
    }
    search = RandomizedSearchCV(classifier, space, n_iter=4, cv=2, random_state=0).fit(rows, repaid)
    best = pickle.loads(pickle.dumps(search.best_estimator_))
    assert best.tree_ == search.best_estimator_.tree_
    assert {type(best.get_params()[name]) for name in space} == {int, float}
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


def test_halving_with_expansions_as_the_resource(
    classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series
) -> None:
    search = HalvingGridSearchCV(
        classifier,
        {"max_depth": [1, 2], "min_samples_leaf": [1, 10]},
        resource="max_expansions",
        min_resources=10,
        max_resources=40,
        factor=2,
        cv=2,
        random_state=0,
    ).fit(rows, repaid)
    assert search.n_resources_ == [10, 20, 40][: len(search.n_resources_)]
    assert search.best_params_["max_expansions"] == search.n_resources_[-1]
    assert search.best_estimator_.n_expansions_ <= search.n_resources_[-1]


def test_halving_with_rows_as_the_resource(rows: pd.DataFrame, repaid: pd.Series) -> None:
    search = HalvingGridSearchCV(
        small_cv(),
        {"select": ["best", "one_standard_error"]},
        factor=2,
        min_resources=60,
        cv=2,
        random_state=0,
    ).fit(rows, repaid)
    assert search.n_resources_[0] == 60
    assert search.best_estimator_.tree_.nodes[0].rows == len(rows)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_predictions_of_the_folds(either: Any, rows: pd.DataFrame, repaid: pd.Series, method: str) -> None:
    found = cross_val_predict(either, rows, repaid, cv=FOLDS, method=method)
    for train, test in FOLDS.split(rows, repaid):
        model = clone(either).fit(rows.iloc[train], repaid.iloc[train])
        np.testing.assert_array_equal(found[test], getattr(model, method)(rows.iloc[test]))


def test_learning_curve(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> None:
    sizes, train_scores, test_scores = learning_curve(
        classifier, rows, repaid, train_sizes=[40, 160], cv=FOLDS, shuffle=True, random_state=0
    )
    assert sizes.tolist() == [40, 160]
    np.testing.assert_allclose(test_scores[-1], cross_val_score(classifier, rows, repaid, cv=FOLDS))
    assert train_scores.mean(axis=1).argmax() == 0  # few rows are fitted better


def test_fixed_threshold(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    model = FixedThresholdClassifier(either, threshold=0.8, pos_label="yes").fit(rows, repaid)
    sure = clone(either).fit(rows, repaid).predict_proba(rows)[:, 1] >= 0.8
    assert model.predict(rows).tolist() == np.where(sure, "yes", "no").tolist()
    assert 0 < sure.mean() < (clone(either).fit(rows, repaid).predict(rows) == "yes").mean()


def test_tuned_threshold(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    positive = repaid == "yes"
    model = TunedThresholdClassifierCV(either, scoring="balanced_accuracy", thresholds=20, cv=FOLDS)
    model.fit(rows, positive)
    probabilities = clone(either).fit(rows, positive).predict_proba(rows)[:, 1]
    np.testing.assert_array_equal(model.predict(rows), probabilities >= model.best_threshold_)
    plain = cross_val_predict(either, rows, positive, cv=FOLDS)
    assert model.best_score_ >= balanced_accuracy_score(positive, plain) - 0.02


def test_nested_cross_validation(rows: pd.DataFrame, repaid: pd.Series) -> None:
    """The score of the tuned classifier is measured on rows that no part of the tuning saw."""
    scores = cross_val_score(small_cv(), rows, repaid, cv=FOLDS)
    for score, (train, test) in zip(scores, FOLDS.split(rows, repaid), strict=True):
        model = small_cv().fit(rows.iloc[train], repaid.iloc[train])
        assert score == accuracy_score(repaid.iloc[test], model.predict(rows.iloc[test]))
