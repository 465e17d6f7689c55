"""ONNX in onnxruntime, PMML in an evaluator of the JVM, and MLflow's own loader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pypmml
import pytest

from literati.data.labels import plain
from literati.data.schema import Column
from literati.tree.export.code import cell_kind
from literati.tree.export.conditions import ExportError
from literati.tree.export.names import free_name
from literati.tree.export.provenance import provenance, sha256
from tests.interop.expected import LARGE, MIXED, ONE_TYPE, Expected, Key, expected, fifty, infinite
from tests.support.records.model_maker import mixed_tree
from tests.support.solver.pmml_verification import verification_rows


def onnx_inputs(session: onnxruntime.InferenceSession, problem: Expected) -> dict[str, Any]:
    missing = session.get_modelmeta().custom_metadata_map["missing_text"]
    inputs = {}
    for entry in session.get_inputs():
        cells = [row[entry.name] for row in problem.rows]
        if "string" in entry.type:
            texts = [missing if cell is None else cell for cell in cells]
            inputs[entry.name] = np.array(texts, dtype=object)[:, None]
        else:
            numbers = [np.nan if cell is None else float(cell) for cell in cells]
            inputs[entry.name] = np.array(numbers)[:, None]
    return inputs


@pytest.mark.parametrize("key", ONE_TYPE)
def test_onnx(key: Key) -> None:
    check_onnx(expected(key))


def test_onnx_takes_infinity_for_a_large_number() -> None:
    check_onnx(infinite())


def check_onnx(problem: Expected) -> None:
    content = problem.tree.to_onnx()
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    session = onnxruntime.InferenceSession(content)
    labels, probabilities, leaves = session.run(None, onnx_inputs(session, problem))
    assert leaves.tolist() == problem.leaves
    assert labels.tolist() == problem.labels
    assert probabilities.tolist() == problem.probabilities
    assert session.get_modelmeta().custom_metadata_map["sha256"] == sha256(problem.tree)


def test_onnx_refuses_what_it_cannot_say_exactly() -> None:
    with pytest.raises(ExportError, match="the classes have several"):
        expected(MIXED).tree.to_onnx()
    with pytest.raises(ExportError, match=r"the category \d+ of 'zone'"):
        expected(0, exact=False).tree.to_onnx()


def pmml_row(problem: Expected, row: dict[str, Any]) -> dict[str, Any]:
    """Return the cells in the types of the fields; the evaluator does not convert them."""
    kinds = {"number": float, "boolean": bool}
    columns = [column for column in problem.used if row[column.name] is not None]
    return {column.name: kinds.get(column.kind, plain)(row[column.name]) for column in columns}


def check_pmml(problem: Expected) -> None:
    document = problem.tree.to_pmml()
    model = pypmml.Model.fromString(document)
    label = free_name(problem.tree, "label")
    leaf_id = free_name(problem.tree, "leaf_id")
    names = [f"probability({text})" for text in _labels(problem)]
    answers = [model.predict(pmml_row(problem, row)) for row in problem.rows]
    assert [answer[leaf_id] for answer in answers] == [str(leaf) for leaf in problem.leaves]
    assert [[answer[name] for name in names] for answer in answers] == problem.probabilities
    assert [answer[label] for answer in answers] == problem.labels
    for cells, predicted in verification_rows(document):
        assert dict(model.predict(cells)) == predicted


@pytest.mark.parametrize("key", fifty(LARGE, MIXED))
def test_pmml(key: Key) -> None:
    check_pmml(expected(key))


def test_pmml_takes_infinity_for_a_large_number() -> None:
    check_pmml(infinite())


def _labels(problem: Expected) -> list[str]:
    labels = problem.tree.classes.tolist()
    return [str(label).lower() if isinstance(label, bool) else str(label) for label in labels]


@pytest.mark.filterwarnings("ignore:.*AnyType:UserWarning")  # of MLflow's own classes
@pytest.mark.parametrize("key", ONE_TYPE)
def test_mlflow(key: Key, tmp_path: Path) -> None:
    problem = expected(key)
    problem.tree.to_mlflow(tmp_path / "model")
    model = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    columns = {column.name: cells(column, problem.rows) for column in problem.used}
    frame = pd.DataFrame(columns, index=range(len(problem.rows)))
    assert model.predict(frame).tolist() == problem.labels
    probabilities = model.predict(frame, params={"method": "predict_proba"})
    assert probabilities.tolist() == problem.probabilities
    assert model.predict(frame, params={"method": "apply"}).tolist() == problem.leaves
    assert model.metadata.metadata == provenance(problem.tree, None)


def cells(column: Column, rows: list[dict[str, Any]]) -> Any:
    """Return a column in the type of MLflow's signature."""
    known = [row[column.name] for row in rows]
    if column.kind == "boolean":
        return np.array([None if cell is None else bool(cell) for cell in known], dtype=object)
    if cell_kind(column) == "text":
        return np.array(known, dtype=object)
    return np.array([np.nan if cell is None else float(cell) for cell in known])


@pytest.mark.filterwarnings("ignore:.*AnyType:UserWarning")
def test_mlflow_names_absent_columns_and_ignores_unused_ones(tmp_path: Path) -> None:
    tree = mixed_tree()
    tree.to_mlflow(tmp_path / "model")
    model = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    row = pd.DataFrame([{"size": 0.5, "age": 30.0, "colour": "red", "member": True, "zone": 1.0}])
    assert model.predict(row.assign(more=1)).tolist() == tree.predict(row.assign(planet="earth")).tolist()
    with pytest.raises(mlflow.exceptions.MlflowException, match=r"missing inputs.*member"):
        model.predict(row.drop(columns="member"))


def test_mlflow_does_not_overwrite_a_folder(tmp_path: Path) -> None:
    tree = expected(0).tree
    tree.to_mlflow(tmp_path / "model")
    with pytest.raises(FileExistsError, match="is not empty"):
        tree.to_mlflow(tmp_path / "model")
