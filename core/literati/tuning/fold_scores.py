"""Scores of the trees of a fold's path on its held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from literati.data.rows import take_rows
from literati.tree.model import ShapeTree
from literati.tuning.candidates import FoldResult
from literati.tuning.folds import Indices
from literati.tuning.path import RegularizationPath

Floats = npt.NDArray[np.float64]


def taken(values: npt.NDArray[Any] | None, rows: Indices) -> npt.NDArray[Any] | None:
    return None if values is None else values[rows]


@dataclass(frozen=True)
class TrainingData:
    """All rows of a fit. Weights are None if every row weighs 1."""

    X: Any
    codes: npt.NDArray[np.int32]  # of the classes
    classes: npt.NDArray[Any]
    weights: Floats | None  # sample weights, which scores use
    search_weights: Floats | None  # the same, times the weights of classes that were given

    @property
    def y(self) -> npt.NDArray[Any]:
        return self.classes[self.codes]

    def rows(self, rows: Indices) -> tuple[Any, npt.NDArray[Any]]:
        return take_rows(self.X, rows), self.classes[self.codes[rows]]

    def weight(self, rows: Indices | None = None) -> float:
        """Return the weight of some rows, or of all, in the search."""
        if self.search_weights is None:
            return float(len(self.codes) if rows is None else len(rows))
        return float((self.search_weights if rows is None else self.search_weights[rows]).sum())


class FoldModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree of a fold as a classifier of all classes, for scikit-learn's scorers."""

    def __init__(self, tree: ShapeTree, classes: npt.NDArray[Any]) -> None:
        self.tree = tree
        self.classes = classes
        self.classes_ = classes

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return self.tree.predict(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        found = self.tree.predict_proba(X)
        shares = np.zeros((len(found), len(self.classes)))
        shares[:, np.searchsorted(self.classes, self.tree.classes)] = found
        return shares


class Scorer:
    """A scorer of scikit-learn by name, or a function of (estimator, X, y)."""

    def __init__(self, scoring: Any) -> None:
        scoring = "accuracy" if scoring is None else scoring
        self.name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))
        self._named = isinstance(scoring, str)
        self._score = get_scorer(scoring)
        self._takes_weights = self._named or "sample_weight" in signature(self._score).parameters

    def scores(
        self, path: RegularizationPath, data: TrainingData, rows: Indices, fold: int
    ) -> tuple[float, ...]:
        """Score every tree of a path on some rows. Raise ValueError if a score is not defined."""
        X, y = data.rows(rows)
        if self._named:  # functions may look at the rows themselves
            X = path[0].tree.encode(X)
        weighted = {}
        if self._takes_weights and data.weights is not None:
            weighted["sample_weight"] = data.weights[rows]
        try:
            found = [
                float(self._score(FoldModel(segment.tree, data.classes), X, y, **weighted))
                for segment in path
            ]
        except ValueError as error:
            raise ValueError(f"scoring: {self.name} failed on fold {fold}: {error}") from error
        if not np.isfinite(found).all():
            raise ValueError(
                f"scoring: {self.name} is not defined on fold {fold}; use folds in which every class occurs, "
                "or another score"
            )
        return tuple(found)


def score_path(
    path: RegularizationPath, data: TrainingData, fold: int, train: Indices, test: Indices, scorer: Scorer
) -> FoldResult:
    """Score every tree of a fold's path on both parts of the rows."""
    scores, train_scores = (scorer.scores(path, data, rows, fold) for rows in (test, train))
    return FoldResult(fold, path, scores, train_scores, data.weight(train) / data.weight())
