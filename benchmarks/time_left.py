"""Compare the estimated seconds to a proof with the true ones, on ten searches."""

from __future__ import annotations

from pathlib import Path

from benchmarks import datasets
from benchmarks.drawing import draw_time_left, true_seconds_left
from literati import Search, SearchLimits

# (dataset, depth, change points) of proofs that take from half a second to some seconds.
PROBLEMS = (
    ("rice", 5, 1),
    ("rice", 6, 1),
    ("page", 4, 3),
    ("page", 5, 1),
    ("fault", 4, 3),
    ("segment", 5, 1),
    ("wilt", 5, 1),
    ("raisin", 5, 3),
    ("magic", 4, 1),
    ("magic", 5, 1),
)
STEP = 0.02  # seconds between two estimates
TITLE = "Estimated and true seconds to the proof"


def measure(folder: Path, out: Path, limit: float = 120.0) -> dict[str, float]:
    """Run the searches of the datasets that the folder has, draw the plot, and return the share of estimates
    of each search that are within a factor of 2.
    """
    problems = [problem for problem in PROBLEMS if (folder / f"{problem[0]}.csv.gz").exists()]
    found = {f"{name} D={depth} K={k}": _run(folder, name, depth, k, limit) for name, depth, k in problems}
    runs = {name: run for name, run in found.items() if run is not None}
    out.mkdir(parents=True, exist_ok=True)
    return draw_time_left(runs, out / "time-left.svg", TITLE)


def _run(
    folder: Path, name: str, depth: int, changepoints: int, limit: float
) -> tuple[list[float], list[float | None]] | None:
    """Return the true and the estimated seconds left at many moments of a search; None without a proof."""
    split = datasets.load(name, folder)
    search = Search(
        split.X_train,
        split.y_train,
        max_depth=depth,
        max_changepoints=changepoints,
        polish=False,
        limits=SearchLimits(time_limit=limit),
    )
    seconds, estimates = [], []
    while True:
        report = search.run(STEP)
        seconds.append(report.elapsed_seconds)
        estimates.append(report.seconds_left)
        if report.stop_reason != "RUNNING":
            return (true_seconds_left(seconds), estimates) if report.proven_optimal else None
