"""Number styles: a decimal point or comma, with or without a thousands separator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from worker.domain.datasets import DecimalSign

_SAMPLE = 1000  # words that are enough to exclude most styles
_SPACES = "[\u00a0\u2009\u202f]"  # spaces that are used as thousands separators
_APOSTROPHES = "[\u2019`]"
_NUMBER_START = re.compile(r"\s*[-+]?[.,]?\d")
_LEADING_ZERO = r"^[-+]?0\d+$"
_NOT_FINITE = r"(?i)^[-+]?(?:inf|infinity|nan)$"


@dataclass(frozen=True)
class NumberStyle:
    """The decimal sign and the thousands separator of written numbers."""

    decimal: DecimalSign
    thousands: str  # "": no separator

    def pattern(self, *, zeros: bool) -> str:
        """Return a regular expression for numbers of this style, with `zeros` also with leading zeros."""
        point, comma = re.escape(self.decimal), re.escape(self.thousands)
        plain = r"\d+" if zeros else r"0|[1-9]\d*"
        whole = rf"[1-9]\d{{0,2}}(?:{comma}\d{{3}})+|{plain}" if self.thousands else plain
        return rf"^[-+]?(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?$"

    @property
    def words(self) -> str:
        """Return the style in words, for a warning; "" for plain numbers."""
        parts = [f"a decimal {_NAMES[self.decimal]}"] if self.decimal == "," else []
        parts += [f"{_NAMES[self.thousands]}s as thousands separators"] if self.thousands else []
        return " and ".join(parts)


_NAMES = {".": "point", ",": "comma", "'": "apostrophe", " ": "space"}
PLAIN, COMMA, POINTS = NumberStyle(".", ""), NumberStyle(",", ""), NumberStyle(",", ".")
STYLES = (
    *(PLAIN, COMMA),
    *(NumberStyle(".", ","), NumberStyle(".", "'"), NumberStyle(".", " ")),
    *(POINTS, NumberStyle(",", " "), NumberStyle(",", "'")),
)


def normalize_separators(words: Any) -> Any:
    """Strip Arrow strings and replace all kinds of spaces and apostrophes in them by one kind."""
    words = pc.utf8_trim_whitespace(words)
    words = pc.replace_substring_regex(words, pattern=_SPACES, replacement=" ")
    return pc.replace_substring_regex(words, pattern=_APOSTROPHES, replacement="'")


def possible_styles(words: Any, *, zeros: bool = False) -> list[NumberStyle]:
    """Return the styles in which every word is a number, the simplest first. There may be none."""
    if not len(words) or not _NUMBER_START.match(words[0].as_py() or ""):  # a fast check for most text
        return []
    sample = normalize_separators(words.slice(0, _SAMPLE))
    found = [style for style in STYLES if _all_match(sample, style, zeros)]
    if found and len(words) > _SAMPLE:
        words = normalize_separators(words)
        found = [style for style in found if _all_match(words, style, zeros)]
    return found


def _all_match(words: Any, style: NumberStyle, zeros: bool) -> bool:
    return bool(pc.all(pc.match_substring_regex(words, pattern=style.pattern(zeros=zeros))).as_py())


def choose_style(styles: list[NumberStyle], given: str | None, detected: str | None) -> NumberStyle | None:
    """Return the style to read with: that of the `given` decimal sign, else the one that the words allow.

    Return None if there is none, or if both decimal signs are possible and none was detected elsewhere in the
    file: 12,500 may be twelve and a half.
    """
    points = POINTS in styles and COMMA not in styles  # whole numbers alone fit every style
    if given is None and PLAIN in styles and not (points and detected == ","):
        return PLAIN
    signs = {style.decimal for style in styles}
    if given is not None:
        signs &= {given}
    elif len(signs) > 1:
        signs &= {detected}
    return next((style for style in styles if style.decimal in signs), None)


def common_decimal(styles: list[NumberStyle]) -> str | None:
    """Return the decimal sign that all these styles share, or None."""
    signs = {style.decimal for style in styles}
    return next(iter(signs)) if len(signs) == 1 else None


def closest_style(words: Any, signs: Sequence[str]) -> tuple[NumberStyle, list[int]]:
    """Return the style that reads most words, and the positions of the words that it does not read.

    `signs` are the possible decimal signs. Among equal styles, the first sign's is chosen.
    """
    plain = normalize_separators(words)
    styles = [style for sign in signs for style in STYLES if style.decimal == sign]
    tried = [(style, _non_numbers(plain, style)) for style in styles]
    return min(tried, key=lambda found: len(found[1]))


def _non_numbers(words: Any, style: NumberStyle) -> list[int]:
    matches = [pc.match_substring_regex(words, pattern=p) for p in (style.pattern(zeros=True), _NOT_FINITE)]
    positions: list[int] = np.flatnonzero(~np.asarray(pc.or_(*matches))).tolist()
    return positions


def has_leading_zeros(words: Any) -> bool:
    """Return whether a word is a whole number with leading zeros."""
    return bool(pc.any(pc.match_substring_regex(words, pattern=_LEADING_ZERO)).as_py())


def to_numbers(words: Any, style: NumberStyle) -> tuple[Any, int | None]:
    """Return Arrow strings as float64 and None, or None and the position of the first that is no number."""
    plain = normalize_separators(words)
    if style.thousands:
        plain = pc.replace_substring(plain, style.thousands, "")
    if style.decimal != ".":
        plain = pc.replace_substring(plain, style.decimal, ".")
    try:
        return plain.cast(pa.float64()), None
    except pa.ArrowInvalid:
        return None, _first_non_number(plain)


def _first_non_number(words: Any) -> int:
    """Return the position of the first word that cannot be cast, found by bisection."""
    start, length = 0, len(words)
    while length > 1:
        half = length // 2
        try:
            words.slice(start, half).cast(pa.float64())
        except pa.ArrowInvalid:
            length = half
        else:
            start, length = start + half, length - half
    return start


def to_doubles(column: Any) -> Any:
    """Return an Arrow column of numbers as float64, each rounded to the nearest. Null stays null.

    Arrow's cast of decimals is not always correctly rounded; its parsing of text is.
    """
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    return column.cast(pa.float64(), safe=False)


def may_be_thousands(column: Any) -> bool:
    """Return whether numbers read with a decimal point may be whole numbers with points between thousands."""
    numbers = column.drop_null().to_numpy()
    if len(numbers) == 0 or not (np.abs(numbers) < 1000.0).all():
        return False
    scaled = numbers * 1000.0
    return bool((np.abs(scaled - np.round(scaled)) < 1e-6).all())
