"""A search ends when it is proven, when a limit is reached or when it is asked to, whatever the data."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from literati import LiteratiClassifier, Search, SearchLimits, ShapeTree, StopReason

SLACK = 1.5  # seconds that a test grants a busy machine; a quiet one needs a tenth


def many_classes(rows: int, columns: int, classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, columns)), rng.integers(0, classes, rows)


# The proof


@pytest.mark.parametrize(("max_depth", "max_changepoints"), [(2, 2), (3, 2), (4, 1), (5, 3)])
@pytest.mark.parametrize("candidates", ["all", "quantile", "adaptive", "shape"])
def test_a_tree_without_error_is_proven_at_once(
    candidates: str, max_depth: int, max_changepoints: int
) -> None:
    for seed in range(40):
        generator = np.random.RandomState(seed)
        X = generator.randint(0, 3, (2 + seed % 5, 2))  # two rows are enough
        y = np.arange(len(X)) % 2 if seed % 4 == 0 else generator.randint(0, 2, len(X))
        if len(set(y)) == 1 or (X[0] == X).all(axis=0).any():
            continue
        clf = LiteratiClassifier(
            max_depth=max_depth, max_changepoints=max_changepoints, candidates=candidates, time_limit=30
        ).fit(X, y)
        assert clf.stop_reason_ is StopReason.PROVEN_OPTIMAL
        assert clf.fit_seconds_ < 10


@pytest.mark.parametrize("candidates", ["all", "quantile", "adaptive", "shape"])
def test_equal_bounds_are_a_proof(candidates: str) -> None:
    """Whatever limit is reached in the same step."""
    limits = [
        SearchLimits(gap=0.9),
        SearchLimits(gap_absolute=100.0),
        SearchLimits(max_expansions=1),
        SearchLimits(max_expansions=3),
        SearchLimits(patience=1e-6),
        SearchLimits(time_limit=1e-6),
    ]
    reasons = set()
    for seed, limit in itertools.product(range(12), limits):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 4, (8, 2)), rng.integers(0, 2, 8)
        if len(set(y)) == 1:
            continue
        search = Search(X, y, max_depth=1 + seed % 4, candidates=candidates, limits=limit)
        report = search.run()
        if seed % 3 == 0 and report.stop_reason is not StopReason.PROVEN_OPTIMAL:
            search.stop()
            report = search.run()
        proven = report.stop_reason is StopReason.PROVEN_OPTIMAL
        assert proven == (report.lower_bound >= report.upper_bound) == report.proven_optimal
        reasons.add(report.stop_reason)
    assert len(reasons) >= 3


# Costs


@pytest.mark.parametrize("penalty", [1 / 3, 1 / 7, 0.123456789, 0.1, 1e-9, 2.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_penalties_with_many_decimals(penalty: float, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 4))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(2000) < 0.1)
    weights = rng.uniform(0.1, 3.0, 2000) if weighted else None
    for polish in (False, True):
        search = Search(
            X,
            y,
            sample_weight=weights,
            max_depth=6,
            split_penalty=penalty,
            changepoint_penalty=penalty / 3,
            polish=polish,
            limits=SearchLimits(max_expansions=60),
        )
        report = search.run()
        tree = search.incumbent()
        total = 2000.0 if weights is None else float(weights.sum())
        assert tree.evaluate(X, y, weights) == pytest.approx(tree.objective, abs=1e-9 * total)
        assert tree.settings.split_penalty == penalty
        assert tree.objective == report.objective <= report.upper_bound
        if not polish:
            assert report.lower_bound <= report.objective == report.upper_bound


def test_decimal_penalties_and_weights_read_as_written() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 6, (60, 3)), rng.integers(0, 3, 60)
    clf = LiteratiClassifier(max_depth=3, split_penalty=0.1, changepoint_penalty=0.003).fit(X, y)
    for value in (clf.objective_, clf.upper_bound_, clf.lower_bound_):
        assert value == round(value, 3)
    clf.fit(X, y, sample_weight=np.full(60, 0.7))
    for value in (clf.objective_, clf.upper_bound_, clf.lower_bound_):
        assert value == round(value, 3)


# Time


@pytest.mark.parametrize(
    ("rows", "columns", "classes", "options"),
    [
        (20_000, 10, 1000, {}),
        (3_000, 5, 1000, {"candidates": "all"}),
        (20_000, 10, 100, {"max_depth": 6, "max_changepoints": 4}),
        (3_000, 5, 1000, {"criterion": "entropy", "max_depth": 8}),
        (100_000, 20, 2, {"max_depth": 9, "max_changepoints": 3}),
    ],
)
def test_the_time_limit_holds(rows: int, columns: int, classes: int, options: dict[str, Any]) -> None:
    X, y = many_classes(rows, columns, classes)
    search = Search(X, y, limits=SearchLimits(time_limit=1.0), **options)
    start = time.perf_counter()
    report = search.run()
    assert time.perf_counter() - start < 1.0 + SLACK
    assert report.stop_reason is StopReason.TIME_LIMIT
    assert report.elapsed_seconds < 1.0 + SLACK
    assert search.incumbent().objective == report.objective


@pytest.mark.parametrize("options", [{}, {"candidates": "all"}, {"max_depth": 9}])
def test_a_stop_request_is_heard(options: dict[str, Any]) -> None:
    search = Search(*many_classes(20_000, 10, 1000), limits=SearchLimits(time_limit=None), **options)
    for seconds in (0.05, 0.4, 1.0):
        asked: list[float] = []

        def ask(asked: list[float] = asked) -> None:
            asked.append(time.perf_counter())
            search.stop()

        timer = threading.Timer(seconds, ask)
        timer.start()
        report = search.run()
        assert report.stop_reason is StopReason.USER_STOP
        assert time.perf_counter() - asked[0] < SLACK
        timer.join()


def test_the_first_tree_is_a_leaf() -> None:
    X, y = many_classes(500, 4, 3)
    search = Search(X, y)
    report = search.report()
    assert report.upper_bound == len(y) - np.bincount(y).max()
    assert search.incumbent().n_leaves == 1
    assert search.run(0.0).upper_bound == report.upper_bound
    search = Search(X, y, limits=SearchLimits(max_expansions=1))
    assert search.run().upper_bound < report.upper_bound  # a CART comes before the first expansion


def test_a_step_that_was_broken_off_is_taken_again() -> None:
    """Stops at random moments change neither the proof nor the tree."""
    X, y = many_classes(600, 5, 7)
    whole = Search(X, y, max_depth=3).run()
    rng = np.random.default_rng(3)
    search = Search(X, y, max_depth=3)
    report = search.report()
    while report.stop_reason in (StopReason.RUNNING, StopReason.USER_STOP):
        timer = threading.Timer(float(rng.uniform(0.01, 0.3)), search.stop)
        timer.start()
        report = search.run()
        timer.cancel()
    report = search.run()  # a stop after the proof may have interrupted the polishing of the last tree
    assert report.stop_reason is StopReason.PROVEN_OPTIMAL
    assert (report.upper_bound, report.objective) == (whole.upper_bound, whole.objective)
    assert report.expansions == whole.expansions


# Polishing, and the clock


def test_a_better_tree_is_polished_to_its_end_before_a_new_one() -> None:
    """An unfinished tree is not dropped for a new tree of the engine that costs more."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(600, 6)), rng.integers(0, 3, 600)
    search = Search(X, y, max_depth=5, limits=SearchLimits(max_expansions=400))
    polishing = search._polishing
    assert polishing is not None
    polish, kept = polishing._polish, []

    def observe(start: npt.NDArray[Any], seconds: float, last: bool) -> npt.NDArray[Any]:
        unfinished, upper = polishing._unfinished, search._engine.upper
        if unfinished is not None and polishing._unfinished_cost < upper < polishing._polished_upper:
            kept.append(start is unfinished)
        return polish(start, seconds, last)

    polishing._polish = observe  # type: ignore[method-assign]
    search.run()
    assert kept
    assert all(kept)


