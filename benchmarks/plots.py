"""Plot the upper and lower bounds over time: one figure for each ablation, one panel for each dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.runners.base import load_module
from benchmarks.runs import Results, RunResult, RunSpec

FULL: dict[str, Any] = {
    "or_selection": "informative",
    "and_selection": "round_robin",
    "heuristic": "cart",
}
ABLATIONS: dict[str, tuple[str, ...]] = {
    "or_selection": ("informative", "admissible"),
    "and_selection": ("round_robin", "worst_primal", "worst_heuristic"),
    "heuristic": ("cart", "primal", "impurity"),
}
DATASETS = ("rice", "page", "fault")
DEPTH = 4
SPACE = {"max_changepoints": 3, "candidates": "adaptive", "candidate_leaves": 17, "polish": False}
COLOURS = ("#0072b2", "#d55e00", "#009e73")  # distinguishable for colour-blind readers
FIRST_SECONDS = 1e-3


def specs(limit: float = 60.0, datasets: tuple[str, ...] = DATASETS) -> list[RunSpec]:
    """Return every run that the plots need. The full search is in all of them and is run once."""
    wanted = {
        spec.key: spec
        for switch, values in ABLATIONS.items()
        for value in values
        for dataset in datasets
        for spec in [spec_of(switch, value, dataset, limit)]
    }
    return list(wanted.values())


def spec_of(switch: str, value: str, dataset: str, limit: float) -> RunSpec:
    """Return the run with one option changed."""
    return RunSpec("literati", dataset, DEPTH, limit, {**SPACE, **FULL, switch: value})


def draw(
    results: Results, out: Path, limit: float = 60.0, datasets: tuple[str, ...] = DATASETS
) -> list[Path]:
    """Write a plot for each ablation that has at least one run, and return the files."""
    written = []
    for switch, values in ABLATIONS.items():
        traces = {
            (dataset, value): _whole_trace(result)
            for dataset in datasets
            for value in values
            if (result := results.get(spec_of(switch, value, dataset, limit))) and "trace" in result.details
        }
        if traces:
            path = out / f"ablation-{switch.replace('_', '-')}.svg"
            _plot(switch, values, datasets, traces, path)
            written.append(path)
    return written


def _whole_trace(result: RunResult) -> list[list[float]]:
    """Return the trace, extended to the end of the search so that constant bounds are visible."""
    trace: list[list[float]] = result.details["trace"]
    end = result.details.get("search_seconds", 0.0)
    return [*trace, [end, *trace[-1][1:]]] if trace and end > trace[-1][0] else trace


def _plot(
    switch: str,
    values: tuple[str, ...],
    datasets: tuple[str, ...],
    traces: dict[tuple[str, str], list[list[float]]],
    path: Path,
) -> None:
    matplotlib = load_module("matplotlib")
    matplotlib.use("Agg")
    # With fixed ids and no date, the same results give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "literati"
    pyplot = load_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(1, len(datasets), figsize=(4.2 * len(datasets), 3.6), squeeze=False)
    for axis, dataset in zip(axes[0], datasets, strict=True):
        for colour, value in zip(COLOURS, values, strict=False):
            trace = traces.get((dataset, value))
            if not trace:
                continue
            seconds = [max(row[0], FIRST_SECONDS) for row in trace]
            axis.step(seconds, [row[2] for row in trace], where="post", color=colour, label=value)
            axis.step(seconds, [row[3] for row in trace], where="post", color=colour, linestyle="--")
            axis.plot(seconds[-1], trace[-1][2], marker="o", markersize=4, color=colour)
        axis.set_xscale("log")
        axis.set_title(f"{dataset}, D={DEPTH}, K={SPACE['max_changepoints']}")
        axis.set_xlabel("seconds")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("training errors")
    entries: dict[str, Any] = {}  # by label, because a panel may lack a run
    for axis in axes[0]:
        handles, labels = axis.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    title = f"{switch.replace('_', ' ')}: upper bound (solid), lower bound (dashed), end of search (dot)"
    figure.suptitle(title, fontsize=11)
    figure.legend(list(entries.values()), list(entries), loc="lower center", ncols=len(values), frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
