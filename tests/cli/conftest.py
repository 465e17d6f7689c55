"""Fixtures for tests of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from literati.cli.app import app
from tests.support.stack.stack import Stack

Run = Callable[..., Result]

LOANS = """\
age,job,opened,repaid
20,clerk,2024-01-01,no
30,clerk,2024-01-02,yes
40,nurse,2024-01-03,yes
,nurse,2024-01-04,yes
21,,2024-01-05,no
31,clerk,2024-01-06,yes
41,nurse,2024-01-07,yes
22,nurse,2024-01-08,no
"""


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of the user out of the tests, and let every test have a folder of its own."""
    for name in ("LITERATI_URL", "LITERATI_API_KEY", "LITERATI_PROFILE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LITERATI_CONFIG", f"{tmp_path}/config.toml")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run() -> Run:
    """Run a command in this process. An exit code other than the expected one is an error of the test."""

    def invoke(*words: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="literati")
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    path = tmp_path / "loans.csv"
    path.write_text(LOANS)
    return path


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack.with_worker_and_api(tmp_path_factory.mktemp("cli")) as stack:
        yield stack