def test_polishing_gets_its_share_of_the_work_and_no_more() -> None:
    X, y = many_classes(3000, 8, 2)
    search = Search(X, y, max_depth=9, limits=SearchLimits(time_limit=None))
    for _ in range(12):
        search.run(0.25)
    polishing, engine = search._polishing, search._engine
    assert polishing is not None
    assert 0 < polishing.work <= engine.work / 4 + 8 * polishing._min_budget


def test_polishing_does_not_depend_on_the_clock() -> None:
    X, y = many_classes(1500, 6, 3)
    traces, trees = [], []
    for slices in (None, 0.02, 0.3):
        search = Search(X, y, max_depth=6, limits=SearchLimits(time_limit=None, max_expansions=300))
        while search.run(slices).stop_reason is StopReason.RUNNING:
            pass
        trace = search.trace()
        traces.append([trace[name].tolist() for name in ("expansions", "upper", "lower")])
        trees.append(search.incumbent().to_json())
    assert traces[0] == traces[1] == traces[2]
    assert trees[0] == trees[1] == trees[2]


def test_the_trace_and_the_limits_speak_of_the_same_seconds() -> None:
    X, y = many_classes(2000, 8, 2)
    search = Search(X, y, max_depth=8, limits=SearchLimits(time_limit=None))
    before = 0.0
    for _ in range(6):
        report = search.run(0.2)
        trace = search.trace()
        assert (np.diff(trace["seconds"]) >= 0).all()
        new = trace["seconds"][trace["seconds"] > before]
        assert all(before <= seconds <= report.elapsed_seconds for seconds in new)
        before = report.elapsed_seconds
    resumed = Search.resume(X, y, search.checkpoint())
    report = resumed.run(0.2)
    later = resumed.trace()["seconds"]
    assert (np.diff(later) >= 0).all()
    assert later[-1] <= report.elapsed_seconds
    assert report.elapsed_seconds > before


def test_a_penalty_that_is_rounded_beside_a_heavy_row() -> None:
    """A penalty is a multiple of a small part of all weight; a tree that pays it can be read back."""
    X = [[1.4, -0.2], [1.4, -0.3], [0.8, -0.3]]
    weights = [51376371.565778695, 3.6935921200163326, 2.695910633966017]
    search = Search(X, ["a", "b", "c"], sample_weight=weights, split_penalty=0.1)
    report = search.run()
    assert report.stop_reason is StopReason.PROVEN_OPTIMAL
    tree = search.incumbent()
    assert tree.n_leaves > 1
    assert ShapeTree.from_json(tree.to_json()).objective == tree.objective
    again = Search.resume(X, ["a", "b", "c"], search.checkpoint(), sample_weight=weights)
    assert again.run().objective == report.objective
