"""`min_samples_leaf`: every interval of every split holds so many rows, and the optimum is of such trees.

Both oracles define it for themselves.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from literati import (
    CheckpointError,
    LiteratiClassifier,
    ModelFormatError,
    Search,
    SearchLimits,
    ShapeTree,
)
from literati.errors import DataWarning
from tests.support.solver import mask_oracle, oracle
from tests.support.solver.engines import PATIENCE, PROVEN, engine, proven_engine
from tests.support.solver.mask_oracle import MaskOracle
from tests.support.solver.problems import MODES, Problem, larger_problem, random_problem, random_table
from tests.support.solver.trees import check_intervals, check_legal, check_shape, objective, rows_by_node

LEAST = (2, 2, 3, 4, 5, 7)


def with_leaves(problem: Problem, seed: int) -> Problem:
    return problem.but(min_samples_leaf=random.Random(f"leaves {seed}").choice(LEAST))


def check(problem: Problem, **options: Any) -> bool:
    """Compare with the compiled oracle; return whether the minimum changes the optimum."""
    best = mask_oracle.optimum(problem)
    search = proven_engine(problem, **options)
    assert search.upper == best, problem.name
    nodes = search.nodes()
    assert objective(problem, nodes) == best, problem.name
    check_legal(problem, nodes)
    return best > mask_oracle.optimum(problem.but(min_samples_leaf=1))


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("mode", MODES)
def test_random_problems(mode: str, depth: int) -> None:
    changed = 0
    for seed in range(200):
        changed += check(with_leaves(random_problem(seed, depth=depth, mode=mode), seed))
    assert changed > 10


@pytest.mark.parametrize("mode", MODES)
def test_larger_problems(mode: str) -> None:
    assert sum(check(with_leaves(larger_problem(seed, mode=mode), seed)) for seed in range(100)) > 30


@pytest.mark.parametrize("mode", MODES)
def test_the_naive_oracle_agrees(mode: str) -> None:
    for seed in range(3000, 3060):
        problem = with_leaves(random_problem(seed, mode=mode), seed)
        assert mask_oracle.optimum(problem) == oracle.optimum(problem) == proven_engine(problem).upper


@pytest.mark.parametrize("mode", MODES)
def test_missing_values_and_many_classes(mode: str) -> None:
    """Rows of all classes count in an interval; rows without a value only where they are alone on a side."""
    rng = random.Random(8)
    changed = 0
    for seed in range(150):
        rows, classes = rng.randint(20, 40), rng.randint(2, 6)
        codes, values, _ = random_table(rng, rows, 2, classes, 10)
        codes = [[-1 if rng.random() < 0.3 else code for code in column] for column in codes]
        problem = with_leaves(random_problem(seed, depth=rng.choice((1, 2, 3)), mode=mode), seed).but(
            codes=codes,
            values=values,
            y=[rng.randrange(classes) for _ in range(rows)],
            n_classes=classes,
            weights=[float(rng.randint(1, 9)) for _ in range(rows)] if seed % 2 else None,
            max_changepoints=1 + seed % 3,
            split_penalty=0.0,
            changepoint_penalty=rng.choice((0.0, 0.5)),
            grid=[list(range(1, len(column))) for column in values] if mode == "quantile" else None,
            name=f"many classes {seed}",
        )
        changed += check(problem)
    assert changed > 50


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("mode", ["quantile", "all"])
def test_noise_over_every_cut(mode: str, depth: int) -> None:
    """The values of neighbouring change points are no bounds, because fewer rows may cost more."""
    rng = random.Random(9)
    for seed in range(60):
        rows = 40 if depth == 3 else 24
        codes, values, _ = random_table(rng, rows, 2, 2, 16 if depth == 3 else 7, 6)
        problem = with_leaves(larger_problem(seed, depth=depth, mode=mode), seed).but(
            codes=codes,
            values=values,
            y=[rng.randrange(2) for _ in range(rows)],
            n_classes=2,
            weights=[float(rng.randint(1, 30)) for _ in range(rows)] if seed % 2 else None,
            max_changepoints=1 + seed % 3,
            changepoint_penalty=rng.choice((0.0, 0.25, 1.0)),
            candidate_leaves=[17],
            grid=[list(range(1, len(column))) for column in values] if mode == "quantile" else None,
            name=f"noise {seed}",
        )
        check(problem)


@pytest.mark.parametrize("heuristic", ["primal", "impurity"])
@pytest.mark.parametrize("mode", MODES)
def test_every_switch_finds_the_optimum(mode: str, heuristic: str) -> None:
    for seed in range(1000, 1025):
        problem = with_leaves(larger_problem(seed, mode=mode), seed)
        check(problem, or_selection="admissible", heuristic=heuristic)


@pytest.mark.parametrize("mode", MODES)
def test_bounds_are_true_at_every_step(mode: str) -> None:
    for seed in range(2000, 2030):
        problem = with_leaves(larger_problem(seed, mode=mode), seed)
        exact = MaskOracle(problem)
        best = exact.optimum()
        search = engine(problem)
        for limit in (*range(10), 20, 40, 80, 160):
            status = search.run(PATIENCE, max_expansions=limit)
            assert search.lower <= best <= search.upper, problem.name
            nodes = search.nodes()
            check_intervals(problem, nodes)
            states = [sum(1 << row for row in rows) for rows in rows_by_node(problem, nodes)]
            assert nodes[0]["lower_bound"] <= exact.value(states[0], problem.max_depth)
            if status == PROVEN:
                break


@pytest.mark.parametrize("mode", MODES)
def test_a_checkpoint_resumes_and_belongs_to_its_minimum(mode: str) -> None:
    for seed in range(5000, 5020):
        problem = with_leaves(larger_problem(seed, mode=mode), seed)
        search = engine(problem)
        search.run(PATIENCE, max_expansions=3)
        blob = search.checkpoint()
        for other in (1, problem.min_samples_leaf + 1):
            with pytest.raises(ValueError, match="the checkpoint belongs to another search: options"):
                engine(problem, min_samples_leaf=other).restore(blob)
        resumed = engine(problem)
        resumed.restore(blob)
        assert resumed.run(PATIENCE) == PROVEN
        assert resumed.upper == mask_oracle.optimum(problem), problem.name


def test_the_definition_by_an_example() -> None:
    """Six rows with a value and three without: the intervals count the six, or a side is the three alone."""
    problem = Problem(
        codes=[[0, 1, 2, 3, 4, 5, -1, -1, -1]],
        values=[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]],
        y=[0, 1, 1, 0, 0, 0, 1, 1, 1],
        n_classes=2,
        weights=None,
        max_depth=1,
        max_changepoints=2,
        split_penalty=0.0,
        changepoint_penalty=0.0,
        candidates="all",
        candidate_leaves=[17],
    )
    # The first row is an interval of one row. With more, 0, 1, 1 are on one side, and the rows without a
    # value join it. Intervals of four rows are not possible, nor are the three without a value on a side.
    for least, best in ((1, 0), (2, 1), (3, 1), (4, 4)):
        given = problem.but(min_samples_leaf=least)
        assert oracle.optimum(given) == mask_oracle.optimum(given) == proven_engine(given).upper == best
    alone = problem.but(y=[0, 0, 0, 0, 0, 0, 1, 1, 1])
    for least, best in ((3, 0), (4, 3)):
        given = alone.but(min_samples_leaf=least)
        assert oracle.optimum(given) == mask_oracle.optimum(given) == proven_engine(given).upper == best


# Polishing


def test_polishing_improves_trees_and_keeps_every_interval() -> None:
    """From the tree of an engine that stopped at once: the polish never leaves the trees that are allowed."""
    improved = 0
    for seed in range(600):
        problem = with_leaves(larger_problem(seed, mode="adaptive"), seed).but(candidate_leaves=[2])
        search = engine(problem)
        search.run(PATIENCE, max_expansions=0)
        nodes = search.nodes()
        polisher = search.polisher()
        polished = polisher.polish(nodes, seconds=5.0)
        assert polisher.finished
        check_shape(problem, polished)
        before, after = objective(problem, nodes), objective(problem, polished)
        assert after <= before, problem.name
        assert np.array_equal(search.polisher().polish(polished), polished), problem.name
        improved += after < before
    assert improved > 150


@pytest.mark.parametrize("mode", MODES)
def test_the_estimator_with_its_defaults(mode: str) -> None:
    """The bounds are those of the space, and the polished tree is one of all trees that are allowed."""
    beyond = 0
    for seed in range(60):
        problem = with_leaves(larger_problem(seed, depth=3, mode=mode), seed)
        if min(len(values) for values in problem.values) < 2 or len(set(problem.y)) < problem.n_classes:
            continue
        X = np.array(
            [
                [np.nan if code < 0 else values[code] for code in column]
                for column, values in zip(problem.codes, problem.values, strict=True)
            ]
        ).T
        leaves = problem.candidate_leaves
        model = LiteratiClassifier(
            max_depth=3,
            max_changepoints=problem.max_changepoints,
            split_penalty=problem.split_penalty,
            changepoint_penalty=problem.changepoint_penalty,
            candidates=mode,
            candidate_leaves=leaves[0] if mode == "quantile" else leaves,
            criterion=problem.criterion,
            min_samples_leaf=problem.min_samples_leaf,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            model.fit(X, np.array(problem.y), sample_weight=problem.weights)
            grid = Search(X, problem.y, sample_weight=problem.weights).table.grid(leaves[0])
        if mode == "quantile":
            problem = problem.but(grid=[positions.tolist() for positions in grid])
        assert model.upper_bound_ == model.lower_bound_ == mask_oracle.optimum(problem), problem.name
        every_tree = mask_oracle.optimum(problem.but(candidates="all", grid=None))
        assert every_tree <= model.objective_ <= model.upper_bound_, problem.name
        assert shortest_interval(model.tree_, X) >= problem.min_samples_leaf, problem.name
        beyond += model.objective_ < model.upper_bound_
    assert mode in ("all", "shape") or beyond > 0


def shortest_interval(tree: ShapeTree, X: Any) -> int:
    """The fewest rows of a leaf, or of an interval of a split on numbers; all rows if there is no split."""
    reached, shortest = {0: np.arange(len(X))}, len(X)
    for index, node in enumerate(tree.nodes):
        rows = reached[index]
        shortest = min(shortest, len(rows))
        if (split := node.split) is None:
            continue
        cells = X[rows, split.column]
        missing = np.isnan(cells)
        passed = (cells[:, None] > np.array([split.thresholds])).sum(axis=1)
        counts = [int(((passed == k) & ~missing).sum()) for k in range(len(split.thresholds) + 1)]
        shortest = min(shortest, *counts, int(missing.sum()) if not split.thresholds else len(X))
        right = np.where(missing, split.missing_right, passed % 2 == 1)
        reached |= {split.left: rows[~right], split.right: rows[right]}
    return shortest


# Warm starts, the model, memory


def towns(rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(0, 1, rows).round(1)),
            "town": pd.Series(rng.choice(list("abcdefgh"), rows)).where(rng.random(rows) > 0.1),
        }
    )
    return X, (X["x"].fillna(0).abs() > 0.7) ^ X["town"].isin(["b", "e"]) ^ (rng.random(rows) < 0.1)


@pytest.mark.parametrize("categories", ["ordered", "one_hot"])
@pytest.mark.parametrize("seed", range(6))
def test_a_tree_from_elsewhere_is_cut_back(seed: int, categories: str) -> None:
    X, y = towns(150, seed)
    parameters: dict[str, Any] = {"max_depth": 3, "max_changepoints": 3, "categories": categories}
    free = Search(X, y, limits=SearchLimits(max_expansions=200), **parameters)
    free.run()
    for least in (2, 5, 12, 30):
        search = Search(X, y, min_samples_leaf=least, polish=False, **parameters)
        search.adopt(free.incumbent())
        adopted = search.incumbent()
        assert all(node.rows >= least for node in adopted.nodes)
        assert ShapeTree.from_json(adopted.to_json()) == adopted
        # The tree of a search with the same minimum is taken as it is.
        same = Search(X, y, min_samples_leaf=least, limits=SearchLimits(max_expansions=200), **parameters)
        same.run()
        again = Search(X, y, min_samples_leaf=least, polish=False, **parameters)
        assert again.adopt(same.incumbent()) == (len(same.incumbent().nodes) > 1)
        assert again.incumbent().objective == same.incumbent().objective


def test_a_split_of_short_intervals_is_not_adopted() -> None:
    """A band of three rows between two long intervals, of numbers and of categories."""
    numbers = np.arange(12.0)
    y = (numbers > 4) & (numbers < 8)
    letters = np.array(list("aaaabbbbccdd"))
    for X, wanted in ((numbers[:, None], y), (pd.DataFrame({"letter": letters}), letters == "c")):
        tree = LiteratiClassifier(max_depth=1, max_changepoints=2).fit(X, wanted).tree_
        assert tree.objective == 0
        for least in (2, 3, 4):
            search = Search(X, wanted, max_depth=1, max_changepoints=2, min_samples_leaf=least)
            rows = int(wanted.sum())
            assert search.adopt(tree) == (rows >= least)


def test_missing_values_alone_are_an_interval() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0], [np.nan], [np.nan]])
    y = np.array([0, 0, 0, 0, 1, 1])
    tree = LiteratiClassifier(max_depth=1).fit(X, y).tree_
    for least, adopted in ((2, True), (3, False)):
        assert Search(X, y, max_depth=1, min_samples_leaf=least).adopt(tree) == adopted


def test_more_than_half_of_the_rows_leave_a_leaf_and_a_warning() -> None:
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    with pytest.warns(DataWarning, match="because 6 is more than half of the 10 training rows"):
        model = LiteratiClassifier(min_samples_leaf=6).fit(X, y)
    assert len(model.tree_.nodes) == 1
    assert model.proven_optimal_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LiteratiClassifier(min_samples_leaf=5).fit(X, y).objective_ == 0


@pytest.mark.parametrize("least", [2**31 - 1, 11, 10, 6])
def test_minimums_beyond_the_data(least: int) -> None:
    for mode in MODES:
        problem = random_problem(3, depth=3, mode=mode).but(min_samples_leaf=least)
        if 2 * least > problem.n_rows:
            assert len(proven_engine(problem).nodes()) == 1


def test_the_engine_refuses_less_than_one_row() -> None:
    with pytest.raises(ValueError, match="min_samples_leaf must be 1 or more, got 0"):
        engine(random_problem(1), min_samples_leaf=0)


def test_the_model_keeps_it() -> None:
    X, y = towns(100, 1)
    tree = LiteratiClassifier(max_depth=2, min_samples_leaf=7).fit(X, y).tree_
    data = tree.to_dict()
    assert data["settings"]["min_samples_leaf"] == 7
    assert ShapeTree.from_dict(data) == tree
    data["settings"]["min_samples_leaf"] = min(node.rows for node in tree.nodes) + 1
    with pytest.raises(ModelFormatError, match=r"nodes\[\d\]\.rows: fewer than min_samples_leaf"):
        ShapeTree.from_dict(data)
    data["settings"]["min_samples_leaf"] = 0
    with pytest.raises(ModelFormatError, match=r"settings\.min_samples_leaf: expected an integer from 1"):
        ShapeTree.from_dict(data)
    plain = LiteratiClassifier(max_depth=2).fit(X, y).tree_.to_dict()
    assert "min_samples_leaf" not in plain["settings"]  # as version 0.1.0 wrote it


def test_a_resumed_search_keeps_it() -> None:
    X, y = towns(200, 2)
    search = Search(X, y, min_samples_leaf=9, max_depth=3, limits=SearchLimits(max_expansions=2))
    search.run()
    resumed = Search.resume(X, y, search.checkpoint(), limits=SearchLimits())
    assert resumed.options.min_samples_leaf == 9
    whole = Search(X, y, min_samples_leaf=9, max_depth=3)
    assert resumed.run().upper_bound == whole.run().upper_bound
    with pytest.raises(CheckpointError):
        Search.resume(X.iloc[:-1], y[:-1], search.checkpoint())


@pytest.mark.parametrize("mode", MODES)
def test_failed_allocations_lose_nothing(mode: str) -> None:
    for seed in range(30):
        problem = with_leaves(larger_problem(seed, mode=mode), seed)
        best = mask_oracle.optimum(problem)
        for after in (0, 3, 10, 40):
            search = engine(problem)
            search.fail_allocations(after, 2)
            for _ in range(20):
                if search.run(PATIENCE) == PROVEN:
                    break
                search.fail_allocations(0, 0)
            assert search.upper == search.lower == best, problem.name
