"""Resolve the names of models on the event loop, with one round trip for all concurrent requests.

A thread would double the cost of a lookup (50 of 170 µs is the change of thread), and under load it would
wait for the interpreter.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress

from redis.asyncio.retry import Retry
from redis.exceptions import NoScriptError
from redis.exceptions import TimeoutError as StoreTimeoutError

from worker.store.client import script_source
from worker.store.connections import open_async_client
from worker.store.retry import ANSWER_SECONDS, CONNECT_SECONDS, RETRIES, backoff

Key = tuple[str, str]  # tenant, and id or alias


class ModelResolver:
    """An asynchronous `ModelStore.resolve` of one event loop. The first call connects to the server."""

    def __init__(self, url: str) -> None:
        self._client = open_async_client(
            url,
            protocol=2,
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(backoff(), RETRIES),
        )
        self._source = script_source("resolve_model")
        self._digest = hashlib.sha1(self._source.encode(), usedforsecurity=False).hexdigest()
        self._waiting: defaultdict[Key, list[asyncio.Future[str | None]]] = defaultdict(list)
        self._task: asyncio.Task[None] | None = None

    async def resolve(self, tenant: str, model_id_or_alias: str) -> str | None:
        """Return the id of an existing model. The lookup always starts after the call."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._waiting[tenant, model_id_or_alias].append(answer)
        if self._task is None:
            self._task = asyncio.create_task(self._resolve_waiting())
        return await answer

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._client.aclose()

    async def _resolve_waiting(self) -> None:
        """Look up in batches. A request that comes during a lookup waits for the next one."""
        try:
            while self._waiting:
                batch = dict(self._waiting)
                self._waiting.clear()
                found: Sequence[str | Exception | None]
                try:
                    async with asyncio.timeout(ANSWER_SECONDS):  # including retries
                        found = await self._look_up(list(batch))
                except TimeoutError:
                    found = [StoreTimeoutError("The server does not answer.")] * len(batch)
                except Exception as error:  # otherwise the requests would wait forever
                    found = [error] * len(batch)
                for answers, result in zip(batch.values(), found, strict=True):
                    _answer(answers, result)
        finally:
            self._task = None

    async def _look_up(self, keys: list[Key]) -> list[str | None]:
        try:
            return await self._run(keys)
        except NoScriptError:  # the server has restarted
            await self._client.script_load(self._source)
            return await self._run(keys)

    async def _run(self, keys: list[Key]) -> list[str | None]:
        if len(keys) == 1:
            answers = [await self._client.evalsha(self._digest, 0, *keys[0])]
        else:
            pipeline = self._client.pipeline(transaction=False)
            for key in keys:
                pipeline.evalsha(self._digest, 0, *key)
            answers = await pipeline.execute()
        return [answer[1].decode() if answer[0] == b"OK" else None for answer in answers]


def _answer(answers: list[asyncio.Future[str | None]], result: str | Exception | None) -> None:
    for answer in answers:
        if answer.done():  # its request was cancelled
            continue
        if isinstance(result, Exception):
            answer.set_exception(result)
        else:
            answer.set_result(result)
