"""Datasets. Their tables are in the blob store."""

from __future__ import annotations

from collections.abc import Mapping

from worker.domain.datasets import Dataset, DatasetSummary
from worker.domain.errors import DatasetNotFoundError
from worker.store.client import StorePart, or_empty
from worker.store.jobs import digest
from worker.store.paging import Page, newest_page, read_fields


class DatasetStore(StorePart):
    def add(
        self,
        dataset: Dataset,
        *,
        content_key: str,
        max_datasets: int | None = None,
        max_bytes: int | None = None,
    ) -> Dataset:
        """Add a dataset, or return the tenant's dataset of the same content if there is one.

        Raise LimitReachedError if the tenant would have too many datasets or too many bytes in the blob
        store.
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
            or_empty(max_datasets),
            or_empty(max_bytes),
        )
        return Dataset.model_validate_json(record)

    def find(self, tenant: str, content_key: str) -> Dataset | None:
        try:
            _, record = self._scripts.run("find_dataset", tenant, digest(tenant, content_key))
        except DatasetNotFoundError:
            return None
        return Dataset.model_validate_json(record)

    def usage(self, tenant: str) -> tuple[int, int]:
        """Return how many datasets the tenant has, and how many bytes they take in the blob store."""
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
        """Return a page of datasets, newest first, without columns and classes, which may be large."""
        ids, token = newest_page(self._client, [f"literati:tenant-datasets:{tenant}"], page_size, page_token)
        keys = [_key(dataset_id) for dataset_id in ids]
        found = read_fields(self._client, keys, (b"tenant", b"summary"), older=(b"summary", b"record"))
        return Page([_summary(record) for record in found if record], token)

    def change(self, tenant: str, dataset_id: str, changes: Mapping[str, str | None]) -> Dataset:
        """Change the `name` or `notes` of a dataset; None removes them."""
        while True:
            owner, record = self._client.hmget(_key(dataset_id), ["tenant", "record"])
            if record is None or owner != tenant.encode():
                raise DatasetNotFoundError
            changed = Dataset.model_validate_json(record).model_copy(update=dict(changes))
            summary = changed.summary.model_dump_json()
            status, *_ = self._scripts.run(
                "change_dataset", dataset_id, tenant, record, changed.model_dump_json(), summary
            )
            if status == b"OK":
                return changed

    def delete(self, tenant: str, dataset_id: str, *, keep: bool = False) -> Dataset:
        """Delete a dataset. The reconciler deletes its blob if no other dataset shares it.

        With `keep` the dataset keeps its blob and can be restored.
        """
        dataset = self._existing(tenant, dataset_id)
        self._scripts.run("delete", "dataset", dataset_id, tenant, int(keep))
        return dataset

    def restore(
        self, tenant: str, dataset_id: str, *, max_datasets: int | None = None, max_bytes: int | None = None
    ) -> Dataset:
        """Restore a deleted dataset. Raise LimitReachedError if the tenant would exceed its limits."""
        limits = (or_empty(max_datasets), or_empty(max_bytes))
        self._scripts.run("restore", "dataset", dataset_id, tenant, *limits)
        return self._existing(tenant, dataset_id)

    def _existing(self, tenant: str, dataset_id: str) -> Dataset:
        dataset = self.get(tenant, dataset_id)
        if dataset is None:
            raise DatasetNotFoundError
        return dataset


def _summary(record: dict[bytes, bytes]) -> DatasetSummary:
    if b"summary" in record:
        return DatasetSummary.model_validate_json(record[b"summary"])
    return Dataset.model_validate_json(record[b"record"]).summary


def _key(dataset_id: str) -> str:
    return f"literati:dataset:{dataset_id}"
