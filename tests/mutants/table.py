"""All mutants, ordered by file, so that each file is compiled as rarely as possible."""

from __future__ import annotations

from tests.mutants import archives, engine, min_rows, paths, polish, positions, scores, store, sweeps
from tests.mutants.mutant import Mutant
from tests.support.paths import ROOT

_ENGINE, _STORE = "core/literati/_engine/", "worker/store/lua/"
_TABLES = (
    *((_ENGINE, module.MUTANTS) for module in (engine, positions, polish, min_rows, paths)),
    (_STORE, store.MUTANTS),
    (_STORE, sweeps.SCRIPTS),
    ("worker/", sweeps.PYTHON),
    (_STORE, archives.SCRIPTS),
    ("worker/", archives.PYTHON),
    ("worker/", scores.MUTANTS),
)
MUTANTS = [
    Mutant(folder + file, original, replacement, test)
    for folder, table in _TABLES
    for file, changes in table.items()
    for original, replacement, test in changes
]
# Changes that do not affect any result, and why.
EXPLAINED = {
    Mutant(folder + file, original, replacement, ""): why
    for folder, table in ((_ENGINE, engine.EXPLAINED), (_STORE, store.EXPLAINED))
    for file, changes in table.items()
    for original, replacement, why in changes
}


def stale() -> list[str]:
    """Return the mutants whose text is not in its file exactly once."""
    counted = ((mutant, (ROOT / mutant.file).read_text()) for mutant in (*MUTANTS, *EXPLAINED))
    return [mutant.title() for mutant, text in counted if text.count(mutant.original) != 1]
