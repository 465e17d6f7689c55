"""Write all results as JSON, and the most important ones as a Markdown table."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.runs import RunResult
from literati.cores import usable_cores

MIB = 2**20
COLUMNS = (
    "D",
    "dataset",
    "solver",
    "errors",
    "train",
    "test",
    "s to tree",
    "s to proof",
    "peak MiB",
    "status",
)


def write_json(path: Path, results: Iterable[RunResult]) -> None:
    document = {"machine": machine(), "runs": [result.to_dict() for result in results]}
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(document, indent=1) + "\n")
    partial.replace(path)  # an interrupted benchmark leaves the last complete file


def read_json(path: Path) -> list[RunResult]:
    return [RunResult.from_dict(values) for values in json.loads(path.read_text())["runs"]]


def machine() -> dict[str, Any]:
    """Describe the machine."""
    return {"processor": _processor(), "cores": usable_cores(), "python": platform.python_version()}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def results_table(results: Iterable[RunResult]) -> str:
    """Return the results as a Markdown table."""
    ordered = sorted(results, key=lambda result: (result.spec.depth, result.spec.dataset, result.spec.label))
    return markdown_table(COLUMNS, [_row(result) for result in ordered])


def _row(result: RunResult) -> list[str]:
    spec = result.spec
    peak = None if result.peak_memory is None else result.peak_memory / MIB
    return [
        str(spec.depth),
        spec.dataset,
        spec.label,
        _shown(result.objective, "d"),
        _shown(result.train_accuracy, ".4f"),
        _shown(result.test_accuracy, ".4f"),
        _shown(result.seconds_to_tree, ".3g"),
        _shown(result.seconds_to_proof, ".3g"),
        _shown(peak, ".0f"),
        _status(result),
    ]


def _status(result: RunResult) -> str:
    limit = result.spec.time_limit
    notes = [] if limit == 60 else [f"{limit:g} s allowed"]
    if result.error and result.objective is not None:
        notes.append(result.error)
    if result.disturbed:
        notes.append(f"only {result.cpu_seconds:.3g} s of CPU in {result.seconds:.3g} s")
    return f"{result.status} ({'; '.join(notes)})" if notes else result.status


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table. Bars in cells are escaped and line breaks become spaces."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in (header, *rows)]
    if any(len(row) != len(header) for row in cells):
        raise ValueError(f"every row must have {len(header)} cells")
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines) + "\n"


def versions(results: Iterable[RunResult]) -> str:
    """Return the versions of the solvers as a Markdown table."""
    seen = sorted({(result.spec.solver, result.version) for result in results if result.version})
    return markdown_table(("solver", "version"), [(solver, version or "") for solver, version in seen])
