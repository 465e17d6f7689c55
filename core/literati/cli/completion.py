"""`literati completion`: the scripts with which shells complete commands, options and ids."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: add to ~/.bashrc                 eval "$(literati completion bash)"
    zsh:  add to ~/.zshrc                  eval "$(literati completion zsh)"
    fish: add to ~/.config/fish/config.fish  literati completion fish | source
    """
    root = ctx.find_root()
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(root.command, {}, "literati", "_LITERATI_COMPLETE").source())
