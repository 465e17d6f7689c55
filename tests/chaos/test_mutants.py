"""Scenarios find a broken promise when the check that protects it is removed from the store's scripts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.chaos.cluster import Cluster
from tests.chaos.findings import Findings
from tests.chaos.mutants import MUTANTS, Mutant


@pytest.fixture(scope="module")
def caught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[list[str]]]]:
    """Run all scenarios at the same time, since they mostly wait."""
    folders: list[Path] = [tmp_path_factory.mktemp("mutant") for _ in MUTANTS]
    with ThreadPoolExecutor(len(MUTANTS)) as threads:
        yield {
            mutant.name: threads.submit(mutant.caught, folder)
            for mutant, folder in zip(MUTANTS, folders, strict=True)
        }


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_removed_check_is_noticed(caught: dict[str, Future[list[str]]], mutant: Mutant) -> None:
    assert caught[mutant.name].result() != []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.scenario.__name__)
def test_the_code_as_it_is_breaks_no_promise(cluster: Cluster, findings: Findings, mutant: Mutant) -> None:
    mutant.scenario(cluster, findings)
