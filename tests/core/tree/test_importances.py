"""Feature importances: the errors that the splits on each column save, against routing the training rows."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from literati import LiteratiClassifier, ModelFormatError, ShapeTree
from literati.data.table import build
from literati.tree.importances import errors_saved, normalized
from literati.tree.model_json import with_bounds
from literati.tree.nodes import Node, Split
from tests.data.write_v0_1_0 import CASES, FOLDER
from tests.support.solver.format_evaluator import Evaluator
from tests.support.solver.model_mutations import DATA, TREE, changed
from tests.support.solver.random_trees import random_frame, random_tree

Rows = list[int]


def routed(data: dict[str, Any], X: pd.DataFrame, y: npt.NDArray[Any], weights: Any) -> npt.NDArray[Any]:
    """The errors saved by column, from the rows that reach each node and nothing of what the nodes say."""
    evaluator = Evaluator(json.dumps(data))
    cells = [[None if pd.isna(cell) else cell for cell in row] for row in X.to_numpy(dtype=object)]
    saved = np.zeros(X.shape[1])

    def errors(rows: Rows) -> float:
        mass = [float(sum(weights[i] for i in rows if y[i] == label)) for label in np.unique(y)]
        return sum(mass) - max(mass)

    def walk(index: int, rows: Rows) -> None:
        split = data["nodes"][index]["split"]
        if split is None:
            return
        sides: tuple[Rows, Rows] = [], []
        for row in rows:
            sides[evaluator._goes_right(split, cells[row][split["column"]])].append(row)
        saved[split["column"]] += errors(rows) - errors(sides[0]) - errors(sides[1])
        walk(split["left"], sides[0])
        walk(split["right"], sides[1])

    walk(0, list(range(len(y))))
    return saved


def in_summary(data: dict[str, Any], field: str) -> npt.NDArray[Any]:
    """A field of the JSON model's importances, as an array over all columns."""
    values = np.zeros(len(data["columns"]))
    for entry in data["summary"]["feature_importances"]:
        assert data["columns"][entry["column"]]["name"] == entry["feature"]
        values[entry["column"]] = entry[field]
    return values


def assert_saves(tree: ShapeTree, expected: npt.NDArray[Any]) -> None:
    scale = tree.nodes[0].weight
    np.testing.assert_allclose(tree.errors_saved, expected, rtol=0, atol=1e-9 * scale)
    assert (tree.errors_saved >= 0).all()
    penalties = sum(tree.settings.penalty(node.split.changepoints) for node in tree.nodes if node.split)
    total = tree.nodes[0].error - (tree.objective - penalties)
    assert tree.errors_saved.sum() == pytest.approx(total, abs=1e-9 * scale)
    data = tree.to_dict()
    np.testing.assert_array_equal(in_summary(data, "errors_saved"), tree.errors_saved)
    np.testing.assert_allclose(in_summary(data, "importance"), tree.feature_importances, rtol=1e-12)
    entries = data["summary"]["feature_importances"]
    used = {node.split.column for node in tree.nodes if node.split is not None}
    assert {entry["column"] for entry in entries} == used
    assert [entry["errors_saved"] for entry in entries] == sorted(tree.errors_saved[list(used)])[::-1]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("weighted", [False, True])
def test_random_trees_against_routing(seed: int, weighted: bool) -> None:
    """Numbers, booleans, categories, missing cells, several change points, three classes."""
    rng = np.random.default_rng(seed)
    X = random_frame(rng, 60)
    y = np.r_[0, 1, rng.integers(0, 3, 58)]
    weights = rng.choice([0.1, 1 / 3, 2.0, 1e-3], 60) if weighted else np.ones(60)
    tree, _ = random_tree(build(X, y, sample_weight=weights if weighted else None), rng)
    assert_saves(tree, routed(tree.to_dict(), X, y, weights))


@pytest.mark.parametrize("categories", ["ordered", "one_hot"])
def test_the_estimator_against_routing(categories: str) -> None:
    rng = np.random.default_rng(5)
    X = random_frame(rng, 120)
    X["unused"] = rng.normal(size=120)
    y = np.r_[0, 1, rng.integers(0, 3, 118)]
    weights = rng.random(120) + 0.1
    model = LiteratiClassifier(
        max_depth=3, split_penalty=0.05, changepoint_penalty=0.02, categories=categories, max_expansions=50
    ).fit(X, y, weights)
    assert_saves(model.tree_, routed(model.tree_.to_dict(), X, y, weights))
    importances = model.feature_importances_
    assert importances.dtype == np.float64
    assert importances.shape == (model.n_features_in_,)
    assert importances.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(importances, pickle.loads(pickle.dumps(model)).feature_importances_)


