"""Measure how long a table takes to encode and to predict, beside a simple pass over the same columns.

A table of text and whole numbers is compared with `pandas.factorize` of each column, and a matrix of numbers
with `numpy.sort` of each column. CPU time counts. All are measured in turn in one process, and the fastest of
a few rounds counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import datasets
from benchmarks.runners.base import load_module
from benchmarks.runs import RunResult, RunSpec

SOLVER = "literati-encoding"  # the name of these runs; the dataset is "text:ROWS" or "numbers:ROWS"
TEXT_COLUMNS = 28
INTEGER_COLUMNS = 12
CARDINALITIES = (2, 5, 17, 50, 300, 2_000, 30_000)  # distinct words of the text columns, in turn
RANGES = (2, 100, 10_000, 1 << 40)  # of the integers, in turn
MISSING_SHARE = 0.04  # in every third column of text
ROUNDS = 5


@dataclass(frozen=True)
class Case:
    """A table and the work that it is compared with."""

    data: Any
    reference: Callable[[], object]


def text_columns(n_rows: int) -> dict[str, NDArray[Any]]:
    """Return columns of Python strings, some with None, and columns of integers."""
    random = np.random.default_rng(datasets.SEED)
    columns: dict[str, NDArray[Any]] = {}
    for j in range(TEXT_COLUMNS):
        words = [f"category {j} {code:x}" for code in range(CARDINALITIES[j % len(CARDINALITIES)])]
        cells = np.array(words, dtype=object)[random.integers(0, len(words), n_rows)]
        if j % 3 == 0:
            cells[random.random(n_rows) < MISSING_SHARE] = None
        columns[f"text{j}"] = cells
    for j in range(INTEGER_COLUMNS):
        columns[f"integer{j}"] = random.integers(0, RANGES[j % len(RANGES)], n_rows)
    return columns


def text_case(container: str, n_rows: int) -> Case:
    """Return a table of text. Only containers of objects are compared with columns of objects."""
    pandas = load_module("pandas")
    columns = text_columns(n_rows)
    objects = pandas.DataFrame(
        {name: pandas.Series(cells, dtype=cells.dtype) for name, cells in columns.items()}
    )
    texts = objects.astype({name: "str" for name, cells in columns.items() if cells.dtype == object})
    frame: Any = {
        "pandas object": lambda: objects,
        "pandas str": lambda: texts,
        "polars": lambda: load_module("polars").DataFrame({k: v.tolist() for k, v in columns.items()}),
        "arrow": lambda: load_module("pyarrow").table(columns),
        "numpy object": lambda: objects.to_numpy(dtype=object),
    }[container]()
    compared = objects if container.endswith("object") else texts
    return Case(frame, lambda: [pandas.factorize(compared[name]) for name in columns])


def number_case(container: str, n_rows: int) -> Case:
    """Return a matrix of numbers of a type, in C order unless its name says otherwise."""
    matrix = datasets.make(n_rows)[0]
    array: NDArray[Any] = matrix
    if container == "float64 by columns":
        array = np.asfortranarray(matrix)
    elif container != "float64":
        array = np.round(matrix * 1000) if container == "int64" else matrix
        array = array.astype(container)
    return Case(array, lambda: [np.sort(array[:, j]) for j in range(array.shape[1])])


CASES = {"text": text_case, "numbers": number_case}


def measure(spec: RunSpec) -> RunResult:
    """Return the CPU seconds of encoding, predicting and the reference."""
    kind, _, rows = spec.dataset.partition(":")
    case = CASES[kind](spec.options["container"], int(rows))
    y = np.random.default_rng(1).integers(0, 2, int(rows))
    build = load_module("literati.data.table").build
    search = load_module("literati").Search(case.data, y, max_depth=spec.depth, max_changepoints=1)
    search.run(seconds=0.001)
    tree = search.incumbent()
    works: dict[str, Callable[[], object]] = {
        "reference_seconds": case.reference,
        "encode_seconds": lambda: build(case.data, y),
        "predict_seconds": lambda: tree.predict(case.data),
    }
    rounds = [{name: cpu_seconds(work) for name, work in works.items()} for _ in range(ROUNDS)]
    details = {name: min(entry[name] for entry in rounds) for name in works}
    return RunResult(
        spec, "finished", n_train=int(rows), version=metadata.version("literati-trees"), details=details
    )


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
