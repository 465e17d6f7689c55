"""The tests have teeth: without a check that protects a promise, a scenario sees it broken."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from chaos.cluster import Cluster
from chaos.findings import Findings
from chaos.mutants import MUTANTS, Mutant


@pytest.fixture(scope="module")
def caught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[list[str]]]]:
    """All of them at once: they mostly wait."""
    folders: list[Path] = [tmp_path_factory.mktemp("mutant") for _ in MUTANTS]
    with ThreadPoolExecutor(len(MUTANTS)) as threads:
        yield {
            mutant.name: threads.submit(mutant.caught, folder)
            for mutant, folder in zip(MUTANTS, folders, strict=True)
        }


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_what_is_taken_out_is_missed(caught: dict[str, Future[list[str]]], mutant: Mutant) -> None:
    assert caught[mutant.name].result() != []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.scenario.__name__)
def test_the_code_as_it_is_breaks_no_promise(cluster: Cluster, findings: Findings, mutant: Mutant) -> None:
    mutant.scenario(cluster, findings)
