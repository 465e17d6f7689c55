"""Models ready to answer, kept in the process.

A model never changes, so what is kept is never stale; whether it is still there, and what an alias names, is
asked of the store with every request.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from literati import ShapeTree
from worker.errors import JobGoneError, ModelGoneError
from worker.messages import CsvStyle, JobSpec
from worker.store import Store
from worker.store.resolver import ModelResolver

from .predictor import Predictor

Key = tuple[str, ...]


class NoTreeYetError(LookupError):
    """The job has not found a tree."""


class NoRevisionError(LookupError):
    """The job has no tree of this number."""


class Predictors:
    """Belongs to one event loop. The least recently used go first."""

    def __init__(self, store: Store, resolver: ModelResolver, *, most: int = 256, most_bytes: int = 1 << 28):
        self._store = store
        self._resolver = resolver
        self._most = most
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, Predictor] = OrderedDict()
        self._bytes = 0
        self._loading: dict[Key, asyncio.Task[Predictor]] = {}

    async def close(self) -> None:
        await self._resolver.close()

    async def of_model(self, tenant: str, model_id_or_alias: str) -> Predictor:
        model_id = await self._resolver.resolve(tenant, model_id_or_alias)
        if model_id is None:
            raise ModelGoneError
        key = (tenant, model_id)
        return self._find(key) or await self._load(key, lambda: self._read_model(tenant, model_id))

    async def of_job(self, tenant: str, job_id: str, revision: int | None) -> Predictor:
        """Of the best tree so far, or of the one with this number."""
        job = await run_in_threadpool(self._store.jobs.get, tenant, job_id)
        if job is None:
            raise JobGoneError
        found = job.progress.incumbents
        if found == 0:
            raise NoTreeYetError
        if revision is not None and revision > found:
            raise NoRevisionError
        number = found if revision is None else revision
        key = (tenant, job_id, str(number))
        return self._find(key) or await self._load(key, lambda: self._read_incumbent(job.spec, number))

    def _read_model(self, tenant: str, model_id: str) -> Predictor:
        tree = self._store.models.tree(tenant, model_id)
        model = self._store.models.get(tenant, model_id)
        if tree is None or model is None:  # deleted a moment ago
            raise ModelGoneError
        return _predictor(tree, model.csv_style, model_id=model_id)

    def _read_incumbent(self, spec: JobSpec, revision: int) -> Predictor:
        incumbent = self._store.jobs.incumbent(spec.tenant, spec.id, revision)
        if incumbent is None:
            raise NoRevisionError
        return _predictor(incumbent.tree, spec.csv_style, model_id=None, job_id=spec.id, revision=revision)

    def _find(self, key: Key) -> Predictor | None:
        predictor = self._kept.get(key)
        if predictor is not None:
            self._kept.move_to_end(key)
        return predictor

    async def _load(self, key: Key, read: Callable[[], Predictor]) -> Predictor:
        """Once, however many ask; whoever asked first may go away meanwhile."""
        task = self._loading.get(key)
        if task is None:
            task = self._loading[key] = asyncio.create_task(self._read(key, read))
        return await asyncio.shield(task)

    async def _read(self, key: Key, read: Callable[[], Predictor]) -> Predictor:
        try:
            predictor = await run_in_threadpool(read)
        finally:
            del self._loading[key]
        self._keep(key, predictor)
        return predictor

    def _keep(self, key: Key, predictor: Predictor) -> None:
        self._kept[key] = predictor
        self._bytes += predictor.nbytes
        while len(self._kept) > self._most or (self._bytes > self._most_bytes and len(self._kept) > 1):
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= oldest.nbytes


def _predictor(tree: dict[str, Any], csv_style: CsvStyle | None, **source: Any) -> Predictor:
    return Predictor(ShapeTree.from_dict(tree), source, csv_style)
