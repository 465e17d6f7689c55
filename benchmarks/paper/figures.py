"""The pictures of the page. Each function returns the files that it wrote, with their titles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.drawing import LineRow, draw_lines
from benchmarks.paper import critical_difference
from benchmarks.paper.anytime import Distances, Paths, panels
from benchmarks.paper.plan import ABLATIONS, Method, Scope, tree_spec
from benchmarks.paper.scores import Scores
from benchmarks.paper.statistics import Scores as ScoreTable
from benchmarks.runs import Results
from literati.tree.model import ShapeTree

MIN_DATASETS = 3  # of a diagram


def diagram(table: ScoreTable, path: Path, title: str) -> list[Path]:
    """Write a critical difference diagram if there are enough methods and datasets."""
    if len(table) < 2 or len(next(iter(table.values()))) < MIN_DATASETS:
        return []
    critical_difference.draw(table, path, title)
    return [path]


def train_diagrams(scores: Scores, methods: Sequence[Method], out: Path, name: str) -> list[Path]:
    return [
        path
        for depth in scores.scope.depths
        for path in diagram(
            scores.table(methods, depth),
            out / f"{scores.scope.name}-{name}-d{depth}.svg",
            f"Training accuracy, D = {depth}",
        )
    ]


def ablations(distances: Distances, out: Path) -> dict[str, Path]:
    """Write a figure for each ablation that has runs: over seconds, and below over expansions."""
    written = {}
    for name, (title, _) in ABLATIONS.items():
        rows = [
            LineRow(clock, "distance, % of rows", found)
            for clock in ("seconds", "expansions")
            if (found := panels(distances, name, clock))
        ]
        if rows:
            written[name] = out / f"{distances.scope.name}-ablation-{name}.svg"
            draw_lines(rows, written[name], title, "distance to the best known tree, fold 0")
    return written


def paths(found: Paths, out: Path, name: str) -> list[Path]:
    rows = []
    for depth in found.depths:
        lines = {
            f"{dataset}, D={depth}": {
                f"K={k}": curve.points
                for (one, at, k), curve in found.curves.items()
                if (one, at) == (dataset, depth)
            }
            for dataset in found.datasets
        }
        if any(lines.values()):
            shown = {panel: series for panel, series in lines.items() if series}
            rows.append(LineRow("leaves", "training accuracy, %", shown, logarithmic=False, marker="o"))
    if not rows:
        return []
    path = out / f"{name}-leaves.svg"
    draw_lines(rows, path, "Training accuracy against leaves")
    return [path]


def trees(results: Results, scope: Scope, out: Path) -> dict[str, Path]:
    """Write the trees that were fitted, by dataset."""
    written = {}
    for dataset in scope.drawn:
        run = results.get(tree_spec(dataset, scope.limit))
        if run is not None and "tree" in run.details:
            written[dataset] = out / f"{scope.name}-tree-{dataset}.svg"
            written[dataset].write_text(ShapeTree.from_dict(run.details["tree"]).to_svg())
    return written
