"""Every API process looks after jobs whose worker is lost, as every worker process does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from redis.exceptions import RedisError
from starlette.concurrency import run_in_threadpool
from worker.store import Store

log = structlog.get_logger(__name__)


def reconcile(store: Store) -> None:
    from worker.app import wake  # Celery takes a while to import, and tools that only need the app do not

    if wanted := store.jobs.reconcile():
        wake(wanted)


@asynccontextmanager
async def reconciling(store: Store, every: float) -> AsyncIterator[None]:
    task = asyncio.create_task(_loop(store, every))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _loop(store: Store, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        try:
            await run_in_threadpool(reconcile, store)
        except RedisError as error:
            log.warning("reconciler could not reach the store", error=type(error).__name__)
        except Exception:  # the next round may do better; without it lost jobs would wait forever
            log.exception("reconciler failed")
