"""A real store for every test of the worker: one Valkey a session, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from worker.valkey import ValkeyServer


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with ValkeyServer(tmp_path_factory.mktemp("valkey")) as server:
        yield server


@pytest.fixture
def client(server: ValkeyServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url) as client:
        client.flushall()
        yield client
