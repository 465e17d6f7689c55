"""The boxes of a drawn tree: splits with their shape function as a strip, and leaves with their counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from literati.data.schema import Column
from literati.tree.export.text import label_text, left_condition, rows_text
from literati.tree.nodes import Node, Split
from literati.tree.plot.text import clean, count_text, fit, number_labels, spread, width

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

PAD = 10.0
NAME, BODY, SMALL = 13.0, 11.0, 10.0  # font sizes
STRIP = 14.0  # height of the strip
MIN_PIECE = 14.0  # width of a piece of the strip
MISSING = 52.0  # width of the cell for missing values
MAX_NAME = 250.0
BAR, BAR_NAME = 46.0, 84.0
MAX_BARS = 5
CLASS_COLOURS = 12


@dataclass(frozen=True)
class Box:
    """A drawing of known size; its origin is the upper left corner."""

    width: float
    height: float
    body: str


def text(x: float, y: float, words: str, size: float, style: str, anchor: str = "start") -> str:
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" class="{style}"{place}>{clean(words)}</text>'


def rect(x: float, y: float, w: float, h: float, style: str, radius: float = 0.0) -> str:
    rounded = f' rx="{radius:g}"' if radius else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" class="{style}"{rounded}/>'


def arrow(x: float, y: float, right: bool) -> str:
    """Return a small triangle that points to the side, for readers who cannot see the colours."""
    tip = 3.5 if right else -3.5
    return f'<path d="M{x - tip:.1f} {y - 4:.1f}v8L{x + tip:.1f} {y:.1f}z" class="lt-on"/>'


def side(right: bool) -> str:
    return "lt-right" if right else "lt-left"


def split_box(tree: ShapeTree, node: Node) -> Box:
    """Draw a split: its column, the sides of its values, and the number of rows."""
    assert node.split is not None
    split, column = node.split, tree.schema.columns[node.split.column]
    name = fit(label_text(column.name), NAME, MAX_NAME)
    rows = rows_text(node) + (", proven" if node.proven else "")
    if column.kind == "category":
        strip = _category_strip(column, split)
    elif column.kind == "boolean":
        strip = _boolean_strip(split)
    else:
        strip = _number_strip(column, split)
    full = max(strip.width + PAD + MISSING, width(name, NAME), width(rows, SMALL)) + 2 * PAD
    top = PAD + NAME + 8
    height = top + strip.height + 4 + SMALL + PAD
    seen = "" if split.missing_seen else " lt-guess"
    cell = PAD + strip.width + PAD
    parts = [
        rect(0, 0, full, height, "lt-box", 6),
        text(PAD, PAD + NAME - 2, name, NAME, "lt-ink lt-bold"),
        f'<g transform="translate({PAD:g} {top:g})">{strip.body}</g>',
        rect(cell, top, MISSING, STRIP, side(split.missing_right) + seen, 2),
        arrow(cell + MISSING / 2, top + STRIP / 2, split.missing_right),
        text(cell + MISSING / 2, top + STRIP + 17, "missing", SMALL, "lt-soft", "middle"),
        text(PAD, height - PAD + 1, rows, SMALL, "lt-soft"),
    ]
    return Box(full, height, f"<title>{clean(_tooltip(column, split, node))}</title>" + "".join(parts))


def _tooltip(column: Column, split: Split, node: Node) -> str:
    missing = "right" if split.missing_right else "left"
    why = "" if split.missing_seen else " (none was in training here)"
    return (
        f"Left if {left_condition(column, split)}, else right. Missing: {missing}{why}.\n"
        f"Cost of this subtree {node.cost:g}, bound {node.bound:g}, error as a leaf {node.error:g}."
    )


def _pieces(edges: list[float], rights: list[bool]) -> str:
    parts = []
    for start, end, right in zip(edges[:-1], edges[1:], rights, strict=True):
        parts += [rect(start, 0, end - start, STRIP, side(right)), arrow((start + end) / 2, STRIP / 2, right)]
    return "".join(parts) + "".join(rect(x - 0.75, 0, 1.5, STRIP, "lt-cut") for x in edges[1:-1])


def _number_strip(column: Column, split: Split) -> Box:
    assert column.minimum is not None
    assert column.maximum is not None
    low, high = column.minimum, column.maximum
    numbers = [low, *split.thresholds, high]
    span = high - low
    scale = max(abs(low), abs(high)) or 1.0
    labels = number_labels(numbers, span if 0 < span < float("inf") else scale)
    widths = [width(label, BODY) for label in labels]
    full = max(150.0, sum(widths) + 8.0 * len(widths))
    # Every piece has a minimum width, so that all sides can be seen.
    pieces = len(numbers) - 1
    min_width = max(MIN_PIECE, 0.45 * full / pieces if pieces > 3 else 0.0)
    edges = [0.0]
    for a, b in pairwise(numbers):
        share = (b / scale - a / scale) / (high / scale - low / scale or 1.0)
        edges.append(edges[-1] + min_width + (full - min_width * pieces) * share)
    centres = spread(edges, widths, 0.0, full, 6.0)
    parts = [_pieces(edges, [right for _, _, right in split.intervals()])]
    for i, (label, centre) in enumerate(zip(labels, centres, strict=True)):
        inner = 0 < i < len(labels) - 1
        if inner:
            parts.append(f'<path d="M{edges[i]:.1f} {STRIP}L{centre:.1f} {STRIP + 8}" class="lt-tick"/>')
        style = "lt-ink" if inner else "lt-soft"
        parts.append(text(centre, STRIP + 18, label, BODY if inner else SMALL, style, "middle"))
    return Box(full, STRIP + 24, "".join(parts))


def _boolean_strip(split: Split) -> Box:
    full = 110.0
    sides = [False, True] if split.thresholds else [False, False]
    parts = [_pieces([0.0, full / 2, full], sides)]
    for i, word in enumerate(("false", "true")):
        parts.append(text(full * (0.25 + 0.5 * i), STRIP + 18, word, BODY, "lt-ink", "middle"))
    return Box(full, STRIP + 24, "".join(parts))


def _category_strip(column: Column, split: Split) -> Box:
    count = len(column.categories)
    sides = [k in split.right_categories for k in range(count)]
    names = [label_text(category) for category in column.categories]
    listed = [[n for n, s in zip(names, sides, strict=True) if s == right] for right in (False, True)]
    widths = [width(", ".join(words), BODY) + 14 for words in listed]
    full = min(max(150.0, MIN_PIECE * count, *widths), 320.0)
    edges = [full * k / count for k in range(count + 1)]
    if full / count < MIN_PIECE:  # too many for one cell each: draw runs of one side
        firsts = [k for k in range(count) if k == 0 or sides[k] != sides[k - 1]]
        edges, sides = [edges[k] for k in firsts] + [full], [sides[k] for k in firsts]
    parts = [_pieces(edges, sides)]
    y = STRIP + 18.0
    for right, words in zip((False, True), listed, strict=True):
        if words:
            parts.append(rect(0, y - 8, 8, 8, side(right), 1))
            parts.append(text(14, y, _shortened(words, full - 14), BODY, "lt-ink"))
            y += 15
    return Box(full, y - 9, "".join(parts))


def _shortened(words: list[str], room: float) -> str:
    """Return as many words as fit, and the number of the others."""
    for kept in range(len(words), 0, -1):
        more = f", +{len(words) - kept} more" if kept < len(words) else ""
        line = ", ".join(words[:kept]) + more
        if width(line, BODY) <= room:
            return line
    more = f" +{len(words) - 1} more" if len(words) > 1 else ""
    return fit(words[0], BODY, room - width(more, BODY)) + more


def leaf_box(tree: ShapeTree, node: Node) -> Box:
    """Draw a leaf: its class and the counts of the largest classes."""
    name = fit(label_text(tree.classes[node.label]), NAME, 160.0)
    share = f"{100 * node.share:.3g} % of {rows_text(node)}"
    shown = sorted(
        (k for k, count in enumerate(node.counts) if count > 0), key=lambda k: (-node.counts[k], k)
    )
    rest = shown[MAX_BARS:] if len(shown) > MAX_BARS + 1 else []
    shown = sorted(shown[: len(shown) - len(rest)])
    names = {k: fit(label_text(tree.classes[k]), SMALL, BAR_NAME) for k in shown}
    counts = {k: count_text(node.counts[k]) for k in shown}
    more = f"{len(rest)} more: {count_text(sum(node.counts[k] for k in rest))}" if rest else ""
    label_width = max(width(word, SMALL) for word in names.values())
    count_width = max(width(word, SMALL) for word in counts.values())
    inner = max(
        label_width + BAR + count_width + 12,
        width(name, NAME) + 16,
        width(share, SMALL),
        width(more, SMALL),
    )
    full = inner + 2 * PAD
    y = PAD + NAME + SMALL + 12.0
    parts = [
        rect(PAD, PAD + 1, 10, 10, f"lt-class{node.label % CLASS_COLOURS}", 2),
        text(PAD + 16, PAD + NAME - 2, name, NAME, "lt-ink lt-bold"),
        text(PAD, PAD + NAME + SMALL + 3, share, SMALL, "lt-soft"),
    ]
    largest = max(node.counts)
    for k in shown:
        length = max(1.5, BAR * node.counts[k] / largest)
        parts += [
            text(PAD, y + 9, names[k], SMALL, "lt-ink"),
            rect(PAD + label_width + 6, y + 1, length, 9, f"lt-class{k % CLASS_COLOURS}", 1),
            text(full - PAD, y + 9, counts[k], SMALL, "lt-ink", "end"),
        ]
        y += 13
    if more:
        parts.append(text(PAD, y + 9, more, SMALL, "lt-soft"))
        y += 13
    height = y + PAD - 3
    box = rect(0, 0, full, height, "lt-leaf", 10)
    every = ", ".join(f"{label_text(c)}: {n:g}" for c, n in zip(tree.classes, node.counts, strict=True))
    return Box(full, height, f"<title>{clean(every)}</title>" + box + "".join(parts))
