"""Draw critical difference diagrams: mean ranks on an axis, with bars over methods that do not differ."""

from __future__ import annotations

from pathlib import Path

from benchmarks import drawing
from benchmarks.paper.statistics import SIGNIFICANCE, Scores, groups, mean_ranks

INCHES_WIDE = 9.0
INCHES_A_LINE = 0.24
LINE_COLOUR = "#333333"
GROUP_COLOUR = "#0072b2"


def draw(scores: Scores, path: Path, title: str) -> None:
    """Write the diagram of a table with at least two methods. The best rank is on the left."""
    ranks = mean_ranks(scores)
    ordered = sorted(ranks, key=lambda name: ranks[name])
    bars = groups(scores)
    half = (len(ordered) + 1) // 2
    lowest = -(len(bars) + 1) * 0.5 - half
    pyplot, figure = drawing.new_figure((INCHES_WIDE, INCHES_A_LINE * (2.5 - lowest) + 0.8))
    axis = figure.add_subplot()
    last = len(ordered)
    axis.set_xlim(1 - 0.45 * last, 1.45 * last)
    axis.set_ylim(lowest - 0.5, 2.0)
    axis.axis("off")
    axis.plot([1, last], [0, 0], color="black", linewidth=1)
    for rank in range(1, last + 1):
        axis.plot([rank, rank], [0, 0.25], color="black", linewidth=1)
        axis.text(rank, 0.4, str(rank), ha="center", va="bottom", fontsize=8)
    for place, bar in enumerate(bars):
        y = -0.5 * (place + 1)
        ends = [ranks[bar[0]] - 0.03, ranks[bar[-1]] + 0.03]
        axis.plot(ends, [y, y], color=GROUP_COLOUR, linewidth=4, solid_capstyle="butt")
    start = -0.5 * (len(bars) + 1)
    for place, name in enumerate(ordered):
        left = place < half
        row = place if left else len(ordered) - 1 - place
        y, edge = start - row - 0.5, 1 - 0.03 * last if left else 1.03 * last
        axis.plot([ranks[name], ranks[name], edge], [0, y, y], color=LINE_COLOUR, linewidth=0.8)
        text = f"{name}  {ranks[name]:.2f}" if left else f"{ranks[name]:.2f}  {name}"
        axis.text(edge, y, f" {text} ", ha="right" if left else "left", va="center", fontsize=8)
    count = len(next(iter(scores.values())))
    axis.set_title(
        f"{title}\nmean rank over {count} datasets; a bar joins methods that do not differ "
        f"(Wilcoxon, Holm, p ≥ {SIGNIFICANCE:g})",
        fontsize=9,
    )
    drawing.save(pyplot, figure, path)
