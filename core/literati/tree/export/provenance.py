"""Say in an exported file which model it is and what is proven about it."""

from __future__ import annotations

import hashlib
import textwrap
from typing import TYPE_CHECKING

from literati._version import __version__
from literati.tree.export.names import comment_text

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

WIDTH = 100


def sha256(tree: ShapeTree) -> str:
    """Return the SHA-256 of the tree's JSON text."""
    return hashlib.sha256(tree.to_json().encode()).hexdigest()


def provenance(tree: ShapeTree, model_id: str | None) -> dict[str, str]:
    """Return the facts about a model that every export carries, by name."""
    facts = {
        "model": model_id or "",
        "sha256": sha256(tree),
        "proof": tree.proof.statement(),
        "exporter": f"Literati {__version__}",
    }
    return {name: value for name, value in facts.items() if value}


def comment_lines(tree: ShapeTree, model_id: str | None) -> list[str]:
    """Return these facts as the lines of a comment, without the characters that begin a comment."""
    facts = provenance(tree, model_id)
    about = (
        f"A decision tree of depth {tree.depth} with {tree.n_leaves} leaves, exported by {facts['exporter']}."
    )
    names = {"model": "Model", "sha256": "SHA-256 of its JSON"}
    lines = [about, *(f"{text}: {facts[name]}" for name, text in names.items() if name in facts)]
    lines += textwrap.wrap(facts["proof"], WIDTH)
    return [comment_text(line) for line in lines]
