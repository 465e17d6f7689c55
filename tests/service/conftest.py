"""Fixtures with real processes for tests of the service.

`api` is an API server on a store that is emptied before each test, without a worker; tests play the worker
with `acting_worker`. `stack` also has a real worker.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.support.records import jobs
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset


@pytest.fixture(scope="session")
def api_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack.with_api(tmp_path_factory.mktemp("api")) as stack:
        yield stack


@pytest.fixture
def api(api_stack: Stack) -> Stack:
    api_stack.connection.flushall()
    return api_stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack.with_worker_and_api(tmp_path_factory.mktemp("stack")) as stack:
        yield stack


NARROW = {
    "LITERATI_MAX_LIVE_JOBS": "2",
    "LITERATI_MAX_TIME_LIMIT": "100",
    "LITERATI_MAX_MEMORY_LIMIT": "1000000",
    "LITERATI_MAX_WAITING": "1",
    "LITERATI_KEEP_ALIVE_SECONDS": "0.4",
    "LITERATI_MAX_REQUEST_BYTES": "10000",
    "LITERATI_MAX_PREDICT_BYTES": "30000",
    "LITERATI_MAX_UPLOAD_BYTES": "50000",
    "LITERATI_BODY_GRACE_SECONDS": "1",
}


@pytest.fixture(scope="session")
def narrow_stack(tmp_path_factory: pytest.TempPathFactory, api_stack: Stack) -> Iterator[Stack]:
    with Stack.with_api(tmp_path_factory.mktemp("narrow"), server=api_stack.server, **NARROW) as stack:
        yield stack


@pytest.fixture
def narrow(narrow_stack: Stack, api: Stack) -> Stack:
    """Provide a second API server on the store of `api`, with low limits."""
    return narrow_stack


@pytest.fixture
def client(api: Stack) -> Iterator[httpx.Client]:
    with api.client() as client:
        yield client


@pytest.fixture
def dataset(api: Stack) -> Dataset:
    return jobs.add_dataset(api.store, api.blobs, jobs.easy())
