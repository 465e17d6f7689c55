"""`literati models`: trees on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from literati.cli.export_files import EXPORT_OPTIONS, write_export
from literati.cli.output import JSON, gap_text, note, print_json, print_table
from literati.cli.predictions import PREDICTION_OPTIONS, write_predictions
from literati.cli.records import Data, RecordKind, add_record_commands
from literati.cli.server import CONNECTION, SERVER_OPTIONS, RecordId, record_argument, with_client
from literati.cli.table_options import ENCODING, INPUT_FILE
from literati.cli.tables.input_files import file_to_send
from literati.tree.nodes import BEYOND_SPACE

if TYPE_CHECKING:
    from literati.client import Client


def _gap(data: Data) -> str:
    return gap_text(data["proven_optimal"], data["gap_relative"])


def _facts(data: Data) -> dict[str, Any]:
    return {
        "objective": data["objective"],
        "upper bound": data["upper_bound"],
        "lower bound": data["lower_bound"],
        "gap": _gap(data),
        "note": BEYOND_SPACE if data["beyond_space"] else None,
        "stop reason": data["stop_reason"],
        "dataset": data["dataset_id"],
        "job": data["job_id"],
        "created": data["created_at"],
    }


MODEL = RecordKind(
    "model",
    {
        "NAME": lambda data: data["name"],
        "OBJECTIVE": lambda data: data["objective"],
        "GAP": _gap,
        "DATASET": lambda data: data["dataset_id"],
        "CREATED": lambda data: data["created_at"][:19],
    },
    _facts,
)


@click.group("models")
def command() -> None:
    """Use and export the trees of a server. A model is named by its id or by an alias."""


@command.command("tree", params=[record_argument("model"), *SERVER_OPTIONS])
@with_client
def tree(client: Client, record_id: str, as_json: bool) -> None:
    """Print the tree of a model as rules, or as the JSON that `literati predict` reads."""
    found = client.models.get(record_id).tree()
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(found.to_text(), nl=False)


@command.command("predict", params=[record_argument("model"), *PREDICTION_OPTIONS, ENCODING, *SERVER_OPTIONS])
@click.argument("file", type=INPUT_FILE)
@with_client
def predict(
    client: Client,
    record_id: str,
    file: str,
    output: str,
    probabilities: bool,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Predict the rows of a table on the server."""
    with file_to_send(file, encoding) as sent:
        found = client.models.get(record_id).predictions(sent)
    for warning in found.warnings:
        note(f"Warning: {warning['message']}")
    shares = found.probabilities if probabilities else None
    write_predictions(found.labels, shares, found.classes, output, as_json)


@command.command("export", params=[record_argument("model"), *EXPORT_OPTIONS, *CONNECTION])
@with_client
def export(client: Client, record_id: str, form: str, output: str) -> None:
    """Write a model as SQL, as a program, or in a format of other tools."""
    write_export(client.models.get(record_id).export(form), output)


@command.command("alias", params=[*CONNECTION, JSON])
@click.argument("alias", required=False)
@click.argument("model", required=False, type=RecordId("model"))
@click.option("--delete", is_flag=True, help="Delete the alias.")
@with_client
def alias(client: Client, alias: str | None, model: str | None, delete: bool, as_json: bool) -> None:
    """Create or move the name ALIAS of a MODEL. Without arguments, list the aliases."""
    aliases = client.models.aliases
    if alias is None:
        if delete:
            raise click.UsageError("Name the alias to delete.")
        known = aliases.list()
        if as_json:
            print_json(known)
        else:
            print_table(["ALIAS", "MODEL"], known.items())
    elif delete == (model is not None):
        raise click.UsageError("Give a model to which the alias shall refer, or --delete.")
    elif delete:
        aliases.delete(alias)
        note(f"Deleted the alias {alias}.")
    else:
        assert model is not None
        found = client.models.get(model)
        aliases.set(alias, found)
        note(f"The alias {alias} refers to {found.id}.")


add_record_commands(command, MODEL)
