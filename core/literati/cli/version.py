"""`literati version`: the versions of this program and of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from literati._version import __version__
from literati.cli.output import print_facts, print_json
from literati.cli.server import SERVER_OPTIONS, with_client

if TYPE_CHECKING:
    from literati.client import Client


@click.command("version", params=[*SERVER_OPTIONS])
@with_client
def command(client: Client, as_json: bool) -> None:
    """Show the versions of this program and of the server, with a warning if they do not fit together.

    `literati --version` shows the version of this program and needs no server.
    """
    server = client.version()
    found = {"client": __version__, "server": server["version"], "api": server["api"], "url": client.url}
    (print_json if as_json else print_facts)(found)
