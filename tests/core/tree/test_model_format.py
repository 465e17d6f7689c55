"""docs/model-format.md and the JSON Schema: enough for an evaluator, and true of what the library writes."""

from __future__ import annotations

import ast
import copy
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema_rs import validator_for

from literati import LiteratiClassifier, ModelFormatError, ShapeTree
from literati.tree.model_schema import tree_schema
from tests.support.paths import ROOT
from tests.support.solver import format_evaluator
from tests.support.solver.format_evaluator import Evaluator
from tests.support.solver.format_problems import as_frame, random_problem
from tests.support.solver.model_mutations import DATA, HOSTILE, changed, places

DOCUMENT = (ROOT / "docs/model-format.md").read_text(encoding="utf-8")
SCHEMA = validator_for(tree_schema())
# Rules between fields, which the document states and a JSON Schema cannot: the reader's words for them.
BETWEEN_FIELDS = re.compile(
    "the cost of the root|expected the sum|the sums over|the largest count|of the other classes|is a leaf"
    "|in preorder|reaches every node|is deeper than|lower bound <= upper bound|the bounds differ"
    "|beyond_space: expected true exactly|more than max_changepoints|that is not constant|rising"
    "|nothing else goes right|values on both sides|the splits on each column save"
    "|fewer than min_samples_leaf"
    "|a number has no categories|minimum is above|does not fit the dtype|different"
    "|a weight for each class|an integer from 0 to 1$"  # the last: a label beyond the number of classes
)


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


# An evaluator from the document


