"""Exports that need nothing but Python: a Python module, and SQL in SQLite."""

from __future__ import annotations

import hashlib
import io
import sqlite3
import zipfile
from typing import Any

import pytest

from literati.tree.export.conditions import ExportError
from literati.tree.export.formats import FORMATS
from literati.tree.export.sql import DIALECTS
from tests.support.solver.format_evaluator import Evaluator
from tests.support.solver.format_problems import Problem, random_problem

SEEDS = range(50)
MIXED = 4  # seeds with this remainder by 5 have classes of several types


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("seed", SEEDS)
def test_the_python_module_predicts_as_the_library_does(seed: int) -> None:
    problem = random_problem(seed)
    expected = Evaluator(problem.tree.to_json())
    module: dict[str, Any] = {}
    exec(compile(problem.tree.to_python(), "tree.py", "exec"), module)
    probabilities = problem.tree.probabilities
    for row in problem.rows:
        label, _, leaf = expected.predict(row)
        assert module["leaf_id"](row) == leaf
        assert module["predict"](row) == label
        assert type(module["predict"](row)) is type(label)
        assert module["predict_proba"](row) == probabilities[leaf].tolist()


@pytest.mark.parametrize(
    ("name", "cell", "error"),
    [
        ("coarse", float("inf"), ValueError),
        ("coarse", 10**400, ValueError),
        ("coarse", "1", TypeError),
        ("flag", 2, ValueError),
        ("word", 1, TypeError),
    ],
)
def test_the_python_module_refuses_what_the_library_refuses(name: str, cell: Any, error: type) -> None:
    problem = random_problem(0)
    module: dict[str, Any] = {}
    exec(problem.tree.to_python(), module)
    with pytest.raises(error, match=f"{name}: expected"):
        module["predict"]({**problem.rows[0], name: cell})


def in_sqlite(problem: Problem, table: str) -> list[tuple[Any, ...]]:
    """Return leaf id, label and probabilities of each row by the query."""
    names = [column.name for column in problem.tree.schema.columns]
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE {quoted(table)} (place INTEGER, {', '.join(map(quoted, names))})")
        cells = [(place, *(row[name] for name in names)) for place, row in enumerate(problem.rows)]
        marks = ", ".join("?" * (len(names) + 1))
        database.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", cells)
        query = problem.tree.to_sql("sqlite", table).rstrip().removesuffix(";")
        found = database.execute(f"{query} ORDER BY place").fetchall()
    return [row[len(names) + 1 :] for row in found]


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed % 5 != MIXED])
def test_the_query_predicts_in_sqlite_as_the_library_does(seed: int) -> None:
    problem = random_problem(seed)
    expected = Evaluator(problem.tree.to_json())
    probabilities = problem.tree.probabilities
    for row, (leaf, label, *shares) in zip(problem.rows, in_sqlite(problem, 'my "rows"'), strict=True):
        predicted = expected.predict(row)
        assert (leaf, label) == (predicted.leaf_id, predicted.label)
        assert shares == probabilities[leaf].tolist()


@pytest.mark.parametrize("name", [*(f"sql-{name}" for name in DIALECTS), "pmml", "mlflow"])
def test_a_format_with_one_type_for_a_column_refuses_classes_of_several_types(name: str) -> None:
    tree = random_problem(MIXED, zones=(0, 1, 2)).tree
    with pytest.raises(ExportError, match="classes"):
        FORMATS[name].content(tree)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "onnx"])
def test_every_export_carries_the_model_its_digest_and_its_proof(name: str) -> None:
    tree = random_problem(0, zones=(0, 1, 2)).tree
    content = FORMATS[name].content(tree, "mdl_0123")
    if name == "mlflow":
        content = tree_files(content)
    text = " ".join(content.decode().replace("--", " ").replace("//", " ").replace("#", " ").split())
    assert "mdl_0123" in text
    assert hashlib.sha256(tree.to_json().encode()).hexdigest() in text
    assert tree.proof.statement()[:60] in text.replace(" * ", " ")


def tree_files(archive: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        return b"\n".join(files.read(name) for name in files.namelist())


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"expected one of {', '.join(DIALECTS)}, got 'mysql'"):
        random_problem(0).tree.to_sql("mysql")
