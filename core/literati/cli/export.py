"""`literati export`: a model file in the formats of other tools, without a server."""

from __future__ import annotations

import click

from literati.cli.errors import InputError, NotInstalledError
from literati.cli.export_files import EXPORT_OPTIONS, write_export
from literati.cli.predict import read_model
from literati.cli.table_options import INPUT_FILE
from literati.tree.export.conditions import ExportError
from literati.tree.export.formats import FORMATS, FormatName


@click.command("export", params=[*EXPORT_OPTIONS])
@click.argument("model", type=INPUT_FILE)
def command(model: str, form: FormatName, output: str) -> None:
    """Write the file MODEL that `literati fit` wrote as SQL, as a program, or in a format of other tools."""
    try:
        content = FORMATS[form].content(read_model(model))
    except ExportError as error:
        raise InputError(f"{error}.") from None
    except ImportError as error:
        raise NotInstalledError(str(error)) from None
    write_export(content, output)
