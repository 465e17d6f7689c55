"""Call compiled code so that a signal or a deadline can end it."""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import TypeVar

Result = TypeVar("Result")

# Seconds after which the main thread wakes to run bytecode, because Python handles signals only there.
# Thread.join is not used: in Python 3.11 a join that is interrupted takes a running thread for finished.
WAKE_SECONDS = 0.1


class _Caller:
    """A thread that calls one function after another.

    Searches are run in many short slices. A new thread for each of them would often start on the core of
    another thread of the search, and both would have to share it until the system moves one.
    """

    def __init__(self) -> None:
        self._functions: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="literati", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while (function := self._functions.get()) is not None:
            try:  # noqa: SIM105  # `suppress` needs memory, and the thread has to go on without
                function()
            except BaseException:
                pass
            del function  # it may refer to a search

    def call(self, function: Callable[[], None]) -> None:
        """Call the function soon."""
        self._functions.put(function)

    def end(self) -> None:
        self._functions.put(None)
        self._thread.join()


_idle: list[_Caller] = []  # threads that wait for a function


def _end_idle_callers() -> None:
    while _idle:
        _idle.pop().end()


# A process without other threads can be forked safely, and since Python 3.12 without a warning.
os.register_at_fork(before=_end_idle_callers, after_in_child=_idle.clear)


def call_interruptibly(
    work: Callable[[], Result], request_stop: Callable[[], None], seconds: float
) -> Result:
    """Call `work` in another thread, and call `request_stop` after `seconds` or at an interrupt.

    One step of a search on a million rows can take ten seconds. The work must end soon after the request; the
    call returns when it has ended.
    """
    outcome: list[Result | BaseException] = []
    done = Event()
    until = perf_counter() + seconds
    try:
        caller = _idle.pop()
    except IndexError:
        caller = _Caller()

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)
        finally:
            try:
                _idle.append(caller)
            finally:
                done.set()  # whatever happens, because the waiting thread would never return

    caller.call(run)
    interrupt: BaseException | None = None
    requested = False
    while True:
        try:
            if done.is_set():
                break
            if not requested and (interrupt is not None or perf_counter() >= until):
                request_stop()
                requested = True
            done.wait(WAKE_SECONDS if requested else min(WAKE_SECONDS, max(0.0, until - perf_counter())))
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
    if not outcome:
        raise MemoryError("there was no memory for the result of a call")
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
