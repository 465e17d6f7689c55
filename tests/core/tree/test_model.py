"""ShapeTree: values from codes, costs, explanations. Random trees over every kind of column."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from literati._engine._engine import NODE_DTYPE
from sklearn.datasets import load_iris

from literati import DataWarning, LiteratiClassifier, SearchInvariantError, ShapeTree
from literati.data.labels import plain
from literati.data.table import TrainingTable, build
from literati.tree.nodes import Settings
from tests.support.solver.random_trees import random_frame, random_tree


def hand_made(table: TrainingTable, splits: list[Any]) -> ShapeTree:
    """A tree from (feature, change points, missing right, left, right) or None for a leaf, in preorder."""
    nodes = np.zeros(len(splits), NODE_DTYPE)
    nodes["feature"] = -1
    for node, split in zip(nodes, splits, strict=True):
        if split is not None:
            node["feature"], changepoints, node["missing_right"], node["left"], node["right"] = split
            node["n_changepoints"] = len(changepoints)
            node["changepoints"][: len(changepoints)] = changepoints
    return ShapeTree.from_nodes(
        nodes,
        table,
        settings=Settings(4, 8, split_penalty=0.5, changepoint_penalty=0.25),
        upper_bound=1e9,
        lower_bound=0.0,
        proven_optimal=False,
        proven_space="all",
    )


def code_leaves(table: TrainingTable, nodes: Any) -> list[int]:
    """The engine's leaf of every training row, by the definition of a shape function in codes."""
    found = []
    for row in range(table.n_rows):
        at = 0
        while nodes[at]["feature"] >= 0:
            node = nodes[at]
            code = table.codes[node["feature"], row]
            passed = sum(c <= code for c in node["changepoints"][: node["n_changepoints"]])
            right = node["missing_right"] if code < 0 else passed % 2
            at = node["right"] if right else node["left"]
        found.append(int(at))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_values_route_training_rows_as_codes_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 80))
    frame, y = random_frame(rng, rows), np.r_[0, 1, rng.integers(0, 3, rows - 2)]
    weights = rng.integers(1, 8, rows) / 4 if seed % 3 == 0 else None
    table = build(frame, y, sample_weight=weights, categories=("ordered", "one_hot")[seed % 2])
    tree, nodes = random_tree(table, rng)
    leaves = tree.apply(frame)
    groups: dict[int, int] = {}
    for value_leaf, code_leaf in zip(leaves.tolist(), code_leaves(table, nodes), strict=True):
        assert groups.setdefault(value_leaf, code_leaf) == code_leaf
    assert len(set(groups.values())) == tree.n_leaves
    for leaf in groups:
        here = leaves == leaf
        assert tree.nodes[leaf].rows == here.sum()
        counts = np.bincount(y[here], None if weights is None else weights[here], minlength=len(tree.classes))
        assert tree.nodes[leaf].counts == tuple(counts)
    wrong = (tree.predict(frame) != y).astype(float)
    penalties = sum(0.5 + 0.25 * (n.split.changepoints - 1) for n in tree.nodes if n.split is not None)
    cost = (wrong if weights is None else wrong * weights).sum() + penalties
    assert tree.objective == tree.nodes[0].cost == cost
    assert tree.evaluate(frame, y, weights) == tree.evaluate_table(table) == cost
    assert ShapeTree.from_json(tree.to_json()) == tree
    for row in range(3):
        explanation = tree.explain(frame.iloc[row])
        assert explanation.leaf == leaves[row]
        assert explanation.label == tree.predict(frame)[row]
        assert explanation.probabilities == tuple(tree.predict_proba(frame)[row])


def test_thresholds_are_midpoints_of_the_nodes_own_values() -> None:
    table = build([[1.0, 0], [2.0, 0], [4.0, 1], [10.0, 0], [12.0, 1]], [0, 1, 0, 1, 0])
    tree = hand_made(table, [(1, [1], 0, 1, 4), (0, [3], 0, 2, 3), None, None, None])
    inner = tree.nodes[1].split
    assert inner is not None
    assert inner.thresholds == (6.0,)  # between 2 and 10: no row with 4 comes here
    assert tree.nodes[1].rows == 3


