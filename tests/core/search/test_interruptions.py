"""A search that was stopped, ran out of memory or was taken up again loses nothing and goes on."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from literati._engine._engine import Engine

from literati import Search, SearchLimits, ShapeTree, StopReason
from literati.errors import Interrupted
from literati.search import checkpoint, engine_factory
from literati.search import search as search_module
from literati.search.costs import choose_scale
from literati.search.incumbent import IncumbentKeeper


def noise(rows: int = 3000, columns: int = 10, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.integers(0, classes, rows)


@pytest.mark.parametrize("after", [19, 30, 43, 210])
def test_a_search_without_memory_ends(after: int) -> None:
    search = Search(*noise(), limits=SearchLimits(time_limit=60.0))
    search._engine.fail_allocations(after, 1 << 40)
    report = search.run()
    assert report.stop_reason is StopReason.MEMORY_LIMIT
    search._engine.fail_allocations(0, 0)
    assert search.incumbent().objective == report.objective


def test_a_search_that_cannot_polish_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    class EngineWithoutPolisher(Engine):  # type: ignore[misc]
        def polisher(self) -> Any:
            tries.append(self)
            raise MemoryError

    monkeypatch.setattr(engine_factory, "Engine", EngineWithoutPolisher)
    search = Search(*noise(600, 6), max_depth=5, limits=SearchLimits(max_expansions=100))
    assert search.run().stop_reason is StopReason.EXPANSION_LIMIT
    assert 1 <= len(tries) <= 60


def test_a_stop_that_comes_too_late_for_a_polish_does_not_hold_up_the_search() -> None:
    search = Search(*noise(), max_depth=8, max_changepoints=3, limits=SearchLimits(time_limit=None))
    while search._polishing is not None and search._polishing.work == 0:
        search.run(0.02)
    for _ in range(3):
        search._polishing.request_stop()  # type: ignore[union-attr]
        search._engine.request_stop()
        before = search.report().expansions
        assert search.run(0.5).expansions > before


def test_a_polish_that_was_broken_off_at_the_end_is_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 4))
    y = (np.sin(3 * X[:, 0]) > 0) ^ (X[:, 1] > 0.3) ^ (rng.random(400) < 0.1)
    whole = Search(X, y, max_depth=3, candidate_leaves=4)
    best = whole.run()
    assert best.objective < best.upper_bound, "nothing to be lost"
    honest = IncumbentKeeper.tree_of
    broken: list[IncumbentKeeper] = []

    def fragile(self: IncumbentKeeper, *given: Any) -> Any:
        if len(broken) < 3:
            broken.append(self)
            raise Interrupted
        return honest(self, *given)

    monkeypatch.setattr(IncumbentKeeper, "tree_of", fragile)
    search = Search(X, y, max_depth=3, candidate_leaves=4)
    for _ in range(4):
        report = search.run()
    assert len(broken) == 3
    assert (report.stop_reason, report.objective) == (StopReason.PROVEN_OPTIMAL, best.objective)


def test_a_resumed_search_has_found_nothing_new() -> None:
    search = Search(*noise(600, 6), max_depth=5, limits=SearchLimits(max_expansions=150))
    report = search.run()
    assert report.objective < report.upper_bound, "its tree is beyond its space"
    for _ in range(3):
        search = Search.resume(*noise(600, 6), search.checkpoint())
        again = search.report()
        assert again.improvements == report.improvements
        assert again.found_seconds == pytest.approx(report.found_seconds, abs=0.2)
        assert again.objective == report.objective


def in_powers_of_two(*given: Any, binary_only: bool) -> float:
    return choose_scale(*given, binary_only=True)


@pytest.mark.parametrize("penalty", [0.0, 0.1, 1 / 3, math.inf])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_checkpoint_of_version_0_1_0(
    monkeypatch: pytest.MonkeyPatch, penalty: float, weighted: bool
) -> None:
    """It does not say in what units it counts costs: they were always powers of two."""
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 8, (120, 4)), rng.integers(0, 2, 120)
    weights = rng.integers(1, 30, 120) / 10 if weighted else None
    penalty = min(penalty, 500.0)  # more than all rows weigh
    options: dict[str, Any] = {"max_depth": 4, "split_penalty": penalty}
    best = Search(X, y, sample_weight=weights, **options).run()
    assert best.stop_reason is StopReason.PROVEN_OPTIMAL
    with monkeypatch.context() as old:
        old.setattr(search_module, "choose_scale", in_powers_of_two)
        search = Search(X, y, sample_weight=weights, limits=SearchLimits(max_expansions=20), **options)
        search.run()
        header, payload = checkpoint.unpack(search.checkpoint())
    assert "scale" not in header
    resumed = Search.resume(
        X, y, checkpoint.pack(header, payload), sample_weight=weights, limits=SearchLimits()
    )
    report = resumed.run()
    assert report.stop_reason is StopReason.PROVEN_OPTIMAL
    assert report.upper_bound == pytest.approx(best.upper_bound, abs=1e-9 * 400)


def test_a_solve_of_depth_two_that_is_stopped_again_and_again_gets_done() -> None:
    X, y = noise(8000, 20)
    options: dict[str, Any] = {"max_depth": 2, "max_changepoints": 1, "candidates": "all", "polish": False}
    whole = Search(X, y, **options)
    best = whole.run()
    delay, stops = best.elapsed_seconds / 4, 0
    while not stops:  # on a busy machine, the first search may have taken much longer than the next one
        delay /= 2
        search = Search(X, y, **options)
        report = search.report()
        while report.stop_reason in (StopReason.RUNNING, StopReason.USER_STOP) and stops < 200:
            timer = threading.Timer(delay, search.stop)
            timer.start()
            report = search.run()
            timer.cancel()
            stops += report.stop_reason is StopReason.USER_STOP
    assert (report.stop_reason, report.objective) == (StopReason.PROVEN_OPTIMAL, best.objective)
    assert search._engine.work == whole._engine.work, "what is done again counts once"


@pytest.mark.slow
def test_a_step_that_is_interrupted_takes_no_turn() -> None:
    X, y = noise(20_000, 12, classes=5)
    options: dict[str, Any] = {"max_depth": 5, "max_changepoints": 2, "polish": False}
    whole = Search(X, y, limits=SearchLimits(max_expansions=500), **options)
    whole.run()
    search = Search(X, y, limits=SearchLimits(max_expansions=500), **options)
    stops = 0
    while search.report().stop_reason is not StopReason.EXPANSION_LIMIT:
        timer = threading.Timer(0.02, search._engine.request_stop)
        timer.start()
        search.run(0.05)
        timer.cancel()
        stops += 1
    assert stops > 5
    np.testing.assert_array_equal(search.trace()["upper"], whole.trace()["upper"])
    np.testing.assert_array_equal(search.trace()["expansions"], whole.trace()["expansions"])


class StoppedPolisher:
    """A polisher whose every polish is stopped twice before it can begin."""

    def __init__(self, polisher: Any, stop: Callable[[], None]) -> None:
        self._polisher, self._stop, self._calls = polisher, stop, 0

    def polish(self, *given: Any) -> Any:
        self._calls += 1
        if self._calls % 3:
            self._stop()
        return self._polisher.polish(*given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._polisher, name)


def search_with_polishing() -> Search:
    X, y = noise(600, 6, classes=3)
    return Search(X, y, max_depth=5, limits=SearchLimits(max_expansions=400))


def assert_stops_change_nothing(search: Search, whole: Search) -> None:
    """Run both searches to their end, and check that they polished the same trees at the same moments."""
    best = whole.run()
    report, stops = search.run(), 0
    while report.stop_reason is StopReason.USER_STOP:
        report, stops = search.run(), stops + 1
    assert stops > 3
    assert (report.objective, report.improvements) == (best.objective, best.improvements)
    assert search._polishing is not None
    assert whole._polishing is not None
    assert search._polishing.work == whole._polishing.work > 0
    np.testing.assert_array_equal(search.trace()["upper"], whole.trace()["upper"])


def test_a_polish_that_is_stopped_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = search_with_polishing()

    class EngineWithStops(Engine):  # type: ignore[misc]
        def polisher(self) -> Any:
            return StoppedPolisher(super().polisher(), lambda: search.stop())

    monkeypatch.setattr(engine_factory, "Engine", EngineWithStops)
    search = search_with_polishing()
    assert_stops_change_nothing(search, whole)


def test_a_polished_tree_is_built_although_stops_interrupt_it(monkeypatch: pytest.MonkeyPatch) -> None:
    search, whole = search_with_polishing(), search_with_polishing()
    build, calls = search._best.tree_of, itertools.count(1)

    def build_with_stops(nodes: npt.NDArray[Any], poll: Callable[[], None] | None = None) -> ShapeTree:
        if poll is not None and next(calls) % 3:
            search.stop()
        return build(nodes, poll)

    monkeypatch.setattr(search._best, "tree_of", build_with_stops)
    assert_stops_change_nothing(search, whole)