def test_a_split_that_saves_nothing_itself() -> None:
    """The first split of an exclusive or saves no error; the ones below it save all."""
    X = np.array([[0, 0, 7], [0, 1, 7], [1, 0, 7], [1, 1, 8]] * 5, dtype=float)
    y = (X[:, 0] != X[:, 1]).astype(int)
    tree = LiteratiClassifier(max_depth=2, max_changepoints=1, candidates="all").fit(X[:, :2], y).tree_
    assert tree.nodes[0].split is not None
    first = tree.nodes[0].split.column
    assert tree.errors_saved[first] == 0
    assert tree.errors_saved[1 - first] == 10
    assert tree.feature_importances.tolist() == [float(column != first) for column in (0, 1)]
    assert {entry["column"] for entry in tree.to_dict()["summary"]["feature_importances"]} == {0, 1}


@pytest.mark.filterwarnings("ignore:X. constant columns:literati.DataWarning")
def test_a_single_leaf_has_zeros() -> None:
    X = np.array([[1.0, 5.0, 2.0]] * 3 + [[2.0, 5.0, 1.0]])
    model = LiteratiClassifier(max_depth=2, split_penalty=10).fit(X, [0, 0, 1, 1])
    assert model.tree_.n_leaves == 1
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    assert model.tree_.to_dict()["summary"] == {"feature_importances": []}
    split = LiteratiClassifier(max_depth=1).fit(X, [0, 0, 0, 1])
    assert split.feature_importances_.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e13])
def test_weights_of_any_size_add_up_to_one(scale: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    y = np.r_[0, 1, rng.integers(0, 2, 38)]
    model = LiteratiClassifier(max_depth=3, max_expansions=20).fit(X, y, np.full(40, scale))
    assert model.feature_importances_.sum() == pytest.approx(1.0, abs=1e-12)


def test_rounding_is_not_taken_for_a_saving() -> None:
    """0.1 + 0.2 + 0.3 is 0.6 or more, by its order. No split here saves an error."""
    split = Split(0, (0.5,), (), 1, False, False, False, 1, 2)
    total, left, right = 0.1 + 0.2 + 0.3, 0.1, 0.2 + 0.3
    assert total > left + right
    nodes = [
        Node(rows, (2.0, error), 0, error, error, 0.0, False, which)
        for rows, error, which in ((9, total, split), (3, left, None), (6, right, None))
    ]
    saved = errors_saved(nodes, 3)
    assert saved.tolist() == [0.0, 0.0, 0.0]
    assert normalized(saved).tolist() == [0.0, 0.0, 0.0]
    # Nor is a sum that rounding makes lower than those of the children a loss.
    nodes[0] = replace(nodes[0], error=0.6 - 1e-16)
    assert errors_saved(nodes, 3).tolist() == [0.0, 0.0, 0.0]


def test_the_conventions_of_scikit_learn() -> None:
    model = LiteratiClassifier()
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(NotFittedError):
        _ = model.feature_importances_
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    selector = SelectFromModel(LiteratiClassifier(max_depth=1)).fit(X, (X[:, 3] > 0).astype(int))
    assert selector.get_support().tolist() == [False, False, False, True, False]


@pytest.mark.parametrize("name", CASES)
def test_models_of_version_0_1_0(name: str) -> None:
    """Their nodes say what the summary says today, in the library and in the answers of the API."""
    data = json.loads(Path(FOLDER / f"{name}.tree.json").read_text())
    rows = json.loads((FOLDER / "data.json").read_text())
    weights = np.ones(len(rows["y"]))
    if name == "weighted":
        weights = np.array(rows["weight"]) * np.where(np.array(rows["y"]) == "b", 3, 1)
    tree = ShapeTree.from_dict(data)
    assert_saves(tree, routed(data, pd.DataFrame(rows["X"]), np.array(rows["y"]), weights))
    proof = data["proof"]
    answered = with_bounds(data, proof["upper_bound"], proof["lower_bound"], proof["proven_optimal"])
    assert answered["summary"] == tree.to_dict()["summary"]


ENTRY = ("summary", "feature_importances", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*ENTRY, "errors_saved"), DATA["summary"]["feature_importances"][0]["errors_saved"] + 0.01),
        ((*ENTRY, "importance"), DATA["summary"]["feature_importances"][0]["importance"] - 0.01),
        ((*ENTRY, "feature"), "another"),
        ((*ENTRY, "column"), 1 << 19),
        (("summary", "feature_importances"), []),
        (("summary", "feature_importances"), DATA["summary"]["feature_importances"] * 2),
    ],
)
def test_a_summary_of_another_tree_is_refused(path: tuple[Any, ...], value: Any) -> None:
    with pytest.raises(ModelFormatError, match=r"summary.feature_importances: expected what the splits on"):
        ShapeTree.from_dict(changed(path, value))


def test_the_order_of_a_summary_does_not_matter() -> None:
    turned = changed(("summary", "feature_importances"), DATA["summary"]["feature_importances"][::-1])
    assert len(turned["summary"]["feature_importances"]) > 1
    assert ShapeTree.from_dict(turned) == TREE
