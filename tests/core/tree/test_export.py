"""A tree as text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from literati import LiteratiClassifier
from literati.data.table import build
from literati.tree.export.text import number_text
from tests.support.solver.random_trees import random_frame, random_tree


def test_the_rules_of_a_small_tree() -> None:
    frame = pd.DataFrame({"size (cm)": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    tree = LiteratiClassifier(max_depth=1, max_changepoints=3).fit(frame, list("aababb")).tree_
    assert tree.to_text() == (
        "Shape tree of depth 1 with 2 leaves, learned from 6 rows\n"
        "Proven optimal: no tree over the adaptive candidates (thresholds of a CART of at most 17 leaves "
        "on each state) costs less than 0.\n"
        "\n"
        "if size (cm) <= 2.5 or 3.5 < size (cm) <= 4.5, or missing*:\n"
        "    class a (100 % of 3 rows)\n"
        "else:\n"
        "    class b (100 % of 3 rows)\n"
        "\n"
        "* No training row here had the value missing: it goes where most rows went.\n"
    )


def test_categories_booleans_and_missing_values_in_words() -> None:
    frame = pd.DataFrame({"word": ["a", "b", "c", "d", None, None]})
    text = LiteratiClassifier(max_depth=1).fit(frame, [0, 0, 1, 1, 1, 1]).tree_.to_text()
    assert "if word is one of {a, b}:\n" in text
    assert "else, or not seen in training or missing:\n" in text
    flags = pd.DataFrame({"flag": [True, False, True, False]})
    assert "if flag is false, or missing*:\n" in LiteratiClassifier().fit(flags, [1, 0, 1, 0]).tree_.to_text()
    known = pd.DataFrame({"x": [1.0, 2.0, None, None]})
    text = LiteratiClassifier(max_depth=1, max_changepoints=1).fit(known, [0, 0, 1, 1]).tree_.to_text()
    assert "if x is known:\n" in text
    assert "else, or missing:\n" in text
    assert "*" not in text


def test_names_stay_on_one_line() -> None:
    frame = pd.DataFrame({"a\nb\tc": [1.0, 2.0]})
    text = LiteratiClassifier().fit(frame, ["u\nv", "w"]).tree_.to_text()
    assert "if a b c <= 1.5" in text
    assert "class u v (100 % of 1 row)" in text


@pytest.mark.parametrize("seed", range(20))
def test_every_leaf_is_written(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = build(random_frame(rng, 60), np.r_[0, 1, rng.integers(0, 3, 58)])
    tree, _ = random_tree(table, rng)
    lines = tree.to_text().splitlines()
    assert sum(line.lstrip().startswith("class ") for line in lines) == tree.n_leaves
    assert sum(line.lstrip().startswith("if ") for line in lines) == tree.n_leaves - 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2.4500000000000002, "2.45"),
        (0.1 + 0.2, "0.3"),
        (1 / 3, "0.333333333"),
        (1234567.5, "1234567.5"),
        (0.0, "0"),
        (1e300, "1e+300"),
        (-5.0, "-5"),
        (1.0000000000000002, "1"),
    ],
)
def test_numbers_are_short(number: float, text: str) -> None:
    assert number_text(number) == text
