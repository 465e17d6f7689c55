"""The trace of a run: its bounds over time and, where the search tells them, explored share and stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from benchmarks.runs import RunResult

COLUMNS = ("seconds", "expansions", "upper", "lower")  # of results that do not name their columns
POINTS = 400


@dataclass(frozen=True)
class Trace:
    """Lists of equal length, one entry for each point. A list that the search does not tell is None."""

    seconds: Sequence[float]
    upper: Sequence[float]
    lower: Sequence[float]
    explored: Sequence[float] | None = None  # share of the search space that is done, from 0 to 1
    stage: Sequence[Any] | None = None  # bounds and explored share are monotone within a stage only
    objective: Sequence[float] | None = None  # cost of the best tree; below `upper` after polishing
    expansions: Sequence[int] | None = None

    @classmethod
    def from_columns(cls, columns: Mapping[str, Sequence[Any]]) -> Trace:
        """Return the trace of columns by name, such as a structured array. Other columns are ignored."""
        found = {name: columns[name] for name in cls.__dataclass_fields__ if name in columns}
        if absent := sorted({"seconds", "upper", "lower"} - found.keys()):
            raise ValueError(f"columns: expected seconds, upper and lower, but {absent[0]!r} is absent")
        return cls(**{name: list(values) for name, values in found.items()})

    @classmethod
    def of(cls, result: RunResult | None) -> Trace | None:
        """Return the trace of a run, or None if it has none.

        It reaches to the end of the search, so that constant bounds are visible, and ends with the cost of
        the final tree.
        """
        rows = result.details.get("trace") if result is not None else None
        if result is None or not rows:
            return None
        names = result.details.get("trace_columns", COLUMNS)
        trace = cls.from_columns(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        return trace.until(result.details.get("search_seconds", 0.0)).ending_at(
            result.details.get("objective")
        )

    def until(self, seconds: float) -> Trace:
        """Return the trace with its last point repeated at this time, if it ends before."""
        if seconds <= self.seconds[-1]:
            return self
        lists = {name: list(values) for name, values in vars(self).items() if values is not None}
        longer = {name: [*values, values[-1]] for name, values in lists.items()}
        return Trace(**{**longer, "seconds": [*lists["seconds"], seconds]})

    def ending_at(self, objective: float | None) -> Trace:
        """Return the trace with the cost of the final tree, if that is all that is known of the costs."""
        if objective is None or self.objective is not None or objective >= self.upper[-1]:
            return self
        return replace(self, objective=[float("nan")] * (len(self.seconds) - 1) + [objective])

    @property
    def has_stages(self) -> bool:
        """Whether the search had more than one stage."""
        return self.stage is not None and len(set(self.stage)) > 1

    def stages(self) -> list[tuple[Any, Trace]]:
        """Return the part of each stage, which reaches to the start of the next one, with its name."""
        if self.stage is None or not self.has_stages:
            return [(None, self)]
        found, start = [], 0
        for stage, group in groupby(self.stage):
            end = start + len(list(group))
            lists = {name: values for name, values in vars(self).items() if values is not None}
            part = Trace(**{name: values[start:end] for name, values in lists.items()})
            found.append((stage, part.until(self.seconds[end]) if end < len(self.seconds) else part))
            start = end
        return found


def thinned(names: Sequence[str], rows: list[list[Any]], points: int = POINTS) -> list[list[Any]]:
    """Return about so many rows in which something but the time changed.

    Half of them are spread evenly over the rows and half over the logarithm of the seconds, so that both the
    first moments and the end are kept. The first and the last row and every new stage are among them.
    """
    if len(rows) < 2:
        return rows
    skipped = [place for place, name in enumerate(names) if name in ("seconds", "expansions")]
    told = [[cell for place, cell in enumerate(row) if place not in skipped] for row in rows]
    moved = [place for place in range(1, len(rows)) if told[place] != told[place - 1]]
    kept = {0, len(rows) - 1, *moved}
    if len(moved) > points:
        evenly, logarithmic = (
            moved[:: 2 * len(moved) // points + 1],
            _by_logarithm(names, rows, moved, points),
        )
        kept = {0, len(rows) - 1, *evenly, *logarithmic}
        if "stage" in names:
            stage = list(names).index("stage")
            kept |= {place for place in moved if rows[place][stage] != rows[place - 1][stage]}
    return [rows[place] for place in sorted(kept)]


def _by_logarithm(names: Sequence[str], rows: list[list[Any]], places: list[int], points: int) -> list[int]:
    """Return the first of these places after each of points / 2 times whose logarithms are evenly spaced."""
    clock = list(names).index("seconds")
    first = max(rows[places[0]][clock], 1e-6)
    step = max(rows[places[-1]][clock] / first, 1.0) ** (2 / points)
    found, following = [], first
    for place in places:
        if rows[place][clock] >= following:
            found.append(place)
            following = max(rows[place][clock], first) * step
    return found
