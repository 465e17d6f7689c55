"""Load datasets by name: csv.gz files of a folder (last column `target`) or synthetic ones ("made:100000").

Every table is split in the same way for every solver: 80 % of the rows, drawn with seed 0, are for training.
The number in the name of a synthetic table is the number of its training rows.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MADE_PREFIX = "made:"
MADE_COLUMNS = 20
TRAIN_SHARE = 0.8
SEED = 0


@dataclass(frozen=True)
class Split:
    """Training and test rows of one dataset; labels are 0, 1, 2, ... in sorted order of their names."""

    X_train: NDArray[Any]
    y_train: NDArray[np.int64]
    X_test: NDArray[Any]
    y_test: NDArray[np.int64]


def split_rows(n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the training rows and of the test rows."""
    # NumPy guarantees that the stream of RandomState never changes, so results stay comparable.
    order = np.random.RandomState(SEED).permutation(n_rows).astype(np.int64)
    n_train = int(TRAIN_SHARE * n_rows)
    return order[:n_train], order[n_train:]


def load(name: str, folder: Path, *, categories: str = "one_hot") -> Split:
    """Return a dataset with its split. Text columns become `"one_hot"` numbers or `"native"` objects."""
    if name.startswith(MADE_PREFIX):
        X, y = make(round(int(name.removeprefix(MADE_PREFIX)) / TRAIN_SHARE))
    else:
        X, y = read(folder / f"{name}.csv.gz", categories=categories)
    train, test = split_rows(len(y))
    return Split(X[train], y[train], X[test], y[test])


def read(path: Path, *, categories: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the features and labels of a csv.gz file."""
    with gzip.open(path, "rt", newline="", encoding="utf-8") as stream:
        rows = csv.reader(stream)
        header = next(rows)
        if header[-1] != "target":
            raise ValueError(f"{path.name}: the last column must be called 'target', found {header[-1]!r}")
        cells = list(zip(*rows, strict=True))
    *columns, target = cells
    labels = np.unique(np.array(target), return_inverse=True)[1].astype(np.int64)
    blocks = [_column(column, categories) for column in columns]
    if any(block.dtype == object for block in blocks):
        blocks = [block.astype(object) for block in blocks]
    return np.ascontiguousarray(np.hstack(blocks)), labels


def _column(cells: tuple[str, ...], categories: str) -> NDArray[Any]:
    """Return a column as a two-dimensional block: numbers as they are, text as objects or one-hot."""
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])[:, None]
    except ValueError:
        text = np.array(cells)
    if categories == "native":
        return text.astype(object)[:, None]
    one_hot: NDArray[np.bool_] = text[:, None] == np.unique(text)[None, :]
    return one_hot.astype(np.float64)


def make(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a synthetic table with two classes that depend on ranges of a few columns, and 10 % noise."""
    random = np.random.default_rng(SEED)
    X = random.normal(size=(n_rows, MADE_COLUMNS))
    # Half of the columns have few distinct values.
    X[:, MADE_COLUMNS // 2 :] = np.round(X[:, MADE_COLUMNS // 2 :], 1)
    band = np.abs(X[:, 0]) < 0.7
    score = np.where(band, np.sin(2.5 * X[:, 1]), np.cos(2.0 * X[:, 11])) + 0.3 * X[:, 2]
    y = score > 0.1
    noise = random.random(n_rows) < 0.1
    return X, (y ^ noise).astype(np.int64)
