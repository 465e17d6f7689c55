"""The command `literati` with its subcommands, which are imported when they are used."""

from __future__ import annotations

import os
import warnings
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from literati._version import __version__
from literati.cli.errors import ExitCode, NotInstalledError, exit_code, library_sentence
from literati.cli.output import note, warn
from literati.errors import LiteratiError

# The commands, each the name `command` of a module, with what `literati --help` says about them.
COMMANDS = {
    "fit": ("literati.cli.fit", "Find an optimal tree for a table, without a server."),
    "predict": ("literati.cli.predict", "Predict the rows of a table with a model file, without a server."),
    "export": ("literati.cli.export", "Write a model file as SQL, as a program or for other tools."),
    "datasets": ("literati.cli.datasets", "Upload and list tables on a server."),
    "jobs": ("literati.cli.jobs", "Start, watch and end searches on a server."),
    "sweeps": ("literati.cli.sweeps", "Find the parameters whose trees are best on new rows, on a server."),
    "models": ("literati.cli.models", "Use and export the trees of a server."),
    "version": ("literati.cli.version", "Show the versions of this program and of the server."),
    "completion": ("literati.cli.completion", "Print the completion script of a shell."),
}
# Distributions add commands by entry points of this group, whose objects are click commands.
GROUP = "literati.commands"
SERVE_HELP = "Run the service on this machine."
NO_SERVICE = (
    'The service is not installed. Install it with: pip install "literati-trees[service]" '
    "(in a checkout of the repository, `make serve` runs it)."
)


@click.command("serve", help=SERVE_HELP, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1)
def serve_without_service(arguments: tuple[str, ...]) -> None:
    raise NotInstalledError(NO_SERVICE)


class App(click.Group):
    """The group of all commands. It turns errors into a sentence and an exit code."""

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=GROUP)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        others = sorted({"serve", *self._entries} - COMMANDS.keys())
        return [*COMMANDS, *others]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            found: click.Command = import_module(COMMANDS[cmd_name][0]).command
            return found
        if cmd_name in self._entries:
            loaded: click.Command = self._entries[cmd_name].load()
            return loaded
        return serve_without_service if cmd_name == "serve" else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without an import of their modules."""
        told = {name: text for name, (_, text) in COMMANDS.items()} | {"serve": SERVE_HELP}
        rows = [(name, told.get(name) or self._told(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def _told(self, ctx: click.Context, name: str) -> str:
        command = self.get_command(ctx, name)
        return "" if command is None else command.get_short_help_str(limit=80)

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as error:
                note(f"\n{error}" if str(error) else "")
                ctx.exit(ExitCode.INTERRUPTED)
            except LiteratiError as error:
                _show_error(error)
                ctx.exit(exit_code(error))
            except OSError as error:
                if isinstance(error, BrokenPipeError):  # click ends silently, as `head` expects it
                    raise
                _show_error(error)
                ctx.exit(ExitCode.FAILED)


def _show_error(error: Exception) -> None:
    text = str(error)
    for fix in getattr(error, "fixes", ()):  # of a server, told with the fields of the request
        text = text.replace(f" ({fix.part}: {fix.options})", "")
    text = text.replace("Content-Type: text/csv; charset=", "--encoding ")  # how a server asks for it
    note(f"{click.style('Error:', fg='red')} {text}")


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Show a warning to a user, who is not interested in the line of code that gives it."""
    if issubclass(category, UserWarning):
        warn(library_sentence(message))


@click.group(
    cls=App,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "color": False if os.environ.get("NO_COLOR") else None,
    },
)
@click.version_option(__version__, prog_name="literati")
def app() -> None:
    """Optimal shape-generalized decision trees: on this machine, and on a Literati server.

    Results are printed on standard output, progress and messages on standard error.
    """
