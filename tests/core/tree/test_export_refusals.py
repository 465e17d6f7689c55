"""Exports refuse what they cannot say, and an exported module refuses what the library refuses."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

from literati import LiteratiClassifier, ShapeTree
from literati.data.labels import plain
from literati.tree.export.conditions import ExportError
from literati.tree.export.formats import FORMATS, FormatName
from literati.tree.export.sql import DIALECTS
from tests.support.solver.format_problems import random_problem
from tests.support.solver.hard_problems import deep_chain

SQL = {f"sql-{name}" for name in DIALECTS}
ONE_TYPE = SQL | {"onnx", "pmml", "mlflow"}  # formats in which a column has one type
MIXED = 4  # the seed of a problem with classes of several types
REFUSED: dict[str, tuple[str, list[Any], list[Any], set[str]]] = {  # name, categories, classes, formats
    "code point 0 in a name": ("x\0y", ["a", "b"], [0, 1], SQL | {"c", "onnx", "pmml"}),
    "half a character in a name": ("x\ud800y", ["a", "b"], [0, 1], SQL | {"c", "onnx", "pmml"}),
    "a control character": ("x", ["a\x01", "b"], [0, 1], {"pmml"}),
    "the separator of Java": ("x", ["a\x1f", "b"], [0, 1], {"java", "pmml"}),
    "no name": ("", ["a", "b"], [0, 1], SQL | {"onnx"}),
    "a backslash": ("x", ["a\\", "b"], [0, 1], {"sql-ansi"}),
    "a category beyond 32 bits": ("x", [2**31, 0], [0, 1], {"pmml"}),
    "a category beyond doubles": ("x", [2**53 + 1, 0], [0, 1], {"onnx", "pmml", "mlflow"}),
    "a category beyond 64 bits": ("x", [2**70, 0], [0, 1], SQL | {"c", "onnx", "pmml", "mlflow"}),
    "texts and numbers": ("x", [1, "1"], [0, 1], ONE_TYPE),
    "a class beyond 64 bits": ("x", ["a", "b"], [2**70, 0], SQL | {"onnx", "pmml"}),
    "classes that are tuples": ("x", ["a", "b"], [("a", 1), ("b", 2)], ONE_TYPE | {"javascript", "java"}),
    "half a character in a class": ("x", ["a", "b"], ["\ud800", "b"], SQL | {"c", "onnx", "pmml"}),
}


def one_split(name: str, categories: list[Any], classes: list[Any]) -> tuple[ShapeTree, pd.DataFrame]:
    """Return a tree that splits a column of two categories, and its rows."""
    cells = pd.Categorical(categories, categories=pd.Index(categories, dtype=object))
    frame = pd.DataFrame({0: cells}).set_axis(pd.Index([name], dtype=object), axis=1)
    y = np.fromiter(classes, dtype=object, count=2)
    return LiteratiClassifier(max_depth=1).fit(frame, y).tree_, frame


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_format_cannot_say_is_refused_with_a_sentence(case: str) -> None:
    name, categories, classes, formats = REFUSED[case]
    tree, frame = one_split(name, categories, classes)
    refused = {}
    for format_name, form in FORMATS.items():
        try:
            form.content(tree)
        except ExportError as error:
            refused[format_name] = str(error)
    assert set(refused) == formats
    assert all(text[0].isupper() and text.endswith("export to Python instead") for text in refused.values())
    module: dict[str, Any] = {}
    exec(compile(FORMATS["python"].content(tree), "tree.py", "exec"), module)
    assert [module["predict"]({name: cell}) for cell in categories] == list(map(plain, tree.predict(frame)))


@pytest.mark.parametrize("name", sorted(ONE_TYPE))
def test_a_format_with_one_type_for_a_column_refuses_classes_of_several_types(name: FormatName) -> None:
    tree = random_problem(MIXED, zones=(0, 1, 2)).tree
    with pytest.raises(ExportError, match="classes"):
        FORMATS[name].content(tree)


def test_sqlite_refuses_a_tree_that_its_parser_cannot_read() -> None:
    with pytest.raises(ExportError, match="allows 16 nested conditions, but the depth of the tree is 64"):
        deep_chain().tree.to_sql("sqlite")


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"expected one of {', '.join(DIALECTS)}, got 'mysql'"):
        random_problem(0).tree.to_sql("mysql")


@pytest.fixture(scope="module")
def module() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(random_problem(0).tree.to_python(), found)
    return found


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
def test_the_python_module_refuses_what_the_library_refuses(
    module: dict[str, Any], name: str, cell: Any, error: type[Exception]
) -> None:
    row = dict.fromkeys(module["COLUMNS"])
    with pytest.raises(error, match=f"{name}: expected"):
        module["predict"]({**row, name: cell})
    del row[name]
    with pytest.raises(KeyError, match=f"{name}: the row has no such column"):
        module["predict"](row)


def test_a_text_among_categories_that_are_numbers_is_an_unseen_category() -> None:
    values = [1, 2, 3] * 20
    tree = fitted(pd.Categorical(values), [value == 1 for value in values])
    found: dict[str, Any] = {}
    exec(tree.to_python(), found)
    cells = {cell: found["predict"]({"c": cell}) for cell in (1, "1", 4, "b")}
    assert cells == {1: True, "1": False, 4: False, "b": False}
    assert list(cells.values()) == [
        tree.predict(pd.DataFrame({"c": np.array([cell], dtype=object)}))[0] for cell in cells
    ]


@pytest.mark.parametrize(
    ("values", "affinity", "cells"),
    [
        ([0.0, 0.0, 2.0], "", {"2 rooms": 1, "rooms": 0, "true": 0}),
        ([False, False, True], "", {"1": 1, "true": 0, 2: 0, 1.5: 1}),
        (["1", "1", "2"], "", {1: 0, 2: 0, "2": 1}),
        (["1", "1", "2"], "TEXT", {1: 0, 2: 1}),
        (["1", "1", "2"], "INTEGER", {1: 0, 2: 1}),
        (pd.Categorical([1, 1, 2]), "", {2: 1, "2": 0}),
        (pd.Categorical([1, 1, 2]), "REAL", {2: 1, "2": 1}),
    ],
)
def test_sqlite_converts_cells_of_another_type_as_the_documentation_says(
    values: Any, affinity: str, cells: dict[Any, int]
) -> None:
    tree = fitted(values, [0, 0, 1])  # an unseen category goes where most rows went
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE rows_to_predict (c {affinity})")
        database.executemany("INSERT INTO rows_to_predict VALUES (?)", [(cell,) for cell in cells])
        database.row_factory = sqlite3.Row
        found = [row["prediction"] for row in database.execute(tree.to_sql("sqlite"))]
    assert found == list(cells.values())


def fitted(values: Any, y: list[Any]) -> ShapeTree:
    """Return a tree of one column."""
    return LiteratiClassifier(max_depth=1).fit(pd.DataFrame({"c": values}), y).tree_


def test_the_python_module_reads_cells_of_numpy_and_pandas(module: dict[str, Any]) -> None:
    rows = random_problem(0).rows
    for row in rows[:100]:
        series = pd.Series(
            {name: pd.NA if cell is None else cell for name, cell in row.items()}, dtype=object
        )
        typed = {name: np.float64(cell) if isinstance(cell, float) else cell for name, cell in series.items()}
        nan = {name: np.nan if cell is None else cell for name, cell in row.items()}
        assert {module["leaf_id"](cells) for cells in (series, typed, nan)} == {module["leaf_id"](row)}
    assert module["leaf_id"]({**rows[0], "coarse": np.int64(3)}) == module["leaf_id"](
        {**rows[0], "coarse": 3}
    )
