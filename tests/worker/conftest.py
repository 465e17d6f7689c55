"""A real store for every test of the worker: one Valkey a session, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from worker.store import Store, connect
from worker.valkey import ValkeyServer


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with ValkeyServer(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture
def client(server: ValkeyServer) -> Iterator[redis.Redis]:
    with connect(server.url) as client:
        client.flushall()
        yield client


@pytest.fixture
def store(client: redis.Redis) -> Store:
    return Store(client)
