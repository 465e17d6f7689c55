"""Names that were probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

_MAX_COMPARED = 1000  # names
_MAX_LENGTH = 200  # characters; longer names are compared by their beginning


def nearest(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Return the most similar names, ignoring case, the most similar first. There may be none."""
    by_fold: dict[str, str] = {}
    for candidate in islice(known, _MAX_COMPARED):
        by_fold.setdefault(candidate[:_MAX_LENGTH].casefold(), candidate)
    close = difflib.get_close_matches(name[:_MAX_LENGTH].casefold(), list(by_fold), n=count)
    return [by_fold[fold] for fold in close]


def did_you_mean(shown: Iterable[str]) -> str:
    """Return the question with a space before it, or an empty text if there is no name."""
    names = " or ".join(shown)
    return f" Did you mean {names}?" if names else ""
