"""Files and folders that the README and docs/architecture.md name in backquotes exist."""

from __future__ import annotations

import re
import subprocess
from functools import cache

import pytest

from tests.support.paths import ROOT

PAGES = ("README.md", "docs/architecture.md")
CODE = re.compile(r"`([^`\n]+)`")
# Braces list several names and a star stands for any, as in a shell.
PATH = re.compile(r"[\w.{},*-]+/(?:[\w.{},*-]+/?)*")


def expand(path: str) -> list[str]:
    """Return the paths that `a/{b,c}.py` stands for."""
    found = re.search(r"\{([^{}]*)\}", path)
    if found is None:
        return [path]
    return [
        whole
        for name in found[1].split(",")
        for whole in expand(path[: found.start()] + name + path[found.end() :])
    ]


def named_paths(text: str) -> list[str]:
    """Return the paths in backquotes that begin with the name of a file or folder of the repository."""
    tracked_roots = {path.partition("/")[0] for path in tracked()}
    return [
        path
        for code in CODE.findall(text)
        if PATH.fullmatch(code) and code.partition("/")[0] in tracked_roots
        for path in expand(code)
    ]


@cache
def tracked() -> tuple[str, ...]:
    """Return the files that git knows, or all files where there is no git."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.splitlines() if done.returncode == 0 else []
    return tuple(names) or tuple(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*"))


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [path for path in named_paths(text) if not any(ROOT.glob(path.rstrip("/")))] == []


def test_the_architecture_page_names_files() -> None:
    assert named_paths((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))


def test_what_counts_as_a_path() -> None:
    text = "`service/app.py`, `tests/`, `worker/store/{jobs,gone}.py`, `a/b.py`, `make serve`, `text/csv`"
    assert named_paths(text) == ["service/app.py", "tests/", "worker/store/jobs.py", "worker/store/gone.py"]
