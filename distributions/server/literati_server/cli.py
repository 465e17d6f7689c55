"""The commands `literati serve` and `literati-server`."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import click

# Commands of the service by name: the module that is run, and what it does.
MODULES = {
    "api": ("service.server", "Run only the API server."),
    "worker": ("worker", "Run only a worker, with the options of `celery worker`."),
    "keys": ("service.keys", "Create, list and revoke API keys."),
    "cleanup": ("service.cleanup", "Delete old jobs, saved searches or unused datasets."),
    "backup": ("service.backup", "Make, check and restore backups of the store and the blobs."),
}


@click.command()
@click.option("--host", metavar="ADDRESS", help="Listen on this address (LITERATI_HOST; default: 127.0.0.1).")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Listen on this port; 0 selects a free one (LITERATI_PORT; default: 8000).",
)
@click.option(
    "--state-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep uploads and results in this folder (LITERATI_STATE_DIR; default: .literati).",
)
def serve(host: str | None, port: int | None, state_dir: Path | None) -> None:
    """Run the API, a worker and a private store on this machine.

    Press Ctrl-C to stop them. Environment variables configure everything else; docs/settings.md lists them.
    """
    given = {"LITERATI_HOST": host, "LITERATI_PORT": port, "LITERATI_STATE_DIR": state_dir}
    os.environ.update({name: str(value) for name, value in given.items() if value is not None})
    from service.supervisor.supervisor import main as run  # importing it takes a second

    sys.exit(run())


@click.group()
@click.version_option(package_name="literati-server")
def main() -> None:
    """Run the training service of Literati and administer it."""


main.add_command(serve)


def _add_module(name: str, module: str, summary: str) -> None:
    # The module parses the words itself, --help included.
    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)

    def run(words: tuple[str, ...]) -> None:
        sys.argv[1:] = words
        runpy.run_module(module, run_name="__main__", alter_sys=True)

    settings = {"ignore_unknown_options": True}
    main.add_command(
        click.Command(
            name, callback=run, params=[words], help=summary, add_help_option=False, context_settings=settings
        )
    )


for _name, (_module, _summary) in MODULES.items():
    _add_module(_name, _module, _summary)
