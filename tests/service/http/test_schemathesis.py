"""Schemathesis over the whole OpenAPI document, with its stateful phase, on a real stack with keys."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from tests.support.http.schemathesis_hooks import TABLE
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack, poll

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, str]]:
    folder = tmp_path_factory.mktemp("fuzzed")
    path = folder / "keys.json"
    word, _ = key_file.add(path, "fuzzer", "default", frozenset(Scope))
    with Stack.with_worker_and_api(
        folder, LITERATI_API_KEYS_FILE=str(path), LITERATI_RATE_LIMITS="off"
    ) as stack:
        yield stack, word


def fuzz(stack: Stack, word: str, folder: Path, *words: str) -> str:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml")),
            *("run", f"{stack.url}/openapi.json", "--header", f"Authorization: Bearer {word}", *words),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    log = "".join(path.read_text() for path in stack.folder.glob("api-*.log"))
    assert "unexpected" not in log, log[-4000:]
    return run.stdout


def generated(told: str) -> int:
    """Return the number of test cases."""
    found = re.search(r"Test cases:\s+(\d+) generated", told)
    assert found, told[-3000:]
    print(f"{found[1]} cases")
    return int(found[1])


def links_covered(told: str) -> tuple[int, int]:
    """Return the number of operations."""
    found = re.search(r"API Links:\s+(\d+) covered / (\d+)", told)
    assert found, told[-3000:]
    return int(found[1]), int(found[2])


def make_models(stack: Stack, word: str) -> None:
    """Add records, so that the lists are not empty when Schemathesis starts."""
    with stack.client(headers={"Authorization": f"Bearer {word}"}) as client:
        upload = client.post(
            "/v1/datasets", params={"target": "species"}, content=TABLE, headers={"Content-Type": "text/csv"}
        )
        assert upload.status_code in (200, 201), upload.text
        for _ in range(5):
            client.post("/v1/jobs", json={"dataset_id": upload.json()["id"]})
        poll(lambda: len(client.get("/v1/models").json()["items"]) >= 5, what="five models")


def test_every_operation(key: tuple[Stack, str], tmp_path: Path) -> None:
    told = fuzz(*key, tmp_path, "--phases", "examples,coverage,fuzzing")
    assert re.search(r"API Operations:\s+Selected: (\d+)/\1\s+Tested: \1", told), told[-3000:]
    assert generated(told) > 1000


def test_from_one_operation_to_the_next(key: tuple[Stack, str], tmp_path: Path) -> None:
    """Run several rounds: jobs change, so a replay may differ, and a round may end early."""
    make_models(*key)
    for seconds in ("12", "60"):  # a busy machine takes longer
        told = fuzz(*key, tmp_path, "--phases", "stateful", "--max-time", seconds)
        covered, links = links_covered(told)
        if 2 * covered >= links:
            break
    assert 2 * covered >= links, told[-3000:]
    assert generated(told) > 50
