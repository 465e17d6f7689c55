"""What all commands share that talk to a server: the connection, and the completion of ids."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from literati.cli.errors import NotInstalledError
from literati.cli.output import JSON

if TYPE_CHECKING:
    from literati.client import Client

MAX_COMPLETIONS = 50
COMPLETION_SECONDS = 2.0

CONNECTION: tuple[click.Parameter, ...] = (
    click.Option(
        ["--url"],
        metavar="URL",
        help="Address of the server. Default: that of LITERATI_URL, of the configuration file, or http://127.0.0.1:8000.",
    ),
    click.Option(["--profile"], metavar="NAME", help="Section [profiles.NAME] of the configuration file."),
)
SERVER_OPTIONS: tuple[click.Parameter, ...] = (*CONNECTION, JSON)


def open_client(url: str | None, profile: str | None, **options: Any) -> Client:
    """Return a client. The API key comes from LITERATI_API_KEY or the configuration file."""
    try:
        from literati.client import Client
    except ImportError as error:
        raise NotInstalledError(str(error)) from None
    return Client(url, profile=profile, **options)


def with_client(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a command with a client as its first argument instead of the options of the connection."""

    @wraps(function)
    def call(*, url: str | None, profile: str | None, **arguments: Any) -> Any:
        with open_client(url, profile) as client:
            return function(client, **arguments)

    return call


class RecordId(click.ParamType):  # type: ignore[type-arg] # generic only in recent versions of click
    """The id of a record. A shell completes it with the ids on the server."""

    def __init__(self, kind: str) -> None:
        self.name = f"{kind}_id"
        self._collection = f"{kind}s"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the newest ids that begin with the text; none if the server does not answer at once."""
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from literati.client import RetryPolicy

            options = {"timeout": COMPLETION_SECONDS, "retry": RetryPolicy(retries=0)}
            with open_client(ctx.params.get("url"), ctx.params.get("profile"), **options) as client:
                newest = islice(getattr(client, self._collection).list(), MAX_COMPLETIONS)
                found = [record for record in newest if record.id.startswith(incomplete)]
                return [CompletionItem(record.id, help=record.name) for record in found]
        return []


def record_argument(kind: str) -> click.Argument:
    return click.Argument(["record_id"], type=RecordId(kind), metavar=kind.upper())
