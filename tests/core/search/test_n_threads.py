"""A search with several threads: the same tree, bounds and trace, and the same limits."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import psutil
import pytest

from literati import LiteratiClassifier, Search, SearchLimits, StopReason
from literati.data.table import build
from literati.errors import DataWarning
from literati.search.engine_factory import TableSize, min_memory, thread_count
from literati.search.interruptible import call_interruptibly
from literati.search.options import SolverOptions
from tests.support.solver import oracle
from tests.support.solver.engines import MEMORY_LIMIT, PATIENCE, PROVEN, STOPPED, engine, proven_engine
from tests.support.solver.problems import MODES, Problem, random_problem
from tests.support.solver.trees import objective

# (rows, columns, classes, depth, change points)
LARGER = [(600, 4, 2, 4, 1), (400, 3, 3, 4, 2), (500, 3, 2, 5, 1), (250, 3, 2, 4, 3)]

SAME = ("upper_bound", "lower_bound", "objective", "expansions", "explored", "states_live", "cache_hits")


def noise(rows: int, columns: int, classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 60, (rows, columns)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.integers(0, 60, rows)).astype(int) % classes
    return X, y


def points(trace: Any) -> list[tuple[float, ...]]:
    return [tuple(point)[1:] for point in trace.tolist()]  # without seconds


@pytest.mark.parametrize("mode", MODES)
def test_small_problems_have_the_same_search(mode: str) -> None:
    for seed in range(40):
        problem = random_problem(seed, mode=mode)
        one, three = proven_engine(problem), proven_engine(problem, n_threads=3)
        assert three.upper == oracle.optimum(problem)
        assert points(three.trace()) == points(one.trace())
        assert (three.nodes() == one.nodes()).all()
        assert (three.expansions, three.work, three.explored) == (one.expansions, one.work, one.explored)


@pytest.mark.parametrize("sizes", LARGER)
@pytest.mark.parametrize("mode", ["adaptive", "shape"])
def test_larger_problems_have_the_same_search(mode: str, sizes: tuple[int, ...]) -> None:
    rows, columns, classes, depth, changepoints = sizes
    X, y = noise(rows, columns, classes)
    searches = [
        Search(
            X,
            y,
            max_depth=depth,
            max_changepoints=changepoints,
            candidates=mode,
            n_threads=n_threads,
            limits=SearchLimits(time_limit=None, max_expansions=1500),
        )
        for n_threads in (1, 2, 4)
    ]
    first, *others = [(search.run(), points(search.trace()), search.incumbent()) for search in searches]
    for report, trace, tree in others:
        assert trace == first[1]
        assert tree == first[2]
        for name in SAME:
            assert getattr(report, name) == getattr(first[0], name), name


def random_stops(search: Any, seconds: float, pause: float) -> None:
    """Request a stop at random times."""
    rng = np.random.default_rng(0)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(rng.uniform(0.0, pause))
        search.request_stop()


@pytest.mark.parametrize(
    ("mode", "depth", "changepoints", "rows"),
    [("adaptive", 5, 1, 400), ("all", 4, 1, 160), ("all", 3, 2, 80)],
)
def test_stops_do_not_change_the_search(mode: str, depth: int, changepoints: int, rows: int) -> None:
    problem = larger_problem(mode, depth, changepoints, rows)
    whole = proven_engine(problem, n_threads=3)
    search = engine(problem, n_threads=3)
    thread = threading.Thread(
        target=random_stops, args=(search, 2.0, 0.003 if mode == "adaptive" else 0.0003)
    )
    thread.start()
    stops, clock = 0, 0.0
    while (status := search.run(PATIENCE, clock=clock)) != PROVEN:
        assert status == STOPPED
        stops, clock = stops + 1, clock + 1.0
    thread.join()
    assert stops > 3
    assert points(search.trace()) == points(whole.trace())
    assert (search.nodes() == whole.nodes()).all()
    assert search.work == whole.work


def larger_problem(mode: str = "adaptive", depth: int = 5, changepoints: int = 1, rows: int = 400) -> Problem:
    """Return a problem that takes more than a thousand expansions."""
    rng = np.random.default_rng(3)
    return Problem(
        codes=rng.integers(0, 40, (5, rows)).tolist(),
        values=[[float(value) for value in range(40)]] * 5,
        y=rng.integers(0, 2, rows).tolist(),
        n_classes=2,
        weights=None,
        max_depth=depth,
        max_changepoints=changepoints,
        split_penalty=0.0,
        changepoint_penalty=0.0,
        candidates=mode,
        candidate_leaves=[9],
    )


def test_a_stop_is_heard_by_every_thread() -> None:
    X, y = noise(150_000, 12, 2)
    search = Search(X, y, max_depth=5, max_changepoints=3, n_threads=4, limits=SearchLimits(time_limit=60.0))
    asked: list[float] = []

    def ask() -> None:
        asked.append(time.perf_counter())
        search.stop()

    for delay in (0.3, 1.0, 0.7):
        timer = threading.Timer(delay, ask)
        timer.start()
        report = search.run()
        waited = time.perf_counter() - asked[-1]
        timer.join()
        assert report.stop_reason is StopReason.USER_STOP
        assert waited < 0.5  # a tenth of a second on a machine with as many cores as threads


def threads_become(count: int) -> bool:
    """Return whether the process has this many threads soon; the system needs a moment to remove one."""
    deadline = time.monotonic() + 10
    while (found := len(psutil.Process().threads())) != count and time.monotonic() < deadline:
        time.sleep(0.01)
    return found == count


def test_threads_end_with_their_search() -> None:
    X, y = noise(600, 4, 2)
    gc.collect()  # searches of other tests
    call_interruptibly(lambda: None, lambda: None, 1.0)  # its thread stays
    before = len(psutil.Process().threads())
    search = Search(X, y, max_depth=5, n_threads=3, limits=SearchLimits(time_limit=None))
    for _ in range(3):
        assert search.run(0.02).stop_reason is StopReason.RUNNING
        assert threads_become(before + 2)
    del search
    assert threads_become(before)
    search = Search(X, y, max_depth=3, n_threads=3)
    assert search.run().proven_optimal
    assert threads_become(before)


IN_A_FORKED_PROCESS = """
import os
import numpy as np
from literati import Search, SearchLimits

