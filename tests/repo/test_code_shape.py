"""Rules about the shape of the code: functions fit on a screen, and modules of the engine form no cycle."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.support.paths import ROOT

MAX_LINES = 60
ALLOWED = {"tree_definitions"}  # one literal, the JSON Schema of a tree
ENGINE = ROOT / "core" / "literati" / "_engine"
CYTHON_FUNCTION = re.compile(r"^ *(?:cdef|cpdef|def) (?!class)[^=]*?\b(\w+)\(")
CIMPORT = re.compile(r"^from literati\._engine\.(\w+) cimport", re.MULTILINE)


def python_functions(path: Path) -> dict[str, int]:
    """Return the lines of every function of a Python file."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, functions)]
    return {node.name: (node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes}


def cython_functions(path: Path) -> dict[str, int]:
    """Return the lines of every function of a Cython file: up to the last line that is indented deeper."""
    lines = path.read_text().splitlines()
    sizes = {}
    for start, line in enumerate(lines):
        found = CYTHON_FUNCTION.match(line)
        if not found:
            continue
        depth = len(line) - len(line.lstrip())
        last = start
        for number in range(start + 1, len(lines)):
            text = lines[number]
            if text.strip() and len(text) - len(text.lstrip()) <= depth and not text.lstrip().startswith(")"):
                break
            last = number if text.strip() else last
        sizes[found[1]] = last - start + 1
    return sizes


@pytest.mark.parametrize("folder", ["core", "worker", "service"])
def test_no_function_is_longer_than_a_screen(folder: str) -> None:
    long = []
    for path in sorted((ROOT / folder).rglob("*.py*")):
        if "node_modules" in path.parts or path.suffix not in (".py", ".pyx"):
            continue
        sizes = python_functions(path) if path.suffix == ".py" else cython_functions(path)
        too_long = {name: n for name, n in sizes.items() if n > MAX_LINES and name not in ALLOWED}
        long += [f"{path.relative_to(ROOT)}: {name} has {n} lines" for name, n in too_long.items()]
    assert long == []


def test_no_pipeline_is_a_transaction() -> None:
    """A server without memory refuses transactions, even those that only read (atomic_reads.py)."""
    pipelines, transactions = 0, []
    for path in [*(ROOT / "worker").rglob("*.py"), *(ROOT / "service").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "pipeline"):
                continue
            options = {option.arg: ast.unparse(option.value) for option in node.keywords}
            pipelines += 1
            if options.get("transaction") != "False":
                transactions.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert pipelines > 0
    assert transactions == []


def test_modules_of_the_engine_form_no_cycle() -> None:
    graph = {}
    for path in ENGINE.glob("*.pyx"):
        text = path.read_text()
        if (declarations := path.with_suffix(".pxd")).exists():
            text += declarations.read_text()
        graph[path.stem] = set(CIMPORT.findall(text)) - {path.stem, "_types"}
    assert list(TopologicalSorter(graph).static_order())
