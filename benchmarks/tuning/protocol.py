"""Which datasets, splits and methods are compared, as a list of runs."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from pathlib import Path

from benchmarks.runs import RunSpec

MAX_ROWS = 25_000
SPLIT_SEEDS = (0, 1, 2, 3, 4)  # of the outer splits
OURS, OURS_BEST, CART = "literati", "literati-best", "cart"
LITERATI = (OURS, OURS_BEST)
TREES = (*LITERATI, CART, "shapecart+tao", "streed", "contree")
CEILINGS = ("forest", "boosting")  # not trees: what accuracy is possible without a model to read
CHILD = "benchmarks.tuning.child"
ANY_DEPTH = 0  # of a spec: the depth is tuned


def dataset_names(folder: Path) -> list[str]:
    """Return the datasets with at most MAX_ROWS rows, those with few rows first."""
    rows = {path.name.removesuffix(".csv.gz"): _count_rows(path) for path in folder.glob("*.csv.gz")}
    small = [name for name, count in rows.items() if count <= MAX_ROWS]
    return sorted(small, key=lambda name: (rows[name], name))


def _count_rows(path: Path) -> int:
    """Return the number of rows below the header."""
    with gzip.open(path, "rt", newline="", encoding="utf-8") as stream:
        return sum(1 for _ in csv.reader(stream)) - 1


def spec_of(method: str, dataset: str, seed: int, limit: float) -> RunSpec:
    """Return the run of a method on one split."""
    return RunSpec(method, dataset, ANY_DEPTH, limit, {"split": seed})


def specs(datasets: Iterable[str], limit: float) -> list[RunSpec]:
    """Return every run: the first split of every dataset, then the second, and so on."""
    names = list(datasets)
    return [
        spec_of(method, dataset, seed, limit)
        for seed in SPLIT_SEEDS
        for dataset in names
        for method in (*TREES, *CEILINGS)
    ]
