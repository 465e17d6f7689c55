"""Options and files of exports, for `literati export` and `literati models export`."""

from __future__ import annotations

import sys

import click

from literati.cli.errors import InputError
from literati.cli.output_files import OUTPUT_FILE, STANDARD_OUTPUT, note_written, open_output
from literati.tree.export.formats import FORMATS

EXPORT_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(["--format", "-f", "form"], type=click.Choice(list(FORMATS)), required=True, help="Format."),
    OUTPUT_FILE,
)


def write_export(content: bytes, output: str) -> None:
    """Write an export to a file or to standard output."""
    if output == STANDARD_OUTPUT and sys.stdout.isatty() and b"\0" in content:
        raise InputError("This format is not text; name a file with --output.")
    with open_output(output) as file:
        file.write(content)
    note_written("", output)
