"""scikit-learn's inspection and plots of classifiers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibrationDisplay, calibration_curve
from sklearn.datasets import load_iris
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay, confusion_matrix, roc_auc_score
from sklearn.model_selection import LearningCurveDisplay

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture
def fitted(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> Any:
    return either.fit(rows, repaid)


def used_columns(model: Any) -> set[str]:
    tree = model.tree_
    return {tree.feature_names[node.split.column] for node in tree.nodes if node.split is not None}


def test_permutation_importance(fitted: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    found = permutation_importance(fitted, rows, repaid, n_repeats=3, random_state=0)
    means = dict(zip(rows.columns, found.importances_mean, strict=True))
    used = used_columns(fitted)
    assert used
    assert all(means[name] == 0.0 for name in rows.columns if name not in used)
    assert max(means, key=lambda name: means[name]) in used


@pytest.mark.parametrize("column", ["income", "employment", "has_savings"])
def test_partial_dependence(fitted: Any, rows: pd.DataFrame, column: str) -> None:
    """The mean prediction if a column had this value in every row, for numbers, text and booleans."""
    complete = rows.dropna()
    categorical = None if column == "income" else [column]
    found = partial_dependence(
        fitted, complete, [column], categorical_features=categorical, grid_resolution=5
    )
    values = found["grid_values"][0]
    expected = [fitted.predict_proba(complete.assign(**{column: value}))[:, 1].mean() for value in values]
    np.testing.assert_allclose(found["average"][0], expected)


def test_plot_of_partial_dependence(fitted: Any, rows: pd.DataFrame) -> None:
    complete = rows.dropna()
    display = PartialDependenceDisplay.from_estimator(
        fitted, complete, ["income", "employment"], categorical_features=["employment"], grid_resolution=5
    )
    line = display.lines_[0, 0].get_ydata()
    expected = partial_dependence(fitted, complete, ["income"], grid_resolution=5)["average"][0]
    np.testing.assert_allclose(line, expected)
    assert display.bars_[0, 1] is not None


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_decision_boundary(either: Any, method: str) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    pair = X.iloc[:, 2:]
    model = either.fit(pair, y == 0)
    display = DecisionBoundaryDisplay.from_estimator(model, pair, grid_resolution=8, response_method=method)
    grid = pd.DataFrame(np.c_[display.xx0.ravel(), display.xx1.ravel()], columns=pair.columns)
    answers = model.predict(grid) if method == "predict" else model.predict_proba(grid)[:, 1]
    np.testing.assert_allclose(display.response.ravel(), answers.astype(float))


def test_curves_of_a_classifier(fitted: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    shares = fitted.predict_proba(rows)[:, 1]
    roc = RocCurveDisplay.from_estimator(fitted, rows, repaid, pos_label="yes")
    assert roc.line_.get_xdata().shape == roc.line_.get_ydata().shape
    assert f"{roc_auc_score(repaid == 'yes', shares):.2f}" in roc.line_.get_label()
    calibration = CalibrationDisplay.from_estimator(fitted, rows, repaid, n_bins=4, pos_label="yes")
    truth, predicted = calibration_curve(repaid == "yes", shares, n_bins=4)
    np.testing.assert_allclose(calibration.prob_true, truth)
    np.testing.assert_allclose(calibration.prob_pred, predicted)
    counts = ConfusionMatrixDisplay.from_estimator(fitted, rows, repaid).confusion_matrix
    np.testing.assert_array_equal(counts, confusion_matrix(repaid, fitted.predict(rows)))


def test_plot_of_a_learning_curve(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    display = LearningCurveDisplay.from_estimator(either, rows, repaid, train_sizes=[60, 120], cv=2)
    assert display.train_sizes.tolist() == [60, 120]
    assert (display.test_scores > 0.5).all()
