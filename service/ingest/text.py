"""Words: which of them are numbers, booleans or dates, and how they are spelt."""

from __future__ import annotations

import re
from typing import Any

TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})
_PLAIN_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4}|\d{1,2}/\d{1,2}/\d{2})([ T]\d{1,2}:\d{2}.*)?"
)
_MOSTLY_DATES = 0.9
_BOOLEANS = ({"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"})


def as_booleans(values: list[Any]) -> list[bool | None]:
    """The truth value that each word or number is, or None."""
    plain = [str(value).strip().lower().removesuffix(".0") for value in values]
    return [True if word in TRUE_WORDS else False if word in FALSE_WORDS else None for word in plain]


def spelt_values(words: list[str]) -> list[Any]:
    """Integers or booleans where that is how the words are spelt, else the words: 007 is no number."""
    if words and all(_PLAIN_INTEGER.fullmatch(word) for word in words):
        integers = [int(word) for word in words]
        if all(-(1 << 63) <= integer < 1 << 63 for integer in integers):
            return integers
    if words and any(set(words) <= pair for pair in _BOOLEANS):
        return [word.lower() == "true" for word in words]
    return words


def are_numbers(words: list[str]) -> list[bool]:
    return [bool(_NUMBER.fullmatch(word.strip())) for word in words]


def look_like_dates(words: list[str]) -> bool:
    """All but a few: some may be words for missing."""
    dates = sum(bool(_DATE.fullmatch(word.strip())) for word in words)
    return bool(words) and dates >= _MOSTLY_DATES * len(words)
