"""`literati sweeps`: the choice of parameters on a server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from literati.cli.output import note, print_json, print_table
from literati.cli.records import Data, RecordKind, add_record_commands
from literati.cli.server import SERVER_OPTIONS, RecordId, record_argument, with_client
from literati.cli.watching import WATCH, WATCH_OPTIONS, watch

if TYPE_CHECKING:
    from literati.client import Client


def _facts(data: Data) -> dict[str, Any]:
    progress, choice = data["progress"], data["choice"] or {}
    return {
        "state": data["state"],
        "stop reason": data["stop_reason"],
        "error": (data["error"] or {}).get("message"),
        "jobs": f"{progress['done']} of {progress['jobs']} done, {progress['failed']} failed",
        "choice": choice.get("explanation"),
        "dataset": data["dataset_id"],
        "model": data["model_id"],
    }


SWEEP = RecordKind(
    "sweep",
    {
        "NAME": lambda data: data["name"],
        "STATE": lambda data: data["state"],
        "JOBS": lambda data: f"{data['progress']['done']} of {data['progress']['jobs']}",
        "METRIC": lambda data: data["metric"],
        "CREATED": lambda data: data["created_at"][:19],
        "MODEL": lambda data: data["model_id"],
    },
    _facts,
    {
        "finish": "Stop trying, and choose among the trials that are complete.",
        "cancel": "Stop a sweep without a choice.",
        "pause": "Start no more jobs; those that are running continue to their end.",
        "resume": "Continue a paused sweep.",
    },
    states=True,
)


class Assignment(click.ParamType):  # type: ignore[type-arg] # generic only in recent versions of click
    """NAME=VALUE, where the value is JSON or a word."""

    name = "name=value"

    def __init__(self, several: bool = False) -> None:
        self._several = several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        name, sign, text = value.partition("=")
        if not name or not sign:
            self.fail(f"expected NAME=VALUE, got {value!r}", param, ctx)
        found = _json_or_word(text)
        if self._several and not isinstance(found, list | dict) and found != "path":
            found = [_json_or_word(word) for word in text.split(",")]
        return name.strip().replace("-", "_"), found


def _json_or_word(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


@click.group("sweeps")
def command() -> None:
    """Find the parameters whose trees are best on new rows, on a server."""


@command.command("create", params=[WATCH, *WATCH_OPTIONS, *SERVER_OPTIONS])
@click.argument("dataset_id", metavar="DATASET", type=RecordId("dataset"))
@click.option(
    "--space",
    type=Assignment(several=True),
    multiple=True,
    metavar="NAME=VALUES",
    help="Values of a parameter to try, such as max_depth=2,3,4. May be repeated.",
)
@click.option(
    "--fixed",
    type=Assignment(),
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter that is the same in all trials. May be repeated.",
)
@click.option(
    "--metric", help="What is compared: accuracy (default), balanced_accuracy, log_loss, macro_f1 or roc_auc."
)
@click.option(
    "--select",
    type=click.Choice(["BEST", "ONE_STANDARD_ERROR"], case_sensitive=False),
    help="How one trial is chosen.",
)
@click.option("--folds", type=int, help="Number of folds.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="When the sweep stops trying.")
@click.option("--max-trials", type=int, help="Number of trials after which the sweep stops.")
@click.option("--name", help="Name of the sweep.")
@click.option(
    "--request",
    type=click.Path(exists=True, dir_okay=False),
    help="JSON file with other fields of the request.",
)
@with_client
def create(
    client: Client, dataset_id: str, watched: bool, timeout: float | None, as_json: bool, **options: Any
) -> None:
    """Start a sweep, and print its id, or with --watch the id of its model.

    Without options, depths 2 to 5 with 1 to 3 change points are tried on five folds, each with all penalties.
    """
    sweep = client.sweeps.create(client.datasets.get(dataset_id), **_request(options))
    if watched:
        watch(sweep, lambda shown: sweep.wait(progress=shown, timeout=timeout), as_json)
    elif as_json:
        print_json(sweep.data)
    else:
        note(f"Watch it with: literati sweeps watch {sweep.id}")
        click.echo(sweep.id)


def _request(options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the request: those of the file, and over them those of the options."""
    request: dict[str, Any] = {}
    if options["request"] is not None:
        try:
            request = json.loads(Path(options["request"]).read_text(encoding="utf-8"))
        except ValueError as error:
            raise click.BadParameter(
                f"{options['request']} is not JSON: {error}", param_hint="--request"
            ) from None
        if not isinstance(request, dict):
            raise click.BadParameter("expected a JSON object", param_hint="--request")
        request.pop("dataset_id", None)
    parts = {
        "space": dict(options["space"]),
        "fixed": dict(options["fixed"]),
        "limits": {name: options[name] for name in ("time_limit", "max_trials")},
        "validation": {"folds": options["folds"]},
    }
    for part, fields in parts.items():
        if known := {name: value for name, value in fields.items() if value is not None}:
            request[part] = {**(request.get(part) or {}), **known}
    plain = {name: options[name] for name in ("metric", "select", "name")}
    return request | {name: value for name, value in plain.items() if value is not None}


@command.command("watch", params=[record_argument("sweep"), *WATCH_OPTIONS, *SERVER_OPTIONS])
@with_client
def watch_sweep(client: Client, record_id: str, timeout: float | None, as_json: bool) -> None:
    """Show the progress of a sweep until it ends, and print the id of its model.

    Ctrl-C ends the watching, not the sweep.
    """
    sweep = client.sweeps.get(record_id)
    watch(sweep, lambda shown: sweep.wait(progress=shown, timeout=timeout), as_json)


@command.command("leaderboard", params=[record_argument("sweep"), *SERVER_OPTIONS])
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="Number of trials.")
@with_client
def leaderboard(client: Client, record_id: str, limit: int, as_json: bool) -> None:
    """Print the best trials of a sweep, and why one of them is chosen."""
    found = client.sweeps.get(record_id).leaderboard(limit)
    if as_json:
        print_json(found)
        return
    titles = ("MEAN", "STANDARD ERROR", "LEAVES", "PARAMETERS")
    rows = [
        (
            _rounded(trial["mean"]),
            _rounded(trial["standard_error"]),
            _rounded(trial["leaves"]),
            _words(trial["parameters"]),
        )
        for trial in found["items"]
    ]
    print_table(titles, rows)
    if found["explanation"]:
        note(found["explanation"])


def _rounded(number: float | None) -> str | None:
    return None if number is None else f"{number:.4g}"


def _words(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


add_record_commands(command, SWEEP)
