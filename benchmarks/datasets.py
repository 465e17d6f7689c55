"""Load datasets by name: csv.gz files of a folder (last column `target`) or synthetic ones.

Every table is split in the same way for every solver: 80 % of the rows (or another share), drawn with seed 0,
are for training. "made:100000" is a synthetic table of so many training rows with 20 columns and two classes,
and "made:1000x5000x7" one of 1,000 training rows with 5,000 columns and seven classes.
A fold instead of a share splits the rows into 70 % for training, 10 % for validation and 20 % for testing.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

FOLDER_VARIABLE = "LITERATI_BENCH_DATA"
MADE_PREFIX = "made:"
MADE_COLUMNS = 20
TRAIN_SHARE = 0.8
SEED = 0
TEST_SHARE = 0.2
VALIDATION_SHARE = 0.1
# Columns of numbers that become dummy variables: codes of categories, and columns with missing values.
CODED_COLUMNS = {
    "electricity": ("day",),
    "eucalyptus": ("PMCno", "DBH", "Ht", "Surv", "Vig", "Ins_res", "Stem_Fm", "Crown_Fm", "Brnch_Fm"),
}

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Split:
    """Training and test rows of one dataset; labels are 0, 1, 2, ... in sorted order of their names."""

    X_train: NDArray[Any]
    y_train: NDArray[np.int64]
    X_test: NDArray[Any]
    y_test: NDArray[np.int64]


def find_folder(given: Path | None) -> Path:
    """Return the folder of the datasets: the given one, or that of the environment variable."""
    folder = given or (Path(named) if (named := os.environ.get(FOLDER_VARIABLE)) else None)
    if folder is None or not folder.is_dir():
        sys.exit(
            f"No data found. Set {FOLDER_VARIABLE} or --data to a folder of csv.gz files; "
            "`python -m benchmarks.download DIR` fills one."
        )
    return folder.resolve()


def outer_rows(y: NDArray[Any], seed: int) -> tuple[Rows, Rows]:
    """Return the training and the test rows of a split: a stratified fifth of the rows is for testing."""
    train, test = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=seed)
    return train, test


def fold_rows(y: NDArray[Any], fold: int) -> tuple[Rows, Rows, Rows]:
    """Return the rows for training (70 %), validation (10 %) and testing (20 %) of a fold, all stratified."""
    rest, test = outer_rows(y, fold)
    share = VALIDATION_SHARE / (1 - TEST_SHARE)
    train, validation = train_test_split(rest, test_size=share, stratify=y[rest], random_state=fold)
    return train, validation, test


def split_rows(n_rows: int, share: float = TRAIN_SHARE) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the training rows and of the test rows."""
    # NumPy guarantees that the stream of RandomState never changes, so results stay comparable.
    order = np.random.RandomState(SEED).permutation(n_rows).astype(np.int64)
    n_train = int(share * n_rows)
    return order[:n_train], order[n_train:]


def load(
    name: str,
    folder: Path,
    *,
    categories: str = "one_hot",
    train_share: float = TRAIN_SHARE,
    fold: int | None = None,
) -> Split:
    """Return a dataset with its split. Text columns become `"one_hot"` numbers or `"native"` objects.

    The training rows of a fold are without those for validation, and `"one_hot"` means dummy variables there.
    """
    if fold is not None:
        X, y = read_for_fold(name, folder, categories=categories)
        train, _, test = fold_rows(y, fold)
        return Split(X[train], y[train], X[test], y[test])
    if name.startswith(MADE_PREFIX):
        n_rows, *more = map(int, name.removeprefix(MADE_PREFIX).split("x"))
        X, y = make(round(n_rows / TRAIN_SHARE), *more)
    else:
        X, y = read(folder / f"{name}.csv.gz", categories=categories)
    train, test = split_rows(len(y), train_share)
    return Split(X[train], y[train], X[test], y[test])


def read_for_fold(name: str, folder: Path, *, categories: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the features and labels as the folds have them: `"one_hot"` means dummy variables."""
    path = folder / f"{name}.csv.gz"
    if categories == "one_hot":
        return read(path, categories="dummies", coded=CODED_COLUMNS.get(name, ()))
    return read(path, categories=categories)


def read(
    path: Path, *, categories: str, coded: Collection[str] = ()
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the features and labels of a csv.gz file. Columns in `coded` count as text."""
    with gzip.open(path, "rt", newline="", encoding="utf-8") as stream:
        rows = csv.reader(stream)
        header = next(rows)
        if header[-1] != "target":
            raise ValueError(f"{path.name}: the last column must be called 'target', found {header[-1]!r}")
        cells = list(zip(*rows, strict=True))
    *columns, target = cells
    labels = np.unique(np.array(target), return_inverse=True)[1].astype(np.int64)
    blocks = [
        _column(column, categories, name in coded) for name, column in zip(header[:-1], columns, strict=True)
    ]
    if any(block.dtype == object for block in blocks):
        blocks = [block.astype(object) for block in blocks]
    return np.ascontiguousarray(np.hstack(blocks)), labels


def _column(cells: tuple[str, ...], categories: str, is_coded: bool) -> NDArray[Any]:
    """Return a column as a two-dimensional block: numbers as they are, text as objects or one-hot.

    `"dummies"` are one-hot columns without that of the first category.
    """
    try:
        if not is_coded:
            return np.array([float(cell) if cell else np.nan for cell in cells])[:, None]
    except ValueError:
        pass
    text = np.array(cells)
    if categories == "native":
        return text.astype(object)[:, None]
    shown = np.unique(text)[1:] if categories == "dummies" else np.unique(text)
    one_hot: NDArray[np.bool_] = text[:, None] == shown[None, :]
    return one_hot.astype(np.float64)


def make(
    n_rows: int, n_columns: int = MADE_COLUMNS, n_classes: int = 2
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a synthetic table of at least 12 columns. Classes depend on ranges of a few; 10 % is noise."""
    random = np.random.default_rng(SEED)
    X = random.normal(size=(n_rows, n_columns))
    # Half of the columns have few distinct values.
    X[:, n_columns // 2 :] = np.round(X[:, n_columns // 2 :], 1)
    band = np.abs(X[:, 0]) < 0.7
    score = np.where(band, np.sin(2.5 * X[:, 1]), np.cos(2.0 * X[:, 11])) + 0.3 * X[:, 2]
    noise = random.random(n_rows) < 0.1
    if n_classes == 2:
        return X, ((score > 0.1) ^ noise).astype(np.int64)
    y = (
        np.argsort(np.argsort(score)) * n_classes // n_rows
    )  # classes of equal size, in the order of the score
    y[noise] = random.integers(0, n_classes, int(noise.sum()))
    return X, y.astype(np.int64)
