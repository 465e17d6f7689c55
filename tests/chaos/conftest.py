"""Fixtures for tests of single faults: they share a supervised stack that is ready again for each."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.chaos.cluster import Cluster
from tests.chaos.findings import Findings
from tests.chaos.job_client import JobClient

# Elsewhere a process cannot be limited from outside, and children do not die with their parent.
if sys.platform != "linux":
    collect_ignore_glob = ["test_*_faults.py", "test_campaign.py", "test_mutants.py"]


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster"), reconcile=0.25) as cluster:
        yield cluster


@pytest.fixture
def cluster(running_cluster: Cluster) -> Cluster:
    running_cluster.await_ready()
    return running_cluster


@pytest.fixture
def findings() -> Iterator[Findings]:
    """Return the findings that the clients of a test share. The test fails if there is a violation."""
    findings = Findings()
    yield findings
    assert findings.violations == []


@pytest.fixture
def job_client(cluster: Cluster, findings: Findings) -> Iterator[JobClient]:
    with JobClient(cluster.url, findings) as job_client:
        yield job_client
