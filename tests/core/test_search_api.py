"""Search: limits, reports, the incumbent, stopping, and the way to disk and back."""

from __future__ import annotations

import json
import math
import threading
import time
from dataclasses import FrozenInstanceError, asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from literati import CheckpointError, Search, SearchLimits, SearchReport, ShapeTree, StopReason
from literati.checkpoint import pack, unpack
from literati.options import CHOICES, SolverOptions


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
    assert trace.dtype.names == ("seconds", "expansions", "upper", "lower")
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


def test_time_limit() -> None:
    report = long_search(time_limit=0.4).run()
    check(report)
    assert report.stop_reason is StopReason.TIME_LIMIT
    assert 0.4 <= report.elapsed_seconds < 1.2


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
        assert "polished beyond that space" in tree.proof.statement()
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


@pytest.mark.parametrize("candidates", CHOICES["candidates"])
@pytest.mark.parametrize("categories", CHOICES["categories"])
def test_missing_values_and_categories_in_every_mode(candidates: str, categories: str) -> None:
    frame, y = mixed()
    search = Search(frame, y, candidates=candidates, categories=categories, max_depth=2, max_changepoints=2)
    report = search.run()
    assert report.stop_reason is StopReason.PROVEN_OPTIMAL
    assert report.proven_space == candidates
    tree = search.incumbent()
    assert tree.evaluate(frame, y) == report.objective == (tree.predict(frame) != y).sum()


def test_ordering_the_categories_beats_taking_them_one_by_one() -> None:
    frame, y = mixed()
    ordered, one_hot = (
        Search(frame[["word"]], y, categories=mode, max_depth=1, max_changepoints=1, polish=False).run()
        for mode in ("ordered", "one_hot")
    )
    assert ordered.objective < one_hot.objective


# Checkpoint and resume


def test_resume_goes_on_and_ends_at_the_same_bound() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    options: dict[str, Any] = {"max_depth": 4, "max_changepoints": 1}
    whole = Search(X, y, **options).run()
    search = Search(X, y, limits=SearchLimits(max_expansions=20), **options)
    before = search.run()
    assert before.stop_reason is StopReason.EXPANSION_LIMIT
    resumed = Search.resume(X, y, search.checkpoint(), limits=SearchLimits())
    after = resumed.report()
    assert after.upper_bound <= before.upper_bound
    assert after.lower_bound >= before.lower_bound
    assert after.objective == before.objective
    assert after.expansions >= before.expansions
    assert after.elapsed_seconds >= before.elapsed_seconds
    assert resumed.incumbent().nodes[0].counts == search.incumbent().nodes[0].counts
    final = resumed.run()
    assert final.stop_reason is StopReason.PROVEN_OPTIMAL
    assert final.upper_bound == whole.upper_bound
    trace = resumed.trace()
    assert (np.diff(trace["upper"]) <= 0).all()
    assert (np.diff(trace["lower"]) >= 0).all()
    assert (np.diff(trace["seconds"]) >= 0).all()
    assert (np.diff(trace["expansions"]) >= 0).all()


def test_time_and_parameters_survive_a_resume() -> None:
    X, y = hard()
    weights = np.linspace(0.5, 2.0, len(y))
    search = Search(
        X, y, sample_weight=weights, limits=SearchLimits(time_limit=0.5), max_depth=5, class_weight={1: 2.0}
    )
    before = search.run()
    assert before.stop_reason is StopReason.TIME_LIMIT
    blob = search.checkpoint()
    spent = Search.resume(X, y, blob, sample_weight=weights)
    assert spent.limits == SearchLimits(time_limit=0.5)
    assert spent.options == search.options
    assert spent.run().stop_reason is StopReason.TIME_LIMIT  # the seconds before the resume count
    longer = Search.resume(X, y, blob, sample_weight=weights, limits=SearchLimits(time_limit=1.5))
    report = longer.run()
    assert 1.5 <= report.elapsed_seconds < 2.5
    assert report.objective <= before.objective


def test_a_polished_tree_survives_a_resume() -> None:
    X, y = hard(300, 4)
    search = Search(X, y, max_depth=3)
    report = search.run()
    resumed = Search.resume(X, y, search.checkpoint())
    assert resumed.run().objective == report.objective
    assert resumed.incumbent().objective == report.objective


