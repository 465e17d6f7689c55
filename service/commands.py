"""How the user runs the commands of `service/cli`."""

from pathlib import Path

# The distribution `literati-server` installs this package inside `literati_server`.
_IS_INSTALLED = Path(__file__).parents[1].name == "literati_server"


def command(name: str) -> str:
    """Return how to run a command: by its module in the repository, by `literati-server` elsewhere."""
    return f"literati-server {name}" if _IS_INSTALLED else f"python -m service.{name}"
