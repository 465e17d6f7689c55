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
from click.shell_completion import ShellComplete

from literati import __version__
from literati.cli import app as app_module
from literati.cli import errors
from literati.cli.app import COMMANDS, NO_SERVICE, app
from literati.cli.errors import EXIT_CODES, ExitCode, exit_code
from literati.client import errors as client_errors
from literati.errors import LiteratiError, ModelFormatError
from tests.cli.conftest import Run
from tests.support.http.scripted_server import Answer, ScriptedServer
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
        for part, found in command.commands.items():
            told = " ".join(run(name, part, "--help").stdout.split())
            assert found.help is not None
            assert found.help.split(".")[0] in told


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
        "InvalidIdError": 2,
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
    ("words", "incomplete", "expected"),
    [
        ([], "f", {"fit"}),
        (["models"], "a", {"alias"}),
        (["fit"], "--can", {"--candidates", "--candidate-leaves"}),
        (["fit", "--candidates"], "ad", {"adaptive"}),
        (["completion"], "", {"bash", "zsh", "fish"}),
        (["jobs", "watch", "--url", "http://127.0.0.1:9"], "job", set()),  # no server answers
    ],
)
def test_completions(words: list[str], incomplete: str, expected: set[str]) -> None:
    found = ShellComplete(app, {}, "literati", "_LITERATI_COMPLETE").get_completions(words, incomplete)
    assert {item.value for item in found} == expected


@pytest.mark.parametrize(
    ("shell", "words", "current", "printed"),
    [
        ("bash", "literati comp", "1", "plain,completion"),
        ("zsh", "literati comp", "1", "completion"),
        ("fish", "literati", "comp", "plain,completion\tPrint the completion script of a shell."),
    ],
)
def test_what_shells_ask(shell: str, words: str, current: str, printed: str) -> None:
    environment = {"_LITERATI_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": current}
    assert printed in python("-m", "literati", **environment).stdout.splitlines()


def test_a_server_that_does_not_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("literati.client._sync.transport.sleep", lambda seconds: None)
    result = run("jobs", "list", "--url", "http://127.0.0.1:9", code=8)
    assert result.stderr.startswith("Error: http://127.0.0.1:9 (from the argument `url`) does not answer")
    assert result.stdout == ""


def test_a_key_that_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITERATI_API_KEY", "lit_key")
    problem = {"type": "urn:literati:problem:unauthorized", "detail": "The key is not known."}
    with ScriptedServer(Answer(401, problem, {"X-Request-ID": "r1"})) as server:
        result = run("jobs", "list", "--url", server.url, code=4)
    assert result.stderr == "Error: The key is not known. (status 401, request r1)\n"
    assert server.asked[0].headers["Authorization"] == "Bearer lit_key"


def test_profiles(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("literati.client._sync.transport.sleep", lambda seconds: None)
    (tmp_path / "config.toml").write_text('[profiles.lab]\nurl = "http://127.0.0.1:9"\napi_key = "lit_x"\n')
    assert "http://127.0.0.1:9" in run("models", "list", "--profile", "lab", code=8).stderr
    assert "no profile 'home'; it has lab" in run("models", "list", "--profile", "home", code=2).stderr
    assert "Expected an address" in run("models", "list", "--url", "nowhere", code=2).stderr
