"""Create datasets: parse uploads in the sandbox within the limits of a tenant, and store them once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

from starlette.concurrency import run_in_threadpool

from service.dependencies import Services
from service.http.blob_deletion import discard
from service.http.fair_semaphore import FairSemaphore
from service.http.problems import not_found
from service.ingest.options import Options, TableLimits, content_key
from service.ingest.pipeline import ParseTask, Upload
from service.ingest.sandbox_task import parse_small_upload, parse_upload
from service.sandbox.client import Sandbox
from worker.domain.base import new_id
from worker.domain.datasets import Dataset
from worker.domain.errors import LimitReachedError
from worker.store import Store

# Reading a large table uses all cores and its size in memory, so few run at the same time. Small uploads do
# not wait for large ones; a small upload that decompresses to a large table is read again as a large one.
SMALL_BYTES = 1 << 20
MAX_LARGE_UPLOADS, MAX_SMALL_UPLOADS = 2, 3
Created = tuple[Dataset, bool]  # the dataset, and whether the upload created it
Parse = Callable[[Sandbox, ParseTask], Dataset | None]
_threads = ThreadPoolExecutor(MAX_LARGE_UPLOADS + MAX_SMALL_UPLOADS, "parse")


def stored_dataset(store: Store, tenant: str, dataset_id: str) -> Dataset:
    """Return the dataset; raise the problem 404 if there is none."""
    dataset = store.datasets.get(tenant, dataset_id)
    if dataset is None:
        raise not_found("dataset")
    return dataset


async def create_dataset(upload: Upload, options: Options, services: Services, tenant: str) -> Created:
    """Parse and store an upload, or return the dataset of an equal earlier upload."""
    key = content_key(upload.sha256, upload.format, upload.charset, upload.coding, options)
    known = await run_in_threadpool(services.store.datasets.find, tenant, key)
    if known is not None:
        return known, False
    await run_in_threadpool(_check_limits, services, tenant)
    settings = services.settings
    task = ParseTask(
        upload,
        options,
        TableLimits(**{field.name: getattr(settings, field.name) for field in fields(TableLimits)}),
        services.blobs.folder,
        dataset_id=new_id("ds"),
        tenant=tenant,
        seconds=settings.max_parse_seconds,
        min_free_bytes=settings.min_free_bytes,
    )
    created = None
    if upload.size <= SMALL_BYTES:
        created = await _parse_in_turn(parse_small_upload, task, services.small_uploads, services, key)
    if created is None:
        created = await _parse_in_turn(parse_upload, task, services.large_uploads, services, key)
    assert created is not None
    return created


def _check_limits(services: Services, tenant: str) -> None:
    """Check the tenant's limits before a table is parsed. The store checks them again when it adds one."""
    count, size = services.store.datasets.usage(tenant)
    if count >= services.settings.max_datasets:
        raise LimitReachedError("datasets")
    if size >= services.settings.max_dataset_bytes:
        raise LimitReachedError("dataset_bytes")


async def _parse_in_turn(
    parse: Parse, task: ParseTask, turns: FairSemaphore, services: Services, key: str
) -> Created | None:
    """Wait for the tenant's turn, then parse and store in a thread."""
    async with turns.slot(task.tenant):
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_threads, _parse_and_store, parse, task, services, key)


def _parse_and_store(parse: Parse, task: ParseTask, services: Services, key: str) -> Created | None:
    """Parse and store an upload. Return None if it is not small and `parse` accepts only small ones."""
    settings, store, blobs = services.settings, services.store, services.blobs
    dataset = parse(services.sandbox, task)
    if dataset is None:
        return None
    blobs.upload(dataset.blob)
    try:
        stored = store.datasets.add(
            dataset, content_key=key, max_datasets=settings.max_datasets, max_bytes=settings.max_dataset_bytes
        )
    except LimitReachedError:
        discard(store, blobs, dataset.blob)
        raise
    is_new = stored.id == dataset.id
    if not is_new:  # an equal upload was stored at the same time
        discard(store, blobs, dataset.blob)
    return stored, is_new
