"""`literati jobs`: searches on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from literati.cli.output import JSON, REQUIRE_PROOF, gap_text, note, print_json
from literati.cli.parameters import given_parameters, parameter_options
from literati.cli.records import Data, RecordKind, add_record_commands
from literati.cli.server import CONNECTION, SERVER_OPTIONS, RecordId, record_argument, with_client
from literati.cli.watching import WATCH, WATCH_OPTIONS, watch
from literati.tree.nodes import BEYOND_SPACE

if TYPE_CHECKING:
    from literati.client import Client, Job


def _facts(data: Data) -> dict[str, Any]:
    progress, explored = data["progress"], data["progress"]["explored"]
    return {
        "state": data["state"],
        "stop reason": data["stop_reason"],
        "error": (data["error"] or {}).get("message"),
        "objective": progress["objective"],
        "upper bound": progress["upper_bound"],
        "lower bound": progress["lower_bound"],
        "gap": gap_text(data["proven_optimal"], progress["gap_relative"]),
        "explored": None if explored is None else f"{100 * explored:.1f} %",
        "note": BEYOND_SPACE if progress["beyond_space"] else None,
        "search time": f"{progress['elapsed_seconds']:.1f} s",
        "dataset": data["dataset_id"],
        "model": data["model_id"],
    }


JOB = RecordKind(
    "job",
    {
        "NAME": lambda data: data["name"],
        "STATE": lambda data: data["state"],
        "OBJECTIVE": lambda data: data["progress"]["objective"],
        "GAP": lambda data: gap_text(data["proven_optimal"], data["progress"]["gap_relative"]),
        "CREATED": lambda data: data["created_at"][:19],
        "MODEL": lambda data: data["model_id"],
    },
    _facts,
    {
        "finish": "End a search and make a model of its best tree.",
        "cancel": "End a search without a model.",
        "pause": "Save a search and free its worker.",
        "resume": "Continue a paused search.",
    },
    states=True,
)


@click.group("jobs")
def command() -> None:
    """Start, watch and end searches on a server."""


UNTIL = click.Option(
    ["--until"],
    metavar="CONDITION",
    help="Finish the job as soon as this holds, such as 'gap<=0.01 or seconds>=60'.",
)


@command.command(
    "create", params=[*parameter_options(), WATCH, UNTIL, REQUIRE_PROOF, *WATCH_OPTIONS, *SERVER_OPTIONS]
)
@click.argument("dataset_id", metavar="DATASET", type=RecordId("dataset"))
@click.option("--name", help="Name of the job.")
@click.option("--tag", "tags", multiple=True, metavar="NAME=VALUE", help="A tag. May be repeated.")
@click.option("--priority", type=int, help="Jobs with a higher priority start first.")
@click.option("--validation", type=float, metavar="SHARE", help="Share of the rows to hold out for scores.")
@click.option(
    "--parent", metavar="JOB", type=RecordId("job"), help="Job whose best tree the search starts with."
)
@click.option("--idempotency-key", metavar="KEY", help="Start one job however often the command is run.")
@with_client
def create(
    client: Client,
    dataset_id: str,
    tags: tuple[str, ...],
    validation: float | None,
    watched: bool,
    until: str | None,
    require_proof: bool,
    timeout: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Start a search for a tree of a dataset, and print the id of the job, or with --watch of the model."""
    _check_condition(until)
    named = {name: options[name] for name in ("name", "priority", "parent", "idempotency_key")}
    job = client.jobs.create(
        client.datasets.get(dataset_id),
        tags=_tags(tags),
        validation=None if validation is None else {"fraction": validation},
        **named,
        **given_parameters(options),
    )
    if watched or until or require_proof or timeout:
        _watch(job, until, require_proof, timeout, as_json)
    elif as_json:
        print_json(job.data)
    else:
        note(f"Watch it with: literati jobs watch {job.id}")
        click.echo(job.id)


@command.command(
    "watch", params=[record_argument("job"), UNTIL, REQUIRE_PROOF, *WATCH_OPTIONS, *SERVER_OPTIONS]
)
@with_client
def watch_job(
    client: Client,
    record_id: str,
    until: str | None,
    require_proof: bool,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Show the progress of a job until it ends, and print the id of its model.

    Ctrl-C ends the watching, not the job.
    """
    _check_condition(until)
    _watch(client.jobs.get(record_id), until, require_proof, timeout, as_json)


def _check_condition(text: str | None) -> None:
    """Raise an error of usage if the condition cannot be read, before a job is started."""
    if text is None:
        return
    from literati.client.conditions import parse_condition

    try:
        parse_condition(text)
    except ValueError as error:
        raise click.BadParameter(str(error).removeprefix("until: "), param_hint="--until") from None


def _watch(job: Job, until: str | None, require_proof: bool, timeout: float | None, as_json: bool) -> None:
    watch(job, lambda shown: job.wait(progress=shown, until=until, timeout=timeout), as_json, require_proof)


@command.command("tree", params=[record_argument("job"), *CONNECTION, JSON])
@with_client
def tree(client: Client, record_id: str, as_json: bool) -> None:
    """Print the best tree of a job so far."""
    found = client.jobs.get(record_id).tree()
    if found is None:
        note("The job has no tree yet.")
    elif as_json:
        print_json(found.to_dict())
    else:
        click.echo(found.to_text(), nl=False)


def _tags(words: tuple[str, ...]) -> dict[str, str] | None:
    parts = [word.partition("=") for word in words]
    if wrong := [name for name, sign, _ in parts if not sign]:
        raise click.BadParameter(f"expected NAME=VALUE, got {wrong[0]!r}", param_hint="--tag")
    return {name: value for name, _, value in parts} or None


add_record_commands(command, JOB)
