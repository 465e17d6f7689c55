"""Retry commands while the server restarts, without letting every thread wait for a server that hangs.

Otherwise the threads of a process would wait one after the other for the full timeout, and a late request
would get its answer minutes later.
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
MIN_PAUSE, MAX_PAUSE = 0.05, 0.5

Answer = TypeVar("Answer")


def backoff() -> ExponentialWithJitterBackoff:
    return ExponentialWithJitterBackoff(base=MIN_PAUSE, cap=MAX_PAUSE)


class SharedRetry(Retry):
    """The retry policy of all connections of a pool.

    A command is retried on a broken connection, but not on one that timed out. After a timeout only one
    thread at a time sends commands; the others fail at once until the server answers.
    """

    def __init__(self) -> None:
        super().__init__(backoff(), RETRIES, (redis.ConnectionError,))
        self._timed_out = False
        self._probing = threading.RLock()  # reentrant, because a command may have to connect first

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedRetry:
        return self  # redis-py copies the policy for every connection, but its state is shared

    def call_with_retry(
        self,
        do: Callable[[], Answer],
        fail: Callable[..., Any],
        is_retryable: Callable[[Exception], bool] | None = None,
        with_failure_count: bool = False,
    ) -> Answer:
        probing = self._timed_out
        if probing and not self._probing.acquire(blocking=False):
            raise redis.TimeoutError("The server did not answer, and another thread is asking it again.")
        try:
            answer = super().call_with_retry(do, fail, is_retryable, with_failure_count)
        except redis.TimeoutError:
            self._timed_out = True
            raise
        except redis.RedisError:  # the connection is closed, or the server has answered with an error
            self._timed_out = False
            raise
        finally:
            if probing:
                self._probing.release()
        self._timed_out = False
        return answer
