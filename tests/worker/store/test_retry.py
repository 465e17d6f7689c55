"""Test retries: one thread waits for a server that hangs, and broken connections are retried."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import redis

from tests.support.paths import ROOT
from worker.store.retry import RETRIES, SharedRetry


def silent() -> str:
    raise redis.TimeoutError


def ignore(*_: object) -> None:
    pass


def test_a_broken_connection_is_tried_again() -> None:
    tries: list[int] = []

    def broken() -> str:
        tries.append(1)
        if len(tries) <= RETRIES:
            raise redis.ConnectionError
        return "answer"

    assert SharedRetry().call_with_retry(broken, ignore) == "answer"


def test_a_silent_server_is_not_tried_again() -> None:
    tries: list[int] = []

    def count_and_hang() -> str:
        tries.append(1)
        return silent()

    with pytest.raises(redis.TimeoutError):
        SharedRetry().call_with_retry(count_and_hang, ignore)
    assert len(tries) == 1


def test_one_asks_again_and_the_others_do_not_wait() -> None:
    patience = SharedRetry()
    with pytest.raises(redis.TimeoutError):
        patience.call_with_retry(silent, ignore)
    asking, answered = threading.Event(), threading.Event()
    answers: list[str] = []

    def ask() -> str:
        asking.set()
        assert answered.wait(10)
        return patience.call_with_retry(lambda: "connected first", ignore)  # as a command on a new connection

    thread = threading.Thread(target=lambda: answers.append(patience.call_with_retry(ask, ignore)))
    thread.start()
    assert asking.wait(10)
    started = time.monotonic()
    with pytest.raises(redis.TimeoutError, match="asking it again"):
        patience.call_with_retry(lambda: "never called", ignore)
    assert time.monotonic() - started < 1
    answered.set()
    thread.join(10)
    assert answers == ["connected first"]
    assert patience.call_with_retry(lambda: "all may ask", ignore) == "all may ask"


def test_a_server_that_answers_with_an_error_is_not_silent() -> None:
    patience = SharedRetry()
    with pytest.raises(redis.TimeoutError):
        patience.call_with_retry(silent, ignore)

    def refuse() -> str:
        raise redis.ResponseError

    with pytest.raises(redis.ResponseError):
        patience.call_with_retry(refuse, ignore)
    assert patience.call_with_retry(lambda: "answer", ignore) == "answer"


def test_what_one_connection_learns_all_know() -> None:
    patience = SharedRetry()
    assert copy.deepcopy(patience) is patience


def test_a_wake_up_that_cannot_be_sent_is_no_error_and_takes_no_time(tmp_path: Path) -> None:
    script = (
        "import time; from worker.app import wake; t = time.monotonic(); wake(); print(time.monotonic() - t)"
    )
    environment = {**os.environ, "REDIS_URL": f"unix://{tmp_path / 'nobody.sock'}"}
    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "wake-up not sent" in answer.stdout + answer.stderr
    assert float(answer.stdout.split()[-1]) < 3
