"""Draw traces: bounds over time in one panel for each dataset, and estimates of the time left.

Nothing here knows which runs a figure shows; `plots` does. Figures are SVG, or what the suffix of the file
says. With fixed ids and no date, the same traces give the same file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from benchmarks.runners.base import load_module
from benchmarks.traces import Trace

# Distinguishable for colour-blind readers (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "osD^vP"
LINE_STYLES = ("-", "--", ":")
FIRST_SECONDS = 1e-3  # the left end of a logarithmic axis
PANEL_INCHES = (4.2, 3.3)
STRIP_INCHES = 0.9
PANELS_A_ROW = 4
CHARACTERS_AN_INCH = 12  # of the heading
HIGHEST = 2.5  # a panel shows costs up to this multiple of the highest final cost
STAGE_ROOM = 1.3  # height of a panel whose stages are named above the lines
LINEAR_BELOW = 0.1  # of logarithmic axes that have a zero
FACTOR = 2.0  # estimates within this factor of the truth are counted as near

Panels = Mapping[str, Mapping[str, Trace]]  # the title of a panel -> the name of a series -> its trace


def draw_bounds(panels: Panels, path: Path, title: str = "", cost: str = "training errors") -> None:
    """Draw upper and lower bounds over time, a panel for each entry.

    Below each panel a strip shows the explored share, if any trace has it. A vertical line marks the start of
    a stage, and a cross the cost of the final tree if it is below its upper bound. A series has the same
    colour in every panel, and may be absent from some.
    """
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    traces = [trace for series in panels.values() for trace in series.values()]
    strip = any(trace.explored is not None for trace in traces)
    width, height = PANEL_INCHES
    columns = min(len(panels), PANELS_A_ROW)
    rows = math.ceil(len(panels) / columns)
    inches = height + STRIP_INCHES * strip
    pyplot, figure = new_figure((width * columns, rows * inches + 0.9))
    grid = figure.add_gridspec(rows, columns)
    for place, (panel, series) in enumerate(panels.items()):
        column = place % columns
        cell = grid[place // columns, column].subgridspec(
            1 + strip, 1, height_ratios=[height, STRIP_INCHES][: 1 + strip]
        )
        axis = figure.add_subplot(cell[0])
        for name, trace in series.items():
            _draw_trace(axis, trace, colours[name], name)
        axis.set_title(panel, fontsize=10)
        axis.set_xscale("log")
        axis.set_ylim(0, _top(series.values()))
        axis.grid(alpha=0.3)
        axis.set_ylabel(cost if column == 0 else "")
        if strip:
            axis.tick_params(labelbottom=False)
            below = figure.add_subplot(cell[1], sharex=axis)
            _draw_strip(below, [(trace, colours[name]) for name, trace in series.items()])
            below.set_ylabel("explored, %" if column == 0 else "")
            axis = below
        axis.set_xlabel("seconds")
    _finish(figure, title, _key(traces))
    save(pyplot, figure, path)


def _top(traces: Iterable[Trace]) -> float | None:
    """Return the top of a panel. The first trees may lie above it, so that the last ones are not squeezed."""
    known = [trace for trace in traces if math.isfinite(trace.upper[-1])]
    last = max((trace.upper[-1] for trace in known), default=0.0)
    first = max((max(filter(math.isfinite, trace.upper)) for trace in known), default=0.0)
    room = STAGE_ROOM if any(trace.has_stages for trace in known) else 1.05
    return room * min(first, HIGHEST * last if last > 0 else first) or None


def _draw_trace(axis: Any, trace: Trace, colour: str, name: str) -> None:
    for place, (stage, part) in enumerate(trace.stages()):
        seconds = _on_axis(part.seconds)
        label = name if place == 0 else None
        axis.step(seconds, _finite(part.upper), where="post", color=colour, label=label)
        axis.step(seconds, _finite(part.lower), where="post", color=colour, linestyle="--")
        if part.objective is not None:
            costs = _finite(part.objective)
            axis.step(seconds, costs, where="post", color=colour, linestyle=":", linewidth=1)
            axis.plot(seconds[-1:], costs[-1:], marker="x", markersize=6, color=colour)
        if place > 0:
            axis.axvline(seconds[0], color=colour, linewidth=0.8, alpha=0.5)
        if stage is not None:
            axis.annotate(
                f"stage {stage}" if isinstance(stage, int) else str(stage),
                (seconds[0], 1.0),
                (2, -2),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                rotation=90,
                verticalalignment="top",
                fontsize=7,
                color=colour,
            )
    axis.plot(_on_axis(trace.seconds)[-1], trace.upper[-1], marker="o", markersize=4, color=colour)


def _draw_strip(strip: Any, traces: Sequence[tuple[Trace, str]]) -> None:
    """Draw the explored share of each trace in its colour."""
    for trace, colour in traces:
        for place, (_, part) in enumerate(trace.stages()):
            seconds = _on_axis(part.seconds)
            if part.explored is not None:
                strip.step(seconds, [100 * share for share in part.explored], where="post", color=colour)
            if place > 0:
                strip.axvline(seconds[0], color=colour, linewidth=0.8, alpha=0.5)
    strip.set_ylim(-4, 104)
    strip.set_yticks([0, 50, 100])
    strip.grid(alpha=0.3)


def _key(traces: Sequence[Trace]) -> str:
    """Say what the lines and marks mean, as far as they occur."""
    words = ["upper bound (solid)", "lower bound (dashed)", "end of search (dot)"]
    if any(trace.objective is not None for trace in traces):
        words.append("polished tree (cross)")
    if any(trace.has_stages for trace in traces):
        words.append("start of a stage (vertical line)")
    return ", ".join(words)


@dataclass(frozen=True)
class LineRow:
    """A row of panels with the same axes. `panels` has the points (x, y) of each series of each panel."""

    x_label: str
    y_label: str
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]
    logarithmic: bool = True  # both axes; the y axis is linear below LINEAR_BELOW, because distances end at 0
    marker: str | None = None


def draw_lines(rows: Sequence[LineRow], path: Path, title: str = "", key: str = "") -> None:
    """Draw rows of panels with steps. A series has the same colour in every panel, and may be absent."""
    names = list(dict.fromkeys(name for row in rows for series in row.panels.values() for name in series))
    columns = max(len(row.panels) for row in rows)
    width, height = PANEL_INCHES
    pyplot, figure = new_figure((width * columns, height * len(rows) + 0.9))
    grid = figure.add_gridspec(len(rows), columns)
    for number, row in enumerate(rows):
        for column, (panel, series) in enumerate(row.panels.items()):
            axis = figure.add_subplot(grid[number, column])
            for name, points in series.items():
                place = names.index(name)
                style = LINE_STYLES[place // len(COLOURS) % len(LINE_STYLES)]
                axis.step(
                    *zip(*points, strict=True),
                    where="post",
                    color=COLOURS[place % len(COLOURS)],
                    linestyle=style,
                    marker=row.marker,
                    markersize=3,
                    label=name,
                )
            axis.set_title(panel, fontsize=10)
            axis.set_xlabel(row.x_label)
            axis.set_ylabel(row.y_label if column == 0 else "")
            axis.grid(alpha=0.3)
            if row.logarithmic:
                axis.set_xscale("log")
                axis.set_yscale("symlog", linthresh=LINEAR_BELOW)
                axis.set_ylim(bottom=0)
    _finish(figure, title, key)
    save(pyplot, figure, path)


def draw_time_left(
    runs: Mapping[str, tuple[Sequence[float], Sequence[float | None]]], path: Path, title: str = ""
) -> dict[str, float]:
    """Draw estimates of the seconds left against the true seconds left, as points on logarithmic axes.

    For each run `runs` has the true seconds and the estimated ones, of equal length. None or NaN means that
    there was no estimate; such points and those of the last moment, 0 s, are left out. Return for each run
    the share of its points that are within a factor of 2, which the legend shows too.
    """
    pyplot, figure = new_figure((6.4, 5.6))
    axis = figure.add_subplot()
    near: dict[str, float] = {}
    ends: list[float] = []
    for place, (name, (true, estimated)) in enumerate(runs.items()):
        points = [
            (x, y)
            for x, y in zip(true, estimated, strict=True)
            if x > 0 and y is not None and y > 0 and math.isfinite(y)
        ]
        close = [1 / FACTOR <= y / x <= FACTOR for x, y in points]
        near[name] = float(sum(close) / len(close)) if close else math.nan
        if not points:
            continue
        ends += [value for point in points for value in point]
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place // len(COLOURS) % len(MARKERS)]
        axis.plot(
            *zip(*points, strict=True),
            linestyle="",
            marker=marker,
            markersize=3,
            alpha=0.6,
            color=colour,
            label=f"{name} ({100 * near[name]:.0f} %)",
        )
    if ends:
        low, high = min(ends), max(ends)
        axis.plot([low, high], [low, high], color="#555555", linewidth=1)
        axis.fill_between(
            [low, high],
            [low / FACTOR, high / FACTOR],
            [low * FACTOR, high * FACTOR],
            color="#555555",
            alpha=0.12,
        )
        axis.set_xscale("log")
        axis.set_yscale("log")
    axis.set_xlabel("true seconds left")
    axis.set_ylabel("estimated seconds left")
    axis.grid(alpha=0.3)
    _finish(figure, title, f"in brackets: points within a factor of {FACTOR:g} (band)")
    save(pyplot, figure, path)
    return near


def true_seconds_left(seconds: Sequence[float]) -> list[float]:
    """Return the seconds from each point of a trace to its last one, the proof."""
    return [seconds[-1] - moment for moment in seconds]


def new_figure(inches: tuple[float, float]) -> tuple[Any, Any]:
    """Return pyplot, for `save`, and an empty figure of this size."""
    matplotlib = load_module("matplotlib")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "literati"
    pyplot = load_module("matplotlib.pyplot")
    return pyplot, pyplot.figure(figsize=inches, layout="constrained")


def _finish(figure: Any, title: str, key: str) -> None:
    """Add the title, the key and one legend for all panels."""
    entries: dict[str, Any] = {}  # by label, because a panel may lack a run
    for axis in figure.axes:
        handles, labels = axis.get_legend_handles_labels()
        entries.update(zip(labels, handles, strict=True))
    width = figure.get_size_inches()[0]
    heading = [title, *wrap(key, int(width * CHARACTERS_AN_INCH))]
    figure.suptitle("\n".join(filter(None, heading)), fontsize=10)
    if entries:
        inches = 0.6 + 0.09 * max(map(len, entries))  # of an entry
        columns = max(1, min(len(entries), int(width / inches)))
        place = "outside lower center"
        figure.legend(list(entries.values()), list(entries), loc=place, ncols=columns, frameon=False)


def save(pyplot: Any, figure: Any, path: Path) -> None:
    """Write a figure, and free it."""
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def _on_axis(seconds: Sequence[float]) -> list[float]:
    return [max(moment, FIRST_SECONDS) for moment in seconds]


def _finite(values: Sequence[float]) -> list[float]:
    """Return the values with NaN, which is not drawn, for infinite bounds."""
    return [value if math.isfinite(value) else math.nan for value in values]
