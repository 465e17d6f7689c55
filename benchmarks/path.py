"""Compare a regularization path with separate fits, one in the middle of each of its segments."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import datasets
from benchmarks.report import markdown_table
from literati import LiteratiClassifier, PathSegment, RegularizationPath, regularization_path

# (dataset, depth, change points) of paths that are proven within seconds.
PROBLEMS = (
    ("segment", 4, 2),
    ("rice", 4, 2),
    ("raisin", 4, 3),
    ("fault", 3, 2),
    ("wilt", 4, 2),
    ("page", 4, 1),
    ("room", 3, 3),
    ("bank", 4, 2),
)
REPEATS = 3
RATIO = 0.5  # of the penalties
ABOUT = (
    "Seconds of a path and of fits to the proof without polishing, one in the middle of each segment: "
    "medians of three runs that take turns."
)
TOLERANCE = 1e-6  # of costs


@dataclass(frozen=True)
class Comparison:
    """Seconds of a path and of the fits in the middle of its segments."""

    name: str
    trees: int
    searches: int
    path_seconds: float
    fit_seconds: float

    @property
    def ratio(self) -> float:
        return self.path_seconds / self.fit_seconds


def measure(folder: Path) -> list[Comparison]:
    """Compare on the datasets that the folder has. Every figure is a median of three runs that take turns."""
    problems = [problem for problem in PROBLEMS if (folder / f"{problem[0]}.csv.gz").exists()]
    return [_compare(folder, *problem) for problem in problems]


def _compare(folder: Path, name: str, depth: int, changepoints: int) -> Comparison:
    X, y = datasets.read(folder / f"{name}.csv.gz", categories="native")
    space: dict[str, Any] = {"max_depth": depth, "max_changepoints": changepoints, "time_limit": None}
    path_seconds, fit_seconds = [], []
    for _ in range(REPEATS):
        start = perf_counter()
        path = regularization_path(X, y, changepoint_ratio=RATIO, **space)
        path_seconds.append(perf_counter() - start)
        start = perf_counter()
        _fit_segments(path, X, y, space)
        fit_seconds.append(perf_counter() - start)
    found = Comparison(
        f"{name} D={depth} K={changepoints}",
        len(path),
        path.searches,
        statistics.median(path_seconds),
        statistics.median(fit_seconds),
    )
    print(f"{found.name}: {found.path_seconds:.2f} s, {found.ratio:.2f} times the fits", flush=True)
    return found


def _fit_segments(path: RegularizationPath, X: Any, y: Any, space: dict[str, Any]) -> None:
    """Fit in the middle of each segment to the proof, and check that the path has the same cost there."""
    for segment in path:
        penalty = _middle(segment)
        penalties: dict[str, Any] = {"split_penalty": penalty, "changepoint_penalty": RATIO * penalty}
        fitted = LiteratiClassifier(**space, **penalties, polish=False).fit(X, y)
        if abs(fitted.objective_ - segment.cost(penalty, RATIO)) > TOLERANCE or not fitted.proven_optimal_:
            raise AssertionError(f"the path and a fit disagree at the penalty {penalty}")


def _middle(segment: PathSegment) -> float:
    if segment.penalty_to == float("inf"):
        return 2 * segment.penalty_from
    return (segment.penalty_from + segment.penalty_to) / 2


def table(found: list[Comparison]) -> str:
    """Return the comparisons as Markdown."""
    header = ("problem", "trees", "searches", "path, s", "separate fits, s", "ratio")
    return markdown_table(
        header,
        [
            [
                c.name,
                str(c.trees),
                str(c.searches),
                f"{c.path_seconds:.2f}",
                f"{c.fit_seconds:.2f}",
                f"{c.ratio:.2f}",
            ]
            for c in found
        ],
    )
