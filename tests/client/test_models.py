"""Models: predictions in every form, aliases, scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from literati.client import (
    Client,
    ConflictError,
    InvalidRequestError,
    Model,
    NotFoundError,
    predictions,
    tables,
)
from literati.tree.export.formats import FORMATS
from tests.client.test_datasets import mixed


@pytest.fixture
def model(client: Client) -> Model:
    dataset = client.datasets.upload(mixed(), target="label")
    return client.jobs.create(dataset, max_depth=2, max_expansions=100).wait()


@pytest.mark.parametrize("with_pyarrow", [True, False])
@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "records", "array", "csv"])
def test_rows_in_every_form(
    model: Model, form: str, with_pyarrow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = mixed().drop(columns="label").astype({"kind": str})
    expected = model.tree().predict(rows)
    shares = model.tree().predict_proba(rows)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    forms: dict[str, Any] = {
        "pandas": rows,
        "polars": pl.from_pandas(rows),
        "arrow": pa.Table.from_pandas(rows, preserve_index=False),
        "records": rows.to_dict("records"),
        "array": rows.to_numpy(dtype=object),
        "csv": tmp_path / "rows.csv",
    }
    if not with_pyarrow:
        if form == "arrow":
            return
        for module in (tables, predictions):
            monkeypatch.setattr(module, "has_pyarrow", lambda: False)
    found = model.predictions(forms[form])
    assert found.labels.tolist() == expected.tolist()
    assert found.labels.dtype == object
    np.testing.assert_array_equal(found.probabilities, shares)
    assert found.classes == tuple(model.tree().classes)
    assert found.leaf_ids.tolist() == model.tree().apply(rows).tolist()


def test_labels_keep_their_type(client: Client) -> None:
    frame = pd.DataFrame({"x": np.arange(40.0), "y": np.arange(40) // 20})
    dataset = client.datasets.upload(frame, target="y")
    model = client.jobs.create(dataset, max_depth=1).wait()
    labels = model.predict(frame[["x"]])
    assert labels.dtype.kind == "i"
    assert labels.tolist() == frame["y"].tolist()
    assert model.predict_proba(frame[["x"]]).shape == (40, 2)


def test_warnings_and_explanations(model: Model) -> None:
    found = model.predictions({"count": 100, "colour": "red"}, explain=True)
    assert {warning["code"] for warning in found.warnings} >= {"UNKNOWN_COLUMN", "OUT_OF_RANGE"}
    assert found.explanations[0]["steps"]
    assert found.labels.tolist() == ["high"]


def test_rows_that_do_not_fit(model: Model) -> None:
    with pytest.raises(ValueError, match=r"Expected rows of 5 columns, got an array of shape \(1, 2\)"):
        model.predict([[1, 2]])
    with pytest.raises(TypeError, match="need column names"):
        model.score([[1, 2]])


def test_aliases(client: Client, model: Model) -> None:
    client.models.aliases.set("production", model)
    assert client.models.aliases.list()["production"] == model.id
    assert client.models.get("production") == client.models.get(model.id)
    assert client.models.predict("production", {"count": 8}).tolist() == ["high"]
    with pytest.raises(ConflictError) as caught:
        model.delete()
    assert caught.value.kind == "model-in-use"
    client.models.aliases.delete("production")
    with pytest.raises(NotFoundError):
        client.models.get("production")


def test_exports(model: Model, tmp_path: Path) -> None:
    content = model.export("python", tmp_path / "tree.py")
    assert (tmp_path / "tree.py").read_bytes() == content == FORMATS["python"].content(model.tree(), model.id)
    assert model.export("onnx") == FORMATS["onnx"].content(model.tree(), model.id)
    with pytest.raises(InvalidRequestError, match="Did you mean 'javascript'"):
        model.export("java-script")


def test_a_model_from_its_job_to_its_end(client: Client, model: Model) -> None:
    assert model.update(name="best", notes="why").name == "best"
    assert model.rules().startswith("Shape tree of depth")
    assert model.metrics["train"]["accuracy"] == 1
    scored = model.score(mixed().rename(columns={"label": "truth"}), target="truth")
    assert scored["scores"]["accuracy"] == 1
    (listed,) = [found for found in client.models.list(page_size=1) if found.id == model.id]
    assert "tree" not in listed.data
    assert listed.tree() == model.tree()
    assert repr(model) == f"<model {model.id}: objective 0, proven optimal>"
    model.delete()
    assert model.restore().name == "best"
    client.models.delete(model.id)
