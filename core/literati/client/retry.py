"""When a failed request is tried again.

A request is tried again after a connection error and after the statuses 429 and 503, and after nothing else:
a 409 is the state of a record, which another attempt does not change. `limit_calls` sets an end to all
attempts.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from literati.client.errors import ApiError, ClientError, ConnectionFailedError

STATUSES = (429, 503)
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)  # as `time.monotonic` tells it


@contextmanager
def limit_calls(seconds: float | None) -> Iterator[None]:
    """Let no call of this task or thread try longer than these seconds while the context lasts."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    token = _deadline.set(min(end, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


def seconds_left() -> float:
    """Return the seconds until the end that `limit_calls` has set; infinity if there is none."""
    return _deadline.get() - time.monotonic()


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long a failed request is tried again. Delays double and are randomized."""

    retries: int = 4  # attempts of one call after the first one
    first_delay: float = 0.5  # seconds
    max_delay: float = 8.0
    max_retry_after: float = 60.0  # a call that the server puts off for longer is an error
    reconnect_seconds: float = 600.0  # how long `events` and `wait` try to reach a server that is gone


class Attempts:
    """Count the failed attempts of one call, and say how long to wait before the next one."""

    def __init__(
        self,
        policy: RetryPolicy,
        *,
        patient: bool = False,
        clock: Callable[[], float] = time.monotonic,
        draw: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self.failed = 0
        self._policy, self._patient, self._clock, self._draw = policy, patient, clock, draw
        self._started = clock()

    @property
    def seconds(self) -> float:
        """Return the seconds since the first attempt."""
        return self._clock() - self._started

    def next_delay(self, retry_after: float | None = None) -> float | None:
        """Return the seconds until the next attempt after a failed one; None if there is none."""
        policy = self._policy
        if not self._patient and self.failed >= policy.retries:
            return None
        if self._patient and self.seconds >= policy.reconnect_seconds:
            return None
        longest = min(policy.max_delay, policy.first_delay * 2**self.failed)
        self.failed += 1
        delay = self._draw(longest / 2, longest)
        if retry_after is None:
            return delay
        if retry_after > policy.max_retry_after:
            return None
        return retry_after + self._draw(0.0, min(1.0, 0.1 * retry_after))

    def delay_or_raise(self, failure: ClientError | None) -> float:
        """Return the seconds until the next attempt, or raise the failure if there is none."""
        retry_after = failure.retry_after if isinstance(failure, ApiError) else None
        left = seconds_left()
        delay = self.next_delay(retry_after) if left > 0 else None
        if delay is None:
            raise failure or ConnectionFailedError("The server ends every stream of events at once.")
        return min(delay, left)


def parse_retry_after(text: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which has seconds or a date; None if it has neither."""
    if text is None:
        return None
    if text.strip().isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
