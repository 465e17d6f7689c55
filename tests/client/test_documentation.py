"""The examples of docs/client.md and docs/serving.md run and print what the pages show."""

from __future__ import annotations

import contextlib
import io
import tomllib
from pathlib import Path
from typing import Any

import pytest

from literati.client.conditions import FIELDS
from tests.repo.test_readme import blocks
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack

PAGE = ROOT / "docs" / "client.md"


@pytest.mark.parametrize(("page", "examples"), [(PAGE, 8), (ROOT / "docs" / "serving.md", 4)])
def test_the_examples(
    page: Path, examples: int, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LITERATI_URL", stack.url)
    namespace: dict[str, Any] = {"__name__": "page"}
    found = blocks(page)
    places = [place for place, (language, _, _) in enumerate(found) if language == "python"]
    assert len(places) == examples
    try:
        for place in places:
            (_, code, line), (language, shown, _) = found[place : place + 2]
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
            assert language == "text"
            assert printed.getvalue().strip() == shown.strip(), f"line {line}"
    finally:
        namespace["client"].close()


def test_the_configuration_file() -> None:
    (text,) = [code for language, code, _ in blocks(PAGE) if language == "toml"]
    assert set(tomllib.loads(text)) == {"url", "profiles"}


def test_every_name_of_a_condition_is_listed() -> None:
    assert all(f"`{name}`" in PAGE.read_text() for name in FIELDS)
