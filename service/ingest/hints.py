"""Warnings about columns that may have been meant in another way, with the options that read them so."""

from __future__ import annotations

from dataclasses import dataclass

from . import numerals, text
from .coded import Coded
from .fixes import DECIMAL_COMMA, DECIMAL_POINT, Fix, set_option, shown, take_as
from .options import NULL_WORDS
from .raw import Spelling

SAMPLE = 1000  # words looked at to tell what a column of text means
_FEWEST = 5  # different words that tell something
_MOSTLY = 0.8  # share of a column's words that are numbers, where text was probably not meant
_MAX_WORDS = 5  # that may all mean missing
_POINTS_PART_THOUSANDS = set_option("Read with decimal comma, points part thousands", decimal=",")
_DECIMAL_POINT = set_option("Keep to the decimal point", decimal=".")


@dataclass(frozen=True)
class Hint:
    message: str
    fixes: tuple[Fix, ...] = ()


def perhaps_thousands(name: str) -> Hint:
    """About numbers that were read with decimal points."""
    message = (
        f"Column {shown(name)} was read with decimal points, but they may stand between thousands; "
        "decimal=, reads them so, and decimal=. says that they do not."
    )
    return Hint(message, (_POINTS_PART_THOUSANDS, _DECIMAL_POINT))


def perhaps_numbers(name: str, words: Coded, spelling: Spelling | None, *, quote: bool) -> Hint | None:
    """Why a column is text that may have been meant as numbers. With `quote`, show the word that is none."""
    sample = words.sample(SAMPLE)
    if spelling is not None and all(text.are_numbers(sample)) and numerals.has_leading_zeros(words.values):
        message = (
            f"Column {shown(name)} has whole numbers with leading zeros and is taken as text; "
            f"types={name[:80]}:number takes them as numbers."
        )
        return Hint(message, (take_as(name, "number"), take_as(name, "category")))
    if spelling is not None and numerals.possible_styles(words.values):
        message = (
            f"Column {shown(name)} is text, because its commas may be decimal signs or stand between "
            "thousands; for numbers say decimal=, or decimal=."
        )
        return Hint(message, (DECIMAL_COMMA, DECIMAL_POINT))
    if len(sample) < _FEWEST:
        return None
    style, bad = numerals.closest(words.values.slice(0, SAMPLE), likely_signs(spelling))
    if len(sample) - len(bad) < _MOSTLY * len(sample):
        return None
    style, bad = numerals.closest(words.values, style.decimal)
    return _stray_words(name, words, spelling, style, bad, quote) if bad else None


def likely_signs(spelling: Spelling | None) -> str:
    """The decimal signs that may be meant, the likelier one first."""
    if spelling is None:
        return ".,"
    return spelling.decimal or (",." if spelling.evidence == "," else ".,")


def _stray_words(
    name: str, words: Coded, spelling: Spelling | None, style: numerals.Style, bad: list[int], quote: bool
) -> Hint:
    """About the words at these places, which are no numbers as the others are."""
    found = [words.values[place].as_py() for place in bad[: _MAX_WORDS + 1]]
    word, it = (shown(found[0]), shown(found[0])) if quote else ("the cell", "that word")
    others = f" (others are, with {style.words})" if style.words else ""
    missing, fixes = "", [take_as(name, "category")]
    if spelling is not None:
        usual = f" beside {', '.join(NULL_WORDS[:2])} and the like" if spelling.has_usual_nulls else ""
        missing = f"if {it} means missing, name it with null_values{usual}; "
        if quote and len(found) <= _MAX_WORDS and not any("," in entry for entry in found):
            label = f"Take {', '.join(map(shown, found))} as missing"
            known = [entry for entry in sorted(spelling.nulls) if entry]
            fixes.insert(0, set_option(label, null_values=[*known, *found]))
    message = (
        f"Column {shown(name)} is text because {word} in row {words.first_row(bad[0]):,} is not a "
        f"number{others}; {missing}types={name[:80]}:category says that text is meant."
    )
    return Hint(message, tuple(fixes))
