"""Choose the default of `probability_smoothing`: log loss on held-out rows by the number added to each count.

For every dataset, depth and fold there is a regularization path with a limit of expansions, so that the
result does not depend on the machine. The log loss is taken of the tree of each penalty; what counts is the
mean over the trees of a path, the mean over the folds, and then the mean over the datasets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks import datasets
from benchmarks.report import markdown_table
from literati import RegularizationPath, ShapeTree, regularization_path

ADDED = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
DEPTHS = (3, 5)
CHANGEPOINTS = 2
FOLDS = 5
MAX_EXPANSIONS = 200
MAX_ROWS = 25_000
ABOUT = (
    "Log loss on held-out rows by the weight that is added to each class of a leaf: the mean over five folds "
    "and over all trees of a regularization path with two change points and at most 200 expansions."
)
Floats = NDArray[np.float64]


def measure(folder: Path, names: list[str]) -> dict[str, Floats]:
    """Return for each dataset the log loss by depth and by number added."""
    found = {}
    for name in names:
        X, y = datasets.read(folder / f"{name}.csv.gz", categories="native")
        if len(y) > MAX_ROWS:
            continue
        found[name] = np.array([_losses(X, y, depth) for depth in DEPTHS])
        print(name, np.round(found[name], 4).tolist(), flush=True)
    return found


def _losses(X: NDArray[Any], y: NDArray[Any], depth: int) -> Floats:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    rows = []
    for train, test in folds:
        path = regularization_path(
            X[train],
            y[train],
            max_depth=depth,
            max_changepoints=CHANGEPOINTS,
            max_expansions=MAX_EXPANSIONS,
            time_limit=None,
        )
        rows.append(_path_losses(path, X[test], y[test]))
    return np.asarray(np.mean(rows, axis=0))


def _path_losses(path: RegularizationPath, X: NDArray[Any], y: NDArray[Any]) -> Floats:
    """Return the mean log loss of the trees of a path, by the number added."""
    encoded = path[0].tree.encode(X)
    trees = [segment.tree for segment in path]
    losses = [[_loss(tree, encoded, y, added) for added in ADDED] for tree in trees]
    return np.asarray(np.mean(losses, axis=0))


def _loss(tree: ShapeTree, encoded: Any, y: NDArray[Any], added: float) -> float:
    counts = np.array([node.counts for node in tree.nodes]) + added
    shares = counts / counts.sum(axis=1, keepdims=True)
    return float(log_loss(y, shares[tree.apply(encoded)], labels=tree.classes))


def table(found: dict[str, Floats]) -> str:
    """Return the log losses as Markdown, with their mean."""
    header = ("dataset", "depth", *(f"+{added:g}" for added in ADDED))
    rows = [
        [name, str(depth), *(f"{loss:.4f}" for loss in losses[i])]
        for name, losses in found.items()
        for i, depth in enumerate(DEPTHS)
    ]
    mean = np.mean(list(found.values()), axis=(0, 1))
    rows.append(["mean", "", *(f"{loss:.4f}" for loss in mean)])
    return markdown_table(header, rows)
