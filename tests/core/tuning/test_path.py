"""The regularization path against oracles, penalty by penalty, and its behaviour at limits."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from literati import LiteratiClassifier, SearchLimits, StopReason, regularization_path
from literati.data.table import build
from literati.search.options import SolverOptions
from literati.search.penalty_search import PenaltySearch
from literati.tuning.path import PathProgress, RegularizationPath
from tests.support.solver.mask_oracle import MaskOracle
from tests.support.solver.problems import Problem, larger_problem, random_problem

BLOCKS, BLOCK = 10, 30  # 300 problems
RATIOS = (0.0, 0.25, 0.5, 0.5, 1.0, 0.3)
EXACT = 1e-9  # costs of different trees differ by more


def table_of(problem: Problem) -> np.ndarray[Any, Any]:
    """The columns of a problem as numbers, as a user has them."""
    columns = [
        [math.nan if code < 0 else values[code] for code in codes]
        for codes, values in zip(problem.codes, problem.values, strict=True)
    ]
    return np.array(columns).T


def two_classes(problem: Problem) -> Problem:
    """The same problem, with a second class if it has one only, which the library does not accept."""
    if len(set(problem.y)) > 1:
        return problem
    return problem.but(y=[1 - problem.y[0], *problem.y[1:]])


def path_of(problem: Problem, ratio: float, **options: Any) -> RegularizationPath:
    parameters: dict[str, Any] = {
        "max_depth": problem.max_depth,
        "max_changepoints": problem.max_changepoints,
        "candidates": problem.candidates,
        "candidate_leaves": problem.candidate_leaves,
        "criterion": problem.criterion,
        "min_samples_leaf": problem.min_samples_leaf,
        "time_limit": None,
    }
    weights = None if problem.weights is None else np.array(problem.weights)
    return regularization_path(
        table_of(problem),
        np.array(problem.y),
        sample_weight=weights,
        changepoint_ratio=ratio,
        **(parameters | options),
    )


def penalties_of(path: RegularizationPath) -> list[float]:
    """Every breakpoint, a penalty inside every segment, and some at random."""
    rng = random.Random(len(path))
    ends = [segment.penalty_from for segment in path]
    inside = [(a + b) / 2 for a, b in zip(ends, [*ends[1:], 2 * ends[-1] + 1], strict=True)]
    return [*ends, *inside, rng.uniform(0, ends[-1] + 1)]


def check_form(path: RegularizationPath) -> None:
    """The segments join, and both errors and sizes are strictly monotone, so no segment is superfluous."""
    assert path[0].penalty_from == 0
    assert path[-1].penalty_to == math.inf
    for one, next_one in itertools.pairwise(path):
        assert one.penalty_from < one.penalty_to == next_one.penalty_from
        assert one.errors < next_one.errors
        meet = one.penalty_to
        assert (
            abs(one.cost(meet, path.changepoint_ratio) - next_one.cost(meet, path.changepoint_ratio)) < EXACT
        )
    for segment in path:
        splits = [node.split for node in segment.tree.nodes if node.split is not None]
        assert segment.splits == len(splits) == segment.leaves - 1
        assert segment.changepoints == sum(split.changepoints - 1 for split in splits)


def separate(problem: Problem, penalty: float, ratio: float) -> float:
    """Return the optimum that LiteratiClassifier proves at a penalty."""
    fitted = LiteratiClassifier(
        max_depth=problem.max_depth,
        max_changepoints=problem.max_changepoints,
        candidates=problem.candidates,
        candidate_leaves=problem.candidate_leaves,
        criterion=problem.criterion,
        min_samples_leaf=problem.min_samples_leaf,
        split_penalty=penalty,
        changepoint_penalty=ratio * penalty,
        polish=False,
        time_limit=None,
    ).fit(table_of(problem), np.array(problem.y), sample_weight=problem.weights)
    return float(fitted.upper_bound_)


def check_against_oracle(problem: Problem, ratio: float, **options: Any) -> None:
    problem = two_classes(problem)
    path = path_of(problem, ratio, **options)
    check_form(path)
    assert path.proven
    assert path.stop_reason is StopReason.PROVEN_OPTIMAL
    for penalty in penalties_of(path):
        oracle = MaskOracle(problem.but(split_penalty=penalty, changepoint_penalty=ratio * penalty))
        best = oracle.optimum()
        segment = path.at(penalty)
        if abs(segment.cost(penalty, ratio) - best) >= EXACT:
            # Rounding decides which cuts are candidates; a separate search decides in the same way.
            assert oracle.near_ties, problem.name
            assert abs(segment.cost(penalty, ratio) - separate(problem, penalty, ratio)) < 1e-6, problem.name
        errors = np.sum(
            (segment.tree.predict(table_of(problem)) != np.array(problem.y))
            * (1.0 if problem.weights is None else np.array(problem.weights))
        )
        assert abs(errors - segment.errors) < EXACT, problem.name


@pytest.mark.parametrize("block", range(BLOCKS))
def test_equals_the_optimum_at_every_penalty(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        rng = random.Random(seed)
        mode = rng.choice(("adaptive", "adaptive", "shape", "all"))
        depth = rng.randint(1, 3) if mode == "all" else rng.randint(1, 4)
        check_against_oracle(random_problem(seed, depth=depth, mode=mode), rng.choice(RATIOS))


def test_larger_problems() -> None:
    """Deeper states, more change points and more rows than a naive oracle can do."""
    for seed in range(40):
        rng = random.Random(seed)
        mode = rng.choice(("adaptive", "shape"))
        check_against_oracle(larger_problem(seed, depth=3, mode=mode), rng.choice(RATIOS))


@pytest.mark.parametrize("block", range(2))
def test_deeper_problems(block: int) -> None:
    """At depth 4, bounds of states below the root are carried from one penalty to the next."""
    for seed in range(25 * block, 25 * (block + 1)):
        rng = random.Random(seed)
        problem = larger_problem(seed, depth=4, mode=rng.choice(("adaptive", "shape")))
        check_against_oracle(problem, rng.choice(RATIOS))


def test_min_samples_leaf() -> None:
    for seed in range(40):
        problem = random_problem(seed, mode=("adaptive", "shape", "all")[seed % 3], depth=1 + seed % 3)
        if problem.n_rows >= 8:
            check_against_oracle(problem.but(min_samples_leaf=2 + seed % 3), 0.5)


def test_threads_do_not_change_it() -> None:
    for seed in range(10):
        problem = larger_problem(seed, depth=3, mode="adaptive")
        one, two = path_of(problem, 0.5), path_of(problem, 0.5, n_threads=2)
        assert [s.tree.to_dict() for s in one] == [s.tree.to_dict() for s in two]
        assert [s.penalty_from for s in one] == [s.penalty_from for s in two]


@pytest.mark.parametrize("candidates", ["adaptive", "shape", "quantile", "all"])
def test_equals_separate_searches(candidates: str) -> None:
    """The default interface on real data: LiteratiClassifier proves the same cost inside every segment."""
    X, y = load_iris(return_X_y=True)
    path = regularization_path(X, y, max_depth=3, max_changepoints=2, candidates=candidates)
    assert path.proven
    for segment in path:
        penalty = min((segment.penalty_from + segment.penalty_to) / 2, segment.penalty_from + 1)
        fitted = LiteratiClassifier(
            max_depth=3,
            max_changepoints=2,
            candidates=candidates,
            split_penalty=penalty,
            changepoint_penalty=penalty / 2,
            polish=False,
        ).fit(X, y)
        assert fitted.proven_optimal_
        assert abs(fitted.objective_ - segment.cost(penalty, 0.5)) < EXACT


def test_begins_with_the_trees_of_fewer_change_points() -> None:
    """The same path comes out, and with a limit it is never worse than the one it began with."""
    for seed in range(30):
        problem = two_classes(larger_problem(seed, depth=3, mode=("adaptive", "shape")[seed % 2]))
        fewer = path_of(problem.but(max_changepoints=1), 0.5)
        cold, warm = path_of(problem, 0.5), path_of(problem, 0.5, start=fewer)
        assert warm.proven
        assert [s.penalty_from for s in warm] == [s.penalty_from for s in cold]
        assert [s.errors for s in warm] == [s.errors for s in cold]
        short = path_of(problem, 0.5, start=fewer, max_expansions=1)
        for penalty in penalties_of(fewer):
            assert short.at(penalty).cost(penalty, 0.5) <= fewer.at(penalty).cost(penalty, 0.5) + EXACT


def test_a_start_that_does_not_fit_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    space: dict[str, Any] = {"max_depth": 2, "max_changepoints": 2}
    start = regularization_path(X, y, **space)
    others: list[dict[str, Any]] = [
        {"max_depth": 3},
        {"max_changepoints": 1},
        {"candidates": "shape"},
        {"min_samples_leaf": 2},
        {"criterion": "entropy"},
    ]
    for options in others:
        with pytest.raises(ValueError, match="start: expected a path of the same depth"):
            regularization_path(X, y, start=start, **(space | options))
    with pytest.raises(ValueError, match="start: expected a path of the same X, y and sample_weight"):
        regularization_path(X[:, :3], y, start=start, **space)
    with pytest.raises(TypeError, match="start: expected a RegularizationPath, got list"):
        regularization_path(X, y, start=list(start), **space)  # type: ignore[arg-type]


def test_what_neighbouring_proofs_imply_is_proven() -> None:
    """A search that was cut short leaves a weak bound; the chord between proofs beside it is better."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.3)).astype(int)
    flipped = rng.random(300) < 0.2
    y[flipped] = 1 - y[flipped]
    space: dict[str, Any] = {"max_depth": 4, "max_changepoints": 1, "time_limit": None}
    path = regularization_path(X, y, max_expansions=3000, **space)
    assert path.proven
    assert path.stop_reason is StopReason.PROVEN_OPTIMAL


