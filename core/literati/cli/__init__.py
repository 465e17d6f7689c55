"""The command line `literati`."""

from __future__ import annotations

import sys

INTERRUPTED = 130  # the exit code of a shell for a program that Ctrl-C ended


def main() -> None:
    """Run the command that the arguments name, and end with its exit code."""
    try:
        import click  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("The command literati needs the package click. Install it with: pip install click")
    try:
        from literati.cli.app import app

        app(prog_name="literati")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
