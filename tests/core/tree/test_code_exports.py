"""Exports that need nothing but Python: a Python module, SQL in SQLite, and ONNX in its own evaluator."""

from __future__ import annotations

import hashlib
import io
import sqlite3
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any, get_args

import duckdb
import numpy as np
import onnx
import pandas as pd
import pytest
from onnx.reference import ReferenceEvaluator

from literati import LiteratiClassifier, __version__
from literati.mlflow import _load_pyfunc
from literati.tree.export.formats import FORMATS, FormatName
from literati.tree.export.sql import DIALECTS
from tests.support.paths import ROOT
from tests.support.solver.format_evaluator import Evaluator
from tests.support.solver.format_problems import Problem, as_frame, random_problem
from tests.support.solver.hard_problems import HARD_PROBLEMS, one_leaf
from tests.support.solver.pmml_verification import verification_rows

MIXED = 4  # seeds with this remainder by 5 have classes of several types
PROBLEMS: list[int | str] = [*range(50), *HARD_PROBLEMS]
ONE_TYPE = [*(seed for seed in range(62) if seed % 5 != MIXED), *HARD_PROBLEMS]


def problem_of(key: int | str) -> Problem:
    return HARD_PROBLEMS[key]() if isinstance(key, str) else random_problem(key)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("key", PROBLEMS)
def test_the_python_module_predicts_as_the_library_does(key: int | str) -> None:
    problem = problem_of(key)
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
    return [(row[0], *row[len(names) + 2 :]) for row in found]


@pytest.mark.parametrize("key", [key for key in ONE_TYPE if key != "deep_chain"])
def test_the_query_predicts_in_sqlite_as_the_library_does(key: int | str) -> None:
    problem = problem_of(key)
    expected = Evaluator(problem.tree.to_json())
    probabilities = problem.tree.probabilities
    for row, (leaf, label, *shares) in zip(problem.rows, in_sqlite(problem, 'my "rows"'), strict=True):
        predicted = expected.predict(row)
        assert (leaf, label) == (predicted.leaf_id, predicted.label)
        assert shares == probabilities[leaf].tolist()


def test_the_query_reads_its_own_leaf_if_the_table_has_leaves_of_an_earlier_query() -> None:
    problem = random_problem(0)
    names = [column.name for column in problem.tree.schema.columns]
    expected = Evaluator(problem.tree.to_json())
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE rows_to_predict ({', '.join(map(quoted, names))}, leaf_id)")
        cells = [(*(row[name] for name in names), -1) for row in problem.rows]
        marks = ", ".join("?" * (len(names) + 1))
        database.executemany(f"INSERT INTO rows_to_predict VALUES ({marks})", cells)
        database.row_factory = sqlite3.Row
        found = [row["prediction"] for row in database.execute(problem.tree.to_sql("sqlite"))]
    assert found == [expected.predict(row).label for row in problem.rows]


def test_numbers_in_sqlite_have_every_bit() -> None:
    rng = np.random.default_rng(7)
    exponents = [*rng.integers(-320, 290, 3000), *rng.integers(-32, 6, 20_000)]
    decimals = [float(f"{rng.integers(10**14, 10**15)}e{exponent}") for exponent in exponents]
    special = [0.0, 0.31, 29.5, 1e15, 1e16, 2.0**63, 1e19, 1e20, 6.02214076e23, sys.float_info.max, 5e-324]
    with sqlite3.connect(":memory:") as database:
        for number in (*decimals, *special, *(-number for number in special)):
            literal = DIALECTS["sqlite"].literal(number)
            assert database.execute(f"SELECT {literal}").fetchone() == (number,), literal


@pytest.mark.parametrize("missing", [0, 1])
def test_nan_among_categories_that_are_numbers_is_missing_in_duckdb(missing: int) -> None:
    """Rows without a value have a class of their own, and go another way than unseen categories."""
    values = [1.5, 2.5, None] * 20
    y = [{1.5: 0, 2.5: 1, None: missing}[value] for value in values]
    frame = pd.DataFrame({"c": pd.Categorical(values, categories=[1.5, 2.5])})
    tree = LiteratiClassifier(max_depth=1).fit(frame, y).tree_
    with duckdb.connect() as database:
        database.execute("CREATE TABLE rows_to_predict (c DOUBLE)")
        database.execute("INSERT INTO rows_to_predict VALUES (1.5), (2.5), ('NaN'), (NULL)")
        found = database.execute(tree.to_sql("duckdb")).fetchall()
        names = [column[0] for column in database.description]
    assert [row[names.index("prediction")] for row in found] == [0, 1, missing, missing]


def test_sqlite_takes_infinity_for_a_large_number() -> None:
    problem = random_problem(0)
    numbers = ("coarse", "close", "narrow", "edges", "whole")
    largest = [{**row, name: sys.float_info.max} for row in problem.rows[:20] for name in numbers]
    infinite = [{**row, name: float("inf")} for row in problem.rows[:20] for name in numbers]
    answers = [in_sqlite(Problem(problem.tree, rows), "t") for rows in (largest, infinite)]
    assert answers[0] == answers[1]
    assert len({leaf for leaf, *_ in answers[0]}) > 3


