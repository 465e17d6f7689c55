"""`literati datasets`: tables on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from literati.cli.output import note, print_json, warn
from literati.cli.records import Data, RecordKind, add_record_commands
from literati.cli.server import SERVER_OPTIONS, with_client
from literati.cli.table_options import COLUMN_OPTIONS, CSV_OPTIONS, INPUT_FILE, checked_types
from literati.cli.tables.input_files import file_to_send

if TYPE_CHECKING:
    from literati.client import Client


def _facts(data: Data) -> dict[str, Any]:
    return {
        "rows": f"{data['rows']:,}",
        "columns": data["n_columns"],
        "target": f"{data['target']} ({data['n_classes']} classes)",
        "weight": data["weight"],
        "created": data["created_at"],
        "warnings": " ".join(data.get("warnings") or ()),
    }


DATASET = RecordKind(
    "dataset",
    {
        "NAME": lambda data: data["name"],
        "ROWS": lambda data: f"{data['rows']:,}",
        "COLUMNS": lambda data: data["n_columns"],
        "TARGET": lambda data: data["target"],
        "CREATED": lambda data: data["created_at"][:19],
    },
    _facts,
)


@click.group("datasets")
def command() -> None:
    """Upload and list tables on a server."""


@command.command("upload", params=[*COLUMN_OPTIONS, *CSV_OPTIONS, *SERVER_OPTIONS])
@click.argument("file", type=INPUT_FILE)
@click.option("--name", help="Name of the dataset.")
@with_client
def upload(
    client: Client, file: str, types: Any, encoding: str | None, as_json: bool, **options: Any
) -> None:
    """Upload a table and print the id of the dataset.

    FILE is a CSV, tab-separated text, Parquet or Arrow, also compressed with gzip or zstd, or - for standard
    input. The same file with the same options is the same dataset.
    """
    options["null_values"] = options["null_values"] or None
    with file_to_send(file, encoding) as sent:
        dataset = client.datasets.upload(sent, types=checked_types(types), **options)
    if as_json:
        print_json(dataset.data)
        return
    note(f"{dataset.rows:,} rows, {dataset['n_columns']} columns, {dataset['n_classes']} classes.")
    for warning in dataset.warnings:
        warn(warning)
    click.echo(dataset.id)


add_record_commands(command, DATASET)
