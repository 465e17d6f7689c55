"""One supervised stack for all tests of single faults; whatever they break is up again for the next one."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from chaos.cluster import Cluster
from chaos.findings import Findings
from chaos.visitor import Visitor

if (
    sys.platform != "linux"
):  # where a limit cannot be put on another process, nor children die with their parent
    collect_ignore_glob = ["test_*_faults.py", "test_campaign.py", "test_mutants.py"]


@pytest.fixture(scope="session")
def lasting_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster"), reconcile=0.25) as cluster:
        yield cluster


@pytest.fixture
def cluster(lasting_cluster: Cluster) -> Cluster:
    lasting_cluster.await_ready()
    return lasting_cluster


@pytest.fixture
def findings() -> Iterator[Findings]:
    """Shared by the clients of a test: a 500, a hang or a lost job seen by any of them fails it."""
    findings = Findings()
    yield findings
    assert findings.violations == []


@pytest.fixture
def visitor(cluster: Cluster, findings: Findings) -> Iterator[Visitor]:
    with Visitor(cluster.url, findings) as visitor:
        yield visitor
