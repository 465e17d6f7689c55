"""Test which points of a search's trace are published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from literati import Search, SearchReport, StopReason
from worker.training import trace_reader
from worker.training.search_snapshot import Effort
from worker.training.trace_reader import TraceReader

COLUMNS = [("seconds", "<f8"), ("expansions", "<i8"), ("upper", "<f8"), ("lower", "<f8")]
WIDE = [*COLUMNS, ("explored", "<f8"), ("stage", "<i4")]
REPORT = SearchReport(
    objective=9,
    upper_bound=9,
    lower_bound=1,
    gap=8 / 9,
    gap_absolute=8,
    stop_reason=StopReason.RUNNING,
    proven_optimal=False,
    proven_space="",
    expansions=100,
    states_live=1,
    states_freed=0,
    cache_hits=0,
    memory_bytes=0,
    elapsed_seconds=10.0,
    improvements=1,
)


class Traced:
    """A search that has nothing but a trace."""

    def __init__(self, columns: list[tuple[str, str]] = WIDE) -> None:
        self.columns = columns
        self.points: list[tuple[Any, ...]] = []

    def trace(self) -> np.ndarray:
        return np.array(self.points, dtype=self.columns)


@pytest.fixture
def search() -> Traced:
    return Traced()


def reader(search: Traced, offset: Effort | None = None) -> TraceReader:
    return TraceReader(cast(Search, search), offset or Effort())


def test_points_have_the_explored_share_and_the_stage(search: Traced) -> None:
    search.points = [(0.5, 5, 9.0, 0.0, 0.0, 0)]
    reading = reader(search, Effort(1.0, 3))
    search.points += [(1.5, 7, 9.0, 9.0, 1.0, 0), (2.5, 8, 9.0, 2.0, 0.25, 1)]
    found = reading.read(replace(REPORT, stage=1, explored=0.25), now=True)
    assert [(point.seconds, point.expansions, point.explored, point.stage) for point in found] == [
        (0.5, 4, 1.0, 0),
        (1.5, 5, 0.25, 1),
    ]
    assert reading.read(replace(REPORT, stage=1, explored=0.25), now=True) == []


def test_a_point_for_each_hundredth_that_is_explored(search: Traced) -> None:
    reading = reader(search, Effort(2.0, 40))
    shares = [
        point.explored or 0.0
        for step in range(101)
        for point in reading.read(replace(REPORT, explored=step / 400), now=True)
    ]
    assert len(shares) == pytest.approx(25, abs=2)
    assert shares == sorted(shares)
    (point,) = reading.read(replace(REPORT, explored=0.5), now=True)
    assert (point.seconds, point.expansions, point.upper, point.lower) == (8.0, 60, 9, 1)
    (wider,) = reading.read(replace(REPORT, explored=0.0, stage=1), now=True)
    assert (wider.explored, wider.stage) == (0.0, 1)


def test_it_is_thinned_and_not_read_all_the_time(search: Traced, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = reader(search)
    search.points = [(i / 100, i, 9.0, i / 1000, 0.0, 0) for i in range(1000)]
    found = reading.read(REPORT, now=False)
    assert len(found) <= trace_reader.MAX_POINTS
    assert found[-1].expansions == 999
    search.points.append((11.0, 1001, 9.0, 2.0, 0.0, 0))
    assert reading.read(REPORT, now=False) == [], "it was read a moment ago"
    monkeypatch.setattr(trace_reader, "READ_SECONDS", 0.0)
    assert [point.expansions for point in reading.read(REPORT, now=False)] == [1001]
