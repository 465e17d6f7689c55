"""Search.adopt: a tree from elsewhere as the first incumbent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from literati import Search, SearchLimits, ShapeTree

ONE = SearchLimits(max_expansions=1)


def frame(rows: int, seed: int, shift: float = 0.0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers, booleans and categories with gaps; the categories that occur depend on the seed."""
    rng = np.random.default_rng(seed)
    towns = np.array(["Aarau", "Bern", "Chur", "Davos", "Elgg"])[: 3 + seed % 3]
    X = pd.DataFrame(
        {
            "x": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(shift, 1.0, rows).round(1)),
            "town": pd.Series(rng.choice(towns, rows)).where(rng.random(rows) > 0.1),
            "old": rng.random(rows) < 0.4,
            "z": rng.integers(0, 6, rows),
        }
    )
    score = (X["x"].fillna(0).abs() > 0.7) ^ (X["town"].isin(["Bern", "Elgg"])) ^ (X["z"] % 3 == 1)
    return X, np.where(rng.random(rows) < 0.1, ~score, score)


def learned(X: Any, y: Any, **parameters: Any) -> ShapeTree:
    parameters = {"max_depth": 4, "max_changepoints": 3, **parameters}
    search = Search(X, y, limits=SearchLimits(max_expansions=300), **parameters)
    search.run()
    return search.incumbent()


def check(search: Search, X: Any, y: Any) -> ShapeTree:
    """The incumbent costs on the raw rows what it says, and its JSON passes the strict reader."""
    tree = search.incumbent()
    assert tree.evaluate(X, y) == pytest.approx(tree.objective, abs=1e-9)
    assert search.report().objective == tree.objective <= search.report().upper_bound
    assert ShapeTree.from_json(tree.to_json()) == tree
    return tree


@pytest.mark.parametrize("categories", ["ordered", "one_hot"])
@pytest.mark.parametrize("seed", range(8))
def test_the_same_data_gives_the_same_tree(seed: int, categories: str) -> None:
    X, y = frame(200, seed)
    tree = learned(X, y, categories=categories)
    search = Search(X, y, limits=ONE, max_depth=4, max_changepoints=3, categories=categories, polish=False)
    first = search.incumbent().objective
    assert search.adopt(tree) == (tree.objective < first)
    adopted = check(search, X, y)
    assert adopted.objective == tree.objective
    assert (adopted.predict(X) == tree.predict(X)).all()
    assert not search.adopt(tree), "nothing to gain from it a second time"


@pytest.mark.parametrize("seed", range(20))
def test_other_rows_other_parameters(seed: int) -> None:
    X, y = frame(200, seed)
    tree = learned(X, y)
    other, labels = frame(60 + 10 * seed, seed + 1, shift=0.5 * (seed % 4))
    search = Search(
        other.iloc[:, ::-1],  # columns go by name
        labels,
        limits=ONE,
        max_depth=1 + seed % 5,
        max_changepoints=1 + seed % 3,
        split_penalty=0.5 * (seed % 2),
        changepoint_penalty=0.25 * (seed % 3),
        polish=False,
    )
    before = search.incumbent()
    better = search.adopt(tree)
    after = check(search, other, labels)
    assert after.objective < before.objective if better else after.objective == before.objective
    assert after.depth <= 1 + seed % 5
    assert search.report().upper_bound == before.proof.upper_bound, "the bounds are the search's own"


def test_it_is_worth_something_elsewhere() -> None:
    """At least one of the transplants above must win, or the test above says nothing."""
    wins = 0
    for seed in range(8):
        X, y = frame(300, seed)
        more, labels = frame(400, seed + 3)
        search = Search(more, labels, limits=ONE, max_depth=4, max_changepoints=3, polish=False)
        wins += search.adopt(learned(X, y))
        check(search, more, labels)
    assert wins > 0


def test_weights_count() -> None:
    X, y = frame(200, 1)
    weights = np.random.default_rng(0).integers(0, 4, len(y)) / 4
    tree = learned(X, y)
    search = Search(X, y, sample_weight=weights, limits=ONE, max_depth=4, max_changepoints=3, polish=False)
    search.adopt(tree)
    adopted = search.incumbent()
    assert adopted.objective == pytest.approx(adopted.evaluate(X, y, weights))


def test_columns_that_became_constant_or_missing_are_passed_over() -> None:
    X, y = frame(200, 2)
    tree = learned(X, y)
    for column, value in (("x", 0.3), ("x", np.nan), ("town", "Bern"), ("town", None), ("old", True)):
        flat = X.assign(**{column: value})
        with pytest.warns(UserWarning, match="constant"):
            search = Search(flat, y, limits=ONE, max_depth=4, max_changepoints=3, polish=False)
        search.adopt(tree)
        adopted = check(search, flat, y)
        used = {adopted.feature_names[node.split.column] for node in adopted.nodes if node.split}
        assert column not in used


def test_a_checkpoint_keeps_it() -> None:
    X, y = frame(300, 5)
    tree = learned(X, y)
    search = Search(X, y, limits=ONE, max_depth=4, max_changepoints=3, polish=False)
    assert search.adopt(tree)
    search.run()
    on = Search.resume(X, y, search.checkpoint())
    assert on.incumbent().objective == search.incumbent().objective <= tree.objective
    assert on.report().expansions == 1


def test_strangers_are_refused_by_name() -> None:
    X, y = frame(200, 0)
    tree = learned(X, y)
    search = Search(X.rename(columns={"x": "length"}), y, limits=ONE)
    with pytest.raises(ValueError, match="'x', which the data does not have"):
        search.adopt(tree)
    with pytest.raises(ValueError, match="'x' is a number in the tree and a category in the data"):
        Search(X.assign(x=X["x"].astype(str)), y, limits=ONE).adopt(tree)