def test_the_reason_agrees_with_the_proof() -> None:
    reasons = set()
    for seed in range(60):
        problem = two_classes(larger_problem(seed, depth=3, mode="adaptive"))
        path = path_of(problem, 0.5, max_expansions=1 + seed)
        assert path.proven == (path.stop_reason is StopReason.PROVEN_OPTIMAL)
        reasons.add(path.stop_reason)
    assert reasons == {StopReason.PROVEN_OPTIMAL, StopReason.EXPANSION_LIMIT}


def test_the_warm_up_proves_nothing_at_another_penalty() -> None:
    """Searches over every cut begin with CART's cuts; what is true of these is forgotten with the penalty."""
    space: dict[str, Any] = {"max_depth": 3, "max_changepoints": 2, "candidates": "all"}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 8, size=(80, 3)).astype(float)
        y = np.where(X[:, 0] > 3, (X[:, 1] > 3) ^ (X[:, 2] > 3), 0).astype(int)
        flipped = rng.random(80) < 0.1
        y[flipped] = 1 - y[flipped]
        penalties: dict[str, Any] = {"split_penalty": 1 / 64, "changepoint_penalty": 1 / 128}
        fitted = LiteratiClassifier(**space, **penalties, polish=False, time_limit=None).fit(X, y)
        for expansions in (2, 3):
            options = SolverOptions(**space, candidate_leaves=2, polish=False)
            search = PenaltySearch(
                build(X, y), Fraction(1, 2), options, SearchLimits(max_expansions=expansions)
            )
            search.run()
            search.change_penalty(Fraction(1, 64), search.known_tree(), "cart")
            search.change_limits(SearchLimits(time_limit=None))
            assert search.run().proven_optimal
            assert search.report().upper_bound == fitted.upper_bound_


