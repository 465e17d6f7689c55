"""Call compiled code so that a signal or a deadline can end it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import perf_counter
from typing import TypeVar

Result = TypeVar("Result")

# Seconds after which the main thread wakes to run bytecode, because Python handles signals only there.
# Thread.join is not used: in Python 3.11 a join that is interrupted takes a running thread for finished.
WAKE_SECONDS = 0.1


def call_interruptibly(
    work: Callable[[], Result], request_stop: Callable[[], None], seconds: float
) -> Result:
    """Call `work` in another thread, and call `request_stop` after `seconds` or at an interrupt.

    One step of a search on a million rows can take ten seconds. The work must end soon after the request; the
    call returns when it has ended.
    """
    outcome: list[Result | BaseException] = []
    done = Event()

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)
        finally:
            done.set()

    until = perf_counter() + seconds
    Thread(target=run, daemon=True).start()
    interrupt: BaseException | None = None
    requested = False
    while not done.is_set():
        try:
            if not requested and (interrupt is not None or perf_counter() >= until):
                request_stop()
                requested = True
            done.wait(WAKE_SECONDS if requested else min(WAKE_SECONDS, max(0.0, until - perf_counter())))
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
