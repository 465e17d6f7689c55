"""Records of datasets. The tables themselves are blobs."""

from __future__ import annotations

import redis

from worker.messages import Dataset

from .client import Scripts
from .jobs import digest
from .pages import Page, hashes, newest


class DatasetStore:
    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def add(self, dataset: Dataset, *, content_key: str) -> Dataset:
        """Returns the one already there if the tenant has one of the same content."""
        _, record = self._scripts.run(
            "add_dataset",
            dataset.id,
            dataset.tenant,
            dataset.model_dump_json(),
            digest(dataset.tenant, content_key),
            dataset.blob,
        )
        return Dataset.model_validate_json(record)

    def find(self, tenant: str, content_key: str) -> Dataset | None:
        dataset_id = self._client.get(f"literati:dataset-content:{digest(tenant, content_key)}")
        return self.get(tenant, dataset_id.decode()) if isinstance(dataset_id, bytes) else None

    def get(self, tenant: str, dataset_id: str) -> Dataset | None:
        owner, record = self._client.hmget(_key(dataset_id), ["tenant", "record"])
        if record is None or owner != tenant.encode():
            return None
        return Dataset.model_validate_json(record)

    def list(self, tenant: str, *, page_size: int = 50, page_token: str | None = None) -> Page[Dataset]:
        ids, token = newest(self._client, [f"literati:tenant-datasets:{tenant}"], page_size, page_token)
        found = hashes(self._client, [_key(dataset_id) for dataset_id in ids])
        return Page([Dataset.model_validate_json(record[b"record"]) for record in found if record], token)

    def delete(self, tenant: str, dataset_id: str) -> Dataset:
        """Its blob, which other datasets may share, becomes garbage when the last of them is deleted."""
        _, record = self._scripts.run("delete_dataset", dataset_id, tenant)
        return Dataset.model_validate_json(record)


def _key(dataset_id: str) -> str:
    return f"literati:dataset:{dataset_id}"
