"""All mutants, by file, so that each file is compiled as seldom as possible."""

from __future__ import annotations

from pathlib import Path

from . import engine, polish, positions, store
from .mutant import Mutant

ROOT = Path(__file__).resolve().parents[2]
_ENGINE, _STORE = "core/literati/", "worker/store/lua/"
_TABLES = (
    *((_ENGINE, module.MUTANTS) for module in (engine, positions, polish)),
    (_STORE, store.MUTANTS),
)
MUTANTS = [
    Mutant(folder + file, original, replacement, test)
    for folder, table in _TABLES
    for file, changes in table.items()
    for original, replacement, test in changes
]
# Changes that leave every result as it is, and why.
EXPLAINED = {
    Mutant(folder + file, original, replacement, ""): why
    for folder, table in ((_ENGINE, engine.EXPLAINED), (_STORE, store.EXPLAINED))
    for file, changes in table.items()
    for original, replacement, why in changes
}


def stale() -> list[str]:
    """The mutants whose text is not in its file exactly once."""
    counted = ((mutant, (ROOT / mutant.file).read_text()) for mutant in (*MUTANTS, *EXPLAINED))
    return [mutant.title() for mutant, text in counted if text.count(mutant.original) != 1]
