"""Ages on the command line, such as 30d or 12h."""

from __future__ import annotations

import re

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")


def age_seconds(text: str) -> float:
    """Return the seconds of an age. Raise a ValueError if the text is not an age."""
    found = _AGE.fullmatch(text)
    if found is None:
        raise ValueError("expected a number and s, m, h, d or w, such as 30d")
    return float(found[1]) * _SECONDS[found[2]]
