"""The engine as a guest in a process: it stops when asked, gives memory back and runs on any machine."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from literati._engine._engine import Engine

from tests.support.paths import ROOT
from tests.support.solver.engines import MEMORY_LIMIT, PROVEN, SLICE_OVER, STOPPED, engine
from tests.support.solver.problems import MODES, random_problem


def large_engine(mode: str, *, rows: int = 20_000, **options: Any) -> Any:
    """A search that nobody will see the end of."""
    rng = np.random.default_rng(0)
    codes = np.empty((8, rows), dtype=np.int32)
    values, signal = [], np.zeros(rows)
    for j in range(8):
        column = rng.normal(size=rows).round(3)
        distinct, inverse = np.unique(column, return_inverse=True)
        codes[j] = inverse
        values.append(distinct)
        signal += np.sin(3 * column)
    y = np.digitize(signal, [-1.0, 1.0]).astype(np.int32)
    given: dict[str, Any] = {
        "max_depth": 6,
        "max_changepoints": 3,
        "candidates": mode,
        "candidate_leaves": [17],
        "or_selection": "informative",
        "and_selection": "round_robin",
        "heuristic": "cart",
        "criterion": "gini",
        "memory_limit": 0,
    }
    if mode == "quantile":
        given["grid"] = [np.linspace(1, len(v) - 1, 15).astype(np.int32) for v in values]
    return Engine(codes, values, y, 3, None, **given | options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.alone
def test_a_stop_request_is_heard_within_a_tenth_of_a_second(mode: str) -> None:
    delays = []
    for attempt in range(5):
        search = large_engine(mode)
        statuses: list[int] = []
        thread = threading.Thread(target=lambda s=search, out=statuses: out.append(s.run(120.0)))
        thread.start()
        time.sleep(0.05 + 0.1 * attempt)
        asked = time.monotonic()
        search.request_stop()
        thread.join()
        delays.append(time.monotonic() - asked)
        assert statuses == [STOPPED]
        assert search.lower <= search.upper
        assert len(search.nodes()) >= 1
    # The median: another process may hold the core once.
    assert statistics.median(delays) < 0.1


def test_a_stopped_search_goes_on_to_the_same_end() -> None:
    problem = random_problem(10_007, depth=4, mode="shape")
    whole = engine(problem)
    assert whole.run(60.0) == PROVEN
    search = engine(problem)
    search.request_stop()
    assert search.run(60.0) == STOPPED
    assert search.run(60.0) == PROVEN
    assert (search.upper, search.lower) == (whole.upper, whole.lower)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.alone
def test_a_slice_takes_about_its_time(mode: str) -> None:
    search = large_engine(mode)
    search.run(0.0)
    start = time.monotonic()
    assert search.run(0.2) == SLICE_OVER
    assert 0.15 < time.monotonic() - start < 1.2


def resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists() or os.environ.get("LITERATI_SANITIZED") == "1",
    reason="reads the resident size from /proc; a sanitizer holds freed memory back",
)


@needs_proc
@pytest.mark.slow
def test_ten_thousand_cancelled_searches_leave_nothing_behind() -> None:
    problems = [random_problem(seed, depth=3 + seed % 2, mode=MODES[seed % 4]) for seed in range(8)]

    def cycle(count: int) -> None:
        for i in range(count):
            search = engine(problems[i % len(problems)])
            search.run(0.0 if i % 3 else 1.0, max_expansions=i % 5)
            search.request_stop()
            search.run(1.0)
            if i % 7 == 0:
                search.nodes()
                search.trace()
            if i % 11 == 0:
                engine(problems[i % len(problems)]).restore(search.checkpoint())

    cycle(1000)
    before = resident()
    cycle(9000)
    assert resident() - before < 4 << 20


@needs_proc
def test_a_large_search_gives_its_memory_back() -> None:
    def once() -> None:
        search = large_engine("shape")
        search.run(0.3)
        search.request_stop()

    once()
    once()
    before = resident()
    for _ in range(5):
        once()
    assert resident() - before < 16 << 20


@needs_proc
def test_the_memory_limit_holds() -> None:
    limit = 64 << 20
    before = resident()
    search = large_engine("shape", max_depth=8, memory_limit=limit)
    deadline = time.monotonic() + 5
    highest = 0
    while time.monotonic() < deadline:
        status = search.run(0.1)
        highest = max(highest, resident())
        assert search.bytes <= limit
        if status == MEMORY_LIMIT:
            break
    assert highest - before < limit + (64 << 20)
    assert search.lower <= search.upper
    assert len(search.nodes()) >= 1


SCRIPT = """
import json, sys
import numpy as np
from literati._engine._engine import Engine, simd
from tests.support.solver.engines import engine
from tests.support.solver.problems import MODES, random_problem
out = []
def note(search, expansions):
    status = search.run(60.0, expansions)
    tree = search.nodes().tobytes().hex()
    out.append([status, search.upper, search.lower, search.expansions, search.work, tree])
for seed in range(400):
    problem = random_problem(seed, depth=2 + seed % 3, mode=MODES[seed % 4])
    note(engine(problem), -1)
# Kernels take up to 32 rows at once, and tables of 1,024; beyond 16,000 and 32,767 rows others take over.
for seed in range(60):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(30, (200, 1100, 5000)[seed % 3]))
    if seed >= 57:
        n_rows = (9000, 17000, 33000)[seed - 57]
    n_classes = int(rng.choice([2, 2, 3, 7, 16, 17]))
    cardinality = int(rng.choice([3, 40, n_rows]))
    codes = rng.integers(0, cardinality, size=(3, n_rows))
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in codes]).astype(np.int32)
    y = (codes.sum(0) * n_classes // (codes.sum(0).max() + 1) + (rng.random(n_rows) < 0.3)) % n_classes
    y[:n_classes] = np.arange(n_classes)
    values = [np.arange(column.max() + 1, dtype=float) for column in codes]
    search = Engine(
        codes, values, y.astype(np.int32), n_classes, max_depth=2 + seed % 3, max_changepoints=1 + seed % 4,
        candidates=("adaptive", "shape")[seed % 5 == 4], candidate_leaves=[9], scale=1.0,
    )
    note(search, 20)
print(json.dumps([simd(), out]))
"""


def run_with(level: str) -> Any:
    environment = os.environ | {"LITERATI_SIMD": level, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return json.loads(done.stdout)


def test_every_instruction_set_gives_the_same_result() -> None:
    name, plain = run_with("none")
    assert name == "none"
    for level in ("avx2", "avx512", "vbmi2"):
        name, results = run_with(level)
        assert name in ("none", "avx2", "avx512", "vbmi2")  # a machine without it runs what it has
        assert results == plain, f"asked for {level}, ran {name}"
