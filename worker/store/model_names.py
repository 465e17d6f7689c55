"""Names to ids of models on the predict path: no thread, and one round trip for all who ask at the same time.

A thread's hop costs as much as the lookup itself (50 of 170 µs), and under load it waits for the interpreter.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import defaultdict
from contextlib import suppress

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.exceptions import NoScriptError
from redis.exceptions import TimeoutError as SilentError

from .client import script_source
from .patience import ANSWER_SECONDS, CONNECT_SECONDS, RETRIES, backoff

Key = tuple[str, str]  # tenant, and id or alias


class ModelResolver:
    """`ModelStore.resolve` for the event loop; belongs to one loop, and connects when first asked."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: redis.Redis | None = None
        self._source = script_source("resolve_model")
        self._digest = hashlib.sha1(self._source.encode(), usedforsecurity=False).hexdigest()
        self._waiting: defaultdict[Key, list[asyncio.Future[str | None]]] = defaultdict(list)
        self._task: asyncio.Task[None] | None = None

    async def resolve(self, tenant: str, model_id_or_alias: str) -> str | None:
        """The id of a model that is there now: the question is always sent after it was asked."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._waiting[tenant, model_id_or_alias].append(answer)
        if self._task is None:
            self._task = asyncio.create_task(self._ask())
        return await answer

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._client is not None:
            await self._client.aclose()

    async def _ask(self) -> None:
        """Who comes while a question is under way is in the next one: that answer may be older than they."""
        try:
            while self._waiting:
                asked = dict(self._waiting)
                self._waiting.clear()
                try:
                    async with asyncio.timeout(ANSWER_SECONDS):  # retries and all
                        found = await self._look_up(list(asked))
                except TimeoutError:
                    _refuse(asked, SilentError("The server does not answer."))
                except Exception as error:  # or else they would wait for ever
                    _refuse(asked, error)
                else:
                    for answers, model_id in zip(asked.values(), found, strict=True):
                        for answer in answers:
                            if not answer.done():  # its request may be gone
                                answer.set_result(model_id)
        finally:
            self._task = None

    async def _look_up(self, keys: list[Key]) -> list[str | None]:
        if self._client is None:
            self._client = self._connect()
        try:
            return await self._run(self._client, keys)
        except NoScriptError:  # the server was started anew
            await self._client.script_load(self._source)
            return await self._run(self._client, keys)

    async def _run(self, client: redis.Redis, keys: list[Key]) -> list[str | None]:
        if len(keys) == 1:
            answers = [await client.evalsha(self._digest, 0, *keys[0])]
        else:
            pipeline = client.pipeline(transaction=False)
            for key in keys:
                pipeline.evalsha(self._digest, 0, *key)
            answers = await pipeline.execute()
        return [answer[1].decode() if answer[0] == b"OK" else None for answer in answers]

    def _connect(self) -> redis.Redis:
        return redis.Redis.from_url(
            self._url,
            protocol=2,
            socket_timeout=ANSWER_SECONDS,
            socket_connect_timeout=CONNECT_SECONDS,
            retry=Retry(backoff(), RETRIES),
        )


def _refuse(asked: dict[Key, list[asyncio.Future[str | None]]], error: Exception) -> None:
    for answers in asked.values():
        for answer in answers:
            if not answer.done():
                answer.set_exception(error)