def some_checkpoint() -> bytes:
    X, y = load_iris(return_X_y=True)
    search = Search(X, y, max_depth=2)
    search.run()
    return search.checkpoint()


def test_other_data_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    blob = some_checkpoint()
    changed = X.copy()
    changed[0, 0] += 0.05
    for bad in (changed, X[:, ::-1], pd.DataFrame(X, columns=list("abcd"))):
        with pytest.raises(CheckpointError, match="blob: the checkpoint belongs to other data"):
            Search.resume(bad, y, blob)
    with pytest.raises(CheckpointError, match="belongs to other data"):
        Search.resume(X, y, blob, sample_weight=np.linspace(1, 2, 150))


def test_damaged_checkpoints_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    blob = some_checkpoint()
    rng = np.random.default_rng(0)
    for position in [*rng.integers(0, len(blob), 40).tolist(), 0, 17, 21, len(blob) - 1]:
        broken = bytearray(blob)
        broken[position] ^= 0x41
        with pytest.raises(CheckpointError, match="blob: "):
            Search.resume(X, y, bytes(broken))
    for length in (0, 5, 16, 40, len(blob) // 2, len(blob) - 1):
        with pytest.raises(CheckpointError, match="blob: "):
            Search.resume(X, y, blob[:length])
    with pytest.raises(CheckpointError, match="blob: "):
        Search.resume(X, y, blob + b"x")
    with pytest.raises(TypeError, match="blob: expected bytes, got str"):
        Search.resume(X, y, "blob")  # type: ignore[arg-type]


def test_checkpoints_with_a_false_inside_are_refused() -> None:
    """The checksum is right, what it covers is not."""
    X, y = load_iris(return_X_y=True)
    header, payload = unpack(some_checkpoint())
    other_tree = Search(X[:, :2], y + 1, max_depth=2).incumbent().to_dict()
    cheap = json.loads(json.dumps(header["tree"]))
    cheap["nodes"] = [
        {**cheap["nodes"][0], "split": None, "counts": [150.0, 0.0, 0.0], "error": 0.0, "cost": 0.0}
    ]
    cheap["proof"] |= {"objective": 0.0, "upper_bound": 0.0, "lower_bound": 0.0}
    ShapeTree.from_dict(cheap)  # a good tree, of other rows
    changes: list[dict[str, Any]] = [
        {"options": {**header["options"], "max_depth": "deep"}},
        {"options": {}},
        {"limits": {"time": 3}},
        {"tree": None},
        {"tree": {**header["tree"], "nodes": []}},
        {"trace": [["a"]]},
        {"elapsed_seconds": "long"},
        {"elapsed_seconds": -1.0},
        {"expansions": -1},
        {"idle_seconds": None},
        {"tree": other_tree},
        {"tree": {**header["tree"], "classes": other_tree["classes"]}},
        {"tree": cheap},
        {"fingerprint": "0"},
    ]
    for change in changes:
        with pytest.raises(CheckpointError, match="blob: "):
            Search.resume(X, y, pack({**header, **change}, payload))
    with pytest.raises(CheckpointError, match=r"blob: .* other fields"):
        Search.resume(X, y, pack({**header, "more": 1}, payload))
    for bad in (b"", payload[:-3], b"\x00" * len(payload), payload + b"\x00"):
        with pytest.raises(CheckpointError, match="blob: the engine cannot read"):
            Search.resume(X, y, pack(header, bad))
    blob = bytearray(some_checkpoint())
    blob[16] = 9
    with pytest.raises(CheckpointError, match="reads checkpoints of version 1, this one has 9"):
        Search.resume(X, y, bytes(blob))


# Parameters


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("time_limit", 0, ValueError, "time_limit: expected a finite number > 0, got 0"),
        ("time_limit", math.inf, ValueError, "time_limit: expected a finite number"),
        ("time_limit", "1", TypeError, "time_limit: expected a number, got '1'"),
        ("max_expansions", 0, ValueError, "max_expansions: expected an integer >= 1"),
        ("max_expansions", 1.5, TypeError, "max_expansions: expected an integer"),
        ("memory_limit", -1, ValueError, "memory_limit: expected an integer >= 1"),
        ("gap", -0.1, ValueError, "gap: expected a finite number >= 0 and < 1"),
        ("gap", 1, ValueError, "gap: expected a finite number >= 0 and < 1"),
        ("gap", math.nan, ValueError, "gap: expected"),
        ("gap_absolute", -1, ValueError, "gap_absolute: expected a finite number >= 0"),
        ("patience", 0, ValueError, "patience: expected a finite number > 0"),
        ("patience", True, TypeError, "patience: expected a number"),
    ],
)
def test_limits_are_checked(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SearchLimits(**{name: value})


def test_limits_are_plain_frozen_data() -> None:
    limits = SearchLimits(time_limit=3, max_expansions=np.int64(7))  # type: ignore[arg-type]
    assert asdict(limits)["time_limit"] == 3.0
    assert type(limits.max_expansions) is int
    with pytest.raises(FrozenInstanceError):
        limits.gap = 0.5  # type: ignore[misc]
    with pytest.raises(TypeError, match="limits: expected SearchLimits, got dict"):
        Search([[1], [2]], [0, 1], limits={"gap": 1})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="depth: not a parameter of Search"):
        Search([[1], [2]], [0, 1], depth=3)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("max_depth", 0, ValueError, "max_depth: expected an integer from 1 to 12, got 0"),
        ("max_depth", 13, ValueError, "max_depth: expected an integer from 1 to 12"),
        ("max_depth", 2.0, TypeError, "max_depth: expected an integer, got 2.0"),
        ("max_depth", True, TypeError, "max_depth: expected an integer"),
        ("max_changepoints", 9, ValueError, "max_changepoints: expected an integer from 1 to 8"),
        ("split_penalty", -1, ValueError, "split_penalty: expected a finite number >= 0"),
        ("split_penalty", math.nan, ValueError, "split_penalty: expected a finite number"),
        ("changepoint_penalty", "a", TypeError, "changepoint_penalty: expected a number"),
        (
            "candidates",
            "some",
            ValueError,
            "candidates: expected one of adaptive, shape, quantile, all, got 'some'",
        ),
        ("candidate_leaves", 1, ValueError, "candidate_leaves: expected an integer from 2"),
        ("candidate_leaves", [], ValueError, "candidate_leaves: expected one integer or more"),
        ("candidate_leaves", [17, "a"], TypeError, "candidate_leaves: expected an integer, got 'a'"),
        ("candidate_leaves", "17", TypeError, "candidate_leaves: expected an integer or a list"),
        ("candidate_leaves", True, TypeError, "candidate_leaves: expected an integer or a list"),
        ("or_selection", "best", ValueError, "or_selection: expected one of informative"),
        ("and_selection", 1, ValueError, "and_selection: expected one of round_robin"),
        ("heuristic", None, ValueError, "heuristic: expected one of cart"),
        ("criterion", "mse", ValueError, "criterion: expected one of gini, entropy"),
        ("categories", "target", ValueError, "categories: expected one of ordered, one_hot"),
        ("polish", 1, TypeError, "polish: expected True or False"),
        ("class_weight", "even", ValueError, "class_weight: expected None, 'balanced' or a mapping"),
        ("class_weight", [1, 2], ValueError, "class_weight: expected None, 'balanced' or a mapping"),
        ("n_threads", 2, ValueError, "n_threads: only 1 is supported so far"),
        ("n_threads", 0, ValueError, "n_threads: expected an integer >= 1"),
    ],
)
def test_parameters_are_checked(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Search([[1], [2]], [0, 1], **{name: value})


def test_quantiles_are_one_number() -> None:
    assert SolverOptions(candidates="quantile", candidate_leaves=[1]).leaves == (1,)
    with pytest.raises(ValueError, match="candidate_leaves: expected one integer with candidates='quantile'"):
        SolverOptions(candidates="quantile", candidate_leaves=[5, 3])


def test_options_through_json() -> None:
    options = SolverOptions(
        candidate_leaves=[9, 5], class_weight={"a": 2, ("b", 1): 0.5}, categories="one_hot"
    )
    assert SolverOptions.from_json(options.to_json()) == options
    with pytest.raises(ValueError, match="not those of this version"):
        SolverOptions.from_json({})
