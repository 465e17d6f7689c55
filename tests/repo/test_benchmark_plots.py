"""The plots of the benchmarks: traces with and without explored share and stage, and their lines."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import drawing, plots, process, traces
from benchmarks.runners import ours
from benchmarks.runs import Results, RunResult, RunSpec
from benchmarks.traces import Trace, thinned

SECONDS = [0.01, 0.1, 1.0, 2.0]
UPPER, LOWER = [50.0, 45.0, 40.0, 35.0], [0.0, 0.0, 30.0, 35.0]
PLAIN = Trace(SECONDS, UPPER, LOWER)
STAGED = Trace(SECONDS, UPPER, [0.0, 20.0, 0.0, 35.0], [0.0, 1.0, 0.0, 1.0], ["few", "few", "all", "all"])


class Lines:
    """What was drawn: every line of every axis of the figure that `draw` would have saved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("matplotlib")
        monkeypatch.setattr(drawing, "save", self._keep)
        self.axes: list[Any] = []

    def _keep(self, pyplot: Any, figure: Any, path: Path) -> None:
        self.axes, self.heading = figure.axes, figure._suptitle.get_text()
        self.legend = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        pyplot.close(figure)

    def of(self, axis: int, style: str = "-") -> list[list[tuple[float, float]]]:
        """The points of the lines of a style; a vertical line has two points with the same seconds."""
        found = [line for line in self.axes[axis].lines if line.get_linestyle() == style]
        return [[(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)] for line in found]

    def curves(self, axis: int, style: str = "-") -> list[list[tuple[float, float]]]:
        return [points for points in self.of(axis, style) if points[0][0] != points[-1][0] or len(points) > 2]

    def stage_starts(self, axis: int) -> list[float]:
        return [points[0][0] for points in self.of(axis) if len(points) == 2 and points[0][0] == points[1][0]]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    return Lines(monkeypatch)


def test_bounds_without_more_are_one_panel(lines: Lines) -> None:
    drawing.draw_bounds({"rice": {"full": PLAIN}}, Path("unused.svg"), "a title")
    assert len(lines.axes) == 1
    assert lines.curves(0) == [list(zip(SECONDS, UPPER, strict=True))]
    assert lines.curves(0, "--") == [list(zip(SECONDS, LOWER, strict=True))]
    assert lines.stage_starts(0) == []
    assert lines.axes[0].get_xscale() == "log"
    assert lines.legend == ["full"]
    assert "stage" not in lines.heading
    assert "polished" not in lines.heading
    assert lines.heading.startswith("a title\n")


def test_explored_share_has_a_strip_below_its_panel_and_stages_are_apart(lines: Lines) -> None:
    panels = {"rice": {"widening": STAGED, "adaptive": PLAIN}, "page": {"adaptive": PLAIN}}
    drawing.draw_bounds(panels, Path("unused.svg"))
    assert len(lines.axes) == 4
    panel, strip = 0, 1
    assert lines.axes[strip].get_xlim() == lines.axes[panel].get_xlim()
    assert lines.axes[strip].get_ylim() == (-4, 104)
    # The lower bound and the explored share fall where a stage starts; no line joins the two stages.
    assert lines.curves(panel, "--")[:2] == [
        [(0.01, 0.0), (0.1, 20.0), (1.0, 20.0)],
        [(1.0, 0.0), (2.0, 35.0)],
    ]
    assert lines.curves(strip) == [[(0.01, 0.0), (0.1, 100.0), (1.0, 100.0)], [(1.0, 0.0), (2.0, 100.0)]]
    assert lines.stage_starts(panel) == lines.stage_starts(strip) == [1.0]
    assert [text.get_text() for text in lines.axes[panel].texts] == ["few", "all"]
    assert lines.curves(3) == []  # nothing is known of the share on page
    assert lines.legend == ["widening", "adaptive"]
    assert "start of a stage" in lines.heading


def test_a_series_keeps_its_colour_where_another_is_absent(lines: Lines) -> None:
    panels = {"rice": {"one": PLAIN, "two": PLAIN}, "page": {"two": PLAIN}}
    drawing.draw_bounds(panels, Path("unused.svg"))
    colours = [axis.lines[-1].get_color() for axis in lines.axes]
    assert colours[0] == colours[1] == drawing.COLOURS[1]


