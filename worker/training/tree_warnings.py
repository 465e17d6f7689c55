"""Warnings about a tree that is good on its training rows only, each with its evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from literati import ShapeTree
from literati.data.table import TrainingTable

Right = npt.NDArray[np.bool_]
MAX_DIFFERENCE = 0.1  # between the accuracy on training rows and on held-out rows
SIGNIFICANT = 0.05  # p-value of the paired test below which a difference is not chance
MIN_ID_ROWS = 20  # fewer rows can have different values by chance
MIN_ID_SHARE = 0.95  # of the rows with a value have a value of their own
MAX_ID_SPREAD = 2.0  # numbers of rows lie this close together; measured values are further apart

NAMES = {"majority": "the most frequent class", "cart": "a CART tree of the same depth"}


def overfit(scores: dict[str, Any]) -> list[dict[str, Any]]:
    """Warn if the tree is much better on training rows than on held-out rows."""
    train, held_out = scores["train"]["accuracy"], scores["validation"]["accuracy"]
    interval = scores["validation"]["accuracy_interval"]
    if train - held_out < MAX_DIFFERENCE or train <= interval["high"]:
        return []
    text = (
        f"The tree is right on {train:.1%} of the training rows but on {held_out:.1%} of the "
        f"{scores['validation']['rows']} held-out rows, so it has learned peculiarities of the training "
        "rows. A larger split_penalty or a smaller max_depth gives a tree that is better on new rows."
    )
    evidence = {"train_accuracy": train, "validation_accuracy": held_out, "validation_interval": interval}
    return [{"code": "OVERFIT", "text": text, "evidence": evidence}]


def not_better(
    name: str, scores: dict[str, Any], baseline: dict[str, Any], right: Right, baseline_right: Right
) -> list[dict[str, Any]]:
    """Warn unless a paired test on the held-out rows shows that the tree is better than a baseline."""
    mine, other = scores["validation"]["accuracy"], baseline["validation"]["accuracy"]
    only_tree = int(np.count_nonzero(right & ~baseline_right))
    only_baseline = int(np.count_nonzero(baseline_right & ~right))
    differing = only_tree + only_baseline
    p_value = float(binomtest(only_tree, differing).pvalue) if differing else 1.0
    if mine > other and p_value < SIGNIFICANT:
        return []
    worse = mine < other and p_value < SIGNIFICANT
    text = (
        f"On the {scores['validation']['rows']} held-out rows, the tree is right on {mine:.1%} and "
        f"{NAMES[name]} on {other:.1%}. "
    )
    text += (
        "A paired test says that the tree is worse."
        if worse
        else "The difference may be chance: a paired test does not show that the tree is better."
    )
    evidence = {
        "accuracy": mine,
        "baseline_accuracy": other,
        "only_tree_right": only_tree,
        "only_baseline_right": only_baseline,
        "p_value": p_value,
    }
    prefix = "WORSE_THAN" if worse else "NOT_BETTER_THAN"
    return [{"code": f"{prefix}_{name.upper()}", "text": text, "evidence": evidence}]


def find_id_like(table: TrainingTable) -> dict[int, dict[str, Any]]:
    """Return the columns in which nearly every row has a value of its own, as an identifier has.

    Measured numbers are often all different too, so numbers must be whole and close together.
    """
    found = {}
    for j, feature in enumerate(table.features):
        column = table.schema.columns[feature.column]
        known = int(np.count_nonzero(table.codes[j] >= 0))
        distinct = len(table.values[j])
        if feature.category is not None or known < MIN_ID_ROWS or distinct < MIN_ID_SHARE * known:
            continue
        values = np.asarray(table.values[j])
        numbered = bool((values == np.rint(values)).all()) and np.ptp(values) < MAX_ID_SPREAD * distinct
        if column.kind == "category" or numbered:
            found[feature.column] = {"column": column.name, "distinct_values": distinct, "rows": known}
    return found


def id_like_columns(tree: ShapeTree, id_like: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Warn of every split on a column that looks like an identifier of the rows."""
    used = {node.split.column for node in tree.nodes if node.split is not None}
    return [
        {
            "code": "ID_LIKE_COLUMN",
            "text": (
                f"The tree splits on {id_like[column]['column']!r}, in which nearly every row has a value of "
                "its own, as an identifier has. Such a split says nothing about new rows. Leave the column "
                "out."
            ),
            "evidence": id_like[column],
        }
        for column in sorted(used & id_like.keys())
    ]
