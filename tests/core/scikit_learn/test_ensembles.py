"""Classifiers within scikit-learn's others: calibration, votes, stacks, bags, one against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier

from literati import LiteratiClassifier

FOLDS = StratifiedKFold(3)


def test_calibration_of_a_fitted_classifier(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    """Isotonic regression keeps the mean and the order of the probabilities, and the tree stays."""
    fitted = either.fit(rows, repaid)
    tree = fitted.tree_
    model = CalibratedClassifierCV(FrozenEstimator(fitted), method="isotonic").fit(rows, repaid)
    assert model.calibrated_classifiers_[0].estimator.estimator.tree_ is tree
    calibrated, before = model.predict_proba(rows)[:, 1], fitted.predict_proba(rows)[:, 1]
    assert calibrated.mean() == pytest.approx((repaid == "yes").mean())
    order = np.argsort(before, kind="stable")
    assert (np.diff(calibrated[order]) >= 0).all()


def test_calibration_on_folds(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> None:
    weights = np.where(repaid == "yes", 1.0, 2.0)
    model = CalibratedClassifierCV(classifier, cv=FOLDS).fit(rows, repaid, sample_weight=weights)
    for part, (train, _) in zip(model.calibrated_classifiers_, FOLDS.split(rows, repaid), strict=True):
        alone = clone(classifier).fit(rows.iloc[train], repaid.iloc[train], sample_weight=weights[train])
        assert part.estimator.tree_ == alone.tree_
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)


def test_votes(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> None:
    deep, flat = clone(classifier), clone(classifier).set_params(max_depth=1)
    model = VotingClassifier([("deep", deep), ("flat", flat)], voting="soft").fit(rows, repaid)
    mean = (deep.fit(rows, repaid).predict_proba(rows) + flat.fit(rows, repaid).predict_proba(rows)) / 2
    np.testing.assert_allclose(model.predict_proba(rows), mean)
    assert model.predict(rows).tolist() == model.classes_[mean.argmax(axis=1)].tolist()


def test_stacks(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    model = StackingClassifier([("tree", either)], LogisticRegression(), cv=FOLDS).fit(rows, repaid)
    held_out = cross_val_predict(either, rows, repaid, cv=FOLDS, method="predict_proba")[:, [1]]
    last = LogisticRegression().fit(held_out, repaid)
    np.testing.assert_allclose(model.final_estimator_.coef_, last.coef_)
    seen = clone(either).fit(rows, repaid).predict_proba(rows)[:, [1]]
    np.testing.assert_array_equal(model.transform(rows), seen)
    assert model.predict(rows).tolist() == last.predict(seen).tolist()


def test_bags(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> None:
    """The bag turns a table into an array of objects, whose columns keep their kinds."""
    model = BaggingClassifier(classifier, n_estimators=3, random_state=0).fit(rows, repaid)
    for tree, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        alone = clone(classifier).fit(rows.iloc[drawn], repaid.iloc[drawn])
        assert tree.objective_ == alone.objective_
        assert [column.kind for column in tree.tree_.schema.columns].count("category") == 1
    mean = np.mean([tree.predict_proba(rows.to_numpy(dtype=object)) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(rows), mean)


def test_one_against_the_rest(either: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = OneVsRestClassifier(either).fit(X, y)
    for label, found in enumerate(model.estimators_):
        assert found.tree_ == clone(either).fit(X, (y == label).astype(int)).tree_
    shares = np.stack([found.predict_proba(X)[:, 1] for found in model.estimators_], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True))
    assert model.score(X, y) > 0.9


def test_boosting() -> None:
    """The weights of boosting are any fractions; each tree is the best one for the weights it gets."""
    X, y = load_iris(return_X_y=True)
    stump = LiteratiClassifier(max_depth=1, max_changepoints=1)
    model = AdaBoostClassifier(stump, n_estimators=3).fit(X, y)
    assert model.estimators_[0].tree_.nodes[0].split == stump.fit(X, y).tree_.nodes[0].split
    assert all(tree.proven_optimal_ for tree in model.estimators_)
    assert model.score(X, y) > stump.score(X, y)
