"""Warnings about ambiguous columns, with the options that read them in another way."""

from __future__ import annotations

from dataclasses import dataclass

from literati.data.words import NULL_WORDS, are_numbers
from service.ingest import number_style
from service.ingest.dictionary_column import DictionaryColumn
from service.ingest.fixes import DECIMAL_COMMA, DECIMAL_POINT, Fix, quoted, read_column_as, set_option
from service.ingest.tables import CsvFormat

SAMPLE = 1000  # distinct words that are looked at to guess the type of a text column
_MIN_WORDS = 5  # fewer distinct words give no hint
_MIN_NUMBER_SHARE = 0.8  # of the words: the column was probably meant as numbers
_MAX_NULL_WORDS = 5  # more words than this are not offered as null words
_POINTS_ARE_THOUSANDS = set_option("Read with a decimal comma; points separate thousands", decimal=",")
_DECIMAL_POINT = set_option("Keep the decimal point", decimal=".")


@dataclass(frozen=True)
class Hint:
    message: str
    fixes: tuple[Fix, ...] = ()


def thousands_hint(name: str) -> Hint:
    """Return the warning about numbers with points that may be thousands separators."""
    message = (
        f"Column {quoted(name)} was read with decimal points, but they may be thousands separators. Send "
        "decimal=, to read them as thousands separators, or decimal=. to confirm the decimal points."
    )
    return Hint(message, (_POINTS_ARE_THOUSANDS, _DECIMAL_POINT))


def number_hint(
    name: str, column: DictionaryColumn, csv_format: CsvFormat | None, *, quote: bool
) -> Hint | None:
    """Return why a column is text that may have been meant as numbers. With `quote`, quote a cell."""
    words = column.values
    sample = column.sample(SAMPLE)
    if csv_format is not None and all(are_numbers(sample)) and number_style.has_leading_zeros(words):
        message = (
            f"Column {quoted(name)} has whole numbers with leading zeros and was read as text. Send "
            f"types={name[:80]}:number to read it as numbers."
        )
        return Hint(message, (read_column_as(name, "number"), read_column_as(name, "category")))
    if csv_format is not None and number_style.possible_styles(words):
        message = (
            f"Column {quoted(name)} was read as text, because its commas may be decimal signs or thousands "
            "separators. Send decimal=, or decimal=. to read it as numbers."
        )
        return Hint(message, (DECIMAL_COMMA, DECIMAL_POINT))
    if len(sample) < _MIN_WORDS:
        return None
    style, bad = number_style.closest_style(words.slice(0, SAMPLE), likely_signs(csv_format))
    if len(sample) - len(bad) < _MIN_NUMBER_SHARE * len(sample):
        return None
    style, bad = number_style.closest_style(words, style.decimal)
    return _non_number_hint(name, column, csv_format, style, bad, quote) if bad else None


def likely_signs(csv_format: CsvFormat | None) -> str:
    """Return the possible decimal signs, the likelier one first."""
    if csv_format is None:
        return ".,"
    return csv_format.decimal or (",." if csv_format.detected_decimal == "," else ".,")


def _non_number_hint(
    name: str,
    column: DictionaryColumn,
    csv_format: CsvFormat | None,
    style: number_style.NumberStyle,
    bad: list[int],
    quote: bool,
) -> Hint:
    """Return the hint about the words at the positions `bad`, which are not numbers as the others are."""
    found = [column.values[position].as_py() for position in bad[: _MAX_NULL_WORDS + 1]]
    word, it = (quoted(found[0]), quoted(found[0])) if quote else ("the cell", "that word")
    others = f" (other cells are, with {style.words})" if style.words else ""
    missing, fixes = "", [read_column_as(name, "category")]
    if csv_format is not None:
        usual = f" beside {', '.join(NULL_WORDS[:2])} and so on" if csv_format.has_default_nulls else ""
        missing = f"If {it} means missing, add it to null_values{usual}. "
        if quote and len(found) <= _MAX_NULL_WORDS and not any("," in entry for entry in found):
            label = f"Read {', '.join(map(quoted, found))} as missing"
            known = [entry for entry in sorted(csv_format.null_words) if entry]
            fixes.insert(0, set_option(label, null_values=[*known, *found]))
    message = (
        f"Column {quoted(name)} was read as text, because {word} in row {column.first_row(bad[0]):,} is not "
        f"a number{others}. {missing}Send types={name[:80]}:category to confirm that it is text."
    )
    return Hint(message, tuple(fixes))