def test_rounded_weights_search_the_same_space_as_a_fit() -> None:
    """Weights such as 2/3 are rounded alike for all penalties: ties between cuts would break differently."""
    for seed in range(60):
        problem = two_classes(random_problem(seed, depth=3, mode="adaptive"))
        X, y = table_of(problem), np.array(problem.y)
        space: dict[str, Any] = {"max_depth": 3, "max_changepoints": 2, "class_weight": "balanced"}
        for segment in regularization_path(X, y, time_limit=None, **space):
            penalty = min((segment.penalty_from + segment.penalty_to) / 2, segment.penalty_from + 1)
            penalties: dict[str, Any] = {"split_penalty": penalty, "changepoint_penalty": penalty / 2}
            fitted = LiteratiClassifier(**space, **penalties, polish=False).fit(X, y)
            assert fitted.objective_ == pytest.approx(segment.cost(penalty, 0.5), abs=1e-6), seed


def test_more_shape_functions_than_one_sweep_takes() -> None:
    """The first split of a tree is noted by its number among all of them, over several sweeps."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(250, 1))
    y = (np.sin(4 * X[:, 0]) + rng.normal(scale=0.3, size=250) > 0).astype(int)
    space: dict[str, Any] = {"max_depth": 2, "max_changepoints": 3, "candidate_leaves": 30}
    path = regularization_path(X, y, **space)
    assert path.proven
    check_form(path)
    for segment in path:
        assert np.count_nonzero(segment.tree.predict(X) != y) == segment.errors


def noise(rows: int = 400, features: int = 8) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, features)), rng.integers(0, 3, rows)


def test_an_expansion_limit_leaves_gaps_and_says_so() -> None:
    X, y = noise()
    path = regularization_path(X, y, max_depth=4, max_changepoints=2, max_expansions=200, time_limit=None)
    check_form(path)
    assert path.stop_reason is StopReason.EXPANSION_LIMIT
    assert not path.proven
    for segment in path:
        assert segment.proven == (segment.gap == 0)
    again = regularization_path(X, y, max_depth=4, max_changepoints=2, max_expansions=200, time_limit=None)
    assert [s.tree.to_dict() for s in path] == [s.tree.to_dict() for s in again]


def test_searches_without_proof_are_spread_over_the_sizes() -> None:
    """Largest penalties first would leave no expansions for trees of 17 to 55 leaves here."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 6)), rng.integers(0, 3, 1500)
    path = regularization_path(X, y, max_depth=9, max_changepoints=1, max_expansions=100, time_limit=None)
    check_form(path)
    assert not path.proven
    leaves = [segment.leaves for segment in path if segment.leaves >= 16]
    assert leaves[0] > 100
    assert all(larger < 3 * smaller for larger, smaller in itertools.pairwise(leaves))


