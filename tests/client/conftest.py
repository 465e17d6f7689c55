"""Fixtures for tests of the client.

`client` is on a stack with a worker. `api` is an empty stack without one at a fixed address, whose API a test
may kill and start again; the test acts as the worker.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import pandas as pd
import pytest

from literati.client import Client, ConflictError, Dataset, Job, RetryPolicy, Sweep
from tests.support.records import jobs
from tests.support.stack.stack import Stack

FAST = RetryPolicy(retries=40, first_delay=0.1, max_delay=2.0, reconnect_seconds=90.0)


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of the user out of the tests."""
    for name in ("LITERATI_URL", "LITERATI_API_KEY", "LITERATI_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LITERATI_CONFIG", f"{tmp_path}/config.toml")


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack.with_worker_and_api(tmp_path_factory.mktemp("client")) as stack:
        yield stack


@pytest.fixture
def client(stack: Stack) -> Iterator[Client]:
    """Provide a client. What a test leaves running is cancelled, so that the next one has a worker."""
    with Client(stack.url, retry=FAST) as client:
        yield client
        records: list[Job | Sweep] = [*client.sweeps.list(), *client.jobs.list()]
        for record in records:
            if not record.ended:
                with suppress(ConflictError):
                    record.cancel()


@pytest.fixture(scope="session")
def easy() -> pd.DataFrame:
    """Return a table whose tree is proven optimal at once."""
    return pd.DataFrame(jobs.easy())


@pytest.fixture(scope="session")
def noise() -> pd.DataFrame:
    """Return a table whose search does not end by itself within a test."""
    return pd.DataFrame(jobs.noise())


@pytest.fixture
def dataset(client: Client, easy: pd.DataFrame) -> Dataset:
    return client.datasets.upload(easy, target="label")


@pytest.fixture
def endless(client: Client, noise: pd.DataFrame) -> Dataset:
    return client.datasets.upload(noise, target="label")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Api:
    """An API server at a fixed address, with the stack that it runs on.

    A process of a stack ends with the thread that started it, so one thread starts all of them.
    """

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self._pool = ThreadPoolExecutor(1)
        self.process = self._pool.submit(stack.start_api).result()

    @property
    def running(self) -> bool:
        return self.process.process.poll() is None

    def kill(self) -> None:
        os.killpg(self.process.process.pid, signal.SIGKILL)
        self.process.process.wait()

    def start(self, delay: float = 0.0) -> Future[None]:
        """Start the server again after some seconds, while the caller goes on."""

        def run() -> None:
            time.sleep(delay)
            self.process = self.stack.start_api()

        return self._pool.submit(run)


@pytest.fixture(scope="session")
def actor_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("actor")
    with Stack(folder, LITERATI_PORT=str(free_port())) as stack:
        api = Api(stack)
        yield api
        api._pool.shutdown()


@pytest.fixture
def api(actor_stack: Api) -> Api:
    actor_stack.stack.connection.flushall()
    if not actor_stack.running:
        actor_stack.start().result()
    return actor_stack
