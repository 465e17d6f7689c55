"""The connection to the server and the scripts that run on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import redis

from worker import errors

from .patience import ANSWER_SECONDS, CONNECT_SECONDS, Patience

_LUA = Path(__file__).parent / "lua"
_SHARED = {  # what a script needs besides the prelude
    **dict.fromkeys(("checkpoint", "finish"), ("merge",)),
    "claim": ("turns",),
    **dict.fromkeys(("delete", "restore", "expire", "add_dataset"), ("forget",)),
}
_REFUSALS: dict[bytes, type[errors.StoreError]] = {
    b"JOB_GONE": errors.JobGoneError,
    b"JOB_LIVE": errors.JobLiveError,
    b"PRECONDITION_FAILED": errors.PreconditionFailedError,
    b"FENCED": errors.FencedError,
    b"REVISION_GONE": errors.RevisionGoneError,
    b"NO_TREE": errors.NoTreeError,
    b"IDEMPOTENCY_CONFLICT": errors.IdempotencyConflictError,
    b"DATASET_GONE": errors.DatasetGoneError,
    b"DATASET_IN_USE": errors.DatasetInUseError,
    b"MODEL_GONE": errors.ModelGoneError,
    b"MODEL_IN_USE": errors.ModelInUseError,
}


def connect(url: str) -> redis.Redis:
    """A client with a pool of connections; nothing is sent yet.

    Retries bridge a restart of the server; one that hangs is given up after seconds. A command whose answer
    was lost is sent a second time, so every script is harmless to repeat.
    """
    return redis.Redis.from_url(
        url,
        protocol=2,
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=CONNECT_SECONDS,
        health_check_interval=30,
        retry=Patience(),
    )


def read_hash(client: redis.Redis, key: str) -> dict[bytes, bytes]:
    """Empty if there is none."""
    return cast(dict[bytes, bytes], client.hgetall(key))


@dataclass(frozen=True)
class Kept:
    """How much of a job's history is kept."""

    events: int = 10_000
    trace_points: int = 20_000
    incumbents: int = 1_000


_USUAL = Kept()


@cache
def script_source(name: str, kept: Kept = _USUAL) -> str:
    numbers = f"{kept.events}, {kept.trace_points}, {kept.incumbents}"
    limits = f"local MAX_EVENTS, MAX_TRACE, MAX_INCUMBENTS = {numbers}"
    parts = ["prelude", *_SHARED.get(name, ()), name]
    return "\n".join([limits, *((_LUA / f"{part}.lua").read_text() for part in parts)])


class Scripts:
    """Runs `lua/<name>.lua`; an answer that names a refusal is raised."""

    def __init__(self, client: redis.Redis, kept: Kept) -> None:
        self._client = client
        self._kept = kept
        self._scripts: dict[str, Any] = {}

    def run(self, name: str, *arguments: str | bytes | int | float) -> Any:
        script = self._scripts.get(name)
        if script is None:
            script = self._scripts[name] = self._client.register_script(script_source(name, self._kept))
        answer = script(args=arguments)
        if isinstance(answer, list) and (refusal := _REFUSALS.get(answer[0])):
            raise refusal
        if isinstance(answer, list) and answer[0] == b"LIMIT_REACHED":
            raise errors.LimitReachedError(answer[1].decode())
        return answer
