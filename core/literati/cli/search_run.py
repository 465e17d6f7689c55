"""Run a search on this machine and show its progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from literati.cli.interrupts import StopRequest
from literati.cli.output import progress_is_shown
from literati.cli.tables.training import TrainingFile
from literati.progress_line import ProgressLine, bounds_text
from literati.search.report import SearchReport, StopReason
from literati.tree.model import ShapeTree
from literati.tree.nodes import BEYOND_SPACE

_REASONS = {
    StopReason.PROVEN_OPTIMAL: "Proven optimal",
    StopReason.GAP_REACHED: "The gap was reached",
    StopReason.TIME_LIMIT: "The time limit was reached",
    StopReason.EXPANSION_LIMIT: "The limit of expansions was reached",
    StopReason.MEMORY_LIMIT: "The memory limit was reached",
    StopReason.NO_IMPROVEMENT: "There was no better tree for a while",
    StopReason.USER_STOP: "Stopped",
}


@dataclass(frozen=True)
class Fitted:
    """A tree, what is known about it for --json, and the same in sentences."""

    tree: ShapeTree
    facts: dict[str, Any]
    summary: str


def run_search(table: TrainingFile, parameters: Mapping[str, Any]) -> Fitted:
    """Fit a LiteratiClassifier."""
    from literati.estimator import LiteratiClassifier  # scikit-learn takes two seconds to import

    for name, value in parameters.items():
        if name in ("max_depth", "max_changepoints") and isinstance(value, list):
            raise click.UsageError(f"Several values of --{name.replace('_', '-')} need --tune.")
    line = ProgressLine() if progress_is_shown() else None
    with StopRequest() as stop:

        def show(report: SearchReport) -> bool:
            if line is not None:
                line.show(f"{_bounds(report)}  {report.elapsed_seconds:.1f} s")
            return stop.requested

        classifier = LiteratiClassifier(**parameters, callback=show)
        classifier.fit(table.X, table.y, sample_weight=table.weights)
    if line is not None:
        line.close()
    report, tree = classifier.report_, classifier.tree_
    right = 100 * training_accuracy(tree)
    summary = [
        f"{_REASONS[report.stop_reason]} after {report.elapsed_seconds:.1f} s: {_bounds(report)}.",
        *([BEYOND_SPACE] if report.beyond_space else []),
        f"Right on {right:.1f} % of the training rows; --tune measures it on rows that a tree has not seen.",
    ]
    return Fitted(tree, facts_of(tree) | _facts(report), "\n".join(summary))


def facts_of(tree: ShapeTree) -> dict[str, Any]:
    """Return what --json tells about any tree."""
    proof = tree.proof
    return {
        "depth": tree.depth,
        "leaves": tree.n_leaves,
        "training_accuracy": training_accuracy(tree),
        "objective": tree.objective,
        "upper_bound": proof.upper_bound,
        "lower_bound": proof.lower_bound,
        "proven_optimal": proof.proven_optimal,
        "proof": proof.statement(),
    }


def training_accuracy(tree: ShapeTree) -> float:
    """Return the share of the training weight that the tree predicts right."""
    leaves = [node for node in tree.nodes if node.split is None]
    return float(sum(leaf.counts[leaf.label] for leaf in leaves) / sum(tree.nodes[0].counts))


def _facts(report: SearchReport) -> dict[str, Any]:
    return {
        "gap": report.gap,
        "explored": report.explored,
        "stop_reason": str(report.stop_reason),
        "seconds": report.elapsed_seconds,
    }


def _bounds(report: SearchReport) -> str:
    return bounds_text(
        objective=report.objective,
        upper=report.upper_bound,
        lower=report.lower_bound,
        gap=report.gap,
        explored=report.explored,
        beyond_space=report.beyond_space,
    )
