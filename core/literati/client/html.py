"""Records as HTML, for notebooks: a table of facts, and the tree as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from literati.tree.model import ShapeTree
from literati.tree.nodes import BEYOND_SPACE
from literati.tree.plot.html import to_html


def job(data: dict[str, Any], tree: ShapeTree | None) -> str:
    """Return a job with its bounds and its best tree, if that is known."""
    progress = data["progress"]
    facts = {
        "state": data["state"],
        "stop reason": data["stop_reason"],
        **_bounds({**progress, "proven_optimal": data["proven_optimal"]}),
        "search time": f"{progress['elapsed_seconds']:.1f} s",
        "error": (data["error"] or {}).get("message"),
        "model": data["model_id"],
    }
    return _page("Job", data, facts, tree)


def model(data: dict[str, Any], tree: ShapeTree | None) -> str:
    """Return a model with its bounds, accuracies and tree."""
    facts = {**_bounds(data), "stop reason": data["stop_reason"], **_accuracies(data["metrics"])}
    return _page("Model", data, facts, tree)


def dataset(data: dict[str, Any]) -> str:
    """Return a dataset with its size and its warnings."""
    facts = {
        "rows": f"{data['rows']:,}",
        "columns": data["n_columns"],
        "target": f"{data['target']} ({data['n_classes']} classes)",
        "weight": data["weight"],
        "warnings": " ".join(data.get("warnings") or ()),
    }
    return _page("Dataset", data, facts)


def sweep(data: dict[str, Any]) -> str:
    """Return a sweep with its progress and its choice."""
    progress, choice = data["progress"], data["choice"] or {}
    facts = {
        "state": data["state"],
        "jobs": f"{progress['done']} of {progress['jobs']} done, {progress['failed']} failed",
        "choice": choice.get("explanation"),
        "error": (data["error"] or {}).get("message"),
        "model": data["model_id"],
    }
    return _page("Sweep", data, facts)


def _bounds(data: Mapping[str, Any]) -> dict[str, Any]:
    if data["objective"] is None:
        return {"objective": "no tree yet"}
    explored = data.get("explored")
    return {
        "objective": f"{data['objective']:g}",
        "bounds": f"{data['lower_bound']:g} to {data['upper_bound']:g}",
        "gap": "proven optimal" if data["proven_optimal"] else f"{data['gap_relative']:.2%}",
        "explored": None if explored is None else f"{explored:.1%}",
        "note": BEYOND_SPACE if data.get("beyond_space") else None,
    }


def _accuracies(metrics: Mapping[str, Any]) -> dict[str, Any]:
    names = {"train": "training accuracy", "validation": "validation accuracy"}
    found = {}
    for part, name in names.items():
        scores = metrics.get(part)
        value = scores.get("accuracy") if isinstance(scores, Mapping) else metrics.get(f"{part}_accuracy")
        found[name] = None if value is None else f"{value:.2%}"
    return found


def _page(kind: str, data: Mapping[str, Any], facts: Mapping[str, Any], tree: ShapeTree | None = None) -> str:
    title = f"{kind} {data['id']}" + (f" ({data['name']})" if data.get("name") else "")
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in facts.items()
        if value not in (None, "")
    )
    drawing = "" if tree is None else to_html(tree)
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table>{drawing}</div>"