@pytest.mark.parametrize("key", [0, 1, 3, *HARD_PROBLEMS])
def test_the_onnx_model_predicts_in_its_own_evaluator_as_the_library_does(key: int | str) -> None:
    """`make test-interop` compares more trees, in onnxruntime."""
    problem = HARD_PROBLEMS[key]() if isinstance(key, str) else random_problem(key, zones=(0, 1, 2, -7))
    model = onnx.load_from_string(problem.tree.to_onnx())
    onnx.checker.check_model(model, full_check=True)
    missing = {entry.key: entry.value for entry in model.metadata_props}["missing_text"]
    inputs: dict[str, Any] = {}
    for entry in model.graph.input:
        cells = [row[entry.name] for row in problem.rows]
        if entry.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            inputs[entry.name] = np.array(
                [[missing if cell is None else cell] for cell in cells], dtype=object
            )
        else:
            inputs[entry.name] = np.array([[np.nan if cell is None else float(cell)] for cell in cells])
    outputs: Any = ReferenceEvaluator(model).run(None, inputs)
    labels, probabilities, leaves = outputs
    expected = Evaluator(problem.tree.to_json())
    wanted = [expected.predict(row) for row in problem.rows]
    assert leaves.tolist() == [prediction.leaf_id for prediction in wanted]
    assert labels.tolist() == [prediction.label for prediction in wanted]
    assert (probabilities == problem.tree.probabilities[leaves]).all()


@pytest.mark.parametrize("key", [0, 2, 3, "odd_names", "deep_chain", "one_leaf"])
def test_the_verification_rows_of_pmml_are_what_the_library_predicts(key: int | str) -> None:
    """`make test-interop` compares them with an evaluator."""
    tree = (HARD_PROBLEMS[key]() if isinstance(key, str) else random_problem(key, zones=(0, 1, 2, -7))).tree
    rows = verification_rows(tree.to_pmml())
    expected = Evaluator(tree.to_json())
    for cells, predicted in rows:
        label, probabilities, leaf = expected.predict(cells)
        assert list(predicted.values()) == [label, str(leaf), *probabilities]
    reached = [expected.predict(cells).leaf_id for cells, _ in rows[1:]]
    assert len(set(reached)) == len(reached)
    assert rows[0][0] == {}
    assert min(tree.n_leaves, 20) <= len(rows) <= 32


def test_verification_rows_have_only_texts_that_xml_keeps() -> None:
    """Another text stands for the categories with spaces, line ends and control characters."""
    words = ["", " a", "b\r", "c\x01", "d  e", "fine"]
    frame = pd.DataFrame({"word": words * 10})
    tree = LiteratiClassifier(max_depth=1).fit(frame, [word == "fine" for word in frame["word"]]).tree_
    cells = [row for row, _ in verification_rows(tree.to_pmml())]
    assert {"word": "fine"} in cells
    assert {row.get("word") for row in cells} <= {None, "fine", "unseen 0"}


def test_mlflow_s_loader_reads_the_folder(tmp_path: Path) -> None:
    """`make test-interop` loads it with MLflow itself."""
    problem = random_problem(0, zones=(0, 1, 2))
    problem.tree.to_mlflow(tmp_path / "model")
    model = _load_pyfunc(str(tmp_path / "model" / "model.json"))
    frame = as_frame(problem.rows)
    assert model.predict(frame).tolist() == problem.tree.predict(frame).tolist()
    assert model.predict(frame, {"method": "apply"}).tolist() == problem.tree.apply(frame).tolist()
    with pytest.raises(ValueError, match="method: expected one of predict, predict_proba, apply, got 'fit'"):
        model.predict(frame, {"method": "fit"})


def test_mlflow_s_loader_needs_no_column_for_a_tree_of_one_leaf(tmp_path: Path) -> None:
    one_leaf().tree.to_mlflow(tmp_path / "model")
    model = _load_pyfunc(str(tmp_path / "model" / "model.json"))
    for frame in (pd.DataFrame(index=range(2)), pd.DataFrame({"x": ["text", "text"]})):
        assert model.predict(frame).tolist() == ["yes", "yes"]


def test_the_folder_of_mlflow_requires_this_distribution(tmp_path: Path) -> None:
    random_problem(0, zones=(0, 1, 2)).tree.to_mlflow(tmp_path / "model")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = (tmp_path / "model" / "requirements.txt").read_text().splitlines()
    assert f"{project['name']}=={__version__}" in requirements


def test_the_python_module_of_one_leaf_needs_no_column() -> None:
    tree = one_leaf().tree
    module: dict[str, Any] = {}
    exec(tree.to_python(), module)
    assert not module["COLUMNS"]
    for row in ({}, {"empty": 1, "x": "text"}):
        assert module["leaf_id"](row) == 0
        assert module["predict"](row) == "yes"
        assert module["predict_proba"](row) == tree.probabilities[0].tolist()


def test_the_names_of_formats_are_those_of_the_table() -> None:
    assert get_args(FormatName) == tuple(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_every_export_carries_the_model_its_digest_and_its_proof(name: FormatName) -> None:
    tree = random_problem(0, zones=(0, 1, 2)).tree
    content = FORMATS[name].content(tree, "mdl_0123")
    if name == "mlflow":
        content = tree_files(content)
    text = " ".join(
        content.decode(errors="replace").replace("--", " ").replace("//", " ").replace("#", " ").split()
    )
    assert "mdl_0123" in text
    assert hashlib.sha256(tree.to_json().encode()).hexdigest() in text
    assert tree.proof.statement()[:60] in text.replace(" * ", " ")


def tree_files(archive: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        return b"\n".join(files.read(name) for name in files.namelist())
