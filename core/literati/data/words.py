"""Recognise missing values, numbers, booleans and dates in the cells of a text file."""

from __future__ import annotations

import re
from typing import Any

# The default words for a missing cell in a CSV. An empty cell is always missing.
NULL_WORDS = (
    *("NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan", "NULL", "null"),
    *("1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
)
TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})
_PLAIN_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_DATE = re.compile(
    r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4}|\d{1,2}/\d{1,2}/\d{2})([ T]\d{1,2}:\d{2}.*)?"
)
_MIN_DATE_SHARE = 0.9  # the rest may be words for missing
_BOOLEANS = ({"true", "false"}, {"True", "False"}, {"TRUE", "FALSE"})


def as_booleans(values: list[Any]) -> list[bool | None]:
    """Return the boolean that each word or number stands for, or None."""
    plain = [str(value).strip().lower().removesuffix(".0") for value in values]
    return [True if word in TRUE_WORDS else False if word in FALSE_WORDS else None for word in plain]


def parse_exact(words: list[str]) -> list[Any]:
    """Return the words as integers or booleans if writing those gives the same words; 007 stays text."""
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
    dates = sum(bool(_DATE.fullmatch(word.strip())) for word in words)
    return bool(words) and dates >= _MIN_DATE_SHARE * len(words)
