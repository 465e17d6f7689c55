"""The connection to the server, and the Lua scripts that run on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import redis

from literati.search.options import MAX_THREADS
from worker.domain import errors
from worker.store.connections import open_client
from worker.store.replication import run_replicated
from worker.store.retry import ANSWER_SECONDS, CONNECT_SECONDS, SharedRetry

_LUA = Path(__file__).parent / "lua"
# The parts in lua/shared that stand before every script, in this order.
_PRELUDE = (
    *("keys", "job_state", "queue", "leases", "blob_references", "models", "job_end", "job_record"),
    "sweeps",
)
_PARTS = {  # further parts that a script needs
    **dict.fromkeys(("publish_progress", "finish"), ("progress",)),
    "claim": ("fair_queue",),
    **dict.fromkeys(("archive", "mark_format"), ("store_format",)),
    **dict.fromkeys(("submit", "submit_sweep"), ("submission",)),
    **dict.fromkeys(("delete", "restore", "expire", "add_dataset"), ("deletion",)),
}
# Scripts whose answers need not be on a replica: those that only read, and `mark_format` and `report_alive`,
# which are repeated. `measure` writes only to find out whether the server takes writes.
UNREPLICATED = frozenset(
    {"count_expired", "incumbent", "mark_format", "measure", "report_alive", "resolve_model"}
)
_ERRORS: dict[bytes, type[errors.StoreError]] = {
    b"JOB_GONE": errors.JobNotFoundError,
    b"JOB_LIVE": errors.JobNotEndedError,
    b"PRECONDITION_FAILED": errors.PreconditionFailedError,
    b"JOB_OF_SWEEP": errors.JobOfSweepError,
    b"SWEEP_GONE": errors.SweepNotFoundError,
    b"SWEEP_LIVE": errors.SweepNotEndedError,
    b"FENCED": errors.FencedError,
    b"REVISION_GONE": errors.RevisionNotFoundError,
    b"NO_TREE": errors.NoTreeError,
    b"IDEMPOTENCY_CONFLICT": errors.IdempotencyConflictError,
    b"DATASET_GONE": errors.DatasetNotFoundError,
    b"DATASET_IN_USE": errors.DatasetInUseError,
    b"MODEL_GONE": errors.ModelNotFoundError,
    b"MODEL_IN_USE": errors.ModelInUseError,
    b"ALIAS_GONE": errors.AliasNotFoundError,
}


def connect(url: str) -> redis.Redis:
    """Return a client with a connection pool. The first command connects.

    Commands are retried while the server restarts, and fail after seconds if it hangs. A command whose answer
    was lost is sent again; therefore every script must be safe to repeat. After a failover the commands go to
    the new primary.
    """
    return open_client(
        url,
        protocol=2,
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=CONNECT_SECONDS,
        health_check_interval=30,
        retry=SharedRetry(),
    )


def read_hash(client: redis.Redis, key: str) -> dict[bytes, bytes]:
    """Return all fields of a hash; an empty dict if it does not exist."""
    return cast(dict[bytes, bytes], client.hgetall(key))


def or_empty(number: int | None) -> int | str:
    """Return an optional number as a script's argument."""
    return "" if number is None else number


@dataclass(frozen=True)
class HistoryLimits:
    """How much of a job's history is kept."""

    max_events: int = 10_000
    max_trace_points: int = 20_000
    max_incumbents: int = 1_000


_DEFAULT_LIMITS = HistoryLimits()


@cache
def script_source(name: str, history: HistoryLimits = _DEFAULT_LIMITS) -> str:
    """Return a script together with the shared parts that it needs."""
    numbers = f"{history.max_events}, {history.max_trace_points}, {history.max_incumbents}"
    limits = f"local MAX_EVENTS, MAX_TRACE, MAX_INCUMBENTS, MAX_THREADS = {numbers}, {MAX_THREADS}"
    shared = [_LUA / "shared" / f"{part}.lua" for part in (*_PRELUDE, *_PARTS.get(name, ()))]
    return "\n".join([limits, *(path.read_text() for path in (*shared, _LUA / f"{name}.lua"))])


class Scripts:
    """Run the scripts in `lua/`. An answer that names an error is raised as an exception.

    With `wait_replicas`, the answer of a script that may write is returned only after that number of replicas
    has received everything on which it rests.
    """

    def __init__(self, client: redis.Redis, history: HistoryLimits, wait_replicas: int = 0) -> None:
        self._client = client
        self._history = history
        self._wait_replicas = wait_replicas
        self._scripts: dict[str, Any] = {}

    def run(self, name: str, *arguments: str | bytes | int | float) -> Any:
        script = self._scripts.get(name)
        if script is None:
            script = self._scripts[name] = self._client.register_script(script_source(name, self._history))
        if self._wait_replicas and name not in UNREPLICATED:
            answer = run_replicated(self._client, script, arguments, self._wait_replicas)
        else:
            answer = script(args=arguments)
        if isinstance(answer, list) and (error := _ERRORS.get(answer[0])):
            raise error
        if isinstance(answer, list) and answer[0] == b"LIMIT_REACHED":
            raise errors.LimitReachedError(answer[1].decode())
        return answer


class StorePart:
    """Base class of the parts of the store, which share one connection pool."""

    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts
