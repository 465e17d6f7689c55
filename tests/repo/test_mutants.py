"""The table of `make mutants` matches the code and the tests."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.mutants import source_copy
from tests.mutants.table import EXPLAINED, MUTANTS, stale
from tests.support.paths import ROOT


def test_every_text_is_found_once() -> None:
    assert stale() == []


def test_there_are_enough_and_none_twice() -> None:
    everything = [(m.file, m.original, m.replacement) for m in (*MUTANTS, *EXPLAINED)]
    assert len(set(everything)) == len(everything) >= 60
    assert all(mutant.original != mutant.replacement for mutant in MUTANTS)


def functions(path: Path) -> set[str]:
    """Return the functions of a file, and the methods of its classes as pytest names them."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return found


def test_the_named_tests_exist() -> None:
    known: dict[str, set[str]] = {}
    for mutant in MUTANTS:
        for test in mutant.test.split():
            file, _, name = test.partition("::")
            assert name.partition("[")[0] in known.setdefault(file, functions(ROOT / file)), test


def test_headers_name_the_modules_that_have_them() -> None:
    """A changed header recompiles only the modules named in the table, so it must name all of them."""
    package = ROOT / "core" / "literati" / "_engine"
    for header, modules in source_copy.USERS.items():
        assert (package / header).exists()
        assert all((package / f"{module}.pyx").exists() for module in modules)
