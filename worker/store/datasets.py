"""Records of datasets. The tables themselves are blobs."""

from __future__ import annotations

from collections.abc import Mapping

import redis

from worker.errors import DatasetGoneError
from worker.messages import Dataset, DatasetSummary

from .client import Scripts
from .jobs import digest
from .pages import Page, fields, newest


class DatasetStore:
    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def add(
        self, dataset: Dataset, *, content_key: str, most: int | None = None, most_bytes: int | None = None
    ) -> Dataset:
        """Returns the one already there if the tenant has one of the same content.

        LimitReachedError if the tenant would have more datasets, or more bytes of them in the blob store.
        """
        _, record = self._scripts.run(
            "add_dataset",
            dataset.id,
            dataset.tenant,
            dataset.model_dump_json(),
            dataset.summary.model_dump_json(),
            digest(dataset.tenant, content_key),
            dataset.blob,
            dataset.stored_bytes,
            "" if most is None else most,
            "" if most_bytes is None else most_bytes,
        )
        return Dataset.model_validate_json(record)

    def find(self, tenant: str, content_key: str) -> Dataset | None:
        try:
            _, record = self._scripts.run("find_dataset", tenant, digest(tenant, content_key))
        except DatasetGoneError:
            return None
        return Dataset.model_validate_json(record)

    def usage(self, tenant: str) -> tuple[int, int]:
        """How many datasets the tenant has, and how many bytes they take in the blob store."""
        pipeline = self._client.pipeline(transaction=False)
        pipeline.zcard(f"literati:tenant-datasets:{tenant}")
        pipeline.hget("literati:dataset-bytes", tenant)
        count, size = pipeline.execute()
        return int(count), int(size or 0)

    def get(self, tenant: str, dataset_id: str) -> Dataset | None:
        owner, record = self._client.hmget(_key(dataset_id), ["tenant", "record"])
        if record is None or owner != tenant.encode():
            return None
        return Dataset.model_validate_json(record)

    def list(
        self, tenant: str, *, page_size: int = 50, page_token: str | None = None
    ) -> Page[DatasetSummary]:
        """Newest first, without columns and classes, which may be large."""
        ids, token = newest(self._client, [f"literati:tenant-datasets:{tenant}"], page_size, page_token)
        keys = [_key(dataset_id) for dataset_id in ids]
        found = fields(self._client, keys, (b"tenant", b"summary"))
        return Page([self._summary(*item) for item in zip(keys, found, strict=True) if item[1]], token)

    def _summary(self, key: str, record: dict[bytes, bytes]) -> DatasetSummary:
        if b"summary" in record:
            return DatasetSummary.model_validate_json(record[b"summary"])
        (whole,) = fields(self._client, [key], (b"record",))  # of version 0.1.0
        return Dataset.model_validate_json(whole[b"record"]).summary

    def change(self, tenant: str, dataset_id: str, changes: Mapping[str, str | None]) -> Dataset:
        """Give the dataset another `name` or `notes`; None takes them away."""
        while True:
            owner, record = self._client.hmget(_key(dataset_id), ["tenant", "record"])
            if record is None or owner != tenant.encode():
                raise DatasetGoneError
            changed = Dataset.model_validate_json(record).model_copy(update=dict(changes))
            summary = changed.summary.model_dump_json()
            word, *_ = self._scripts.run(
                "change_dataset", dataset_id, tenant, record, changed.model_dump_json(), summary
            )
            if word == b"OK":
                return changed

    def delete(self, tenant: str, dataset_id: str, *, keep: bool = False) -> Dataset:
        """Its blob, which other datasets may share, becomes garbage when the last of them is deleted.

        `keep` leaves the dataset where `restore` finds it, with its blob.
        """
        dataset = self._present(tenant, dataset_id)
        self._scripts.run("delete", "dataset", dataset_id, tenant, int(keep))
        return dataset

    def restore(
        self, tenant: str, dataset_id: str, *, most: int | None = None, most_bytes: int | None = None
    ) -> Dataset:
        """Take back a deletion. LimitReachedError if the tenant has no room for it any more."""
        limits = ("" if limit is None else limit for limit in (most, most_bytes))
        self._scripts.run("restore", "dataset", dataset_id, tenant, *limits)
        return self._present(tenant, dataset_id)

    def _present(self, tenant: str, dataset_id: str) -> Dataset:
        dataset = self.get(tenant, dataset_id)
        if dataset is None:
            raise DatasetGoneError
        return dataset


def _key(dataset_id: str) -> str:
    return f"literati:dataset:{dataset_id}"