def test_the_polished_tree_is_marked_below_its_upper_bound(lines: Lines) -> None:
    drawing.draw_bounds({"rice": {"full": PLAIN.ending_at(33.0)}}, Path("unused.svg"))
    crosses = [line for line in lines.axes[0].lines if line.get_marker() == "x"]
    assert [[float(value[0]) for value in line.get_data()] for line in crosses] == [[2.0, 33.0]]
    assert "polished tree" in lines.heading
    assert PLAIN.ending_at(35.0) is PLAIN  # equal to the bound: nothing to mark
    assert PLAIN.ending_at(None) is PLAIN


def test_many_panels_are_in_rows_and_infinite_bounds_are_left_out(lines: Lines) -> None:
    trace = Trace([0.0, 1.0], [math.inf, 3.0], [0.0, 3.0])
    drawing.draw_bounds({f"set {i}": {"a": trace} for i in range(6)}, Path("unused.svg"))
    assert len(lines.axes) == 6
    tops = {round(axis.get_position().y1, 3) for axis in lines.axes}
    assert len(tops) == 2
    ((start, end),) = lines.curves(0)
    assert start[0] == drawing.FIRST_SECONDS
    assert math.isnan(start[1])
    assert end == (1.0, 3.0)


def test_first_trees_may_be_above_the_panel_but_last_ones_never(lines: Lines) -> None:
    steep = Trace([0.1, 1.0, 2.0], [1000.0, 30.0, 20.0], [0.0, 0.0, 20.0])
    drawing.draw_bounds({"rice": {"a": steep, "b": PLAIN}}, Path("unused.svg"))
    low, high = lines.axes[0].get_ylim()
    assert low == 0
    assert 50 < high < 100
    zero = Trace([0.1, 1.0], [7.0, 0.0], [0.0, 0.0])
    drawing.draw_bounds({"rice": {"a": zero}}, Path("unused.svg"))
    assert 7 < lines.axes[0].get_ylim()[1] < 8
    drawing.draw_bounds({"rice": {"a": Trace([0.1], [0.0], [0.0])}}, Path("unused.svg"))
    assert lines.axes[0].get_ylim()[1] > 0


def test_the_same_traces_give_the_same_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("first.svg", "second.svg"):
        drawing.draw_bounds({"rice": {"full": STAGED}}, tmp_path / name)
    first, second = ((tmp_path / name).read_text() for name in ("first.svg", "second.svg"))
    assert first == second
    assert "<svg" in first
    assert "<dc:date>" not in first


def test_estimates_of_the_time_left(lines: Lines) -> None:
    true = drawing.true_seconds_left([1.0, 3.0, 7.0, 9.0])
    assert true == [8.0, 6.0, 2.0, 0.0]
    runs: dict[str, tuple[list[float], list[float | None]]] = {
        "half": (true, [None, 12.0, 5.0, 0.1]),  # 12 of 6 is near, 5 of 2 is not, the end is left out
        "none": (true, [None, math.nan, math.inf, None]),
    }
    near = drawing.draw_time_left(runs, Path("unused.svg"), "time left")
    assert near["half"] == 0.5
    assert math.isnan(near["none"])
    points = [line for line in lines.axes[0].lines if line.get_linestyle() == "None"]
    assert [list(map(list, line.get_data())) for line in points] == [[[6.0, 2.0], [12.0, 5.0]]]
    assert lines.legend == ["half (50 %)"]
    assert (lines.axes[0].get_xscale(), lines.axes[0].get_yscale()) == ("log", "log")
    assert drawing.draw_time_left({}, Path("unused.svg")) == {}


