"""candidates="widening": stages, their proofs, limits, checkpoints and the tree that each begins with."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from literati._engine._engine import RunStatus
from sklearn.datasets import load_iris

from literati import CheckpointError, LiteratiClassifier, Search, SearchLimits, ShapeTree, StopReason
from literati.data.table import build
from literati.errors import Interrupted
from literati.search import stages
from literati.search.checkpoint import pack, unpack
from literati.search.incumbent import IncumbentKeeper
from literati.search.options import SolverOptions
from literati.search.report import SearchReport
from literati.search.tree_encoder import encode_nodes
from literati.tree.tree_builder import build_nodes
from tests.support.solver.random_trees import random_frame, random_tree

NAMES = ["adaptive 17", "shape 17", "shape 33", "all"]
NO_LIMIT = SearchLimits(time_limit=None)


def noise(rows: int = 150, columns: int = 4, classes: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)).round(2), rng.integers(0, classes, rows)


def widening(rows: int = 150, columns: int = 4, limits: SearchLimits = NO_LIMIT, **options: Any) -> Search:
    """A search whose stages differ, and that proves the last one in less than a second."""
    X, y = noise(rows, columns)
    return Search(
        X, y, limits=limits, **{"candidates": "widening", "max_depth": 3, "max_changepoints": 1, **options}
    )


def steps(search: Search, expansions: int = 1) -> list[SearchReport]:
    """Run a search a few expansions at a time, and return the reports of all moments."""
    reports = [search.report()]
    while reports[-1].stop_reason in (StopReason.RUNNING, StopReason.EXPANSION_LIMIT):
        search.change_limits(
            SearchLimits(time_limit=None, max_expansions=reports[-1].expansions + expansions)
        )
        reports.append(search.run())
    return reports


def test_the_last_proof_is_the_optimum_of_every_threshold() -> None:
    improved = 0
    for seed in range(6):
        for k in (1, 2):
            X, y = noise((90 + 10 * seed) // k, 4 - k, seed=seed)
            options: dict[str, Any] = {"max_depth": 2 + seed % 2, "max_changepoints": k, "time_limit": None}
            wide = LiteratiClassifier(candidates="widening", **options).fit(X, y)
            every = LiteratiClassifier(candidates="all", **options).fit(X, y)
            first = LiteratiClassifier(candidates="adaptive", **options).fit(X, y)
            assert wide.stop_reason_ is StopReason.PROVEN_OPTIMAL
            assert wide.proven_optimal_
            assert wide.proven_space_ == "all"
            assert wide.upper_bound_ == wide.lower_bound_ == wide.objective_ == every.objective_
            assert wide.objective_ == (wide.predict(X) != y).sum()
            improved += wide.objective_ < first.upper_bound_
    assert improved > 3


def test_reports_are_monotone_within_a_stage_and_costs_throughout() -> None:
    search = widening()
    reports = steps(search)
    assert list(dict.fromkeys(report.space for report in reports)) == NAMES
    assert list(dict.fromkeys(report.proven_space for report in reports)) == ["", *NAMES]
    for before, after in pairwise(reports):
        assert after.objective <= before.objective
        assert after.upper_bound <= before.upper_bound
        assert after.expansions >= before.expansions
        assert after.improvements >= before.improvements
        assert after.stage >= before.stage
        assert after.lower_bound <= after.upper_bound
        if after.stage == before.stage:
            assert after.lower_bound >= before.lower_bound
        assert after.proven_optimal is (after.stop_reason is StopReason.PROVEN_OPTIMAL)
    assert all(report.space == NAMES[report.stage] for report in reports)
    assert reports[-1].stop_reason is StopReason.PROVEN_OPTIMAL
    trace = search.trace()
    assert (np.diff(trace["lower"]) < 0).any(), "a wider space begins with a lower bound of its own"
    assert (np.diff(trace["upper"]) <= 0).all()
    assert (np.diff(trace["seconds"]) >= 0).all()
    assert sorted(set(trace["stage"])) == list(range(len(NAMES)))
    for stage in range(len(NAMES)):
        assert (np.diff(trace["lower"][trace["stage"] == stage]) >= 0).all()


def test_the_wider_of_two_spaces() -> None:
    for narrow, wide in pairwise(["", *NAMES]):
        assert stages.wider_space(narrow, wide) == stages.wider_space(wide, narrow) == wide
    assert stages.wider_space("unknown", "shape 17") == "shape 17"


def test_a_single_mode_has_one_stage() -> None:
    for candidates in ("adaptive", "shape", "quantile", "all"):
        search = widening(candidates=candidates)
        report = search.run()
        assert (report.stage, report.space, report.proven_space) == (0, candidates, candidates)
        assert not search.trace()["stage"].any()
        assert "stage_proof" not in search.incumbent().to_dict()["proof"]
        assert "stages" not in unpack(search.checkpoint())[0]


def resumed(search: Search, limits: SearchLimits = NO_LIMIT, rows: int = 150, columns: int = 4) -> Search:
    X, y = noise(rows, columns)
    return Search.resume(X, y, search.checkpoint(), limits=limits)


def test_a_search_resumes_in_every_stage() -> None:
    whole = widening().run()
    seen = set()
    search = widening()
    for index, report in enumerate(iter(lambda: advance(search), None)):
        again = resumed(search)
        after = again.report()
        seen.add(after.space)
        for field in ("stage", "space", "objective", "upper_bound", "improvements", "proven_space"):
            assert getattr(after, field) == getattr(report, field), field
        assert after.lower_bound >= report.lower_bound
        assert after.expansions == report.expansions
        proof = again.incumbent().proof
        assert proof == search.incumbent().proof
        np.testing.assert_array_equal(again.trace()["stage"], search.trace()["stage"])
        if index % 8:
            continue
        final = again.run()
        assert final.expansions > whole.expansions / 2
        assert (final.stop_reason, final.objective) == (StopReason.PROVEN_OPTIMAL, whole.objective)
        trace = again.trace()
        assert (np.diff(trace["stage"]) >= 0).all()
        assert (np.diff(trace["upper"]) <= 0).all()
        assert (np.diff(trace["expansions"]) >= 0).all()
    assert seen == set(NAMES)


def advance(search: Search) -> SearchReport | None:
    """Make three expansions; return None at the proof."""
    expansions = search.report().expansions
    search.change_limits(SearchLimits(time_limit=None, max_expansions=expansions + 3))
    report = search.run()
    return None if report.stop_reason is StopReason.PROVEN_OPTIMAL else report


def test_a_search_that_is_resumed_again_and_again_comes_to_the_same_end() -> None:
    search, seen = widening(), []
    while advance(search) is not None:
        search = resumed(search)
        seen.append(search.report())
    assert {report.stage for report in seen} == set(range(len(NAMES)))
    whole = widening().run()
    assert search.report().objective == whole.objective
    assert search.report().expansions > whole.expansions / 2, "nothing that a narrower space proved is reused"


def same(one: Search, other: Search) -> None:
    first, second = one.report().to_dict(), other.report().to_dict()
    for time in ("elapsed_seconds", "found_seconds", "seconds_left"):
        del first[time], second[time]
    assert first == second
    assert one.incumbent() == other.incumbent()
    for column in ("upper", "lower", "expansions", "explored", "stage"):
        np.testing.assert_array_equal(one.trace()[column], other.trace()[column])


@pytest.mark.parametrize("expansions", [1, 7, 40, 90, 200])
def test_a_search_that_is_repeated_is_the_same(expansions: int) -> None:
    limits = SearchLimits(time_limit=None, max_expansions=expansions)
    one, other, sliced = (widening(400, 6, limits, max_depth=4) for _ in range(3))
    one.run()
    other.run()
    while sliced.run(0.001).stop_reason is StopReason.RUNNING:
        pass
    same(one, other)
    same(one, sliced)


def test_a_stop_in_every_stage_and_between_them_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = widening(max_depth=4, rows=80)
    whole.run()
    search = widening(max_depth=4, rows=80)
    start_of: Callable[..., Any] = IncumbentKeeper.start_of
    calls = []

    def stopped(keeper: Any, *given: Any) -> Any:
        """Stop before the tree of the next stage is written, in every second call."""
        calls.append(search.report().stage)
        if len(calls) % 2:
            search.stop()
        return start_of(keeper, *given)

    monkeypatch.setattr(IncumbentKeeper, "start_of", stopped)
    seen = set()
    while True:
        search.stop()
        report = search.run()
        if report.stop_reason is not StopReason.USER_STOP:
            break
        seen.add(report.stage)
        report = search.run(0.01)
    assert seen == set(range(len(NAMES)))
    assert calls == sorted([*range(len(NAMES) - 1)] * 2)
    same(search, whole)


def test_the_time_limit_ends_a_search_between_two_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(keeper: Any, *given: Any) -> Any:
        search.change_limits(SearchLimits(time_limit=1e-9))
        raise Interrupted

    search = widening()
    monkeypatch.setattr(IncumbentKeeper, "start_of", too_late)
    report = search.run()
    assert report.stop_reason is StopReason.TIME_LIMIT
    assert (report.stage, report.space, report.proven_space) == (0, "adaptive 17", "adaptive 17")
    assert not report.proven_optimal
    tree = search.incumbent()
    assert not tree.proof.proven_optimal
    assert "Proven: no tree over the adaptive candidates" in tree.proof.statement()
    assert "Wider spaces were not searched." in tree.proof.statement()
    assert ShapeTree.from_json(tree.to_json()) == tree
    monkeypatch.undo()
    search.change_limits(NO_LIMIT)
    assert search.run().proven_optimal


def test_a_gap_ends_a_stage_and_at_last_the_search() -> None:
    search = widening(rows=200, max_depth=4, limits=SearchLimits(time_limit=None, gap_absolute=60.0))
    report = search.run()
    assert report.stop_reason is StopReason.GAP_REACHED
    assert report.space == "all"
    assert not report.proven_optimal
    assert 0 < report.gap_absolute <= 60
    trace = search.trace()
    ends = [trace[trace["stage"] == stage][-1] for stage in range(len(NAMES))]
    assert any(end["lower"] < end["upper"] for end in ends[:-1]), "a stage ended before its proof"
    search.change_limits(NO_LIMIT)
    assert search.run().proven_optimal


def test_a_stage_without_a_better_tree_ends_and_one_with_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "MIN_IDLE_WORK", 1)
    monkeypatch.setattr(stages, "IDLE_FACTOR", 1)
    search = widening(600, 8, SearchLimits(time_limit=None, max_expansions=6000), max_depth=4)
    report = search.run()
    assert report.stage == len(NAMES) - 1
    assert report.proven_space in ("", NAMES[0])  # the others ended without a proof
    left = [np.count_nonzero(search.trace()["stage"] == stage) for stage in range(len(NAMES))]
    assert all(left), "no stage is skipped"
    optimum = widening(600, 8, max_depth=4, candidates="adaptive", candidate_leaves=5)
    assert report.upper_bound <= optimum.run().upper_bound


def test_idle_work_is_remembered_by_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "MIN_IDLE_WORK", 400_000)
    search = widening(600, 8, max_depth=4)
    search.change_limits(SearchLimits(time_limit=None, max_expansions=20))
    search.run()
    saved = search._stages.saved(search._engine)
    assert saved is not None
    assert 0 < saved.work < saved.idle_until
    again = resumed(search, rows=600, columns=8)
    assert again._stages.saved(again._engine) == saved
    assert again._stages.max_work == saved.idle_until - saved.work


def test_a_tree_without_errors_is_proven_over_every_threshold_at_once() -> None:
    X, y = load_iris(return_X_y=True)
    search = Search(X, y, candidates="widening", max_depth=4, max_changepoints=2, limits=NO_LIMIT)
    report = search.run()
    assert (report.objective, report.space, report.proven_optimal) == (0.0, "all", True)


def test_the_last_stage_begins_with_the_polished_tree() -> None:
    """Polished trees lie in the last space only, so its upper bound is their cost at once."""
    X, y = noise(400, 5, classes=4)
    better = 0
    for seed in range(5):
        search = Search(X, np.roll(y, seed), candidates="widening", max_depth=4, limits=NO_LIMIT)
        reports = []
        while (report := search.run(0.01)).stage < len(NAMES) - 1:
            reports.append(report)
            if not search._stages.is_last:
                search._stages.is_over = True  # leave every stage early
        assert report.upper_bound == report.objective
        better += reports[-1].objective < reports[-1].upper_bound
    assert better > 0


def test_an_adopted_tree_begins_the_last_stage() -> None:
    X, y = noise(200, 4)
    best = Search(X, y, candidates="all", max_depth=3, max_changepoints=1, limits=NO_LIMIT)
    best.run()
    search = widening(200)
    assert search.adopt(best.incumbent())
    report = search.run()
    assert (report.objective, report.proven_optimal) == (best.report().objective, True)
    assert report.improvements == 2  # the leaf, and the tree that was adopted


def test_the_model_says_which_space_was_proven() -> None:
    search = widening()
    seen = []
    while (report := advance(search)) is not None:
        tree = search.incumbent()
        data = json.loads(tree.to_json())
        assert ShapeTree.from_dict(data) == tree
        proof = data["proof"]
        assert proof["upper_bound"] == report.upper_bound
        assert proof["lower_bound"] == report.lower_bound
        assert not proof["proven_optimal"]
        space, leaves = proof["proven_space"], proof["candidate_leaves"][0]
        assert report.space == ("all" if space == "all" else f"{space} {leaves}")
        told = proof.get("stage_proof")
        assert (told is None) is (report.proven_space == "")
        if told is not None:
            assert report.proven_space == f"{told['proven_space']} {told['candidate_leaves'][0]}"
            assert told["optimum"] >= report.upper_bound
            seen.append(told["proven_space"])
            assert f"costs less than {told['optimum']:g}" in tree.proof.statement()
    assert set(seen) == {"adaptive", "shape"}
    proof = search.incumbent().to_dict()["proof"]
    assert proof["proven_optimal"]
    assert proof["proven_space"] == "all"
    assert "stage_proof" not in proof


def test_the_estimator_keeps_its_stages_in_a_pickle() -> None:
    X, y = noise(200, 4)
    reports: list[SearchReport] = []
    model = LiteratiClassifier(
        candidates="widening", max_depth=3, max_changepoints=1, callback=lambda report: reports.append(report)
    )
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.report_ == model.report_
    assert again.report_.space == "all"
    np.testing.assert_array_equal(again.trace_, model.trace_)
    assert again.get_params()["candidates"] == "widening"
    assert reports[-1].proven_optimal
    assert model.proven_space_ == "all"


def test_the_memory_limit_holds_in_every_stage() -> None:
    X, y = noise(1500, 12, classes=4)
    needed = "expected (\\d+) or more"
    with pytest.raises(ValueError, match=needed):
        Search(X, y, candidates="widening", max_depth=5, limits=SearchLimits(memory_limit=1000))
    unlimited = Search(X, y, candidates="widening", max_depth=5, limits=NO_LIMIT)
    limit = int(unlimited.report().memory_bytes * 1.3)
    limits = SearchLimits(time_limit=None, memory_limit=limit, max_expansions=4000)
    search = Search(X, y, candidates="widening", max_depth=5, limits=limits)
    seen = set()
    for _ in range(400):
        report = search.run(0.02)
        assert report.memory_bytes <= limit
        seen.add(report.stage)
        if not search._stages.is_last and len(seen) <= report.stage + 1:
            search._stages.is_over = True
        if report.stop_reason is not StopReason.RUNNING:
            break
    assert len(seen) > 3


def test_memory_that_runs_out_ends_a_stage_and_not_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    search = widening()
    run_engine = search._run_engine
    monkeypatch.setattr(
        search,
        "_run_engine",
        lambda *given: RunStatus.MEMORY_LIMIT if not search._stages.index else run_engine(*given),
    )
    report = search.run()
    assert (report.stop_reason, report.space) == (StopReason.PROVEN_OPTIMAL, "all")


def test_no_memory_for_the_next_stage_ends_the_search() -> None:
    search = widening()

    def failing(*given: Any) -> Any:
        raise MemoryError("no memory for the tree")

    original, search._best.start_of = search._best.start_of, failing  # type: ignore[method-assign, assignment]
    report = search.run()
    assert (report.stop_reason, report.stage) == (StopReason.MEMORY_LIMIT, 0)
    assert search.incumbent().objective == report.objective
    search._best.start_of = original  # type: ignore[method-assign]
    assert search.run().proven_optimal


def test_patience_counts_over_all_stages() -> None:
    search = widening(600, 8, SearchLimits(time_limit=20, patience=0.3), max_depth=5)
    report = search.run()
    assert report.stop_reason in (StopReason.NO_IMPROVEMENT, StopReason.PROVEN_OPTIMAL)
    assert report.elapsed_seconds - report.found_seconds >= 0.3 or report.proven_optimal


def test_damaged_stages_are_refused() -> None:
    search = widening()
    advance(search)
    X, y = noise()
    header, payload = unpack(search.checkpoint())
    good = header["stages"]
    wrong: list[Any] = [None, {}, [], {**good, "more": 1}]
    wrong += [
        {**good, field: value}
        for field, values in {
            "stage": (-1, len(NAMES), 1.5, None, True),
            "proven_stage": (-1, len(NAMES), "a"),
            "proven_cost": (-1.0, "a"),
            "work": (-1, 0.5),
            "idle_until": (-1, None),
            "idle_cost": (-1.0, "a"),
        }.items()
        for value in values
    ]
    for stage in wrong:
        with pytest.raises(CheckpointError, match="blob: "):
            Search.resume(X, y, pack({**header, "stages": stage}, payload))
    # A stage whose space is not that of the engine's state, and stages of a search that has none.
    with pytest.raises(CheckpointError, match="the engine cannot read the checkpoint"):
        Search.resume(X, y, pack({**header, "stages": {**good, "stage": (good["stage"] + 1) % 5}}, payload))
    single = {**header, "options": {**header["options"], "candidates": "adaptive", "candidate_leaves": [5]}}
    with pytest.raises(CheckpointError, match="expected stages in the checkpoint of"):
        Search.resume(X, y, pack(single, payload))
    without = {name: value for name, value in header.items() if name != "stages"}
    with pytest.raises(CheckpointError, match="expected stages in the checkpoint"):
        Search.resume(X, y, pack(without, payload))


@pytest.mark.parametrize("leaves", [5, [17, 5], 33])
def test_the_number_of_leaves_cannot_be_chosen(leaves: Any) -> None:
    with pytest.raises(
        ValueError, match="candidate_leaves: expected the default 17 with candidates='widening'"
    ):
        SolverOptions(candidates="widening", candidate_leaves=leaves)
    assert SolverOptions(candidates="widening", candidate_leaves=[17]).leaves == (17,)


@pytest.mark.parametrize("seed", range(40))
def test_a_tree_that_is_encoded_divides_the_rows_in_the_same_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 60)
    categories = "one_hot" if seed % 4 == 3 else "ordered"
    table = build(frame, rng.integers(0, 3, 60), None, None, categories)  # type: ignore[arg-type]
    tree, _ = random_tree(table, rng)
    encoded = encode_nodes(tree.nodes, table, 3)
    assert encoded is not None
    built = build_nodes(encoded, table, tree.settings)
    assert built[0].cost <= tree.nodes[0].cost
    assert len(built) == len(tree.nodes)
    key = sorted((node.rows, node.counts, node.error) for node in tree.nodes)
    assert sorted((node.rows, node.counts, node.error) for node in built) == key
    fewer = int(encoded["n_changepoints"].max()) - 1
    assert len(built) == 1 or encode_nodes(tree.nodes, table, fewer) is None


def test_sets_of_categories_are_no_trees_of_single_categories() -> None:
    words = [*"abcdef"] * 20
    frame = pd.DataFrame({"word": words})
    y = [word in "ace" for word in words]
    ordered = Search(frame, y, max_depth=1, limits=NO_LIMIT)
    ordered.run()
    assert ordered.incumbent().objective == 0
    one_hot = Search(frame, y, max_depth=1, categories="one_hot", limits=NO_LIMIT, candidates="widening")
    assert one_hot.adopt(ordered.incumbent())
    assert encode_nodes(one_hot.incumbent().nodes, one_hot.table, 2) is None
    report = one_hot.run()
    assert report.proven_optimal
    assert report.objective == 0 < report.upper_bound
