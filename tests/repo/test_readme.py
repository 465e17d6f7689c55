"""The README is right: its examples run and print what it shows, and its tables and links are correct."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from literati import LiteratiClassifier
from tests.support.paths import ROOT

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
INTEROP = ("mlflow", "onnxruntime", "pypmml")  # packages that only `make test-interop` installs
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Return the language, text and first line of each block of code."""
    text = page.read_text(encoding="utf-8")
    return [(match[1], match[2], text.count("\n", 0, match.start(2)) + 1) for match in FENCE.finditer(text)]


def table(header: str, page: Path) -> list[list[str]]:
    """Return the cells of the table with this header."""
    text = page.read_text(encoding="utf-8")
    rows = text[text.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


@pytest.mark.parametrize(
    ("page", "examples"), [(README, 3), (ROOT / "docs" / "library.md", 6), (ROOT / "docs" / "exports.md", 3)]
)
def test_examples_run_and_print_what_is_shown(
    page: Path, examples: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make test-interop` runs the examples that need other packages."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "page"}
    found = blocks(page)
    ran = 0
    for place, (language, code, line) in enumerate(found):
        if language != "python" or any(f"import {name}\n" in code for name in INTEROP):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
        following = found[place + 1] if place + 1 < len(found) else ("", "", 0)
        shown = following[1] if following[0] == "text" else ""
        assert printed.getvalue().strip() == shown.strip(), f"{page.name}, line {line}"
        ran += 1
    assert ran == examples


def test_every_parameter_is_in_the_table_with_its_default() -> None:
    rows = table("| parameter |", ROOT / "docs" / "parameters.md")
    told = {row[0].strip("` "): ast.literal_eval(row[1].strip("`")) for row in rows}
    assert told == LiteratiClassifier().get_params()


def test_commands_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"`make ([a-z-]+)", page.read_text())}
    assert {"serve", "test", "check"} <= named
    assert named <= targets


def test_it_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 250


@pytest.mark.parametrize(
    "page",
    [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda page: page.name,
)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    near = [target for target in targets if "://" not in target]
    assert [target for target in near if not (page.parent / target).exists()] == []


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "decisions"
    pages = sorted(page.name for page in folder.glob("0*.md"))
    assert re.findall(r"\]\((0[^)]+\.md)\)", (folder / "README.md").read_text()) == pages
    assert [page[:4] for page in pages] == [f"{number:04d}" for number in range(1, len(pages) + 1)]


def test_the_picture_is_of_a_tree_as_good_as_it_says() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_tree.py"), run_name="docs")["draw"]()
    sentence = "Proven optimal: no tree over every threshold of every feature costs less than 3."
    assert sentence in drawn
    assert sentence in (ROOT / "docs" / "tree.svg").read_text(encoding="utf-8")