def test_no_threshold_reaches_the_value_above_it() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    tree = hand_made(build([[low], [high]], [0, 1]), [(0, [1], 0, 1, 2), None, None])
    split = tree.nodes[0].split
    assert split is not None
    assert low <= split.thresholds[0] < high
    assert tree.predict([[low], [high]]).tolist() == [0, 1]
    huge = hand_made(
        build([[-1.7e308], [1.7e308], [1.75e308]], [0, 1, 0]), [(0, [1, 2], 0, 1, 2), None, None]
    )
    assert huge.predict([[-1.7e308], [1.7e308], [1.75e308]]).tolist() == [0, 1, 0]


def test_change_points_that_part_no_rows_fall_away() -> None:
    table = build([[1.0, 0], [2.0, 1], [3.0, 1], [4.0, 0]], [0, 1, 1, 1])
    tree = hand_made(table, [(1, [1], 0, 1, 4), (0, [1, 2, 3], 0, 2, 3), None, None, None])
    inner = tree.nodes[1].split
    assert inner is not None
    assert (inner.thresholds, inner.changepoints) == ((2.5,), 1)  # 1 and 4 come here: one cut, thrice
    assert tree.objective == 1.0  # and two splits are paid for, no further change points


def test_a_node_that_starts_on_the_right_is_mirrored() -> None:
    table = build([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0], [4.0, 6.0]], [0, 0, 1, 0])
    tree = hand_made(table, [(1, [1], 0, 1, 2), None, (0, [1, 3], 0, 3, 4), None, None])
    inner = tree.nodes[2].split
    assert inner is not None
    assert inner.thresholds == (3.5,)
    assert tree.predict([[3.0, 6.0], [4.0, 6.0]]).tolist() == [1, 0]


def test_missing_rows_alone_go_right() -> None:
    table = build([[1.0], [2.0], [np.nan]], [0, 0, 1])
    tree = hand_made(table, [(0, [2], 1, 1, 2), None, None])
    split = tree.nodes[0].split
    assert split is not None
    assert (split.thresholds, split.changepoints, split.missing_right, split.missing_seen) == (
        (),
        1,
        True,
        True,
    )
    assert tree.predict([[1.0], [99.0], [None]]).tolist() == [0, 0, 1]
    assert tree.objective == 0.5


def test_a_column_without_missing_values_sends_them_where_most_rows_went() -> None:
    table = build([[1.0], [2.0], [3.0]], [0, 1, 1])
    for weights, side in ((None, True), ([9, 1, 1], False)):
        table = build([[1.0], [2.0], [3.0]], [0, 1, 1], sample_weight=weights)
        split = hand_made(table, [(0, [1], 0, 1, 2), None, None]).nodes[0].split
        assert split is not None
        assert (split.missing_right, split.missing_seen) == (side, False)


def categories_tree(mode: Any = "ordered") -> ShapeTree:
    frame = pd.DataFrame({"word": ["a", "a", "b", "b", "c", "c", None]})
    table = build(frame, [0, 0, 0, 1, 1, 1, 1], categories=mode)
    # Class 1 is the most frequent: rates a 0, b 1/2, c 1.
    return hand_made(table, [(0, [1, 2] if mode == "ordered" else [1], 1, 1, 2), None, None])


def test_categories_are_sets_of_names() -> None:
    ordered, one_hot = categories_tree().nodes[0].split, categories_tree("one_hot").nodes[0].split
    assert ordered is not None
    assert one_hot is not None
    assert (ordered.right_categories, ordered.changepoints) == ((1,), 2)  # b alone
    assert (one_hot.right_categories, one_hot.changepoints) == ((0,), 1)  # a alone
    assert ordered.missing_right
    assert not ordered.unknown_right  # four of seven went left
    tree = categories_tree()
    assert tree.apply(pd.DataFrame({"word": ["a", "b", "c", None, "?"]})).tolist() == [1, 2, 1, 2, 1]


