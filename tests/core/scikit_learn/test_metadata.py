"""Weights and groups that scikit-learn routes to a classifier within others."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from literati import LiteratiClassifier
from literati.client import RemoteClassifier
from tests.core.scikit_learn.conftest import small_cv

FOLDS = StratifiedKFold(2)


@pytest.fixture(autouse=True)
def _routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def weights(rows: pd.DataFrame) -> npt.NDArray[np.float64]:
    return np.random.default_rng(0).integers(0, 5, len(rows)).astype(float)


def test_weights_reach_fit_and_score(
    either: Any, rows: pd.DataFrame, repaid: pd.Series, weights: npt.NDArray[np.float64]
) -> None:
    model = either.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    result = cross_validate(
        model, rows, repaid, cv=FOLDS, params={"sample_weight": weights}, return_estimator=True
    )
    for fold, (train, test) in enumerate(FOLDS.split(rows, repaid)):
        alone = clone(either).fit(rows.iloc[train], repaid.iloc[train], sample_weight=weights[train])
        assert result["estimator"][fold].tree_ == alone.tree_
        score = alone.score(rows.iloc[test], repaid.iloc[test], sample_weight=weights[test])
        assert result["test_score"][fold] == score


def test_weights_that_nobody_asked_for(
    either: Any, rows: pd.DataFrame, repaid: pd.Series, weights: npt.NDArray[np.float64]
) -> None:
    with pytest.raises(UnsetMetadataPassedError, match=r"LiteratiClassifier.*set_fit_request"):
        cross_validate(either, rows, repaid, cv=FOLDS, params={"sample_weight": weights})
    ignoring = either.set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
    found = cross_validate(
        ignoring, rows, repaid, cv=FOLDS, params={"sample_weight": weights}, return_estimator=True
    )
    for fitted, (train, _) in zip(found["estimator"], FOLDS.split(rows, repaid), strict=True):
        assert fitted.tree_ == clone(either).fit(rows.iloc[train], repaid.iloc[train]).tree_


@pytest.mark.slow
def test_weights_reach_a_pipeline_in_other_processes(
    either: Any, rows: pd.DataFrame, repaid: pd.Series, weights: npt.NDArray[np.float64]
) -> None:
    """What a classifier asked for is pickled with it."""
    step = type(either).__name__.lower()
    grid = {f"{step}__max_depth": [1, 2]}
    model = either.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    pipeline = make_pipeline(FunctionTransformer(), model)
    one, two = (
        GridSearchCV(pipeline, grid, cv=FOLDS, n_jobs=jobs).fit(rows, repaid, sample_weight=weights)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    alone = clone(either).set_params(max_depth=two.best_params_[f"{step}__max_depth"])
    assert two.best_estimator_[-1].tree_ == alone.fit(rows, repaid, sample_weight=weights).tree_


@pytest.mark.parametrize("kind", [LiteratiClassifier, small_cv, RemoteClassifier])
def test_requests_are_pickled(kind: Any) -> None:
    plain = kind()
    assert "metadata_requests" not in str(plain.__getstate__())
    model = kind().set_fit_request(sample_weight="importance").set_score_request(sample_weight=True)
    pickled = pickle.dumps(model)
    with config_context(enable_metadata_routing=False):  # as in a new process
        again = pickle.loads(pickled)
    requests = again.get_metadata_routing()
    assert requests.fit.requests["sample_weight"] == "importance"
    assert requests.score.requests == {"sample_weight": True}
    assert clone(again).get_metadata_routing().fit.requests == model.get_metadata_routing().fit.requests
    assert pickle.loads(pickle.dumps(plain)).get_metadata_routing().fit.requests["sample_weight"] is None


def test_groups_reach_the_folds(rows: pd.DataFrame, repaid: pd.Series) -> None:
    groups = np.arange(len(rows)) // 8
    model = small_cv().set_fit_request(groups=True)
    result = cross_validate(
        model, rows, repaid, cv=GroupKFold(2), params={"groups": groups}, return_estimator=True
    )
    for fold, (train, _) in enumerate(GroupKFold(2).split(rows, repaid, groups)):
        alone = small_cv().fit(rows.iloc[train], repaid.iloc[train], groups=groups[train])
        fitted = result["estimator"][fold]
        assert fitted.best_score_ == alone.best_score_
        assert fitted.tree_ == alone.tree_
