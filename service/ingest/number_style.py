"""How numbers are written in text: with a decimal point or comma, with or without thousands separators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from worker.messages import DecimalSign

_SAMPLE = 1000  # words that tell most ways of writing apart
_BLANKS = "[\u00a0\u2009\u202f]"  # blanks that part thousands in print
_APOSTROPHES = "[\u2019`]"
_BEGINNING = re.compile(r"\s*[-+]?[.,]?\d")  # of a number, however it is written
_LEADING_ZERO = r"^[-+]?0\d+$"
_NO_DIGITS = r"(?i)^[-+]?(?:inf|infinity|nan)$"  # numbers all the same


@dataclass(frozen=True)
class Style:
    """A way of writing numbers."""

    decimal: DecimalSign
    thousands: str  # "" if none part them

    def pattern(self, *, zeros: bool) -> str:
        """What a number looks like; with leading zeros, or without them."""
        point, comma = re.escape(self.decimal), re.escape(self.thousands)
        plain = r"\d+" if zeros else r"0|[1-9]\d*"
        whole = rf"[1-9]\d{{0,2}}(?:{comma}\d{{3}})+|{plain}" if self.thousands else plain
        return rf"^[-+]?(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?$"

    @property
    def words(self) -> str:
        """For a warning."""
        parts = [f"a decimal {_NAMES[self.decimal]}"] if self.decimal == "," else []
        parts += [f"{_NAMES[self.thousands]}s between thousands"] if self.thousands else []
        return " and ".join(parts)


_NAMES = {".": "point", ",": "comma", "'": "apostrophe", " ": "blank"}
PLAIN, COMMA, POINTS = Style(".", ""), Style(",", ""), Style(",", ".")
STYLES = (
    *(PLAIN, COMMA),
    *(Style(".", ","), Style(".", "'"), Style(".", " ")),
    *(POINTS, Style(",", " "), Style(",", "'")),
)


def plain_signs(words: Any) -> Any:
    """Arrow strings without blanks around them, with one kind of blank and of apostrophe inside."""
    words = pc.utf8_trim_whitespace(words)
    words = pc.replace_substring_regex(words, pattern=_BLANKS, replacement=" ")
    return pc.replace_substring_regex(words, pattern=_APOSTROPHES, replacement="'")


def possible_styles(words: Any, *, zeros: bool = False) -> list[Style]:
    """The ways of writing in which every word is a number, the simplest first. There may be none."""
    if not len(words) or not _BEGINNING.match(words[0].as_py() or ""):  # most text, without further ado
        return []
    sample = plain_signs(words.slice(0, _SAMPLE))
    found = [style for style in STYLES if _all_match(sample, style, zeros)]
    if found and len(words) > _SAMPLE:
        words = plain_signs(words)
        found = [style for style in found if _all_match(words, style, zeros)]
    return found


def _all_match(words: Any, style: Style, zeros: bool) -> bool:
    return bool(pc.all(pc.match_substring_regex(words, pattern=style.pattern(zeros=zeros))).as_py())


def decided(styles: list[Style], given: str | None, evidence: str | None) -> Style | None:
    """The style that is meant: the client's decimal sign if it gives one, else what the words allow.

    None where there is none, or where both signs would do and there is no evidence for either: 12,500 may be
    twelve and a half.
    """
    points = POINTS in styles and COMMA not in styles  # not just whole numbers, which fit everything
    if given is None and PLAIN in styles and not (points and evidence == ","):
        return PLAIN
    signs = {style.decimal for style in styles}
    if given is not None:
        signs &= {given}
    elif len(signs) > 1:
        signs &= {evidence}
    return next((style for style in styles if style.decimal in signs), None)


def clear_sign(styles: list[Style]) -> str | None:
    """Return the decimal sign that all these styles share; None where the words leave it open."""
    signs = {style.decimal for style in styles}
    return next(iter(signs)) if len(signs) == 1 else None


def closest(words: Any, signs: Sequence[str]) -> tuple[Style, list[int]]:
    """Return the style that reads most words, and the places of those that it does not read.

    `signs` are the decimal signs that may be meant; of styles that read as many words, the first sign's wins.
    """
    plain = plain_signs(words)
    styles = [style for sign in signs for style in STYLES if style.decimal == sign]
    tried = [(style, _unread(plain, style)) for style in styles]
    return min(tried, key=lambda found: len(found[1]))


def _unread(words: Any, style: Style) -> list[int]:
    matches = [pc.match_substring_regex(words, pattern=p) for p in (style.pattern(zeros=True), _NO_DIGITS)]
    places: list[int] = np.flatnonzero(~np.asarray(pc.or_(*matches))).tolist()
    return places


def has_leading_zeros(words: Any) -> bool:
    """Whether a word is a whole number with leading zeros."""
    return bool(pc.any(pc.match_substring_regex(words, pattern=_LEADING_ZERO)).as_py())


def to_numbers(words: Any, style: Style) -> tuple[Any, int | None]:
    """Arrow strings as float64, or the place of the first that is no number."""
    plain = plain_signs(words)
    if style.thousands:
        plain = pc.replace_substring(plain, style.thousands, "")
    if style.decimal != ".":
        plain = pc.replace_substring(plain, style.decimal, ".")
    try:
        return plain.cast(pa.float64()), None
    except pa.ArrowInvalid:
        return None, _first_that_fails(plain)


def _first_that_fails(words: Any) -> int:
    """By halves: the whole does not cast."""
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


def nearest_doubles(column: Any) -> Any:
    """Return an Arrow column of numbers as float64, each rounded to the nearest. Null stays null.

    Arrow casts decimals to a neighbour of the nearest now and then; the digits themselves are read exactly.
    """
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    return column.cast(pa.float64(), safe=False)


def may_be_thousands(column: Any) -> bool:
    """Whether numbers that were read with a decimal point may be whole ones with points between thousands."""
    numbers = column.drop_null().to_numpy()
    scaled = numbers * 1000.0
    return (
        len(numbers) > 0
        and bool((np.abs(scaled - np.round(scaled)) < 1e-6).all())
        and bool((np.abs(numbers) < 1000.0).all())
    )
