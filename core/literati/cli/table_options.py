"""Options that say how a table is read, for `fit` and for uploads."""

from __future__ import annotations

from typing import Any, get_args

import click

from literati.cli.errors import InputError
from literati.data.columns import Kind

KINDS: tuple[Kind, ...] = get_args(Kind)


class ColumnType(click.ParamType):  # type: ignore[type-arg] # generic only in recent versions of click
    """A column and its type, as NAME:TYPE."""

    name = "name:type"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        name, _, word = value.rpartition(":")
        kind = next((kind for kind in KINDS if kind == word.strip().lower()), None)
        if not name or kind is None:
            self.fail(
                f"expected NAME:TYPE with one of the types {', '.join(KINDS)}, got {value!r}", param, ctx
            )
        return name, kind


class Encoding(click.ParamType):  # type: ignore[type-arg] # generic only in recent versions of click
    """The name of a text encoding that Python knows."""

    name = "encoding"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            "".encode(value)
        except (LookupError, ValueError):  # unknown, or not one of text
            self.fail(f"there is no encoding {value!r}; some are utf-8, windows-1252 and utf-16", param, ctx)
        return value


INPUT_FILE = click.Path(exists=True, dir_okay=False, readable=True, allow_dash=True)
COLUMN_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--target", "-t"], required=True, metavar="COLUMN", help="Column with the classes to predict."
    ),
    click.Option(["--weight"], metavar="COLUMN", help="Column with the weights of the rows."),
    click.Option(["--drop"], multiple=True, metavar="COLUMN", help="Column to leave out. May be repeated."),
    click.Option(
        ["--type", "types"],
        type=ColumnType(),
        multiple=True,
        metavar="COLUMN:TYPE",
        help="Read a column as number, category or boolean. May be repeated.",
    ),
)
ENCODING = click.Option(
    ["--encoding"],
    type=Encoding(),
    metavar="NAME",
    help="Encoding of a CSV, such as windows-1252. Default: UTF-8, or UTF-16 if the file says so.",
)
CSV_OPTIONS: tuple[click.Parameter, ...] = (
    ENCODING,
    click.Option(
        ["--delimiter"],
        metavar="SIGN",
        help="Sign between the cells of a CSV, or the word tab. Default: what the header uses.",
    ),
    click.Option(
        ["--decimal"],
        type=click.Choice([".", ","]),
        help="Decimal sign of a CSV. Default: a point, or a comma where the numbers show it.",
    ),
    click.Option(
        ["--null-value", "null_values"],
        multiple=True,
        metavar="WORD",
        help="Word for a missing cell of a CSV, instead of the usual ones such as NA. May be repeated.",
    ),
)


def checked_types(types: tuple[tuple[str, Kind], ...]) -> dict[str, Kind]:
    """Return the types by column. Raise InputError if a column has two."""
    found: dict[str, Kind] = {}
    for name, kind in types:
        if found.setdefault(name, kind) != kind:
            raise InputError(f"--type: column {name!r} has two types; give it one.")
    return found