rng = np.random.default_rng(0)
X, y = rng.integers(0, 60, (400, 4)).astype(float), rng.integers(0, 2, 400)
search = Search(X, y, max_depth=4, n_threads=3, limits=SearchLimits(time_limit=None))
search.run(0.02)
child = os.fork()
report = search.run()
assert report.proven_optimal
if child:
    assert os.waitpid(child, 0)[1] == 0
    print(report.upper_bound)
"""


@pytest.mark.skipif(
    os.environ.get("LITERATI_SANITIZE") == "threads",
    reason="ThreadSanitizer does not allow new threads in a process that was forked with threads",
)
def test_a_forked_process_continues_the_search() -> None:
    """The threads of a search stay in the process that made them, so its child has to make its own."""
    command = [sys.executable, "-W", "ignore", "-c", IN_A_FORKED_PROCESS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0


def test_checkpoints_resume_with_another_number_of_threads() -> None:
    X, y = noise(400, 4, 2)
    options: dict[str, Any] = {"max_depth": 4, "max_changepoints": 2}
    whole = Search(X, y, limits=SearchLimits(time_limit=None), **options).run()
    search = Search(X, y, n_threads=2, limits=SearchLimits(time_limit=None, max_expansions=40), **options)
    before = search.run()
    resumed = Search.resume(X, y, search.checkpoint(), n_threads=3, limits=SearchLimits(time_limit=None))
    first = resumed.report()
    assert first.explored >= before.explored
    assert first.lower_bound >= before.lower_bound
    report = resumed.run()
    assert report.proven_optimal
    assert report.upper_bound == whole.upper_bound


def test_the_memory_limit_holds_with_threads() -> None:
    X, y = noise(3000, 6, 2)
    options = SolverOptions(max_depth=6, max_changepoints=2, n_threads=4)
    size = TableSize(len(y), [61] * 6, 2, False)
    least = min_memory(size, options, 4)
    assert least > min_memory(size, options, 3) > min_memory(size, options)
    limit = least + (4 << 20)
    search = Search(
        X,
        y,
        max_depth=6,
        max_changepoints=2,
        n_threads=4,
        polish=False,
        limits=SearchLimits(memory_limit=limit, time_limit=3.0),
    )
    lower = 0.0
    for _ in range(30):
        report = search.run(0.1)
        assert report.memory_bytes <= limit + (1 << 20)
        assert report.lower_bound >= lower
        lower = report.lower_bound
    assert report.stop_reason in (StopReason.RUNNING, StopReason.TIME_LIMIT, StopReason.MEMORY_LIMIT)
    assert search.incumbent().objective == report.objective


@pytest.mark.parametrize("mode", ["adaptive", "shape"])
def test_failing_allocations_with_threads(mode: str) -> None:
    for seed in range(6):
        problem = random_problem(seed, mode=mode)
        best = oracle.optimum(problem)
        for after in range(0, 200, 7):
            search = engine(problem, n_threads=2)
            search.fail_allocations(after, 3)
            while (status := search.run(PATIENCE)) == MEMORY_LIMIT:
                assert search.lower <= best <= search.upper
                search.fail_allocations(0, 0)
            assert status == PROVEN
            assert search.upper == best
            search.fail_allocations(0, 0)
            assert objective(problem, search.nodes()) == best


def test_minus_one_means_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("literati.search.engine_factory.usable_cores", lambda: 3)
    assert thread_count(SolverOptions(n_threads=-1)) == 3
    assert thread_count(SolverOptions(n_threads=2)) == 2
    monkeypatch.setattr("literati.search.engine_factory.usable_cores", lambda: 400)
    assert thread_count(SolverOptions(n_threads=-1)) == 16
    assert thread_count(SolverOptions(n_threads=-1, candidates="all")) == 1


def test_the_estimator_takes_threads() -> None:
    X, y = noise(300, 3, 2)
    one = LiteratiClassifier(max_depth=3).fit(X, y)
    two = LiteratiClassifier(max_depth=3, n_threads=2).fit(X, y)
    every = LiteratiClassifier(max_depth=3, n_threads=-1).fit(X, y)
    assert one.proven_optimal_
    assert two.tree_ == one.tree_ == every.tree_
    assert points(two.trace_) == points(one.trace_)


def test_a_search_has_the_threads_that_its_memory_limit_allows() -> None:
    X, y = noise(3000, 6, 2)
    options: dict[str, Any] = {"max_depth": 5, "max_changepoints": 2, "n_threads": 4, "polish": False}
    size = TableSize.of(build(X, y))
    for threads in (1, 2, 3):
        limit = min_memory(size, SolverOptions(**options), threads) + 100
        limits = SearchLimits(memory_limit=limit, max_expansions=1)
        with pytest.warns(DataWarning, match=f"n_threads: the search has {threads} instead of 4 threads"):
            search = Search(X, y, limits=limits, **options)
        assert search.run().memory_bytes <= limit + (1 << 16)
    limits = SearchLimits(memory_limit=min_memory(size, SolverOptions(**options), 4))
    Search(X, y, limits=limits, **options)  # without a warning
