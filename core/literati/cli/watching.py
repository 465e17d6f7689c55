"""Watch a job or a sweep until it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from literati.cli.errors import NotProvenError
from literati.cli.output import gap_text, note, print_json, progress_is_shown

if TYPE_CHECKING:
    from literati.client import Job, Model, Sweep

WATCH = click.Option(["--watch", "watched"], is_flag=True, help="Wait for the end and show the progress.")
WATCH_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--timeout"],
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Stop watching after this time; the search continues.",
    ),
)


def watch(
    record: Job | Sweep, wait: Callable[[bool], Model], as_json: bool, require_proof: bool = False
) -> None:
    """Wait for a record and print its model. `wait` is told whether there is a terminal for a live line."""
    try:
        note(f"Watching {record.kind} {record.id}. Ctrl-C ends the watching, not the {record.kind}.")
        model = wait(progress_is_shown())
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"The {record.kind} continues on the server.\n"
            f"Come back with:  literati {record.kind}s watch {record.id}\n"
            f"Stop it with:    literati {record.kind}s cancel {record.id}"
        ) from None
    proven = model.proven_optimal
    if as_json:
        print_json({record.kind: record.data, "model": {**model.data}})
    else:
        note(f"Objective {model.objective:g}, {'' if proven else 'gap '}{gap_text(proven, model.gap)}.")
        click.echo(model.id)
    if require_proof and not proven:
        raise NotProvenError(f"The tree is not proven optimal: the gap is {gap_text(proven, model.gap)}.")
