# Written by `make client` from "_async/datasets.py". Change that file instead.
"""Datasets: tables to train on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from literati.client._sync.pages import pages
from literati.client._sync.runtime import in_thread
from literati.client._sync.transport import Transport
from literati.client.call import LONG_TIMEOUT, Call, api_path, given
from literati.client.records import DatasetRecord
from literati.client.tables import table_body


class Dataset(DatasetRecord):
    """A dataset on the server."""

    def __init__(self, transport: Transport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = api_path("datasets", self.id)

    def refresh(self) -> Dataset:
        """Get the dataset again, also with the fields that a list leaves out, and return it."""
        self.data = self._transport.json(Call("GET", self._path))
        return self

    def preview(self, rows: int = 10) -> list[dict[str, Any]]:
        """Return the first rows."""
        answer = self._transport.json(Call("GET", f"{self._path}/preview", {"rows": rows}))
        return list(answer["records"])

    def update(self, *, name: str | None = None, notes: str | None = None) -> Dataset:
        """Change the name or the notes, and return the dataset."""
        patch = given({"name": name, "notes": notes})
        self.data = self._transport.json(Call("PATCH", self._path, json=patch))
        return self

    def delete(self) -> None:
        """Delete the dataset. `restore` takes this back for a day, unless the server keeps it shorter."""
        self._transport.send(Call("DELETE", self._path))

    def restore(self) -> Dataset:
        self.data = self._transport.json(Call("POST", f"{self._path}/restore"))
        return self


class Datasets:
    """The datasets of the server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def upload(
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
    ) -> Dataset:
        """Upload a table: the path of a file, or a pandas, polars or Arrow table.

        A file is sent as it is, in parts: CSV, tab-separated text, Parquet or Arrow, also compressed. A table
        is sent as Arrow. The same bytes with the same options are the same dataset, so an upload that is
        repeated creates nothing new. `types` maps columns to `number`, `category` or `boolean`.
        """
        body = in_thread(table_body, table)
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
        return Dataset(self._transport, self._transport.json(call))

    def get(self, dataset_id: str) -> Dataset:
        data = self._transport.json(Call("GET", api_path("datasets", dataset_id)))
        return Dataset(self._transport, data)

    def list(self, *, page_size: int = 100) -> Iterator[Dataset]:
        """Iterate over all datasets, the newest first."""
        for data in pages(self._transport, "/v1/datasets", {"page_size": page_size}):
            yield Dataset(self._transport, data)

    def delete(self, dataset_id: str) -> None:
        self._transport.send(Call("DELETE", api_path("datasets", dataset_id)))

    def restore(self, dataset_id: str) -> Dataset:
        data = self._transport.json(Call("POST", api_path("datasets", dataset_id, "restore")))
        return Dataset(self._transport, data)
