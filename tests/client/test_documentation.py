"""The examples of docs/client.md, docs/serving.md and docs/sweeps.md run and print what the pages show."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from literati import client as package
from literati.client import ApiError, Client, ClientError
from literati.client.conditions import FIELDS
from literati.client.config import DEFAULT_URL
from tests.repo.test_readme import blocks
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack

PAGE = ROOT / "docs" / "client.md"


def shell(code: str, stack: Stack) -> str:
    """Run commands that use the address of `make serve`, and return what they print."""
    words = ["bash", "-euo", "pipefail", "-c", code.replace(DEFAULT_URL, stack.url)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("page", "examples"), [(PAGE, 8), (ROOT / "docs" / "serving.md", 4)])
def test_the_examples(
    page: Path, examples: int, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LITERATI_URL", stack.url)
    namespace: dict[str, Any] = {"__name__": "page"}
    found = blocks(page)
    places = [place for place, (language, _, _) in enumerate(found) if language in ("python", "sh")]
    assert sum(found[place][0] == "python" for place in places) == examples
    try:
        for place in places:
            if found[place][0] == "sh":
                assert json.loads(shell(found[place][1], stack))["predictions"]
                continue
            (_, code, line), (language, shown, _) = found[place : place + 2]
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
            assert language == "text"
            assert printed.getvalue().strip() == shown.strip(), f"line {line}"
    finally:
        namespace["client"].close()


def test_the_commands_of_a_sweep(stack: Stack, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = [code for language, code, _ in blocks(ROOT / "docs" / "sweeps.md") if language == "sh"]
    monkeypatch.chdir(ROOT)
    progress, _ = shell(code, stack).splitlines()
    assert "'jobs'" in progress
    next(client.sweeps.list()).cancel()


def test_the_table_of_errors() -> None:
    """Every error that a caller may catch is in the table, with its standard class and its statuses."""
    rows = re.findall(r"^\| (`.*Error`.*?) \|(.*)\| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    told: dict[str, tuple[str, str]] = {}
    for names, also, status in rows:
        told |= {name: (also.strip(" `"), status) for name in re.findall(r"`(\w+Error)`", names)}
    public = {name: getattr(package, name) for name in package.__all__ if name.endswith("Error")}
    assert set(told) == public.keys() - {"ClientError", "ApiError"}
    for name, (also, status) in told.items():
        bases = [base.__name__ for base in public[name].__bases__ if not issubclass(base, ClientError)]
        assert bases == ([also] if also else []), name
        assert issubclass(public[name], ApiError) is not status.startswith("none"), name


def test_the_configuration_file() -> None:
    (text,) = [code for language, code, _ in blocks(PAGE) if language == "toml"]
    assert set(tomllib.loads(text)) == {"url", "profiles"}


def test_every_name_of_a_condition_is_listed() -> None:
    assert all(f"`{name}`" in PAGE.read_text() for name in FIELDS)
