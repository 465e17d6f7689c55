"""Search: limits, reports, the incumbent, stopping, and the way to disk and back."""

from __future__ import annotations

import math
import threading
import time
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from literati import Search, SearchLimits, SearchReport, ShapeTree, StopReason
from literati.data.table import Categories
from literati.search.options import Candidates
from literati.tree.nodes import BEYOND_SPACE


def hard(rows: int = 600, columns: int = 8, seed: int = 0) -> tuple[Any, Any]:
    """Noise: a search on it does not end by itself within a test."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.integers(0, 3, rows)


def long_search(**limits: Any) -> Search:
    return Search(*hard(), limits=SearchLimits(**limits), max_depth=6, max_changepoints=3)


def check(report: SearchReport) -> None:
    assert math.isfinite(report.upper_bound)
    assert 0 <= report.lower_bound <= report.upper_bound
    assert report.objective <= report.upper_bound
    assert report.gap_absolute == report.upper_bound - report.lower_bound
    assert report.gap == (report.gap_absolute / report.upper_bound if report.upper_bound else 0.0)
    assert report.proven_optimal == (report.stop_reason is StopReason.PROVEN_OPTIMAL)
    assert report.memory_bytes > 0


def test_to_the_proof() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    search = Search(X, y, max_depth=3, max_changepoints=2)
    report = search.run()
    check(report)
    assert report.stop_reason is StopReason.PROVEN_OPTIMAL
    assert report.lower_bound == report.upper_bound
    assert report.proven_space == "adaptive"
    tree = search.incumbent()
    assert tree.objective == report.objective == tree.evaluate(X, y) == (tree.predict(X) != y).sum()
    assert tree.proof.proven_optimal
    assert tree.nodes[0].proven
    assert search.run() == search.report()  # a finished search stays finished
    assert report.to_dict()["stop_reason"] == "PROVEN_OPTIMAL"


def test_without_polish_the_tree_is_the_one_the_bound_speaks_of() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for options in ({}, {"split_penalty": 0.5, "changepoint_penalty": 0.25}, {"class_weight": {0: 1.5}}):
        search = Search(X, y, max_depth=2, polish=False, **options)
        report = search.run()
        assert report.objective == report.upper_bound == search.incumbent().objective
        assert search.incumbent().evaluate_table(search.table) == report.upper_bound


def test_every_moment_has_numbers_and_a_tree() -> None:
    search = long_search(time_limit=5.0)
    report = search.report()
    check(report)
    assert report.stop_reason is StopReason.RUNNING
    assert report.expansions == 0
    first = search.incumbent()
    assert first.objective == report.objective
    last = report
    for _ in range(5):
        report = search.run(0.05)
        check(report)
        assert report.upper_bound <= last.upper_bound
        assert report.lower_bound >= last.lower_bound
        assert report.objective <= last.objective
        assert report.elapsed_seconds > last.elapsed_seconds
        assert report.improvements >= last.improvements
        assert search.incumbent().objective == search.report().objective
        last = report
    trace = search.trace()
    assert trace.dtype.names == ("seconds", "expansions", "upper", "lower", "explored", "stage")
    assert not trace["stage"].any()
    assert (np.diff(trace["upper"]) <= 0).all()
    assert (np.diff(trace["lower"]) >= 0).all()
    assert (np.diff(trace["seconds"]) >= 0).all()


def test_a_short_run_is_short() -> None:
    search = long_search(time_limit=None)
    search.run(0.0)
    start = time.perf_counter()
    search.run(0.3)
    assert 0.25 < time.perf_counter() - start < 0.9
    with pytest.raises(ValueError, match="seconds: expected None or a number >= 0, got -1"):
        search.run(-1)
    with pytest.raises(ValueError, match="seconds: expected None or a number >= 0, got True"):
        search.run(True)
    search.run(np.float32(0.0))  # type: ignore[arg-type]


def test_time_limit() -> None:
    report = long_search(time_limit=0.4).run()
    check(report)
    assert report.stop_reason is StopReason.TIME_LIMIT
    assert 0.32 <= report.elapsed_seconds < 1.2  # a fifth, at most, is for finishing the tree


def test_a_time_limit_that_is_over_at_once_still_gives_a_tree() -> None:
    search = long_search(time_limit=1e-9)
    report = search.run()
    check(report)
    assert report.stop_reason is StopReason.TIME_LIMIT
    assert search.incumbent().objective == report.objective


def test_expansion_limit_is_deterministic() -> None:
    searches = [long_search(time_limit=None, max_expansions=40) for _ in range(2)]
    reports = [search.run() for search in searches]
    assert [report.stop_reason for report in reports] == [StopReason.EXPANSION_LIMIT] * 2
    assert reports[0].expansions == reports[1].expansions == 40
    assert reports[0].upper_bound == reports[1].upper_bound
    assert reports[0].lower_bound == reports[1].lower_bound
    assert searches[0].incumbent() == searches[1].incumbent()


def test_gaps() -> None:
    X, y = hard(300, 4)
    for limits in (SearchLimits(gap=0.3), SearchLimits(gap_absolute=60)):
        search = Search(X, y, limits=limits, max_depth=3, max_changepoints=1, candidates="all")
        report = search.run()
        assert report.stop_reason is StopReason.GAP_REACHED
        assert not report.proven_optimal  # a tolerance is no proof
        assert 0 < report.gap <= 0.3 or 0 < report.gap_absolute <= 60
        assert not search.incumbent().proof.proven_optimal
        assert "Not proven optimal" in search.incumbent().proof.statement()


def test_patience() -> None:
    report = long_search(time_limit=20.0, patience=0.3).run()
    check(report)
    assert report.stop_reason is StopReason.NO_IMPROVEMENT
    assert report.elapsed_seconds < 15


def test_memory_limit() -> None:
    search = Search(*hard(2000), limits=SearchLimits(time_limit=3.0, memory_limit=24 << 20), max_depth=8)
    report = search.run()
    check(report)
    assert report.stop_reason in (StopReason.MEMORY_LIMIT, StopReason.TIME_LIMIT)
    assert report.memory_bytes <= 24 << 20
    with pytest.raises(ValueError, match="memory_limit: 1000 bytes are too few for this data"):
        Search(*hard(200_000, 2), limits=SearchLimits(memory_limit=1000))


def test_stop_from_another_thread() -> None:
    search = long_search(time_limit=30.0)
    search.run(0.05)
    threading.Timer(0.2, search.stop).start()
    start = time.perf_counter()
    report = search.run()
    assert report.stop_reason is StopReason.USER_STOP
    assert time.perf_counter() - start < 2.0
    check(report)
    on = search.run(0.1)  # it goes on
    assert on.stop_reason is StopReason.RUNNING
    assert on.expansions > report.expansions


def test_a_stop_before_the_run_counts() -> None:
    search = long_search(time_limit=30.0)
    search.stop()
    assert search.run().stop_reason is StopReason.USER_STOP
    check(search.report())


def test_polish_never_hurts_and_says_so() -> None:
    X, y = hard(300, 4)
    plain = Search(X, y, max_depth=3, polish=False)
    polished = Search(X, y, max_depth=3)
    a, b = plain.run(), polished.run()
    assert a.upper_bound == b.upper_bound
    assert b.objective <= a.objective
    tree = polished.incumbent()
    assert tree.evaluate(X, y) == b.objective
    assert ShapeTree.from_json(tree.to_json()) == tree
    if b.objective < b.upper_bound:
        assert BEYOND_SPACE in tree.proof.statement()
    assert tree.nodes[0].bound == b.lower_bound


def test_node_bounds_hold() -> None:
    """A node's bound is below the best subtree on its rows, which a search on those rows alone finds."""
    X, y = hard(100, 3, seed=4)
    search = Search(X, y, max_depth=3, max_changepoints=1, candidates="all")
    search.run()
    tree = search.incumbent()
    path = tree.decision_path(X).toarray().astype(bool)
    assert any(node.proven for node in tree.nodes[1:])
    for index in range(1, len(tree.nodes)):
        node = tree.nodes[index]
        rows = path[:, index]
        assert rows.sum() == node.rows
        depth = 3 - (path[rows][:1].nonzero()[1] <= index).sum() + 1
        if depth < 1 or len(set(y[rows])) < 2:
            assert node.bound <= node.error
            continue
        alone = Search(
            X[rows], y[rows], max_depth=int(depth), max_changepoints=1, candidates="all", polish=False
        )
        best = alone.run().upper_bound
        assert node.bound <= best
        if node.proven:
            assert node.cost <= best


