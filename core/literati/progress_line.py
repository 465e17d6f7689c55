"""A line on standard error that is overwritten with every report."""

from __future__ import annotations

import sys


class ProgressLine:
    """Show one line of text after another in the same place."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self, last: str = "") -> None:
        """End the line, and write a last one below it."""
        sys.stderr.write(f"\n{last}\n" if last else "\n")
        sys.stderr.flush()