def test_empty_sides_and_false_costs_are_refused() -> None:
    table = build([[1.0, 1.0], [2.0, 2.0]], [0, 1])
    with pytest.raises(SearchInvariantError, match="empty"):
        hand_made(table, [(0, [1], 0, 1, 4), (1, [1], 0, 2, 3), None, None, None])


def test_explanations_say_what_happened() -> None:
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0, 4.0, 5.0, None], "word": ["a", "b", "a", "b", "a", "b"]}
    ).assign(flag=[True, False, True, True, False, False])
    table = build(frame, [0, 1, 0, 1, 1, 0])
    tree = hand_made(
        table, [(0, [2, 3], 1, 1, 6), (1, [1], 0, 2, 5), (2, [1], 0, 3, 4), None, None, None, None]
    )
    categories = tree.schema.columns[1].categories
    known = tree.explain({"x": 2, "word": categories[0], "flag": np.False_, "more": 1})
    assert [step.feature for step in known.steps] == ["x", "word", "flag"]
    first, second, third = known.steps
    assert (first.value, first.interval, first.side, first.status) == (2, (None, 2.5), "left", "known")
    assert (second.categories, second.side) == ((categories[0],), "left")
    assert (third.value, third.interval, third.side) == (False, (None, 0.5), "left")
    assert tree.explain([2.9, "a", None]).steps[0].interval == (2.5, 3.5)
    missing = tree.explain([None, "a", None]).steps[0]
    assert (missing.status, missing.side, missing.seen, missing.value) == ("missing", "right", True, None)
    unknown = tree.explain((1.0, "zzz", True)).steps[1]
    assert (unknown.status, unknown.seen, unknown.value) == ("unknown", False, "zzz")
    assert str(known).splitlines()[0] == "x = 2 is <= 2.5: left"
    assert str(missing) == "x is missing (as the missing ones in training): right"
    assert "'zzz' was not seen in training" in str(unknown)
    assert "is one of" in str(second)
    assert known.to_dict()["steps"][0]["interval"] == (None, 2.5)
    assert known.probability == max(known.probabilities)
    for row in (
        pl.DataFrame(frame)[:1],
        pa.Table.from_pandas(frame)[:1],
        frame[:1],
        frame[:1].to_numpy(dtype=object),
    ):
        assert tree.explain(row).leaf == tree.apply(frame)[0]


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ({"x": 1}, ValueError, "row: the column 'word' is absent"),
        ([1], ValueError, "row: expected 2 values, got 1"),
        ("ab", TypeError, "row: expected a mapping"),
        (3, TypeError, "row: expected a mapping"),
        (np.zeros((2, 2)), ValueError, "row: expected one row, got 2"),
        ({"x": "text", "word": "a"}, TypeError, "column 'x' holds text"),
        ({"x": np.inf, "word": "a"}, ValueError, "column 'x' contains infinity"),
    ],
)
def test_bad_rows_to_explain_are_named(row: Any, error: type[Exception], message: str) -> None:
    table = build(pd.DataFrame({"x": [1.0, 2.0], "word": ["a", "b"]}), [0, 1])
    tree = hand_made(table, [(0, [1], 0, 1, 2), None, None])
    with pytest.raises(error, match=message):
        tree.explain(row)


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [0, 1],
        [False, True],
        [1.0, 2.0],
        np.array([3, 200], dtype=np.uint8),
        [("a", 1), ("b", 2)],
        ["x", 5],
        [2**70, 1],
    ],
    ids=str,
)
def test_predictions_are_spelt_as_the_labels_were(labels: Any) -> None:
    y = [labels[0], labels[1], labels[0]]
    tree = hand_made(build([[1], [2], [3]], y), [(0, [1, 2], 0, 1, 2), None, None])
    back = ShapeTree.from_json(tree.to_json())
    for one in (tree, back):
        predicted = one.predict([[1], [2], [3]])
        assert predicted.tolist() == [*y]
        assert {type(label) for label in predicted.tolist()} == {type(plain(label)) for label in labels}
    assert back.classes.dtype == tree.classes.dtype