def test_weights_that_are_no_dyadic_numbers() -> None:
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    weights = rng.random(150) / 3
    for options in ({}, {"class_weight": "balanced"}, {"split_penalty": 0.1, "changepoint_penalty": 0.07}):
        search = Search(X[:, :2], y, sample_weight=weights, max_depth=2, **options)
        report = search.run()
        check(report)
        assert search.incumbent().objective == pytest.approx(search.incumbent().evaluate_table(search.table))
        assert search.incumbent().objective <= report.upper_bound


def mixed(rows: int = 200) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows).round(1)),
            "word": rng.choice([*"abcdefgh"], rows),
            "flag": rng.random(rows) < 0.4,
        }
    )
    frame.loc[rng.random(rows) < 0.1, "word"] = None
    y = np.where((frame.x.fillna(1) > 0.5) ^ frame.word.isin(["a", "c", "d"]), "yes", "no")
    return frame, np.where(rng.random(rows) < 0.1, "maybe", y)


@pytest.mark.parametrize("candidates", get_args(Candidates))
@pytest.mark.parametrize("categories", get_args(Categories))
def test_missing_values_and_categories_in_every_mode(candidates: str, categories: str) -> None:
    frame, y = mixed()
    search = Search(frame, y, candidates=candidates, categories=categories, max_depth=2, max_changepoints=2)
    report = search.run()
    assert report.stop_reason is StopReason.PROVEN_OPTIMAL
    assert report.proven_space == ("all" if candidates == "widening" else candidates)
    tree = search.incumbent()
    assert tree.evaluate(frame, y) == report.objective == (tree.predict(frame) != y).sum()


