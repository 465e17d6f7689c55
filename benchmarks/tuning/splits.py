"""The rows of the outer splits and of the inner folds, which are the same for every method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks import datasets
from benchmarks.datasets import Rows, Split

N_FOLDS = 5
FOLD_SEED = 0

Fold = tuple[Rows, Rows]  # training rows and held-out rows


def load(dataset: str, folder: Path, seed: int, *, categories: str) -> Split:
    """Return a dataset with its outer split: a stratified fifth of the rows is for testing."""
    X, y = datasets.read(folder / f"{dataset}.csv.gz", categories=categories)
    train, test = datasets.outer_rows(y, seed)
    return Split(X[train], y[train], X[test], y[test])


def inner_folds(y: NDArray[Any]) -> list[Fold]:
    """Return the folds of the training rows of an outer split."""
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=FOLD_SEED)
    return list(splitter.split(np.zeros(len(y)), y))
