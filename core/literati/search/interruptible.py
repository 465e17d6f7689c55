"""Waiting for compiled code without becoming deaf: Ctrl-C and a deadline are heard while it works."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import perf_counter
from typing import TypeVar

Result = TypeVar("Result")

# The main thread wakes this often to run bytecode: only there does Python handle a signal, whichever thread
# the system gave it to. Thread.join would not do: in Python 3.11 an interrupted join takes a thread that
# still runs for finished.
NAP = 0.1


def call_patiently(work: Callable[[], Result], ask_to_stop: Callable[[], None], seconds: float) -> Result:
    """Do the work in another thread and wait; ask it to stop after so many seconds or at an interrupt.

    One step of a search on a million rows can take ten seconds. The work must end soon after it is asked to;
    it is waited for in any case.
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
    asked = False
    while not done.is_set():
        try:
            if not asked and (interrupt is not None or perf_counter() >= until):
                ask_to_stop()
                asked = True
            done.wait(NAP if asked else min(NAP, max(0.0, until - perf_counter())))
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]
