"""Data on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

JSON = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON instead of text.")
REQUIRE_PROOF = click.Option(
    ["--require-proof"], is_flag=True, help="End with exit code 9 if the tree is not proven optimal."
)
_COLORS = {"SUCCEEDED": "green", "FAILED": "red", "CANCELLED": "yellow", "RUNNING": "cyan"}


def note(text: str) -> None:
    """Tell the user something that is not the result."""
    click.echo(text, err=True)


def warn(text: str) -> None:
    click.echo(f"{click.style('Warning:', fg='yellow')} {text}", err=True)


def print_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def print_table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under titles in columns that are as wide as their longest cell."""
    texts = [list(titles), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for number, row in enumerate(texts):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        line = "  ".join(cells).rstrip()
        click.echo(click.style(line, bold=True) if number == 0 else _coloured(line))


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values, one pair in each line. Those without a value are left out."""
    known = {name: value for name, value in facts.items() if value not in (None, "")}
    width = max(map(len, known), default=0)
    for name, value in known.items():
        click.echo(f"{name.ljust(width)}  {_coloured(_text(value))}")


def gap_text(proven: bool, gap: float | None) -> str:
    """Return the gap of a tree in words; empty before the first tree."""
    return "proven optimal" if proven else "" if gap is None else f"{100 * gap:.2f} %"


def progress_is_shown() -> bool:
    """Return whether there is a terminal for a line that is overwritten."""
    return sys.stderr.isatty()


def _text(cell: Any) -> str:
    """Return a cell on one line, without characters that control a terminal."""
    text = "" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else str(cell)
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _coloured(line: str) -> str:
    for word, colour in _COLORS.items():
        if word in line.split():
            return line.replace(word, click.style(word, fg=colour), 1)
    return line
