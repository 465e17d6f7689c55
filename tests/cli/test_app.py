"""The command itself: help, exit codes, completion, configuration, and packages that are missing."""

from __future__ import annotations

import builtins
import inspect
import os
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest

from literati import __version__
from literati.cli import app as app_module
from literati.cli import errors
from literati.cli.app import COMMANDS, NO_SERVICE, app
from literati.cli.errors import EXIT_CODES, ExitCode, exit_code
from literati.client import errors as client_errors
from literati.errors import LiteratiError, ModelFormatError
from tests.cli.conftest import Run
from tests.support.paths import ROOT

BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError("No module named " + name, name={name!r})
sys.meta_path.insert(0, Blocker())
from literati.cli import main
sys.argv[1:] = {arguments!r}
main()
"""


def python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_lists_every_command(run: Run) -> None:
    told = run("--help").stdout
    for name, (_, text) in COMMANDS.items():
        assert name in told
        assert text.split()[0] in told
    assert "serve" in told
    assert run("--version").stdout == f"literati, version {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(run: Run, name: str) -> None:
    context = click.Context(app)
    command = app.get_command(context, name)
    assert command is not None
    assert run(name, "--help").stdout.startswith("Usage: literati")
    if isinstance(command, click.Group):
        for part in command.commands:
            told = run(name, part, "--help").stdout
            assert command.commands[part].get_short_help_str() in " ".join(told.split())


def test_help_imports_nothing_slow() -> None:
    code = "import sys; from literati.cli.app import app; app(['--help'], standalone_mode=False); "
    code += "print([name for name in ('numpy', 'sklearn', 'httpx2', 'pyarrow') if name in sys.modules])"
    done = python("-c", code)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_as_a_module() -> None:
    done = python("-m", "literati", "fit")
    assert done.returncode == ExitCode.USAGE
    assert done.stderr.startswith("Usage: literati fit ")
    assert "Missing argument 'DATA'" in done.stderr


def test_the_script_is_installed_with_the_library() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"literati": "literati.cli:main"}


@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("click", [], "The command literati needs the package click. Install it with: pip install click"),
        (
            "httpx2",
            ["datasets", "list"],
            "Error: literati.client needs the package httpx2. Install it with: "
            "pip install 'literati-trees[client]'",
        ),
    ],
)
def test_a_package_is_missing(name: str, arguments: list[str], sentence: str) -> None:
    done = python("-c", BLOCKED.format(name=name, arguments=arguments))
    assert (done.returncode, done.stderr, done.stdout) == (1, f"{sentence}\n", "")


def test_the_service_is_missing(run: Run) -> None:
    assert run("serve", "--port", "1", code=1).stderr == f"Error: {NO_SERVICE}\n"


@click.command()
@click.option("--port", type=int)
def other_command(port: int) -> None:
    """Run another thing."""
    click.echo(f"port {port}")


def test_commands_of_other_distributions(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [EntryPoint(name, f"{__name__}:other_command", app_module.GROUP) for name in ("serve", "more")]
    monkeypatch.setattr(
        app_module, "entry_points", lambda group: entries if group == app_module.GROUP else []
    )
    monkeypatch.delitem(app.__dict__, "_entries", raising=False)
    assert run("serve", "--port", "3").stdout == "port 3\n"
    assert "more        Run another thing." in run("--help").stdout
    del app.__dict__["_entries"]


def test_every_error_has_an_exit_code() -> None:
    """Each name in the table is a class, and the client's errors have the codes of docs/command-line.md."""
    known = {
        **vars(client_errors),
        **vars(errors),
        "ModelFormatError": ModelFormatError,
        **vars(builtins),
    }
    assert [name for name in EXIT_CODES if not inspect.isclass(known.get(name))] == []
    expected = {
        "ConfigurationError": 2,
        "InvalidRequestError": 2,
        "NotFoundError": 3,
        "AuthenticationError": 4,
        "PermissionDeniedError": 4,
        "ConflictError": 5,
        "FailedError": 6,
        "CancelledError": 7,
        "ConnectionFailedError": 8,
        "UnavailableError": 8,
        "RateLimitedError": 1,
        "ServerError": 1,
        "WaitTimeoutError": 1,
        "EndedWithoutModelError": 1,
    }
    for name, code in expected.items():
        found: type[LiteratiError] = getattr(client_errors, name)
        assert exit_code(found.__new__(found)) == code, name
    assert exit_code(KeyboardInterrupt()) == 130
    assert exit_code(errors.NotProvenError()) == 9


def test_colours_only_on_terminals(run: Run, loans: Path) -> None:
    """A runner is no terminal; test_terminal.py has one, with and without NO_COLOR."""
    assert "\x1b" not in run("fit", loans, "-t", "none", code=2).output


@pytest.mark.parametrize(("shell", "word"), [("bash", "complete"), ("zsh", "compdef"), ("fish", "complete")])
def test_completion_scripts(run: Run, shell: str, word: str) -> None:
    script = run("completion", shell).stdout
    assert word in script
    assert "_LITERATI_COMPLETE" in script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("literati f", {"fit"}),
        ("literati models a", {"alias"}),
        ("literati fit --can", {"--candidates", "--candidate-leaves"}),
        ("literati fit --candidates ad", {"adaptive"}),
        ("literati completion ", {"bash", "zsh", "fish"}),
        ("literati jobs watch ", set()),  # no server answers
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions(shell: str, words: str, expected: set[str]) -> None:
    parts = words.split(" ")
    environment = {
        "_LITERATI_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": words if shell != "fish" else " ".join(parts[:-1]),
        "COMP_CWORD": str(len(parts) - 1) if shell != "fish" else parts[-1],
        "LITERATI_URL": "http://127.0.0.1:9",
    }
    done = python("-m", "literati", **environment)
    lines = done.stdout.splitlines()
    found = lines[1::3] if shell == "zsh" else [line.partition(",")[2].partition("\t")[0] for line in lines]
    assert set(found) == expected, done


def test_a_server_that_does_not_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("literati.client.retry.RetryPolicy.retries", 0)
    result = run("jobs", "list", "--url", "http://127.0.0.1:9", code=8)
    assert result.stderr.startswith("Error: http://127.0.0.1:9 (from the argument `url`) does not answer")
    assert result.stdout == ""


def test_profiles(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("literati.client.retry.RetryPolicy.retries", 0)
    (tmp_path / "config.toml").write_text('[profiles.lab]\nurl = "http://127.0.0.1:9"\napi_key = "lit_x"\n')
    assert "http://127.0.0.1:9" in run("models", "list", "--profile", "lab", code=8).stderr
    assert "no profile 'home'; it has lab" in run("models", "list", "--profile", "home", code=2).stderr
    assert "Expected an address" in run("models", "list", "--url", "nowhere", code=2).stderr