def test_a_result_keeps_every_column_of_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that this version of the search does not have."""
    dtype = [("seconds", "f8"), ("expansions", "i8"), ("upper", "f8"), ("lower", "f8")]
    rows = [(0.1, 1, 9.0, 0.0, 0.25, "few"), (0.2, 2, 9.0, 0.0, 0.5, "few"), (0.3, 3, 7.0, 7.0, 1.0, "all")]
    later = np.array(rows, dtype=[*dtype, ("explored", "f8"), ("stage", "U8")])
    X, y = np.arange(20.0)[:, None], np.arange(20) % 3 % 2
    real = ours._literati(2, 5.0, {})(X, y)
    assert real.details["trace_columns"][:4] == list(traces.COLUMNS)
    assert len(real.details["trace"][0]) == len(real.details["trace_columns"])

    class Later(ours.load_module("literati").LiteratiClassifier):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            super().fit(X, y)
            self.trace_ = later
            return self

    class Module:
        LiteratiClassifier = Later

    monkeypatch.setattr(ours, "load_module", lambda name: Module)
    details = ours._literati(2, 5.0, {})(X, y).details
    assert details["trace_columns"] == list(later.dtype.names or ())
    assert details["trace"] == [list(row) for row in rows]
    trace = Trace.of(RunResult(RunSpec("literati", "toy", 2), "proven", details=details))
    assert trace is not None
    assert trace.explored == [0.25, 0.5, 1.0]
    assert [stage for stage, _ in trace.stages()] == ["few", "all"]


def test_a_trace_reaches_to_the_end_of_the_search() -> None:
    rows = [[0.1, 1, 9.0, 0.0], [0.2, 2, 8.0, 5.0]]
    run = RunResult(RunSpec("literati", "toy", 2), "limit", details={"trace": rows, "search_seconds": 3.0})
    trace = Trace.of(run)  # as results were stored before columns had names
    assert trace == Trace([0.1, 0.2, 3.0], [9.0, 8.0, 8.0], [0.0, 5.0, 5.0], expansions=[1, 2, 2])
    assert Trace.of(None) is None
    assert Trace.of(RunResult(RunSpec("cart", "toy", 2), "finished")) is None
    with pytest.raises(ValueError, match="'lower' is absent"):
        Trace.from_columns({"seconds": [1.0], "upper": [2.0]})


def test_a_long_trace_is_thinned_but_keeps_its_ends_and_every_stage() -> None:
    names = ["seconds", "expansions", "upper", "lower", "explored", "stage"]
    rows = [[0.001 * (i + 1), i, 9.0, 0.0, i / 10_000, int(i > 5_003)] for i in range(10_000)]
    thin = thinned(names, rows)
    assert (thin[0], thin[-1]) == (rows[0], rows[-1])
    assert 200 < len(thin) < 500
    assert rows[5_004] in thin
    by_decade = np.histogram([row[0] for row in thin], bins=[0.001, 0.01, 0.1, 1, 10])[0]
    assert (by_decade >= [8, 30, 40, 150]).all()  # every 50th row would be 1, 2, 18 and 180
    unchanged = [[0.0, 0, 5.0, 1.0], [1.0, 1, 5.0, 1.0], [2.0, 2, 5.0, 1.0], [3.0, 3, 4.0, 1.0]]
    assert thinned(names[:4], unchanged) == [unchanged[0], unchanged[3]]
    assert thinned(names, []) == []


def test_figures_are_drawn_for_the_runs_there_are(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    trace = [[0.01, 0.0, 50.0, 0.0], [1.0, 10.0, 40.0, 30.0], [2.0, 20.0, 35.0, 35.0]]
    results = Results()
    for figure, series in ((plots.ABLATIONS[0], "admissible"), (plots.WIDENING, "all")):
        spec = figure.spec(series, figure.panels[1])
        results.add(RunResult(spec, "proven", objective=35, details={"trace": trace}))
    drawn = plots.draw(results, tmp_path)
    assert [path.name for path in drawn] == ["ablation-or-selection.svg", "widening.svg"]
    assert all("<svg" in path.read_text() for path in drawn)
    assert plots.draw(Results(), tmp_path) == []
    # A build without threads fails these runs; the figure is left out.
    failed = RunResult(plots.THREADS.specs()[1], "failed", error="n_threads: expected 1")
    assert plots.draw(Results([failed]), tmp_path) == []


def test_every_run_of_the_figures_is_made_once() -> None:
    ablations = plots.specs("ablations")
    assert len(ablations) == 3 * (3 + 3 + 3 - 2)
    assert plots.specs("anytime") == ablations
    every = plots.specs("figures")
    assert len(every) == len(ablations) + 3 * 3 + 3 * 4
    assert len({spec.key for spec in every}) == len(every)
    assert plots.specs("speed") == []
    names = [figure.name for figure in plots.FIGURES]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z-]+", name) for name in names)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen on this system")
def test_a_run_has_a_core_for_each_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3, 4})

    def cores(core: int | None, **options: int) -> list[int] | None:
        return process.cores_of(RunSpec("literati", "toy", 2, options=options), core)

    assert cores(4) == [4]
    assert cores(3, n_threads=1) == [3]
    assert cores(3, n_threads=3) == [3, 4, 2]
    assert cores(3, n_threads=-1) == [3, 4, 2, 1, 0]
    assert cores(None, n_threads=2) is None
