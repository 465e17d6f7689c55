"""Cache the predictors of models and of the trees of jobs.

A model never changes, so a cached predictor is never outdated. Every request asks the store whether the model
still exists and which model an alias refers to.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.concurrency import run_in_threadpool

from literati import ShapeTree
from service.http.problems import Problem, not_found
from service.predict.predictor import Predictor
from worker.domain.errors import JobNotFoundError, ModelNotFoundError
from worker.domain.jobs import JobSpec
from worker.store import Store
from worker.store.model_names import ModelResolver

Key = tuple[str, ...]


class Predictors:
    """A cache of the most recently used predictors, for one event loop."""

    def __init__(
        self, store: Store, resolver: ModelResolver, *, max_entries: int = 256, max_bytes: int = 1 << 28
    ) -> None:
        self._store = store
        self._resolver = resolver
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._cache: OrderedDict[Key, Predictor] = OrderedDict()
        self._bytes = 0
        self._running: dict[Key, asyncio.Task[Any]] = {}

    async def close(self) -> None:
        await self._resolver.close()

    async def of_model(self, tenant: str, model_id_or_alias: str) -> Predictor:
        model_id = await self._resolver.resolve(tenant, model_id_or_alias)
        if model_id is None:
            raise ModelNotFoundError
        key = (tenant, model_id)
        return self._find(key) or await self._load(key, lambda: self._read_model(tenant, model_id))

    async def with_tensors(self, tenant: str, model_id_or_alias: str) -> Predictor:
        """Return the predictor of a model after its encoder for other protocols is made.

        Making it takes a second for a large tree with many classes, so it runs in a thread, once for all
        concurrent requests.
        """
        predictor = await self.of_model(tenant, model_id_or_alias)
        if not predictor.has_tensors:
            key = (tenant, predictor.source["model_id"], "tensors")
            await self._once(key, lambda: run_in_threadpool(lambda: predictor.tensors))
        return predictor

    async def of_job(self, tenant: str, job_id: str, revision: int | None) -> Predictor:
        """Return the predictor of the best tree so far, or of the tree of this revision.

        Raise the problem 409 if there is no tree yet, and 404 if there is none of this revision.
        """
        job = await run_in_threadpool(self._store.jobs.get, tenant, job_id)
        if job is None:
            raise JobNotFoundError
        latest = job.progress.incumbents
        if latest == 0:
            detail = "The job has not found a tree yet; try again soon."
            raise Problem(409, detail, kind="no-tree-yet", headers={"Retry-After": "1"})
        chosen = latest if revision is None else revision
        if chosen > latest:
            raise not_found("tree")
        key = (tenant, job_id, str(chosen))
        return self._find(key) or await self._load(key, lambda: self._read_incumbent(job.spec, chosen))

    def _read_model(self, tenant: str, model_id: str) -> Predictor:
        tree = self._store.models.tree(tenant, model_id)
        model = self._store.models.get(tenant, model_id)
        if tree is None or model is None:  # deleted in the meantime
            raise ModelNotFoundError
        target = model.target or self._read_target(tenant, model.dataset_id)
        return Predictor(ShapeTree.from_dict(tree), {"model_id": model_id}, model.csv_style, target)

    def _read_incumbent(self, spec: JobSpec, revision: int) -> Predictor:
        incumbent = self._store.jobs.incumbent(spec.tenant, spec.id, revision)
        if incumbent is None:
            raise not_found("tree")
        source = {"model_id": None, "job_id": spec.id, "revision": revision}
        target = spec.target or self._read_target(spec.tenant, spec.dataset_id)
        return Predictor(ShapeTree.from_dict(incumbent.tree), source, spec.csv_style, target)

    def _read_target(self, tenant: str, dataset_id: str) -> str | None:
        """Return the target of a dataset, for jobs that version 0.1.0 stored; None if it was deleted."""
        dataset = self._store.datasets.get(tenant, dataset_id)
        return None if dataset is None else dataset.target

    def _find(self, key: Key) -> Predictor | None:
        predictor = self._cache.get(key)
        if predictor is not None:
            self._cache.move_to_end(key)
        return predictor

    async def _load(self, key: Key, read: Callable[[], Predictor]) -> Predictor:
        """Load a predictor once for all concurrent requests."""
        predictor: Predictor = await self._once(key, lambda: self._read(key, read))
        return predictor

    async def _once(self, key: Key, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Do this work once for all concurrent requests, even if the first one is cancelled."""
        task = self._running.get(key)
        if task is None:
            task = self._running[key] = asyncio.create_task(work())
            task.add_done_callback(lambda _: self._running.pop(key))
        return await asyncio.shield(task)

    async def _read(self, key: Key, read: Callable[[], Predictor]) -> Predictor:
        predictor = await run_in_threadpool(read)
        self._cache[key] = predictor
        self._bytes += predictor.nbytes
        while len(self._cache) > self._max_entries or (
            self._bytes > self._max_bytes and len(self._cache) > 1
        ):
            _, oldest = self._cache.popitem(last=False)
            self._bytes -= oldest.nbytes
        return predictor
