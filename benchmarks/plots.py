"""The figures of bounds over time: which runs each of them shows. `drawing` draws them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.drawing import draw_bounds
from benchmarks.runs import Results, RunSpec
from benchmarks.traces import Trace

Options = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A figure with a panel for each dataset and the same series in every panel."""

    name: str  # of the file
    title: str
    series: dict[str, Options]  # the options that differ, by the name in the legend
    panels: tuple[tuple[str, int, Options], ...]  # dataset, depth and the options of all series
    limit: float = 60.0

    def spec(self, series: str, panel: tuple[str, int, Options]) -> RunSpec:
        dataset, depth, options = panel
        return RunSpec("literati", dataset, depth, self.limit, {**options, **self.series[series]})

    def specs(self) -> list[RunSpec]:
        return [self.spec(series, panel) for panel in self.panels for series in self.series]

    def draw(self, results: Results, out: Path) -> Path | None:
        """Write the figure if there is at least one of its runs, and return the file."""
        panels: dict[str, dict[str, Trace]] = {}
        for panel in self.panels:
            traces = {name: Trace.of(results.get(self.spec(name, panel))) for name in self.series}
            dataset, depth, options = panel
            title = f"{dataset}, D={depth}, K={options['max_changepoints']}"
            panels[title] = {name: trace for name, trace in traces.items() if trace is not None}
        if not any(panels.values()):
            return None
        path = out / f"{self.name}.svg"
        draw_bounds(panels, path, self.title)
        return path


FULL: Options = {"or_selection": "mixed", "and_selection": "round_robin", "heuristic": "cart"}
SWITCHES: dict[str, tuple[str, ...]] = {
    "or_selection": ("mixed", "informative", "admissible"),
    "and_selection": ("round_robin", "worst_primal", "worst_heuristic"),
    "heuristic": ("cart", "primal", "impurity"),
}
SPACE: Options = {"max_changepoints": 3, "candidates": "adaptive", "candidate_leaves": 17, "polish": False}
ONE_CUT: Options = {**SPACE, "max_changepoints": 1}
ABLATIONS = tuple(
    Figure(
        f"ablation-{switch.replace('_', '-')}",
        switch.replace("_", " "),
        {value: {**FULL, switch: value} for value in values},
        tuple((dataset, 4, SPACE) for dataset in ("rice", "page", "fault")),
    )
    for switch, values in SWITCHES.items()
)
# More threads reach the same bounds after the same expansions, in less time.
THREADS = Figure(
    "threads",
    "threads",
    {f"n_threads={n}": {"n_threads": n} for n in (1, 2, 4)},
    (("rice", 6, ONE_CUT), ("page", 6, ONE_CUT), ("magic", 5, ONE_CUT)),
)
WIDENING = Figure(
    "widening",
    "widening beside the single modes",
    {mode: {"candidates": mode} for mode in ("widening", "adaptive", "shape", "all")},
    tuple((dataset, 4, {"max_changepoints": 1}) for dataset in ("segment", "page", "magic")),
)
FIGURES = (*ABLATIONS, THREADS, WIDENING)
FORMS: dict[str, tuple[Figure, ...]] = {  # the figures for which a form of the benchmark makes the runs
    "full": FIGURES,
    "anytime": ABLATIONS,
    "ablations": ABLATIONS,
    "threads": (THREADS,),
    "figures": FIGURES,
}


def specs(form: str) -> list[RunSpec]:
    """Return every run that the figures of a form need, each once."""
    wanted = {spec.key: spec for figure in FORMS.get(form, ()) for spec in figure.specs()}
    return list(wanted.values())


def draw(results: Results, out: Path) -> list[Path]:
    """Write every figure that has at least one run, and return the files."""
    written = [figure.draw(results, out) for figure in FIGURES]
    return [path for path in written if path is not None]
