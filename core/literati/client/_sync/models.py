# Written by `make client` from "_async/models.py". Change that file instead.
"""Models and aliases: trees that predict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.client import html
from literati.client._sync.pages import pages
from literati.client._sync.runtime import before_display, in_thread
from literati.client._sync.transport import Transport
from literati.client.call import LONG_TIMEOUT, Call, api_path, given
from literati.client.predictions import Predictions, accepted, read_predictions
from literati.client.records import ModelRecord, id_of
from literati.client.tables import rows_body
from literati.tree.model import ShapeTree


def predictions(
    transport: Transport, path: str, rows: Any, columns: tuple[str, ...], query: dict[str, Any]
) -> Predictions:
    """Predict with the tree of a model or a job."""
    body = in_thread(rows_body, rows, columns)
    headers = {"Accept": accepted(bool(query.get("explain")))}
    call = Call("POST", f"{path}/predict", query, body=body, headers=headers, timeout=LONG_TIMEOUT)
    response = transport.send(call)
    return in_thread(read_predictions, response.headers["Content-Type"], response.content)


def score(
    transport: Transport, path: str, rows: Any, columns: tuple[str, ...], query: dict[str, Any]
) -> dict[str, Any]:
    """Score the tree of a model or a job."""
    body = in_thread(rows_body, rows, columns)
    return transport.json(Call("POST", f"{path}/score", query, body=body, timeout=LONG_TIMEOUT))


class Model(ModelRecord):
    """A model on the server. It predicts there; `tree` returns the tree itself, which predicts here."""

    def __init__(self, transport: Transport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = api_path("models", self.id)
        self._tree: ShapeTree | None = None

    def refresh(self) -> Model:
        """Get the model again, also with the fields that a list leaves out, and return it."""
        self.data = self._transport.json(Call("GET", self._path))
        return self

    def tree(self) -> ShapeTree:
        """Return the tree. It predicts without the server."""
        if self._tree is None:
            if "tree" not in self.data:
                self.refresh()
            self._tree = ShapeTree.from_dict(self.data["tree"])
        return self._tree

    def predict(self, rows: Any) -> npt.NDArray[Any]:
        """Return the class of each row, as a label of the training data.

        Rows are a table, the path of a file, a mapping, a list of mappings, or an array whose columns are
        those of the training data.
        """
        return self.predictions(rows).labels

    def predict_proba(self, rows: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class for each row, in the order of the tree's classes."""
        return self.predictions(rows).probabilities

    def predictions(self, rows: Any, *, explain: bool = False) -> Predictions:
        """Return classes, probabilities, leaves and warnings, and with `explain` the way of each row."""
        columns = self.tree().feature_names
        query = {"explain": "true" if explain else None}
        return predictions(self._transport, self._path, rows, columns, query)

    def score(self, rows: Any, *, target: str | None = None, weight: str | None = None) -> dict[str, Any]:
        """Return the scores on rows with their true classes, in the column `target` or as in training."""
        query = {"target": target, "weight": weight}
        return score(self._transport, self._path, rows, (), query)

    def rules(self) -> str:
        """Return the tree as rules in text."""
        return self.tree().to_text()

    def export(self, format: str, path: str | Path | None = None) -> bytes:
        """Return the tree in another format, and write it to a file if there is a path.

        The formats are "sql-ansi", "sql-postgresql", "sql-duckdb", "sql-sqlite", "python", "javascript", "c",
        "java", "onnx", "pmml" and "mlflow", which is a zip archive of a folder.
        """
        call = Call("GET", f"{self._path}/export", {"format": format}, headers={"Accept": "*/*"})
        content = self._transport.send(call).content
        if path is not None:
            in_thread(Path(path).write_bytes, content)
        return content

    def update(self, *, name: str | None = None, notes: str | None = None) -> Model:
        """Change the name or the notes, and return the model."""
        patch = given({"name": name, "notes": notes})
        self._transport.send(Call("PATCH", self._path, json=patch))
        return self.refresh()

    def delete(self) -> None:
        """Delete the model. `restore` takes this back for a day, unless the server keeps it shorter."""
        self._transport.send(Call("DELETE", self._path))

    def restore(self) -> Model:
        self._transport.send(Call("POST", f"{self._path}/restore"))
        return self.refresh()

    def _repr_html_(self) -> str:
        before_display(self.tree)
        return html.model(self.data, self._tree)


class Models:
    """The models of the server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.aliases = Aliases(transport)

    def get(self, model: str) -> Model:
        """Return a model by its id or by an alias."""
        data = self._transport.json(Call("GET", api_path("models", model)))
        return Model(self._transport, data)

    def list(self, *, page_size: int = 100) -> Iterator[Model]:
        """Iterate over all models, the newest first."""
        for data in pages(self._transport, "/v1/models", {"page_size": page_size}):
            yield Model(self._transport, data)

    def predict(self, model: str, rows: Any) -> npt.NDArray[Any]:
        """Return the class of each row from the model that this id or alias names at the moment.

        Rows need column names, because the model is not looked up first.
        """
        return predictions(self._transport, api_path("models", model), rows, (), {}).labels

    def delete(self, model_id: str) -> None:
        self._transport.send(Call("DELETE", api_path("models", model_id)))

    def restore(self, model_id: str) -> Model:
        self._transport.send(Call("POST", api_path("models", model_id, "restore")))
        return self.get(model_id)


class Aliases:
    """Names that refer to a model and can be moved to another one."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> dict[str, str]:
        """Return the ids of models by alias."""
        answer = self._transport.json(Call("GET", "/v1/models/aliases"))
        return {item["name"]: item["model_id"] for item in answer["items"]}

    def set(self, alias: str, model: Model | str) -> None:
        """Create an alias, or move it to another model."""
        body = {"model_id": id_of(model)}
        self._transport.send(Call("PUT", api_path("models", "aliases", alias), json=body))

    def delete(self, alias: str) -> None:
        self._transport.send(Call("DELETE", api_path("models", "aliases", alias)))
