"""Commands that datasets, jobs, sweeps and models have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from literati.cli.output import note, print_facts, print_json, print_table
from literati.cli.server import CONNECTION, SERVER_OPTIONS, record_argument, with_client

if TYPE_CHECKING:
    from literati.client import Client

Data = Mapping[str, Any]  # a record
LIMIT = click.Option(
    ["--limit"], type=click.IntRange(1), default=20, show_default=True, help="Number of records."
)
STATE = click.Option(["--state"], multiple=True, metavar="STATE", help="Only records in this state.")


@dataclass(frozen=True)
class RecordKind:
    """A kind of records: how lists and single records are shown, and what can be done with a record."""

    name: str
    columns: Mapping[str, Callable[[Data], Any]]  # of a list, after the id
    facts: Callable[[Data], dict[str, Any]]
    actions: Mapping[str, str] = field(default_factory=dict)  # methods of the record, with their help
    states: bool = False  # whether lists can be filtered by the state


def add_record_commands(group: click.Group, kind: RecordKind) -> None:
    """Add `list`, `show`, `delete`, `restore` and the actions to a group."""
    for command in (_list(kind), _show(kind), *_actions(kind), _delete(kind), _restore(kind)):
        group.add_command(command)


def _list(kind: RecordKind) -> click.Command:
    options = [LIMIT, *([STATE] if kind.states else [])]

    @click.command(
        "list", params=[*options, *SERVER_OPTIONS], help=f"List the {kind.name}s, the newest first."
    )
    @with_client
    def command(client: Client, limit: int, as_json: bool, state: tuple[str, ...] = ()) -> None:
        query = {"state": [word.upper() for word in state]} if state else {}
        page_size = min(limit + 1, 100)
        records = iter(getattr(client, f"{kind.name}s").list(page_size=page_size, **query))
        found = [record.data for record in islice(records, limit)]
        more = next(records, None) is not None
        if as_json:
            print_json(found)
        else:
            rows = [[data["id"], *(cell(data) for cell in kind.columns.values())] for data in found]
            print_table(["ID", *kind.columns], rows)
        if more:
            note(f"There are more; --limit {10 * limit} shows up to {10 * limit}.")

    return command


def _show(kind: RecordKind) -> click.Command:
    @click.command("show", params=[record_argument(kind.name), *SERVER_OPTIONS], help=f"Show a {kind.name}.")
    @with_client
    def command(client: Client, record_id: str, as_json: bool) -> None:
        record = getattr(client, f"{kind.name}s").get(record_id)
        if as_json:
            print_json(record.data)
        else:
            print_facts({kind.name: record.id, "name": record.name, **kind.facts(record.data)})

    return command


def _actions(kind: RecordKind) -> list[click.Command]:
    return [_action(kind, name, text) for name, text in kind.actions.items()]


def _action(kind: RecordKind, name: str, text: str) -> click.Command:
    @click.command(name, params=[record_argument(kind.name), *SERVER_OPTIONS], help=text)
    @with_client
    def command(client: Client, record_id: str, as_json: bool) -> None:
        record = getattr(client, f"{kind.name}s").get(record_id)
        getattr(record, name)()
        if as_json:
            print_json(record.data)
        else:
            print_facts({record.id: record.state})

    return command


def _delete(kind: RecordKind) -> click.Command:
    @click.command(
        "delete",
        params=[record_argument(kind.name), *CONNECTION],
        help=f"Delete a {kind.name}. `restore` takes this back for a day, or as long as the server keeps it.",
    )
    @with_client
    def command(client: Client, record_id: str) -> None:
        getattr(client, f"{kind.name}s").delete(record_id)
        note(f"Deleted. To take this back: literati {kind.name}s restore {record_id}")

    return command


def _restore(kind: RecordKind) -> click.Command:
    @click.command(
        "restore",
        params=[click.Argument(["record_id"], metavar=kind.name.upper()), *CONNECTION],
        help=f"Restore a deleted {kind.name}.",
    )
    @with_client
    def command(client: Client, record_id: str) -> None:
        click.echo(getattr(client, f"{kind.name}s").restore(record_id).id)

    return command
