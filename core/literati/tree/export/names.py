"""Names and texts in exported files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from literati.data.labels import plain
from literati.tree.export.conditions import ExportError

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree


def comment_text(text: object) -> str:
    """Return a text for a comment of any language: on one line, without signs that could end the comment."""
    line = "".join(sign if sign.isprintable() and sign != "\\" else "?" for sign in str(plain(text)))
    return line.replace("*/", "* /").replace("/*", "/ *")


def free_name(tree: ShapeTree, name: str) -> str:
    """Return a name like this one that no column has, also where upper and lower case are the same."""
    taken = {column.name.casefold() for column in tree.schema.columns}
    while name.casefold() in taken:
        name += "_"
    return name


def utf8(text: str, language: str) -> bytes:
    """Return the bytes of a text. Raise ExportError if it is not valid Unicode or has the code point 0."""
    try:
        if "\0" not in text:
            return text.encode()
    except UnicodeEncodeError:
        pass
    raise ExportError(
        f"{language} cannot hold the text {text!r}, which has a code point that is 0 or no character; "
        "export to Python instead"
    )