def test_the_evaluator_knows_nothing_of_the_library() -> None:
    tree = ast.parse(Path(format_evaluator.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


@pytest.mark.parametrize("seed", range(60))
def test_it_predicts_as_the_library_does(seed: int) -> None:
    problem = random_problem(seed)
    tree = problem.tree
    evaluator = Evaluator(tree.to_json())
    found = [evaluator.predict(row) for row in problem.rows]
    frame = as_frame(problem.rows)
    assert [answer.leaf_id for answer in found] == tree.apply(frame).tolist()
    predicted = [label.item() if isinstance(label, np.generic) else label for label in tree.predict(frame)]
    assert [answer.label for answer in found] == predicted
    assert [type(answer.label) for answer in found] == [type(label) for label in predicted]
    np.testing.assert_allclose(
        [answer.probabilities for answer in found], tree.predict_proba(frame), rtol=1e-14
    )
    by_position = [evaluator.predict(list(row.values())) for row in problem.rows]
    assert by_position == found


def test_the_random_problems_reach_what_they_should() -> None:
    """Splits of every kind of column, both sides of missing and unknown values, cells equal to thresholds."""
    kinds, missing, unknown, most = set(), set(), set(), 0
    at_threshold = 0
    for seed in range(60):
        problem = random_problem(seed)
        for node in problem.tree.nodes:
            if (split := node.split) is None:
                continue
            column = problem.tree.schema.columns[split.column]
            kinds.add(column.name)
            missing.add((split.missing_right, split.missing_seen))
            most = max(most, len(split.thresholds))
            if column.kind == "category":
                unknown.add(split.unknown_right)
            at_threshold += sum(row[column.name] in split.thresholds for row in problem.rows)
    assert kinds == {"coarse", "close", "narrow", "edges", "whole", "flag", "word", "zone"}
    assert missing == {(right, seen) for right in (True, False) for seen in (True, False)}
    assert unknown == {True, False}
    assert most == 4
    assert at_threshold > 1000


def test_float32_and_integer_arrays() -> None:
    """Narrow floats are widened and integers rounded; the thresholds are not narrowed to meet them."""
    rng = np.random.default_rng(5)
    for dtype in (np.float32, np.float16, np.int64, np.uint64):
        X = rng.normal(size=(200, 3))
        X = (X * (1 << 60)).astype(dtype) if dtype in (np.int64, np.uint64) else X.astype(dtype)
        y = rng.integers(0, 2, 200)
        tree = LiteratiClassifier(max_depth=4, max_expansions=50).fit(X, y).tree_
        evaluator = Evaluator(tree.to_json())
        fresh = (
            np.concatenate([X, np.nextafter(X, X.dtype.type(1))])
            if dtype in (np.float32, np.float16)
            else X + 1
        )
        assert [evaluator.predict(row).leaf_id for row in fresh.tolist()] == tree.apply(fresh).tolist()


def test_the_function_in_the_document() -> None:
    namespace: dict[str, Any] = {}
    exec(block("python"), namespace)
    for seed in range(20):
        problem = random_problem(seed)
        model = json.loads(problem.tree.to_json())
        leaves = [namespace["leaf_of"](model, list(row.values())) for row in problem.rows]
        assert leaves == problem.tree.apply(as_frame(problem.rows)).tolist()


def test_the_example_in_the_document() -> None:
    text = block("json")
    assert SCHEMA.is_valid(json.loads(text))
    tree, evaluator = ShapeTree.from_json(text), Evaluator(text)
    lines = re.findall(r"^\| `(.*?)` \| `(.*?)` \| (\d) \| (\d) \| ([\d.]+) \|", DOCUMENT, re.MULTILINE)
    assert len(lines) == 7
    for size, colour, leaf, label, probability in lines:
        row = {"size": json.loads(size), "colour": json.loads(colour)}
        expected = (int(label), [1 - float(probability), float(probability)], int(leaf))
        assert evaluator.predict(row) == expected
        explained = tree.explain({**row, "shop": None})
        assert (explained.leaf, explained.label) == (int(leaf), int(label))


def test_every_field_is_in_the_document() -> None:
    def names(schema: Any) -> set[str]:
        inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
        own = set(schema.get("properties", {})) if isinstance(schema, dict) else set()
        return own.union(*map(names, inner))

    assert {name for name in names(tree_schema()) if f"`{name}`" not in DOCUMENT} == set()


# The schema


def test_the_file_is_current() -> None:
    text = (ROOT / "openapi/tree.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == tree_schema(), "run `make openapi`"


@pytest.mark.parametrize("seed", range(30))
def test_what_the_library_writes_is_valid(seed: int) -> None:
    data = json.loads(random_problem(seed).tree.to_json())
    assert [str(error) for error in SCHEMA.iter_errors(data)] == []


@pytest.mark.filterwarnings("ignore:X. constant columns:literati.DataWarning")
def test_so_are_constant_columns_unnamed_ones_and_other_labels() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "one": 1.0, "none": np.nan, "same": "a", "gone": [None] * 3})
    frame["gone"] = pd.Categorical(frame["gone"], categories=["a"])
    for y in ([0, 0, 1], [("a", 1), ("a", 1), ("b", (2.0, True))], np.array([1, 1, 2], dtype=np.uint8)):
        labels = np.empty(3, dtype=object) if isinstance(y[0], tuple) else np.asarray(y)
        if isinstance(y[0], tuple):
            labels[:] = y
        for X in (frame, np.array([[1.0], [2.0], [3.0]])):
            tree = LiteratiClassifier(max_depth=1).fit(X, labels).tree_
            data = json.loads(tree.to_json())
            assert [str(error) for error in SCHEMA.iter_errors(data)] == []
            assert Evaluator(tree.to_json()).predict([3.0] * 5).label == labels[2]


def test_models_of_version_0_1_0_are_valid() -> None:
    data = copy.deepcopy(DATA)
    del data["summary"], data["proof"]["beyond_space"]
    assert SCHEMA.is_valid(data)


def reader_refuses(data: Any) -> str | None:
    """The reader's complaint, None if it takes the model."""
    try:
        ShapeTree.from_dict(data)
    except ModelFormatError as error:
        return str(error)
    return None


PATHS = [path for path in places(DATA) if path[0] != "nodes" or path[1:2] <= (3,)]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)))
def test_the_schema_refuses_what_the_reader_refuses(path: tuple[Any, ...]) -> None:
    """But for rules between fields. And it never refuses what the reader takes."""
    values = [value for value in HOSTILE if not isinstance(value, float) or math.isfinite(value)]
    mutations = [changed(path, value) for value in values] + [changed(path, None, remove=True)]
    if isinstance(path[-1], str):
        mutations.append(changed((*path[:-1], "surprise"), 1))
    refused = 0
    for data in mutations:
        complaint, valid = reader_refuses(data), SCHEMA.is_valid(data)
        if complaint is None:
            assert valid
        elif not BETWEEN_FIELDS.search(complaint):
            assert not valid, complaint
        refused += not valid
    assert refused >= 5, "a mutation test that refuses nothing says nothing"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("version",), True),
        (("format",), "pickle"),
        (("columns", 0, "kind"), "date"),
        (("columns", 0, "minimum"), None),
        (("columns", 1, "categories"), []),
        (("classes", "dtype"), "int64"),
        (("classes", "dtype"), "complex128"),
        (("classes", "labels"), [{"type": "str", "value": "u"}] * 2),
        (("classes", "labels", 0), {"type": "int", "value": "u"}),
        (("settings", "max_depth"), 65),
        (("settings", "split_penalty"), -0.5),
        (("proof", "proven_space"), "everything"),
        (("nodes", 0, "rows"), 0),
        (("nodes", 0, "counts", 0), -1.0),
        (("nodes", 0, "split", "left"), 0),
        (("nodes", 0, "split", "changepoints"), 65),
    ],
)
def test_mutations_are_not_valid(path: tuple[Any, ...], value: Any) -> None:
    data = changed(path, value)
    assert reader_refuses(data) is not None
    assert not SCHEMA.is_valid(data)
