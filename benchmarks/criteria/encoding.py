"""Claims about the time to encode a table and to predict its rows."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.claims import Claim, Verdict
from benchmarks.criteria.scope import Scope
from benchmarks.encoding import INTEGER_COLUMNS, SOLVER, TEXT_COLUMNS
from benchmarks.runs import RunResult, RunSpec

FACTORIZE_RATIO = 3.0
SORT_RATIO = 1.5
TEXT_CONTAINERS = ("pandas object", "pandas str", "polars", "arrow", "numpy object")
NUMBER_CONTAINERS = ("float64", "float64 by columns", "float32", "int64")


def encoding(scope: Scope) -> list[Claim]:
    """Return the claims about tables of text and about matrices of numbers."""
    return [
        *(
            _claim(f"text:{scope.encoding_rows}", container, "pandas.factorize", FACTORIZE_RATIO)
            for container in TEXT_CONTAINERS
        ),
        *(
            _claim(f"numbers:{scope.encoding_rows}", container, "numpy.sort", SORT_RATIO)
            for container in NUMBER_CONTAINERS
        ),
    ]


def _claim(dataset: str, container: str, reference: str, limit: float) -> Claim:
    def judge(runs: Sequence[RunResult]) -> Verdict:
        details = runs[0].details
        base = details["reference_seconds"]
        ratios = {name: details[f"{name}_seconds"] / base for name in ("encode", "predict")}
        shown = ", ".join(
            f"{name} {details[f'{name}_seconds']:.3g} s = {ratio:.2f} times" for name, ratio in ratios.items()
        )
        return f"{shown}; {reference} {base:.3g} s", max(ratios.values()) <= limit

    content = f"{TEXT_COLUMNS} of text, {INTEGER_COLUMNS} of integers, " if dataset.startswith("text") else ""
    return Claim(
        "7",
        dataset,
        f"{content}{container}",
        f"{reference} of each column",
        f"encoding and predicting take at most {limit:g} times its CPU time",
        (RunSpec(SOLVER, dataset, 3, options={"container": container}, grace=120.0),),
        judge,
    )
