"""Warnings about trees, with real trees, real baselines and the evidence recomputed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binomtest
from sklearn.datasets import load_iris

from literati import LiteratiClassifier, Search
from worker.training import tree_warnings
from worker.training.metrics import wilson_interval
from worker.training.tree_warnings import find_id_like, id_like_columns, not_better, overfit

Right = npt.NDArray[np.bool_]


def scores_of(train: float, validation: float, rows: int = 100) -> dict[str, Any]:
    interval = wilson_interval(validation, rows)
    held_out = {"accuracy": validation, "accuracy_interval": interval, "rows": rows}
    return {"train": {"accuracy": train}, "validation": held_out}


def test_ten_points_between_training_and_held_out_rows() -> None:
    (warning,) = overfit(scores_of(0.99, 0.80))
    assert warning["code"] == "OVERFIT"
    assert "99.0% of the training rows but on 80.0% of the 100 held-out rows" in warning["text"]
    assert warning["evidence"]["validation_interval"] == wilson_interval(0.80, 100)
    assert overfit(scores_of(0.89, 0.80)) == []
    # Ten points on ten rows may be chance.
    assert overfit(scores_of(0.90, 0.80, rows=10)) == []


def paired(
    only_tree: int, only_other: int, both: int = 50
) -> tuple[dict[str, Any], dict[str, Any], Right, Right]:
    right = np.array([True] * (both + only_tree) + [False] * only_other)
    other = np.array([True] * both + [False] * only_tree + [True] * only_other)
    n = len(right)
    return scores_of(1.0, right.mean(), n), scores_of(1.0, other.mean(), n), right, other


def test_a_baseline_that_is_as_good() -> None:
    (warning,) = not_better("cart", *paired(3, 5))
    assert warning["code"] == "NOT_BETTER_THAN_CART"
    assert "may be chance" in warning["text"]
    assert warning["evidence"]["p_value"] == binomtest(3, 8).pvalue
    assert (warning["evidence"]["only_tree_right"], warning["evidence"]["only_baseline_right"]) == (3, 5)
    (same,) = not_better("majority", *paired(0, 0))
    assert same["evidence"]["p_value"] == 1.0
    assert same["code"] == "NOT_BETTER_THAN_MAJORITY"


def test_a_lead_that_a_paired_test_does_not_show() -> None:
    """Nothing is said only of a tree that is better by more than chance."""
    (warning,) = not_better("cart", *paired(5, 3))
    assert warning["code"] == "NOT_BETTER_THAN_CART"
    assert "does not show that the tree is better" in warning["text"]
    assert warning["evidence"]["p_value"] == binomtest(5, 8).pvalue
    assert not_better("cart", *paired(12, 1)) == []
    assert binomtest(12, 13).pvalue < 0.05


def test_worse_is_said_only_when_the_paired_test_says_so() -> None:
    (warning,) = not_better("cart", *paired(1, 12))
    assert warning["code"] == "WORSE_THAN_CART"
    assert "A paired test says that the tree is worse." in warning["text"]
    (warning,) = not_better("cart", *paired(6, 12))
    assert warning["code"] == "NOT_BETTER_THAN_CART"


def test_columns_that_identify_rows() -> None:
    """A row number and a name are found; measurements that are all different are not."""
    rng = np.random.default_rng(0)
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["number"] = np.arange(1000, 1150)
    frame["name"] = [f"flower {i}" for i in range(150)]
    frame["measured"] = rng.normal(size=150)
    frame["income"] = rng.permutation(10**6)[:150]
    table = Search(frame, y).table
    found = find_id_like(table)
    assert {entry["column"] for entry in found.values()} == {"number", "name"}
    tree = LiteratiClassifier(max_depth=1).fit(frame[["number", "a"]], y).tree_
    warnings = id_like_columns(tree, find_id_like(Search(frame[["number", "a"]], y).table))
    assert [warning["code"] for warning in warnings] == ["ID_LIKE_COLUMN"]
    assert "splits on 'number'" in warnings[0]["text"]
    assert warnings[0]["evidence"] == {"column": "number", "distinct_values": 150, "rows": 150}
    honest = LiteratiClassifier(max_depth=2).fit(frame[["a", "b", "c", "d"]], y).tree_
    assert id_like_columns(honest, find_id_like(Search(frame[["a", "b", "c", "d"]], y).table)) == []


def test_few_rows_are_no_evidence() -> None:
    n = tree_warnings.MIN_ID_ROWS - 1
    table = Search(np.arange(n)[:, None], np.arange(n) % 2).table
    assert find_id_like(table) == {}
