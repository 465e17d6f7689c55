"""A line on standard error that is overwritten with every report."""

from __future__ import annotations

import os
import sys


class ProgressLine:
    """Show one line of text after another in the same place.

    A terminal gets as much of the text as fits into its width at that moment, because a line that wraps
    cannot be overwritten.
    """

    def __init__(self) -> None:
        self._width = 0

    def show(self, text: str) -> None:
        space = _terminal_columns()
        padded = text.ljust(self._width) if space is None else text.ljust(self._width)[: space - 1]
        sys.stderr.write("\r" + padded)
        sys.stderr.flush()
        self._width = len(text)

    def close(self, last: str = "") -> None:
        """End the line, and write a last one below it."""
        sys.stderr.write(f"\n{last}\n" if last else "\n")
        sys.stderr.flush()


def _terminal_columns() -> int | None:
    """Return the width of the terminal; None if standard error is not one, or does not tell."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or None
    except (AttributeError, OSError, ValueError):  # a stream of a test or a notebook has no file
        return None


def bounds_text(
    *,
    objective: float,
    upper: float,
    lower: float,
    gap: float,
    explored: float | None,
    beyond_space: bool,
) -> str:
    """Return the bounds of a search and its explored share as words of a progress line."""
    parts = [f"tree {objective:g}"] if beyond_space else []
    parts += [f"upper {upper:g}  lower {lower:g}", f"gap {100 * gap:.2f} %"]
    if explored is not None:
        parts.append(f"explored {100 * explored:.1f} %")
    return "  ".join(parts)