def test_ordering_the_categories_beats_taking_them_one_by_one() -> None:
    frame, y = mixed()
    ordered, one_hot = (
        Search(frame[["word"]], y, categories=mode, max_depth=1, max_changepoints=1, polish=False).run()
        for mode in ("ordered", "one_hot")
    )
    assert ordered.objective < one_hot.objective


@pytest.mark.parametrize("split_penalty", [150.0, 1e7, 1e300])
def test_penalties_beyond_reason_leave_a_leaf(split_penalty: float) -> None:
    X, y = load_iris(return_X_y=True)
    search = Search(X, y, max_depth=4, split_penalty=split_penalty, changepoint_penalty=0.1)
    report = search.run()
    assert report.stop_reason is StopReason.PROVEN_OPTIMAL
    assert report.objective == report.upper_bound == 100.0
    assert search.incumbent().n_leaves == 1


def test_dear_change_points_leave_ordinary_splits() -> None:
    X, y = load_iris(return_X_y=True)
    plain = Search(X, y, max_depth=2, max_changepoints=1).run()
    assert Search(X, y, max_depth=2, changepoint_penalty=1e300).run().upper_bound == plain.upper_bound


def test_slices_do_not_change_the_result() -> None:
    """Same data and expansion limit: the same tree, however the time was cut."""
    X, y = load_breast_cancer(return_X_y=True)
    for candidates in ("adaptive", "all"):
        trees = []
        for seconds in (0.0005, 0.01, None):
            search = Search(
                X,
                y,
                max_depth=4,
                candidates=candidates,
                limits=SearchLimits(time_limit=None, max_expansions=60),
            )
            while search.run(seconds).stop_reason is StopReason.RUNNING:
                pass
            report = search.report()
            trees.append(
                (search.incumbent().to_text(), report.upper_bound, report.lower_bound, report.objective)
            )
        assert trees[0] == trees[1] == trees[2]


@pytest.mark.parametrize("exponent", [-60, -10, 20])
def test_the_unit_of_the_weights_does_not_matter(exponent: int) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    whole = Search(X, y, sample_weight=weight, max_depth=2, max_changepoints=1)
    scaled = Search(X, y, sample_weight=weight * 2.0**exponent, max_depth=2, max_changepoints=1)
    assert whole.run().proven_optimal
    assert scaled.run().proven_optimal
    assert scaled.report().upper_bound == whole.report().upper_bound * 2.0**exponent


def test_a_decimal_penalty_reads_as_written() -> None:
    X, y = load_iris(return_X_y=True)
    report = Search(X, y, max_depth=3, max_changepoints=1, split_penalty=0.1).run()
    assert report.upper_bound == round(report.upper_bound, 6)
    assert report.proven_optimal
