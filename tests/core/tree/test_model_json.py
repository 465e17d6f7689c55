"""The JSON form: exact both ways, and nothing but a ModelFormatError from a damaged or hostile one."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from literati import LiteratiClassifier, LiteratiError, ModelFormatError, ShapeTree, __version__
from literati.data.table import build
from tests.support.solver.model_mutations import DATA, HOSTILE, TREE, changed, places
from tests.support.solver.random_trees import random_frame, random_tree


def test_it_says_everything() -> None:
    data = TREE.to_dict()
    assert (data["format"], data["version"], data["engine_version"]) == ("literati-tree", 1, __version__)
    assert [column["kind"] for column in data["columns"]] == ["number", "category", "boolean"]
    assert {c["value"] for c in data["columns"][1]["categories"]} == {"a", "b", "c"}
    assert data["classes"]["labels"] == [{"type": "str", "value": "u"}, {"type": "str", "value": "v"}]
    assert data["settings"]["split_penalty"] == 0.01
    assert data["proof"]["proven_optimal"] is True
    assert data["proof"]["proven_space"] == "adaptive"
    assert data["proof"]["candidate_leaves"] == [17]
    assert {"rows", "counts", "error", "bound", "cost", "proven"} <= data["nodes"][0].keys()


@pytest.mark.filterwarnings("ignore:X. constant columns:literati.DataWarning")
def test_constant_columns_are_kept_in_it() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "one": 1.0, "none": np.nan, "same": "a", "flag": True})
    estimator = LiteratiClassifier(max_depth=1).fit(frame, [0, 0, 1])
    back = ShapeTree.from_json(estimator.tree_.to_json())
    assert back == estimator.tree_
    constant = [column.name for column in back.schema.columns if column.constant]
    assert constant == ["one", "none", "same", "flag"]
    assert all(type(column.constant) is bool for column in estimator.tree_.schema.columns)
    assert pickle.loads(pickle.dumps(estimator)).predict(frame).tolist() == [0, 0, 1]


def test_round_trip_is_exact() -> None:
    text = TREE.to_json()
    back = ShapeTree.from_json(text)
    assert back.to_json() == text
    assert back.nodes == TREE.nodes  # floats to the last bit
    assert back.schema == TREE.schema
    assert ShapeTree.from_json(text.encode()) == TREE
    assert ShapeTree.from_dict(json.loads(text)) == TREE
    assert json.loads(text) == DATA


@pytest.mark.parametrize("seed", range(10))
def test_round_trip_of_random_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, 50)
    table = build(frame, np.r_[0, 1, rng.integers(0, 3, 48)], sample_weight=rng.random(50))
    tree, _ = random_tree(table, rng)
    back = ShapeTree.from_json(tree.to_json())
    assert back.nodes == tree.nodes
    np.testing.assert_array_equal(back.predict_proba(frame), tree.predict_proba(frame))


def outcome(data: Any) -> str:
    """Refused, or a tree that works: never another error, never a crash."""
    try:
        tree = ShapeTree.from_dict(data)
    except ModelFormatError:
        return "refused"
    matrix = [[0.3, "a", True], [None, None, None], [9.0, "?", False]]
    if tree.schema.columns == TREE.schema.columns:
        assert len(tree.apply(matrix)) == 3
        tree.explain(matrix[0])
    tree.to_text()
    tree.to_svg()
    return "read"


@pytest.mark.parametrize("path", places(DATA), ids=lambda path: ".".join(map(str, path)))
def test_any_place_changed(path: tuple[Any, ...]) -> None:
    seen = {outcome(changed(path, value)) for value in HOSTILE}
    assert "refused" in seen
    removed = outcome(changed(path, None, remove=True))
    added = (("summary",), ("proof", "beyond_space"), ("settings", "probability_smoothing"))
    optional = path in added  # models of Literati 0.1.0 lack them
    assert (
        removed == "refused" or optional or isinstance(path[-1], int)
    )  # a shorter list may make sense, a lost field not


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "pickle", "not a model"),
        (("version",), 2, "version: this library reads version 1, the model has 2"),
        (("version",), True, "version"),
        (("surprise",), 1, "model: the field 'surprise' is unknown"),
        (("nodes", 0, "surprise"), 1, r"nodes\[0\]: the field 'surprise' is unknown"),
        (("nodes", 0, "split", "left"), 0, r"nodes\[0\].split.left: expected an integer from 1"),
        (
            ("nodes", 0, "split", "left"),
            2,
            r"nodes\[0\].split: expected the children of a tree in preorder",
        ),
        (("nodes", 0, "split", "right"), 1, "expected the children of a tree in preorder"),
        (("nodes", 0, "split", "right"), 10**5, "expected the children of a tree in preorder"),
        (
            ("nodes", 0, "split", "column"),
            3,
            r"split.column: expected the index of a column that is not constant",
        ),
        (("nodes", 0, "split", "changepoints"), 9, "split.changepoints: more than max_changepoints"),
        (
            ("nodes", 0, "rows"),
            9,
            r"nodes\[0\]: expected rows and counts that are the sums over its children",
        ),
        (("nodes", 0, "counts"), [1.0], r"nodes\[0\].counts: expected a weight for each class"),
        (("nodes", 0, "counts"), [0.0, 0.0], r"nodes\[0\].counts: expected a weight for each class"),
        (("nodes", 0, "cost"), 3.0, r"nodes\[0\].cost: expected the sum"),
        (("nodes", 0, "error"), 3.0, r"nodes\[0\].error: expected the weight"),
        (("nodes", 0, "proven"), 1, r"nodes\[0\].proven: expected true or false"),
        (("nodes",), [], "nodes: expected one tree"),
        (("columns",), [], "columns: expected one or more"),
        (("columns", 0, "minimum"), 99.0, "the minimum is above the maximum"),
        (("columns", 0, "kind"), "date", "kind: expected 'number', 'boolean' or 'category'"),
        (("classes", "dtype"), "O8,O8", "classes.dtype: expected bool, str"),
        (("classes", "dtype"), "int8", "expected labels of type int"),
        (("classes", "labels"), [{"type": "str", "value": "u"}] * 2, "two or more, all different"),
        (("settings", "max_depth"), 65, "settings.max_depth: expected an integer from 0 to 64"),
        (("settings", "max_depth"), 1, "deeper than its max_depth, 1"),
        (("settings", "split_penalty"), -0.5, "settings.split_penalty: expected a finite number >= 0"),
        (("proof", "objective"), 100.0, "proof.objective: expected the cost of the root"),
        (("proof", "lower_bound"), 100.0, "expected lower bound <= upper bound"),
        (("proof", "lower_bound"), -1.0, "expected false, because the bounds differ"),
        (("proof", "proven_space"), "everything", "proof.proven_space: expected one of adaptive"),
    ],
)
def test_complaints_name_the_place(path: tuple[Any, ...], value: Any, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        ShapeTree.from_dict(changed(path, value))


def test_thresholds_must_rise_inside_the_range() -> None:
    at = next(i for i, n in enumerate(DATA["nodes"]) if n["split"] and n["split"]["thresholds"])
    path = ("nodes", at, "split", "thresholds")
    for bad in ([0.3, 0.2], [0.2, 0.2], [-5.0], [7.0], [math.nan]):
        with pytest.raises(ModelFormatError):
            ShapeTree.from_dict(changed(path, bad))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[]", "not a model"),
        ("null", "not a model"),
        ('{"format": NaN}', "NaN is not a JSON number"),
        ('{"format": 1, "format": 2}', "a field occurs twice"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a":' * 100_000, "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        ("9" * 10_000, "not valid JSON"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_text_that_is_no_model(text: Any, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        ShapeTree.from_json(text)


def test_numbers_beyond_floats_are_refused() -> None:
    text = TREE.to_json().replace('"split_penalty":0.01', '"split_penalty":1e999')
    with pytest.raises(ModelFormatError, match=r"settings\.split_penalty"):
        ShapeTree.from_json(text)


def test_too_much_text_is_not_parsed() -> None:
    with pytest.raises(ModelFormatError, match="at most"):
        ShapeTree.from_json(" " * (1 << 26) + "x")
    with pytest.raises(TypeError, match="text: expected str or bytes, got dict"):
        ShapeTree.from_json(DATA)  # type: ignore[arg-type]


def test_depth_is_limited() -> None:
    """A chain deeper than any tree may be; reading it must not depend on the stack."""
    data = copy.deepcopy(DATA)
    leaf = {"rows": 1, "counts": [1.0, 0.0], "label": 0, "error": 0.0, "cost": 0.0, "bound": 0.0}
    leaf |= {"proven": True, "split": None}
    split = copy.deepcopy(next(n["split"] for n in DATA["nodes"] if n["split"] and n["split"]["thresholds"]))
    nodes = []
    for index in range(0, 4000, 2):
        nodes.append({**leaf, "rows": 2001 - index // 2, "counts": [2001.0 - index // 2, 0.0]})
        nodes[-1]["split"] = {**split, "left": index + 1, "right": index + 2}
        nodes.append(copy.deepcopy(leaf))
    nodes.append(copy.deepcopy(leaf))
    data["nodes"] = nodes
    data["settings"]["max_depth"] = 64
    with pytest.raises(ModelFormatError, match="deeper than its max_depth, 64"):
        ShapeTree.from_dict(data)


def test_the_error_is_both_kinds() -> None:
    assert issubclass(ModelFormatError, ValueError)
    assert issubclass(ModelFormatError, LiteratiError)


def test_deep_labels_are_refused() -> None:
    label: Any = {"type": "int", "value": 1}
    for _ in range(500):
        label = {"type": "tuple", "value": [label]}
    with pytest.raises(ModelFormatError, match=r"classes\.labels"):
        ShapeTree.from_dict(changed(("classes", "labels", 0), label))
