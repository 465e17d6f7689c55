"""Compare the metrics with scikit-learn's, and the cost of a tree with the library's own check."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics as reference

from literati import LiteratiClassifier
from literati.data.schema import EncodedRows
from worker.training import metrics
from worker.training.ranking import MAX_POINTS, Ranking


def rows(
    n: int, n_classes: int, seed: int, weighted: bool
) -> tuple[metrics.LabelledRows, metrics.Predictions]:
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(n_classes), n)
    weights = rng.integers(1, 5, n) / 4 if weighted else None
    cells = EncodedRows(rng.normal(size=(n, 2)), {}, ())
    labelled = metrics.LabelledRows(cells, rng.integers(0, n_classes, n), weights)
    return labelled, metrics.Predictions(probabilities.argmax(axis=1), probabilities)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_scores_are_scikit_learns(n_classes: int, weighted: bool) -> None:
    labelled, said = rows(400, n_classes, n_classes, weighted)
    found = metrics.scores(labelled, said, list("abcdefg")[:n_classes])
    w: Any = labelled.weights
    y, predicted = labelled.y, said.predicted
    assert found["rows"] == 400
    assert found["accuracy"] == pytest.approx(reference.accuracy_score(y, predicted, sample_weight=w))
    balanced = reference.balanced_accuracy_score(y, predicted, sample_weight=w)
    assert found["balanced_accuracy"] == pytest.approx(balanced)
    loss = reference.log_loss(y, said.probabilities, sample_weight=w, labels=range(n_classes))
    assert found["log_loss"] == pytest.approx(loss)
    matrix = reference.confusion_matrix(y, predicted, sample_weight=w)
    assert found["confusion_matrix"]["counts"] == matrix.tolist()
    precision, recall, f1, support = reference.precision_recall_fscore_support(y, predicted, sample_weight=w)
    for k, entry in enumerate(found["per_class"]):
        assert entry["precision"] == pytest.approx(precision[k])
        assert entry["recall"] == pytest.approx(recall[k])
        assert entry["f1"] == pytest.approx(f1[k])
        assert entry["support"] == support[k]
    assert found["macro_f1"] == pytest.approx(
        reference.f1_score(y, predicted, average="macro", sample_weight=w)
    )
    right = np.eye(n_classes)[y]
    brier = np.average(((said.probabilities - right) ** 2).sum(axis=1), weights=w)
    assert found["brier_score"] == pytest.approx(brier)
    area = reference.roc_auc_score(y, said.probabilities[:, 1], sample_weight=w) if n_classes == 2 else None
    assert found["roc_auc"] == (None if area is None else pytest.approx(area))


def leaves_of(n: int, distinct: int, seed: int) -> tuple[metrics.LabelledRows, metrics.Predictions]:
    """Return weighted rows that get so many different probabilities, most of which are right."""
    rng = np.random.default_rng(seed)
    second = rng.permutation(np.arange(1, distinct + 1))[rng.integers(0, distinct, n)] / (distinct + 1)
    y = (rng.random(n) < second).astype(np.intp)
    cells = EncodedRows(np.zeros((n, 1)), {}, ())
    labelled = metrics.LabelledRows(cells, y, rng.integers(0, 5, n) / 4)
    return labelled, metrics.Predictions((second > 0.5).astype(np.intp), np.stack([1 - second, second], 1))


def curve(points: list[dict[str, float]]) -> dict[float, tuple[float, float]]:
    """Return the weights of both classes that are predicted as the second one, by threshold."""
    sums = [np.cumsum([point[name] for point in points]) for name in ("positives", "negatives")]
    return {point["probability"]: (a, b) for point, a, b in zip(points, *sums, strict=True)}


@pytest.mark.parametrize("distinct", [1, 2, 40, MAX_POINTS, MAX_POINTS + 1, 4000])
def test_every_operating_point_is_on_the_curve(distinct: int) -> None:
    labelled, said = leaves_of(20_000, distinct, distinct)
    y, second, w = labelled.y, said.probabilities[:, 1], labelled.row_weights
    found = metrics.scores(labelled, said, ["a", "b"], with_points=True)
    points = found["operating_points"]
    thresholds = [point["probability"] for point in points]
    assert thresholds == sorted(set(thresholds), reverse=True)
    seen = np.unique(second[w > 0])
    assert set(thresholds) <= set(seen.tolist())
    assert len(points) == len(seen) if distinct <= MAX_POINTS else 200 < len(points) <= MAX_POINTS
    for threshold, (positives, negatives) in curve(points).items():
        assert positives == w[(second >= threshold) & (y == 1)].sum()
        assert negatives == w[(second >= threshold) & (y == 0)].sum()
    assert thresholds[-1] == seen[0], "the last point has all rows"
    assert found["roc_auc"] == pytest.approx(reference.roc_auc_score(y, second, sample_weight=w), abs=1e-12)
    totals = [w[y == 1].sum(), w[y == 0].sum()]
    rates = np.array([(0.0, 0.0), *curve(points).values()]) / totals
    steps = np.diff(rates, axis=0).sum(axis=1)
    single = Ranking.of(second, y, w)
    largest = (single.positives / totals[0] + single.negatives / totals[1]).max()
    assert steps.max() <= 2 / MAX_POINTS + largest
    assert np.trapezoid(rates[:, 0], rates[:, 1]) == pytest.approx(found["roc_auc"], abs=1e-4)


def test_operating_points_are_left_out() -> None:
    labelled, said = rows(50, 3, 0, False)
    assert metrics.scores(labelled, said, list("abc"), with_points=True)["operating_points"] is None
    labelled, said = rows(50, 2, 0, False)
    assert metrics.scores(labelled, said, ["a", "b"])["operating_points"] is None
    (first, *_) = metrics.scores(labelled, said, ["a", "b"], with_points=True)["operating_points"]
    assert isinstance(first["positives"], int), "without weights they are numbers of rows"


@pytest.mark.parametrize("only", [0, 1])
def test_rows_of_one_class_have_points_but_no_area(only: int) -> None:
    second, y = np.linspace(0, 1, 1000), np.full(1000, only)
    ranking = Ranking.of(second, y, np.ones(1000))
    assert ranking.area is None
    points = ranking.points()
    name, other = ("positives", "negatives") if only == 1 else ("negatives", "positives")
    assert sum(point[name] for point in points) == 1000
    assert not any(point[other] for point in points)
    assert len(points) == MAX_POINTS
    weights = np.where(np.arange(1000) < 500, 1.0, 0.0)
    halves = Ranking.of(second, np.where(weights > 0, only, 1 - only), weights)
    assert halves.area is None, "rows without weight are no rows"
    assert halves.probabilities.max() < 0.5


def test_the_area_stays_within_its_bounds() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        second, weights = rng.random(300), rng.random(300) * 10.0 ** rng.integers(-200, 12)
        found = Ranking.of(second, (second > 0.5).astype(np.intp), weights).area
        assert found is not None
        assert 1 - 1e-12 <= found <= 1


def test_calibration_bins() -> None:
    """Four rows in two bins: the predictions of probability 1 are in the last one."""
    cells = EncodedRows(np.zeros((4, 1)), {}, ())
    labelled = metrics.LabelledRows(cells, np.array([0, 1, 1, 1]), np.array([1.0, 1.0, 2.0, 1.0]))
    shares = np.array([[0.62, 0.38], [0.68, 0.32], [0.0, 1.0], [0.05, 0.95]])
    bins = metrics.scores(labelled, metrics.Predictions(shares.argmax(axis=1), shares), ["a", "b"])[
        "calibration"
    ]
    assert [(entry["from"], entry["to"], entry["weight"]) for entry in bins] == [
        (0.6, 0.7, 2.0),
        (0.9, 1.0, 3.0),
    ]
    assert bins[0]["mean_probability"] == pytest.approx(0.65)
    assert bins[0]["accuracy"] == 0.5
    assert bins[1]["mean_probability"] == pytest.approx((2 * 1.0 + 0.95) / 3)
    assert bins[1]["accuracy"] == 1.0


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (10, 10), (85, 120), (1, 3), (5000, 9999)])
def test_the_interval_is_wilsons(hits: int, n: int) -> None:
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    found = metrics.wilson_interval(hits / n, n)
    assert found["low"] == pytest.approx(expected.low, abs=1e-12)
    assert found["high"] == pytest.approx(expected.high, abs=1e-12)


def test_unequal_weights_say_less() -> None:
    assert metrics.effective_rows(np.ones(50)) == pytest.approx(50)
    assert metrics.effective_rows(np.array([1.0] * 49 + [1000.0])) < 2


def test_what_cannot_be_said_is_null() -> None:
    """One class has no validation rows, and another is never predicted."""
    cells = EncodedRows(np.zeros((4, 1)), {}, ())
    labelled = metrics.LabelledRows(cells, np.array([0, 0, 1, 1]), None)
    said = metrics.Predictions(np.zeros(4, dtype=np.intp), np.tile([1.0, 0.0, 0.0], (4, 1)))
    found = metrics.scores(labelled, said, ["a", "b", "c"])
    assert found["accuracy"] == 0.5
    assert found["balanced_accuracy"] == 0.5
    assert np.isfinite(found["log_loss"])
    never, absent = found["per_class"][1:]
    assert never == {"label": "b", "support": 2, "precision": None, "recall": 0.0, "f1": 0.0}
    assert absent == {"label": "c", "support": 0, "precision": None, "recall": None, "f1": None}


def test_a_confusion_matrix_of_hundreds_of_classes_is_left_out() -> None:
    labelled, said = rows(500, 65, 0, False)
    found = metrics.scores(labelled, said, list(range(65)))
    assert found["confusion_matrix"] is None
    assert len(found["per_class"]) == 65


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 3.0, "b": 0.5}])
def test_the_objective_is_worked_out_again(class_weight: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(np.abs(X[:, 0]) > 1, "a", np.where(X[:, 1] > 0, "b", "c"))
    weights = rng.integers(1, 4, 200).astype(float)
    fitted = LiteratiClassifier(
        max_depth=2, max_expansions=50, split_penalty=1.5, changepoint_penalty=0.5, class_weight=class_weight
    ).fit(X, y, sample_weight=weights)
    tree = fitted.tree_
    labels = tree.classes.tolist()
    codes = np.array([labels.index(label) for label in y])
    labelled = metrics.LabelledRows(tree.encode(X), codes, weights)
    factors = metrics.class_factors(codes, weights, labels, class_weight)
    assert metrics.objective(tree, labelled, factors) == pytest.approx(tree.objective)
    said = metrics.predict_tree(tree, labelled)
    assert (np.array(labels)[said.predicted] == tree.predict(X)).all()


def test_baselines() -> None:
    labelled, _ = rows(300, 3, 1, True)
    said = metrics.predict_majority(labelled, labelled, 3)
    counts = np.bincount(labelled.y, labelled.weights)
    assert set(said.predicted) == {counts.argmax()}
    assert said.probabilities[0] == pytest.approx(counts / counts.sum())
    cart = metrics.fit_cart(labelled, np.ones(3), 2)
    assert cart.get_depth() <= 2
    found = metrics.predict_cart(cart, labelled, 4)  # a class that the training rows do not have
    assert found.probabilities.shape == (300, 4)
    assert (found.probabilities[:, 3] == 0).all()
    assert (found.predicted == cart.predict(labelled.matrix)).all()
