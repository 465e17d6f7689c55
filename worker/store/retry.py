"""How long a server is waited for: a restart is bridged, and one that hangs is asked by one caller at a time.

Without this, every thread of a process would wait its turn for the full time of a server that does not
answer, and a request that came late would be answered minutes later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

ANSWER_SECONDS = 5.0
CONNECT_SECONDS = 5.0
RETRIES = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.5

Answer = TypeVar("Answer")


def backoff() -> ExponentialWithJitterBackoff:
    return ExponentialWithJitterBackoff(base=FIRST_PAUSE, cap=LONGEST_PAUSE)


class Patience(Retry):
    """Shared by all connections of a pool. A broken connection is tried again, a silent one is not."""

    def __init__(self) -> None:
        super().__init__(backoff(), RETRIES, (redis.ConnectionError,))
        self._silent = False
        self._asking = threading.RLock()  # a command may connect first: the same thread asks twice

    def __deepcopy__(self, memo: dict[int, Any]) -> Patience:
        return self  # redis-py gives every connection its own copy, but what one learns all should know

    def call_with_retry(
        self,
        do: Callable[[], Answer],
        fail: Callable[..., Any],
        is_retryable: Callable[[Exception], bool] | None = None,
        with_failure_count: bool = False,
    ) -> Answer:
        careful = self._silent
        if careful and not self._asking.acquire(blocking=False):
            raise redis.TimeoutError("The server did not answer a moment ago, and is being asked again.")
        try:
            answer = super().call_with_retry(do, fail, is_retryable, with_failure_count)
        except redis.TimeoutError:
            self._silent = True
            raise
        except redis.RedisError:  # gone, or it has answered
            self._silent = False
            raise
        finally:
            if careful:
                self._asking.release()
        self._silent = False
        return answer
