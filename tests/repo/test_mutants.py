"""The table of `make mutants`: it speaks of the code and the tests as they are."""

from __future__ import annotations

import ast
from pathlib import Path

import mutants.laboratory
from mutants.table import EXPLAINED, MUTANTS, ROOT, stale


def test_every_text_is_found_once() -> None:
    assert stale() == []


def test_there_are_enough_and_none_twice() -> None:
    everything = [(m.file, m.original, m.replacement) for m in (*MUTANTS, *EXPLAINED)]
    assert len(set(everything)) == len(everything) >= 60
    assert all(mutant.original != mutant.replacement for mutant in MUTANTS)


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_the_named_tests_exist() -> None:
    known: dict[str, set[str]] = {}
    for mutant in MUTANTS:
        for test in mutant.test.split():
            file, _, name = test.partition("::")
            assert name.partition("[")[0] in known.setdefault(file, functions(ROOT / file)), test


def test_headers_name_the_modules_that_have_them() -> None:
    """A changed header compiles only the modules named, so none may be forgotten."""
    package = ROOT / "core" / "literati"
    for header, modules in mutants.laboratory.USERS.items():
        assert (package / header).exists()
        assert all((package / f"{module}.pyx").exists() for module in modules)
