"""Datasets: tables to train on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from literati.client._async.pages import pages
from literati.client._async.runtime import in_thread
from literati.client._async.transport import AsyncTransport
from literati.client.call import LONG_TIMEOUT, Call, api_path, given
from literati.client.records import DatasetRecord
from literati.client.tables import table_body


class AsyncDataset(DatasetRecord):
    """A dataset on the server."""

    def __init__(self, transport: AsyncTransport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = api_path("datasets", self.id)

    async def refresh(self) -> AsyncDataset:
        """Get the dataset again, also with the fields that a list leaves out, and return it."""
        self.data = await self._transport.json(Call("GET", self._path))
        return self

    async def preview(self, rows: int = 10) -> list[dict[str, Any]]:
        """Return the first rows."""
        answer = await self._transport.json(Call("GET", f"{self._path}/preview", {"rows": rows}))
        return list(answer["records"])

    async def update(self, *, name: str | None = None, notes: str | None = None) -> AsyncDataset:
        """Change the name or the notes, and return the dataset."""
        patch = given({"name": name, "notes": notes})
        self.data = await self._transport.json(Call("PATCH", self._path, json=patch))
        return self

    async def delete(self) -> None:
        """Delete the dataset. `restore` takes this back for a day, unless the server keeps it shorter."""
        await self._transport.send(Call("DELETE", self._path))

    async def restore(self) -> AsyncDataset:
        self.data = await self._transport.json(Call("POST", f"{self._path}/restore"))
        return self


class AsyncDatasets:
    """The datasets of the server."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def upload(
        self,
        table: Any,
        target: str,
        *,
        weight: str | None = None,
        drop: Sequence[str] = (),
        types: Mapping[str, str] | None = None,
        delimiter: str | None = None,
        decimal: str | None = None,
        null_values: Sequence[str] | None = None,
        name: str | None = None,
    ) -> AsyncDataset:
        """Upload a table: the path of a file, or a pandas, polars or Arrow table.

        A file is sent as it is, in parts: CSV, tab-separated text, Parquet or Arrow, also compressed. A table
        is sent as Arrow. The same bytes with the same options are the same dataset, so an upload that is
        repeated creates nothing new. `types` maps columns to `number`, `category` or `boolean`.
        """
        body = await in_thread(table_body, table)
        query = {
            "target": target,
            "weight": weight,
            "drop": list(drop),
            "types": [f"{column}:{kind}" for column, kind in (types or {}).items()],
            "delimiter": delimiter,
            "decimal": decimal,
            "null_values": None if null_values is None else list(null_values),
            "name": name,
        }
        for option, values in body.options.items():
            query[option] = query[option] or values
        call = Call("POST", "/v1/datasets", query, body=body, timeout=LONG_TIMEOUT)
        return AsyncDataset(self._transport, await self._transport.json(call))

    async def get(self, dataset_id: str) -> AsyncDataset:
        data = await self._transport.json(Call("GET", api_path("datasets", dataset_id)))
        return AsyncDataset(self._transport, data)

    async def list(self, *, page_size: int = 100) -> AsyncIterator[AsyncDataset]:
        """Iterate over all datasets, the newest first."""
        async for data in pages(self._transport, "/v1/datasets", {"page_size": page_size}):
            yield AsyncDataset(self._transport, data)

    async def delete(self, dataset_id: str) -> None:
        await self._transport.send(Call("DELETE", api_path("datasets", dataset_id)))

    async def restore(self, dataset_id: str) -> AsyncDataset:
        data = await self._transport.json(Call("POST", api_path("datasets", dataset_id, "restore")))
        return AsyncDataset(self._transport, data)
