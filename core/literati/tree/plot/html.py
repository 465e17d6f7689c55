"""The drawing of a tree as HTML, for notebooks."""

from __future__ import annotations

import re
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING

from literati.tree.plot.svg import to_svg

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

MAX_LEAVES = 256  # of a drawing; one of more would be megabytes in a notebook
MIN_SCALE = 0.6  # to which a wide drawing shrinks before it scrolls


def to_html(tree: ShapeTree) -> str:
    """Return the drawing as an image, so that its styles do not change the page around it."""
    if tree.n_leaves > MAX_LEAVES:
        return f"<p>{escape(repr(tree))} is too large to be drawn here; to_svg() draws it.</p>"
    drawing = to_svg(tree)
    found = re.search(r'width="(\d+)"', drawing)
    assert found is not None
    name = f"Shape tree of depth {tree.depth} with {tree.n_leaves} leaves"
    return (
        f"<div style='overflow-x:auto'><img alt='{name}' "
        f"style='max-width:100%;min-width:{MIN_SCALE * int(found[1]):.0f}px;height:auto' "
        f"src='data:image/svg+xml;base64,{b64encode(drawing.encode()).decode()}'></div>"
    )
