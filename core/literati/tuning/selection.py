"""Choose a candidate by its scores on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Literal

from literati.tuning.candidates import Candidate

Select = Literal["best", "one_standard_error"]


def size_of(candidate: Candidate) -> tuple[float, ...]:
    """Return a key that sorts the smallest trees first, by leaves and then by change points.

    Leaves are means over the folds. Where they round to the same number, trees come first that are proven on
    every fold.
    """
    unproven = candidate.proven_folds < len(candidate.scores)
    return floor(candidate.leaves + 0.5), unproven, candidate.leaves, candidate.changepoints


def choose(candidates: Sequence[Candidate], select: Select, max_leaves: int | None) -> Candidate:
    """Return the chosen candidate.

    "best" takes the best mean score, and of equal ones the smallest tree. "one_standard_error" takes the
    smallest tree whose mean is within one standard error of the best one. Larger trees than `max_leaves` are
    left out; a single leaf is always a candidate.
    """
    small = _small(candidates, max_leaves)
    best = _best(small)
    if select == "best":
        return best
    return min(_near(small, best), key=lambda c: (*size_of(c), -c.mean, -c.penalty_from))


def _small(candidates: Sequence[Candidate], max_leaves: int | None) -> list[Candidate]:
    return [c for c in candidates if max_leaves is None or c.leaves <= max_leaves]


def _near(candidates: Sequence[Candidate], best: Candidate) -> list[Candidate]:
    """Return the candidates within one standard error of the best one."""
    return [c for c in candidates if c.mean >= best.mean - best.standard_error]


def _best(candidates: Sequence[Candidate]) -> Candidate:
    return max(candidates, key=lambda c: (c.mean, *(-size for size in size_of(c)), c.penalty_from))


def explain_choice(
    chosen: Candidate, candidates: Sequence[Candidate], max_leaves: int | None, scoring: str
) -> str:
    """Return a sentence that says why a candidate was chosen."""
    small = _small(candidates, max_leaves)
    best, folds = _best(small), len(chosen.scores)
    limited = ""
    if max_leaves is not None:
        limited = f" with at most {_count(max_leaves, 'leaf', 'leaves')}"
    about = (
        f"Of {len(small)} candidates{limited}, {chosen.setting.describe()} and a penalty of "
        f"{chosen.penalty:.3g} scores "
        f"{chosen.mean:.4g} ({scoring}) on held-out rows, with {_count(chosen.leaves, 'leaf', 'leaves')}"
    )
    if chosen.mean == best.mean:
        return f"{about}: the best mean over {folds} folds."
    smaller = any(c.leaves < chosen.leaves for c in _near(small, best))
    return (
        f"{about}: the smallest {'proven ' if smaller else ''}tree within one standard error "
        f"({best.standard_error:.2g}) of the best mean "
        f"over {folds} folds ({best.mean:.4g} with {_count(best.leaves, 'leaf', 'leaves')})."
    )


def _count(number: float, one: str, many: str) -> str:
    return f"{number:.3g} {one if number == 1 else many}"