def test_gaps_hold_the_optimum() -> None:
    """What a short computation tells as its gap contains what a longer one proves."""
    for seed in range(30):
        problem = two_classes(larger_problem(seed, depth=3, mode="adaptive"))
        short, full = path_of(problem, 0.5, max_expansions=6), path_of(problem, 0.5)
        for penalty in penalties_of(full):
            best, known = full.at(penalty).cost(penalty, 0.5), short.at(penalty)
            cost = known.cost(penalty, 0.5)
            assert best - EXACT <= cost
            assert (1 - known.gap) * cost <= best + EXACT


def test_a_time_limit_holds() -> None:
    X, y = noise(3000, 20)
    path = regularization_path(X, y, max_depth=6, max_changepoints=3, time_limit=1.0)
    assert path.stop_reason is StopReason.TIME_LIMIT
    assert len(path) > 2
    check_form(path)


def test_a_callback_stops_it() -> None:
    X, y = noise(3000, 20)
    seen: list[PathProgress] = []

    def stop(progress: PathProgress) -> bool:
        seen.append(progress)
        return len(seen) == 3

    path = regularization_path(X, y, max_depth=6, max_changepoints=3, time_limit=60, callback=stop)
    assert path.stop_reason is StopReason.USER_STOP
    assert len(seen) == 3
    assert seen[-1].elapsed_seconds < 30
    check_form(path)


def test_data_without_any_signal_is_a_leaf_for_every_penalty() -> None:
    path = regularization_path([[1.0], [1.0], [2.0]], [0, 1, 1])
    assert len(path) == 1
    assert path.proven
    assert path[0].leaves == 1
    assert (path[0].penalty_from, path[0].penalty_to, path[0].errors) == (0, math.inf, 1)


def test_at() -> None:
    X, y = load_iris(return_X_y=True)
    path = regularization_path(X, y, max_depth=2)
    assert path.at(0) == path[0]
    assert path.at(path[0].penalty_to) == path[1]
    assert path.at(1e300) == path[-1]
    with pytest.raises(ValueError, match="penalty: expected a number >= 0"):
        path.at(-1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"changepoint_ratio": -1.0}, "changepoint_ratio: expected a finite number from 0 to 1000"),
        ({"changepoint_ratio": 1 / 3}, "changepoint_ratio: expected at most three decimal places"),
        ({"split_penalty": 1.0}, "split_penalty: a path chooses it"),
        ({"polish": True}, "polish: a path chooses it"),
        ({"candidates": "widening"}, "candidates: expected one of adaptive, shape, quantile, all for a path"),
        ({"max_depht": 3}, "max_depht: not a parameter"),
        ({"time_limit": 0}, "time_limit: expected None or a finite number > 0"),
    ],
)
def test_mistakes_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        regularization_path([[1.0], [2.0]], [0, 1], **options)
