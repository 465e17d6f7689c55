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

from literati.tree.export.conditions import ExportError
from literati.tree.export.provenance import provenance, sha256
from tests.interop.expected import MIXED, ONE_TYPE, Expected, expected


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


@pytest.mark.parametrize("seed", ONE_TYPE)
def test_onnx(seed: int) -> None:
    problem = expected(seed)
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


def pmml_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the cells in the types of the fields; the evaluator does not convert them."""
    kinds = {"flag": bool, "zone": int, "word": str}
    return {name: kinds.get(name, float)(cell) for name, cell in row.items() if cell is not None}


@pytest.mark.parametrize("seed", ONE_TYPE)
def test_pmml(seed: int) -> None:
    problem = expected(seed)
    model = pypmml.Model.fromString(problem.tree.to_pmml())
    names = [f"probability({label})" for label in _labels(problem)]
    for row, leaf, shares in zip(problem.rows, problem.leaves, problem.probabilities, strict=True):
        answer = model.predict(pmml_row(row))
        assert answer["leaf_id"] == str(leaf)
        assert [answer[name] for name in names] == shares


def _labels(problem: Expected) -> list[str]:
    labels = problem.tree.classes.tolist()
    return [str(label).lower() if isinstance(label, bool) else str(label) for label in labels]


@pytest.mark.filterwarnings("ignore:.*AnyType:UserWarning")  # of MLflow's own classes
@pytest.mark.parametrize("seed", ONE_TYPE)
def test_mlflow(seed: int, tmp_path: Path) -> None:
    problem = expected(seed)
    problem.tree.to_mlflow(tmp_path / "model")
    model = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    cells = {
        name: [
            cell if cell is None or isinstance(cell, str) else float(cell)
            for cell in (row[name] for row in problem.rows)
        ]
        for name in problem.names
    }
    frame = pd.DataFrame({name: np.array(values, dtype=object) for name, values in cells.items()})
    frame = frame.astype({name: float for name in problem.names if name != "word"})
    assert model.predict(frame).tolist() == problem.labels
    probabilities = model.predict(frame, params={"method": "predict_proba"})
    assert probabilities.tolist() == problem.probabilities
    assert model.metadata.metadata == provenance(problem.tree, None)


def test_mlflow_does_not_overwrite_a_folder(tmp_path: Path) -> None:
    tree = expected(0).tree
    tree.to_mlflow(tmp_path / "model")
    with pytest.raises(FileExistsError, match="is not empty"):
        tree.to_mlflow(tmp_path / "model")
