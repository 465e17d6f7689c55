"""The known names that are nearest to one that is not known: "did you mean ..."."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

_MOST_COMPARED = 1000
_LONGEST = 200  # characters; longer names are compared by their beginning


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return the names most like this one, the nearest first. There may be none. Case does not matter."""
    by_fold: dict[str, str] = {}
    for candidate in islice(known, _MOST_COMPARED):
        by_fold.setdefault(candidate[:_LONGEST].casefold(), candidate)
    close = difflib.get_close_matches(name[:_LONGEST].casefold(), list(by_fold), n=most)
    return [by_fold[fold] for fold in close]


def did_you_mean(shown: Iterable[str]) -> str:
    """Return the question, with a blank before it; nothing if there is no name to ask about."""
    names = " or ".join(shown)
    return f" Did you mean {names}?" if names else ""
