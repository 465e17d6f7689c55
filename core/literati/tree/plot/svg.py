"""Draw a tree as SVG, for a page or a file, on a light or dark background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from literati.tree.export.text import label_text, to_text
from literati.tree.nodes import depths
from literati.tree.plot import boxes as draw
from literati.tree.plot.boxes import BODY, CLASS_COLOURS, MISSING, SMALL, STRIP, Box
from literati.tree.plot.text import FONT, clean, fit, width, wrap

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

MARGIN = 20.0
GAP = 14.0  # between neighbouring boxes
LEVEL_GAP = 44.0  # between levels
MIN_WIDTH = 560.0
MAX_TEXT_WIDTH = 900.0
MAX_CLASSES = 24  # in the legend

# The colours of the sides differ from those of the classes.
CLASSES = (
    *("#8e5ea2", "#3a9d5d", "#d1495b", "#8c6d4f", "#2f9aa3", "#97952f"),
    *("#d27fb4", "#7a7f87", "#5f4bb6", "#7fb93f", "#a33f2f", "#5fb3a1"),
)
PLAIN = """
text{stroke:none}.lt-bold{font-weight:bold}.lt-left{fill:#3f78b5}.lt-right{fill:#e39a2d}.lt-on{fill:#fff}
.lt-edge{fill:none;stroke-linecap:round}.lt-edge.lt-left{fill:none;stroke:#3f78b5}
.lt-edge.lt-right{fill:none;stroke:#e39a2d}.lt-guess{opacity:.45}.lt-tick{fill:none;stroke:#888;stroke-width:1}
"""
LIGHT = """
.lt-ground{fill:#fff}.lt-box{fill:#f7f8fa;stroke:#c3c9d1}.lt-leaf{fill:#fff;stroke:#9aa3ae}.lt-cut{fill:#fff}
.lt-ink{fill:#1d232b}.lt-soft{fill:#5d6773}
"""
DARK = """
.lt-ground{fill:#14181d}.lt-box{fill:#1e242c;stroke:#46505c}.lt-leaf{fill:#191e25;stroke:#6a7683}
.lt-cut{fill:#14181d}.lt-ink{fill:#e8ecf1}.lt-soft{fill:#a2adb9}
"""
THEMES = {"light": LIGHT, "dark": DARK, "auto": f"{LIGHT}@media (prefers-color-scheme:dark){{{DARK}}}"}


def to_svg(tree: ShapeTree, theme: str = "auto") -> str:
    """Return the drawing of the tree."""
    if theme not in THEMES:
        raise ValueError(f"theme: expected one of {', '.join(THEMES)}, got {theme!r}")
    boxes = [draw.leaf_box(tree, n) if n.split is None else draw.split_box(tree, n) for n in tree.nodes]
    places, tree_width, tree_height = _layout(tree, boxes)
    full = max(MIN_WIDTH, tree_width + 2 * MARGIN)
    header = _header(tree, full)
    left, top = (full - tree_width) / 2, header.height
    parts = [_edges(tree, boxes, places)]
    for box, (x, y) in zip(boxes, places, strict=True):
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{box.body}</g>')
    height = top + tree_height + MARGIN
    classes = "".join(f".lt-class{k}{{fill:{colour}}}" for k, colour in enumerate(CLASSES))
    name = f"Shape tree of depth {tree.depth} with {tree.n_leaves} leaves"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {full:.0f} {height:.0f}" role="img" font-family="{clean(FONT)}">'
        f"<title>{clean(name)}</title><desc>{clean(to_text(tree))}</desc>"
        f"<style>{PLAIN}{classes}{THEMES[theme]}</style>"
        f"{draw.rect(0, 0, full, height, 'lt-ground')}{header.body}"
        f'<g transform="translate({left:.1f} {top:.1f})">{"".join(parts)}</g></svg>\n'
    )


def _layout(tree: ShapeTree, boxes: list[Box]) -> tuple[list[tuple[float, float]], float, float]:
    """Return the upper left corner of each box, and the size of the tree.

    Every subtree has a column of its own, so that boxes of one level do not overlap.
    """
    depth = depths(tree.nodes)
    spans = [0.0] * len(boxes)  # width of each subtree
    for i in range(len(boxes) - 1, -1, -1):
        split = tree.nodes[i].split
        below = 0.0 if split is None else spans[split.left] + GAP + spans[split.right]
        spans[i] = max(boxes[i].width, below)
    starts = [0.0] * len(boxes)  # left edge of each subtree
    for i, node in enumerate(tree.nodes):
        if node.split is not None:
            below = spans[node.split.left] + GAP + spans[node.split.right]
            starts[node.split.left] = starts[i] + (spans[i] - below) / 2
            starts[node.split.right] = starts[node.split.left] + spans[node.split.left] + GAP
    centres = [start + span / 2 for start, span in zip(starts, spans, strict=True)]
    for i in range(len(boxes) - 1, -1, -1):  # centred above the children, as far as the column allows
        split = tree.nodes[i].split
        if split is not None:
            half = boxes[i].width / 2
            middle = (centres[split.left] + centres[split.right]) / 2
            centres[i] = min(max(middle, starts[i] + half), starts[i] + spans[i] - half)
    tops = _tops(tree, boxes, depth, centres)
    places = [(c - b.width / 2, tops[d]) for c, b, d in zip(centres, boxes, depth, strict=True)]
    return places, spans[0], tops[-1]


def _tops(tree: ShapeTree, boxes: list[Box], depth: list[int], centres: list[float]) -> list[float]:
    """Return where each level starts, and the end of the last. Distant children get more height."""
    tops = [0.0]
    for level in range(max(depth) + 1):
        here = [i for i, d in enumerate(depth) if d == level]
        splits = [(i, tree.nodes[i].split) for i in here]
        far = [abs(centres[child] - centres[i]) for i, s in splits if s for child in (s.left, s.right)]
        rise = min(max(LEVEL_GAP, 0.05 * max(far)), 3 * LEVEL_GAP) if far else 0.0
        tops.append(tops[-1] + max(boxes[i].height for i in here) + rise)
    return tops


def _edges(tree: ShapeTree, boxes: list[Box], places: list[tuple[float, float]]) -> str:
    """Draw lines to the children in the colour of their side, as thick as their share of the rows."""
    total = tree.nodes[0].rows
    parts = []
    for i, node in enumerate(tree.nodes):
        if node.split is None:
            continue
        for child, right in ((node.split.left, False), (node.split.right, True)):
            x0 = places[i][0] + boxes[i].width * (0.65 if right else 0.35)
            y0 = places[i][1] + boxes[i].height
            x1, y1 = places[child][0] + boxes[child].width / 2, places[child][1]
            thick = 1.5 + 7.0 * tree.nodes[child].rows / total
            bend = (y0 + y1) / 2
            parts.append(
                f'<path d="M{x0:.1f} {y0:.1f}C{x0:.1f} {bend:.1f} {x1:.1f} {bend:.1f} {x1:.1f} {y1:.1f}" '
                f'class="lt-edge {draw.side(right)}" stroke-width="{thick:.1f}"/>'
            )
    return "".join(parts)


def _header(tree: ShapeTree, full: float) -> Box:
    """Draw the size of the tree, what is proven about it, and the legend."""
    room = min(full - 2 * MARGIN, MAX_TEXT_WIDTH)
    heading = (
        f"Depth {tree.depth}, {tree.n_leaves} leaves, {tree.nodes[0].rows} training rows, "
        f"cost {tree.objective:g}"
    )
    y = MARGIN + 14
    parts = [draw.text(MARGIN, y, fit(heading, 16, room), 16, "lt-ink lt-bold")]
    for line in wrap(tree.proof.statement(), BODY, room):
        y += 16
        parts.append(draw.text(MARGIN, y, line, BODY, "lt-soft"))
    y += 14
    x = MARGIN
    for mark, mark_width, words in _legend(tree):
        words = fit(words, SMALL, 420.0)
        item = mark_width + 6 + width(words, SMALL)
        if x > MARGIN and x + item > MARGIN + room:
            x, y = MARGIN, y + 20
        parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{mark}</g>')
        parts.append(draw.text(x + mark_width + 6, y + STRIP - 3.5, words, SMALL, "lt-ink"))
        x += item + 18
    return Box(full, y + STRIP + 24, "".join(parts))


def _legend(tree: ShapeTree) -> list[tuple[str, float, str]]:
    """Return (drawing, its width, words) of each entry."""
    splits = [node.split for node in tree.nodes if node.split is not None]
    entries = []
    if splits:
        for right, words in ((False, "goes left"), (True, "goes right")):
            entries.append(
                (
                    draw.rect(0, 0, 22, STRIP, draw.side(right), 2) + draw.arrow(11, STRIP / 2, right),
                    22.0,
                    words,
                )
            )
    if any(not split.missing_seen for split in splits):
        pale = draw.rect(0, 0, MISSING / 2, STRIP, "lt-left lt-guess", 2)
        entries.append((pale, MISSING / 2, "pale: nothing missing in training, so the larger side"))
    for k, label in enumerate(tree.classes[:MAX_CLASSES]):
        mark = draw.rect(0, 2, 10, 10, f"lt-class{k % CLASS_COLOURS}", 2)
        entries.append((mark, 10.0, label_text(label)))
    if len(tree.classes) > MAX_CLASSES:
        entries.append(("", 0.0, f"and {len(tree.classes) - MAX_CLASSES} more classes"))
    return entries
