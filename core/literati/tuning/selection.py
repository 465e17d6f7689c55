"""Choose a candidate by its scores on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from literati.tuning.fold_scores import Candidate

Select = Literal["best", "one_standard_error"]


def size_of(candidate: Candidate) -> tuple[float, float]:
    """Return what makes a tree larger than another: its leaves, then its change points."""
    return candidate.leaves, candidate.changepoints


def choose(candidates: Sequence[Candidate], select: Select, max_leaves: int | None) -> Candidate:
    """Return the chosen candidate.

    "best" takes the best mean score, and of equal ones the smallest tree. "one_standard_error" takes the
    smallest tree whose mean is within one standard error of the best one. If no candidate has at most
    `max_leaves` leaves, the smallest one is chosen.
    """
    small = [c for c in candidates if max_leaves is None or c.leaves <= max_leaves]
    if not small:
        return min(candidates, key=size_of)
    best = max(small, key=lambda c: (c.mean, *(-size for size in size_of(c)), c.penalty_from))
    if select == "best":
        return best
    near = [c for c in small if c.mean >= best.mean - best.standard_error]
    return min(near, key=lambda c: (*size_of(c), -c.mean, -c.penalty_from))


def explain_choice(chosen: Candidate, candidates: Sequence[Candidate], select: Select, scoring: str) -> str:
    """Return a sentence that says why a candidate was chosen."""
    best = max(candidates, key=lambda c: c.mean)
    k = chosen.setting.max_changepoints
    points = f"{k} change point{'s' if k > 1 else ''}"
    about = (
        f"depth {chosen.setting.max_depth} with {points} and a "
        f"penalty of {chosen.penalty:.3g} scores {chosen.mean:.4g} ({scoring}) on held-out rows, with "
        f"{chosen.leaves:.3g} leaves"
    )
    folds = len(chosen.scores)
    if select == "best" or chosen.mean == best.mean:
        return f"Of {len(candidates)} candidates, {about}: the best mean over {folds} folds."
    return (
        f"Of {len(candidates)} candidates, {about}: the smallest tree within one standard error "
        f"({best.standard_error:.2g}) of the best mean over {folds} folds ({best.mean:.4g} with "
        f"{best.leaves:.3g} leaves)."
    )
