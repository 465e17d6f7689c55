"""Examples of exported trees for the OpenAPI description."""

from __future__ import annotations

from literati import ShapeTree
from literati.tree.export.formats import FORMATS, FormatName
from service.examples.jobs import TREE
from service.schemas.parameters import EXAMPLE_MODEL_ID

_TEXTS: tuple[FormatName, ...] = ("sql-ansi", "python", "javascript", "c", "java", "pmml")
_tree = ShapeTree.from_dict(TREE)
EXPORTS = {  # by media type
    FORMATS[name].media_type: FORMATS[name].content(_tree, EXAMPLE_MODEL_ID).decode() for name in _TEXTS
}
