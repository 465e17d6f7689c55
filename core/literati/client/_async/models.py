"""Models and aliases: trees that predict."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.client import html
from literati.client._async.pages import pages
from literati.client._async.runtime import before_display, in_thread
from literati.client._async.transport import AsyncTransport
from literati.client.call import LONG_TIMEOUT, Call, api_path, given
from literati.client.predictions import Predictions, accepted, read_predictions
from literati.client.records import ModelRecord, id_of
from literati.client.tables import rows_body
from literati.tree.model import ShapeTree


async def predictions(
    transport: AsyncTransport, path: str, rows: Any, columns: tuple[str, ...], query: dict[str, Any]
) -> Predictions:
    """Predict with the tree of a model or a job."""
    body = await in_thread(rows_body, rows, columns)
    headers = {"Accept": accepted(bool(query.get("explain")))}
    call = Call("POST", f"{path}/predict", query, body=body, headers=headers, timeout=LONG_TIMEOUT)
    response = await transport.send(call)
    return await in_thread(read_predictions, response.headers["Content-Type"], response.content)


async def score(
    transport: AsyncTransport, path: str, rows: Any, columns: tuple[str, ...], query: dict[str, Any]
) -> dict[str, Any]:
    """Score the tree of a model or a job."""
    body = await in_thread(rows_body, rows, columns)
    return await transport.json(Call("POST", f"{path}/score", query, body=body, timeout=LONG_TIMEOUT))


class AsyncModel(ModelRecord):
    """A model on the server. It predicts there; `tree` returns the tree itself, which predicts here."""

    def __init__(self, transport: AsyncTransport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = api_path("models", self.id)
        self._tree: ShapeTree | None = None

    async def refresh(self) -> AsyncModel:
        """Get the model again, also with the fields that a list leaves out, and return it."""
        self.data = await self._transport.json(Call("GET", self._path))
        return self

    async def tree(self) -> ShapeTree:
        """Return the tree. It predicts without the server."""
        if self._tree is None:
            if "tree" not in self.data:
                await self.refresh()
            self._tree = ShapeTree.from_dict(self.data["tree"])
        return self._tree

    async def predict(self, rows: Any) -> npt.NDArray[Any]:
        """Return the class of each row, as a label of the training data.

        Rows are a table, the path of a file, a mapping, a list of mappings, or an array whose columns are
        those of the training data.
        """
        return (await self.predictions(rows)).labels

    async def predict_proba(self, rows: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class for each row, in the order of the tree's classes."""
        return (await self.predictions(rows)).probabilities

    async def predictions(self, rows: Any, *, explain: bool = False) -> Predictions:
        """Return classes, probabilities, leaves and warnings, and with `explain` the way of each row."""
        columns = (await self.tree()).feature_names
        query = {"explain": "true" if explain else None}
        return await predictions(self._transport, self._path, rows, columns, query)

    async def score(
        self, rows: Any, *, target: str | None = None, weight: str | None = None
    ) -> dict[str, Any]:
        """Return the scores on rows with their true classes, in the column `target` or as in training."""
        query = {"target": target, "weight": weight}
        return await score(self._transport, self._path, rows, (), query)

    async def rules(self) -> str:
        """Return the tree as rules in text."""
        return (await self.tree()).to_text()

    async def export(self, format: str, path: str | Path | None = None) -> bytes:
        """Return the tree in another format, and write it to a file if there is a path.

        The formats are "sql-ansi", "sql-postgresql", "sql-duckdb", "sql-sqlite", "python", "javascript", "c",
        "java", "onnx", "pmml" and "mlflow", which is a zip archive of a folder.
        """
        call = Call("GET", f"{self._path}/export", {"format": format}, headers={"Accept": "*/*"})
        content = (await self._transport.send(call)).content
        if path is not None:
            await in_thread(Path(path).write_bytes, content)
        return content

    async def update(self, *, name: str | None = None, notes: str | None = None) -> AsyncModel:
        """Change the name or the notes, and return the model."""
        patch = given({"name": name, "notes": notes})
        await self._transport.send(Call("PATCH", self._path, json=patch))
        return await self.refresh()

    async def delete(self) -> None:
        """Delete the model. `restore` takes this back for a day, unless the server keeps it shorter."""
        await self._transport.send(Call("DELETE", self._path))

    async def restore(self) -> AsyncModel:
        await self._transport.send(Call("POST", f"{self._path}/restore"))
        return await self.refresh()

    def _repr_html_(self) -> str:
        before_display(self.tree)
        return html.model(self.data, self._tree)


class AsyncModels:
    """The models of the server."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        self.aliases = AsyncAliases(transport)

    async def get(self, model: str) -> AsyncModel:
        """Return a model by its id or by an alias."""
        data = await self._transport.json(Call("GET", api_path("models", model)))
        return AsyncModel(self._transport, data)

    async def list(self, *, page_size: int = 100) -> AsyncIterator[AsyncModel]:
        """Iterate over all models, the newest first."""
        async for data in pages(self._transport, "/v1/models", {"page_size": page_size}):
            yield AsyncModel(self._transport, data)

    async def predict(self, model: str, rows: Any) -> npt.NDArray[Any]:
        """Return the class of each row from the model that this id or alias names at the moment.

        Rows need column names, because the model is not looked up first.
        """
        return (await predictions(self._transport, api_path("models", model), rows, (), {})).labels

    async def delete(self, model_id: str) -> None:
        await self._transport.send(Call("DELETE", api_path("models", model_id)))

    async def restore(self, model_id: str) -> AsyncModel:
        await self._transport.send(Call("POST", api_path("models", model_id, "restore")))
        return await self.get(model_id)


class AsyncAliases:
    """Names that refer to a model and can be moved to another one."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def list(self) -> dict[str, str]:
        """Return the ids of models by alias."""
        answer = await self._transport.json(Call("GET", "/v1/models/aliases"))
        return {item["name"]: item["model_id"] for item in answer["items"]}

    async def set(self, alias: str, model: AsyncModel | str) -> None:
        """Create an alias, or move it to another model."""
        body = {"model_id": id_of(model)}
        await self._transport.send(Call("PUT", api_path("models", "aliases", alias), json=body))

    async def delete(self, alias: str) -> None:
        await self._transport.send(Call("DELETE", api_path("models", "aliases", alias)))
