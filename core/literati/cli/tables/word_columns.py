"""Columns of text as numbers, booleans or categories, by the rules of uploads to a server."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from literati._encode._objects import factorize
from literati.cli.errors import InputError
from literati.cli.output import warn
from literati.data.columns import Kind, RawColumn
from literati.data.table import MAX_CLASSES
from literati.data.words import are_numbers, as_booleans, look_like_dates, parse_exact

SAMPLE = 1000  # distinct words that are looked at
MIN_ID_ROWS = 20  # a column with a category for every row is an id, unless there are few rows
_FRACTION = re.compile("[.eE]")
_LEADING_ZERO = re.compile(r"^[-+]?0\d+$", re.MULTILINE)
_BOOLEANS = {"true", "false", "1", "0"}
_OTHER = {".": ",", ",": "."}
_SPACES = " '\u00a0\u2009\u202f\u2019"  # other thousands separators


@dataclass(frozen=True)
class Words:
    """A column of text by its distinct words, without surrounding spaces. None is missing."""

    name: str
    codes: npt.NDArray[np.int32]
    distinct: list[str | None]

    @property
    def known(self) -> list[str]:
        return [word for word in self.distinct if word is not None]

    def numbers(self, values: Sequence[float], kind: Kind = "number") -> RawColumn:
        """Return the column with a number for each known word."""
        found = iter(values)
        table = np.array([math.nan if word is None else next(found) for word in self.distinct])
        if np.isinf(table).any():
            place = int(np.argmax(np.isinf(table)))
            raise InputError(
                f"Column {self.name!r} is infinite in row {self.first_row(place):,}; numbers must be finite. "
                "Leave the cell empty if the value is missing."
            )
        return RawColumn(kind, values=table[self.codes])

    def categories(self, labels: Sequence[Any]) -> RawColumn:
        """Return the column with a label for each known word."""
        found = iter(labels)
        cells = [None if word is None else next(found) for word in self.distinct]
        index = {label: code for code, label in enumerate(dict.fromkeys(c for c in cells if c is not None))}
        table = np.array([-1 if cell is None else index[cell] for cell in cells], dtype=np.int32)
        return RawColumn("category", codes=table[self.codes], labels=list(index))

    def first_row(self, place: int) -> int:
        """Return the first row, counted from 1, with the distinct word at this place."""
        return int(np.argmax(self.codes == place)) + 1


@dataclass(frozen=True)
class WordReader:
    """How words are read: which of them are missing cells, and the decimal sign if it is known."""

    null_words: frozenset[str]
    decimal: str | None = None

    def words(self, name: str, cells: list[str]) -> Words:
        codes, distinct = factorize(cells)
        stripped = [word.strip() for word in distinct]
        return Words(name, codes, [w if w and w not in self.null_words else None for w in stripped])

    def feature(self, words: Words, kind: Kind | None) -> RawColumn | None:
        """Return the column; None if it holds dates, which are left out."""
        known = words.known
        if kind is not None:
            return _READERS[kind](self, words)
        if (values := self._numbers(words)) is not None:
            return words.numbers(values)
        if len(known) <= SAMPLE and {word.lower() for word in known} <= _BOOLEANS:
            return self.booleans(words)
        if look_like_dates(known[:SAMPLE]):
            warn(dates_omitted(words.name))
            return None
        if len(known) == len(words.codes) >= MIN_ID_ROWS:
            warn(
                f"Column {words.name!r} has another value in every row. If it is an id, leave it out with "
                f"--drop {words.name!r}."
            )
        return words.categories(known)

    def _numbers(self, words: Words) -> list[float] | None:
        """Return the known words as numbers; None if they are no numbers."""
        known = words.known
        if self.decimal is not None and (found := _separated(known, self.decimal)) is not None:
            return found
        if (found := _plain(known)) is not None:
            return found
        read = {sign: values for sign in _OTHER if (values := _separated(known, sign)) is not None}
        if not read:
            return None
        if len(read) > 1 and read["."] != read[","]:
            raise InputError(
                f"The commas or points in column {words.name!r} may be decimal signs or thousands "
                f"separators. Pass --decimal , or --decimal . to decide, or --type {words.name!r}:category."
            )
        return next(iter(read.values()))

    def required_numbers(self, words: Words) -> RawColumn:
        """Return a column of numbers. Raise InputError if a word is none."""
        known = words.known
        found = self._numbers(words)
        if found is None and all(are_numbers(known)):  # numbers with leading zeros
            found = [float(word) for word in known]
        if found is not None:
            return words.numbers(found)
        wrong = next(word for word in known if _plain([word]) is None or not are_numbers([word])[0])
        row = words.first_row(words.distinct.index(wrong))
        raise InputError(
            f"Column {words.name!r} is not a number in row {row:,}: {wrong[:40]!r}. If the word means a "
            "missing value, name it with --null-value."
        )

    def booleans(self, words: Words) -> RawColumn:
        """Return a column of booleans. Raise InputError if a word is none."""
        known = words.known
        found = as_booleans(known)
        if None in found:
            wrong = known[found.index(None)]
            row = words.first_row(words.distinct.index(wrong))
            raise InputError(
                f"Column {words.name!r} is neither true nor false in row {row:,}: {wrong[:40]!r}. Booleans "
                "are written as true, false, yes, no, 1 or 0."
            )
        return words.numbers([float(bool(value)) for value in found], "boolean")

    def exact_categories(self, words: Words) -> RawColumn:
        """Return a column of categories; whole numbers stay numbers, as on a server."""
        found = parse_exact(words.known)
        return words.categories(found if found and type(found[0]) is int else words.known)

    def labels(self, words: Words, *, text: bool) -> list[Any]:
        """Return the class of each row: as a number or boolean if writing it gives the same text."""
        known: list[Any] = words.known
        if len(known) > MAX_CLASSES:
            raise InputError(
                f"The target {words.name!r} has {len(known):,} classes; the limit is {MAX_CLASSES:,}. Choose "
                "the column that holds the classes."
            )
        if not text:
            known = _exact_labels(words.name, known)
        found = iter(known)
        cells = [None if word is None else next(found) for word in words.distinct]
        return [cells[code] for code in words.codes.tolist()]

    def detect_decimal(self, columns: Sequence[Words]) -> WordReader:
        """Return a reader with a decimal comma if a column certainly has one."""
        if self.decimal is not None:
            return self
        certain = any(
            _plain(words.known) is None
            and _separated(words.known, ",") is not None
            and _separated(words.known, ".") is None
            for words in columns
        )
        return replace(self, decimal=",") if certain else self


_READERS = {
    "number": WordReader.required_numbers,
    "boolean": WordReader.booleans,
    "category": WordReader.exact_categories,
}


def dates_omitted(name: str) -> str:
    return (
        f"Column {name!r} holds dates or times and was left out. Convert it to a number, such as days since "
        f"an event, or use each date as a category with --type {name!r}:category."
    )


def fractions_in_target(name: str) -> InputError:
    return InputError(
        f"The target {name!r} holds fractions, as in regression, but only classes can be predicted. Group it "
        f"into classes first, or pass --type {name!r}:category if its numbers are classes."
    )


def _exact_labels(name: str, words: list[str]) -> list[Any]:
    values = parse_exact(words)
    if values and isinstance(values[0], str) and all(are_numbers(words)):
        floats = [float(word) for word in words]
        if any(number % 1 for number in floats):
            raise fractions_in_target(name)
        if [repr(number) for number in floats] == words:
            return floats
    return values


def _plain(words: Sequence[str]) -> list[float] | None:
    """Return numbers with a decimal point; None if a word is none, or if they are codes such as 007."""
    text = "\n".join(words)
    if "_" in text or not text.isascii():
        return None
    if _LEADING_ZERO.search(text) and not _FRACTION.search(text):
        return None
    try:
        return [float(word) for word in words]
    except ValueError:
        return None


def _style(decimal: str) -> re.Pattern[str]:
    """Return the pattern of numbers with this decimal sign and perhaps thousands separators."""
    separators = f"[{re.escape(_OTHER[decimal])}{_SPACES}]"
    whole = rf"[1-9]\d{{0,2}}(?:{separators}\d{{3}})+|0|[1-9]\d*"
    point = re.escape(decimal)
    return re.compile(rf"[-+]?(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?")


_STYLES = {decimal: _style(decimal) for decimal in _OTHER}


def _separated(words: Sequence[str], decimal: str) -> list[float] | None:
    """Return numbers with this decimal sign and perhaps thousands separators; None if a word is none."""
    if not all(map(_STYLES[decimal].fullmatch, words)):
        return None
    table = str.maketrans(dict.fromkeys(_OTHER[decimal] + _SPACES) | {decimal: "."})
    return [float(word.translate(table)) for word in words]
