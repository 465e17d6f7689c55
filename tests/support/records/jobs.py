"""Datasets and jobs for tests without HTTP, written directly to the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from worker.blobs.local import Blobs
from worker.domain.base import new_id
from worker.domain.datasets import ClassInfo, ColumnInfo, Dataset
from worker.domain.jobs import NewJob
from worker.domain.parameters import Limits, Parameters
from worker.store import Store

TENANT = "default"


def noise(rows: int = 600, columns: int = 8, seed: int = 0) -> dict[str, Any]:
    """Return a table whose search does not end by itself within a test."""
    rng = np.random.default_rng(seed)
    table: dict[str, Any] = {f"x{j}": rng.normal(size=rows) for j in range(columns)}
    table["label"] = rng.choice(["a", "b", "c"], rows)
    return table


def easy(rows: int = 300, seed: int = 0) -> dict[str, Any]:
    """Return a table whose tree is proven optimal at once."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=rows).round(2), rng.integers(0, 5, rows)
    flipped = rng.random(rows) < 0.05
    return {"x": x, "z": z, "label": np.where((np.abs(x) < 0.7) ^ (z == 3) ^ flipped, "in", "out")}


def add_dataset(
    store: Store, blobs: Blobs, cells: dict[str, Any], weight: str | None = None, *, tenant: str = TENANT
) -> Dataset:
    """Write the record and the blob that an upload would leave."""
    dataset_id = new_id("ds")
    table = pa.table(cells).replace_schema_metadata({"literati.dataset": dataset_id})
    with blobs.temporary_file() as file:
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        blob = blobs.commit(file)
    labels, counts = np.unique(np.asarray(cells["label"]), return_counts=True)
    roles: dict[str | None, Any] = {"label": "target", weight: "weight"}
    dataset = Dataset(
        id=dataset_id,
        tenant=tenant,
        sha256=blob,
        blob=blob,
        bytes=1,
        rows=table.num_rows,
        target="label",
        weight=weight,
        columns=[
            ColumnInfo(name=name, type="number", role=roles.get(name, "feature"), missing=0)
            for name in table.column_names
        ],
        classes=[
            ClassInfo(label=label, count=count)
            for label, count in zip(labels.tolist(), counts.tolist(), strict=True)
        ],
        created_at=datetime.now(UTC),
    )
    return store.datasets.add(dataset, content_key=dataset_id)


def spec(dataset: Dataset, parameters: dict[str, Any] | None = None, **fields: Any) -> NewJob:
    limits = fields.pop("limits", {})
    return NewJob(
        id=new_id("job"),
        tenant=dataset.tenant,
        dataset_id=dataset.id,
        dataset_sha256=dataset.sha256,
        engine_version="test",
        parameters=Parameters(**(parameters or {})),
        limits=Limits(**limits),
        **fields,
    )
