"""Waiting for the engine: interrupts and deadlines are heard."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from literati import Search, SearchLimits, StopReason
from literati.search.interruptible import call_interruptibly


def slow_work(stop: threading.Event) -> int:
    stop.wait(20.0)
    return 5 if stop.is_set() else 0


def test_waiting_ends_at_the_deadline() -> None:
    stop = threading.Event()
    start = time.perf_counter()
    assert call_interruptibly(lambda: slow_work(stop), stop.set, 0.2) == 5
    assert 0.2 <= time.perf_counter() - start < 2.0
    assert call_interruptibly(lambda: 3, stop.set, math.inf) == 3


@pytest.mark.usefixtures("heard_interrupts")
def test_waiting_hears_an_interrupt_and_waits_for_the_end() -> None:
    stop, ended = threading.Event(), threading.Event()

    def work() -> int:
        slow_work(stop)
        time.sleep(0.2)
        ended.set()
        return 0

    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        call_interruptibly(work, stop.set, math.inf)
    assert ended.is_set()


def test_errors_of_the_work_are_raised() -> None:
    def work() -> int:
        raise MemoryError("none left")

    with pytest.raises(MemoryError, match="none left"):
        call_interruptibly(work, lambda: None, math.inf)


def test_one_thread_makes_the_calls_that_follow_each_other() -> None:
    """A search in slices keeps its thread, and so its core; calls at the same time have a thread each."""
    threads = {call_interruptibly(threading.get_ident, lambda: None, 1.0) for _ in range(20)}
    assert len(threads) == 1
    assert threading.get_ident() not in threads

    def inside() -> tuple[int, int]:
        return threading.get_ident(), call_interruptibly(threading.get_ident, lambda: None, 1.0)

    outer, inner = call_interruptibly(inside, lambda: None, 1.0)
    assert outer != inner


FORK_AFTER_A_FIT = """
import os, threading
from literati import LiteratiClassifier

LiteratiClassifier(max_depth=1).fit([[0], [1]], [0, 1])
child = os.fork()
print([thread.name for thread in threading.enumerate()])
LiteratiClassifier(max_depth=1).fit([[0], [1]], [0, 1])
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_process_without_a_search_has_no_thread_when_it_forks() -> None:
    """Otherwise Python warns of deadlocks, for example if a program starts processes after a fit."""
    command = [sys.executable, "-c", FORK_AFTER_A_FIT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("\n", "") == "['MainThread']" * 2  # both processes write at the same time


def test_a_long_step_ends_at_the_time_limit() -> None:
    """One expansion of this search takes longer than its time."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, 12)), rng.integers(0, 2, 100_000)
    search = Search(X, y, limits=SearchLimits(time_limit=1.5), max_depth=4, max_changepoints=3, polish=False)
    report = search.run()
    assert report.stop_reason is StopReason.TIME_LIMIT
    assert report.elapsed_seconds < 2.5
    assert search.incumbent().objective == report.objective