def test_labels_that_json_cannot_hold_still_predict() -> None:
    y = [frozenset({1}), frozenset({2}), frozenset({1})]
    tree = hand_made(build([[1], [2], [3]], y), [(0, [1, 2], 0, 1, 2), None, None])
    assert tree.predict([[2]])[0] in y
    with pytest.raises(TypeError, match="frozenset cannot be written as JSON"):
        tree.to_json()


def test_paths_and_leaves() -> None:
    table = build([[1.0], [2.0], [3.0]], [0, 1, 0])
    tree = hand_made(table, [(0, [1], 0, 1, 2), None, (0, [2], 0, 3, 4), None, None])
    assert tree.apply([[1.0], [2.0], [3.0]]).tolist() == [1, 3, 4]
    assert tree.decision_path([[1.0], [3.0]]).toarray().tolist() == [[1, 1, 0, 0, 0], [1, 0, 1, 0, 1]]
    assert (tree.depth, tree.n_leaves) == (2, 3)
    assert "depth=2, leaves=3" in repr(tree)


def test_a_tree_cannot_be_changed() -> None:
    tree = hand_made(build([[1.0], [2.0]], [0, 1]), [(0, [1], 0, 1, 2), None, None])
    with pytest.raises(FrozenInstanceError):
        tree.nodes = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        tree.nodes[0].rows = 7  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        tree.classes[0] = 5
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(pickle.loads(pickle.dumps(tree))) == hash(tree)
    assert tree != 3


def test_columns_a_tree_does_not_know_are_named() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    tree = hand_made(build(frame, [0, 1]), [(0, [1], 0, 1, 2), None, None])
    with pytest.warns(DataWarning, match="columns not seen in training are ignored: 'z'"):
        assert tree.predict(frame.assign(z=1)).tolist() == [0, 1]
    encoded = tree.encode(frame.assign(z=1))
    assert encoded.ignored == ("z",)
    assert tree.predict(encoded).tolist() == [0, 1]


def test_evaluate_on_other_rows() -> None:
    tree = hand_made(build([[1.0], [2.0]], ["a", "b"]), [(0, [1], 0, 1, 2), None, None])
    assert tree.evaluate([[1.0], [1.0], [2.0], [2.0]], ["a", "b", "b", "new"]) == 2.5
    assert tree.evaluate([[1.0], [1.0]], ["b", "b"], [2.0, 0.5]) == 3.0
    with pytest.raises(ValueError, match="X and y must have the same number of rows"):
        tree.evaluate([[1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="sample_weight: expected 1 numbers, one for each row, got 2"):
        tree.evaluate([[1.0]], ["a"], [1.0, 2.0])


def test_smoothed_probabilities() -> None:
    """Each class of a leaf gets the same weight in addition; the predicted class stays."""
    X, y = load_iris(return_X_y=True)
    plain = LiteratiClassifier(max_depth=2, probability_smoothing=0).fit(X, y)
    for smoothing in (0.5, 2, 1000.0):
        smooth = LiteratiClassifier(max_depth=2, probability_smoothing=smoothing).fit(X, y)
        assert smooth.tree_.nodes == plain.tree_.nodes
        assert (smooth.predict(X) == plain.predict(X)).all()
        counts = np.array([smooth.tree_.nodes[leaf].counts for leaf in smooth.apply(X)]) + smoothing
        np.testing.assert_allclose(smooth.predict_proba(X), counts / counts.sum(axis=1, keepdims=True))
        again = ShapeTree.from_json(smooth.tree_.to_json())
        assert (again.predict_proba(X) == smooth.predict_proba(X)).all()
        assert json.loads(smooth.tree_.to_json())["settings"]["probability_smoothing"] == smoothing
    assert "probability_smoothing" not in json.loads(plain.tree_.to_json())["settings"]
    assert plain.predict_proba(X).max() == 1.0
    assert LiteratiClassifier(max_depth=2).fit(X, y).predict_proba(X).max() < 1.0
    with pytest.raises(ValueError, match="probability_smoothing: expected a finite number >= 0"):
        LiteratiClassifier(probability_smoothing=-1).fit(X, y)
