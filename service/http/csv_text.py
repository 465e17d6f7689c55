"""Text in CSV responses, which people open in spreadsheets."""

from __future__ import annotations

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would evaluate as a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
