"""The results file: one JSON line for each run, with everything that is needed to repeat it.

Lines are only appended, so a benchmark that is killed loses at most the run that it was in. The last line
of a run counts.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.process import ROOT
from benchmarks.runs import Results, RunResult
from benchmarks.traces import thinned

PACKAGES = (
    "literati-trees",
    "numpy",
    "pycontree",
    "pystreed",
    "pytrees-rs",
    "scikit-learn",
    "scipy",
    "sgtlearn",
)
TRACE_POINTS = 120
DIGITS = 6  # of the numbers of a trace


@dataclass(frozen=True)
class Origin:
    """Where a result comes from."""

    commit: str
    machine: dict[str, Any]
    packages: dict[str, str]

    @classmethod
    def here(cls) -> Origin:
        return cls(current_commit(), report.machine(), installed())


class Records:
    """The results of a file and their origins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results = Results()
        self.origins: dict[str, Origin] = {}
        text = path.read_text() if path.exists() else ""
        for line in text.splitlines(keepends=True):
            if not line.endswith("\n"):  # the writer was killed
                continue
            values = json.loads(line)
            origin = Origin(**values.pop("origin"))
            self._keep(RunResult.from_dict(values), origin)
        if text and not text.endswith("\n"):
            path.write_text(text[: text.rfind("\n") + 1])

    def _keep(self, result: RunResult, origin: Origin) -> None:
        self.results.add(result)
        self.origins[result.spec.key] = origin

    def add(self, result: RunResult, origin: Origin, *, keep_trace: bool) -> None:
        """Append a result, with a short trace or without one."""
        short = replace(result, details=_shortened(result.details, keep_trace))
        with self.path.open("a") as stream:
            stream.write(json.dumps({**short.to_dict(), "origin": vars(origin)}) + "\n")
        self._keep(short, origin)

    def commits(self, keys: set[str]) -> Counter[str]:
        """Count the runs of each commit."""
        return Counter(origin.commit for key, origin in self.origins.items() if key in keys)


def _shortened(details: dict[str, Any], keep_trace: bool) -> dict[str, Any]:
    kept = dict(details)
    rows, names = kept.pop("trace", None), kept.pop("trace_columns", None)
    if keep_trace and rows:
        kept["trace_columns"] = names
        kept["trace"] = [
            [float(f"{cell:.{DIGITS}g}") if isinstance(cell, float) else cell for cell in row]
            for row in thinned(names, rows, TRACE_POINTS)
        ]
    return kept


def current_commit() -> str:
    """Return the commit of the working tree, with "-dirty" if a file other than results differs from it."""
    try:
        commit = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--", ".", ":!benchmarks/results")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit}-dirty" if changed else commit


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def installed() -> dict[str, str]:
    """Return the versions of the packages that results depend on."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
