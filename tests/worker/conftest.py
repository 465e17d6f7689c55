"""Fixtures of the worker's tests: a real Valkey server for the session, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.support.stack.s3_server import BUCKET, S3Server
from worker.blobs.s3 import BucketBlobs
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect


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


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """Give this process the credentials of the S3 server."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture
def bucket(s3: S3Server, tmp_path: Path) -> BucketBlobs:
    """Return the blobs of a bucket, under a prefix of the test's own."""
    return BucketBlobs(f"s3://{BUCKET}/{tmp_path.name}", tmp_path / "cache", cache_bytes=1 << 20)
