"""Options and files of exports, for `literati export` and `literati models export`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from literati.cli.errors import InputError
from literati.cli.output import note
from literati.tree.export.formats import FORMATS

EXPORT_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(["--format", "-f", "form"], type=click.Choice(list(FORMATS)), required=True, help="Format."),
    click.Option(
        ["--output", "-o"],
        type=click.Path(dir_okay=False, writable=True),
        help="File to write. Default: standard output.",
    ),
)


def write_export(content: bytes, output: str | None) -> None:
    """Write an export to a file or to standard output."""
    if output is not None:
        Path(output).write_bytes(content)
        note(f"Wrote {output}.")
        return
    if sys.stdout.isatty() and b"\0" in content:
        raise InputError("This format is not text; name a file with --output.")
    click.echo(content, nl=False)
