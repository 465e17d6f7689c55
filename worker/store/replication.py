"""Wait until replicas have received a change, before anyone is told of it.

Redis calls this better safety, not strong consistency; docs/deployment.md has the losses that were counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis
from redis.exceptions import NoScriptError

from worker.domain.errors import NotReplicatedError

WAIT_SECONDS = 2.0  # less than the time limit of an answer (worker/store/retry.py)
_MAX_LOADS = 2  # a script is loaded again if a failover comes after its first loading


def run_replicated(
    client: redis.Redis, script: Any, arguments: Sequence[str | bytes | int | float], replicas: int
) -> Any:
    """Run a script and return its answer when this number of replicas has received all that it rests on.

    Raise NotReplicatedError if fewer confirm it in time; the script may have made its changes.
    """
    for _ in range(1 + _MAX_LOADS):
        pipeline = client.pipeline(transaction=False)  # one connection, as WAIT requires
        pipeline.evalsha(script.sha, 0, *arguments)
        # WAIT waits for the writes of its own connection only. Without this write, a repeated request would
        # be told of what another connection wrote, although no replica has it.
        pipeline.set("literati:ready", 1)
        pipeline.wait(replicas, round(1000 * WAIT_SECONDS))
        answer, _, confirmed = pipeline.execute(raise_on_error=False)
        if not isinstance(answer, NoScriptError):
            break
        client.script_load(script.script)
    if isinstance(answer, Exception):
        raise answer
    if isinstance(confirmed, Exception) or confirmed < replicas:
        raise NotReplicatedError(replicas, answer)
    return answer
