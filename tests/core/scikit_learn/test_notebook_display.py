"""Trees and classifiers in notebooks."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Any

import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from literati import LiteratiClassifier, ShapeTree
from literati.tree.plot import html

DRAWING = re.compile(r"<img [^>]*src='data:image/svg\+xml;base64,([^']+)'>")


def drawings(text: str) -> list[str]:
    return [b64decode(found).decode() for found in DRAWING.findall(text)]


@pytest.fixture
def tree(classifier: LiteratiClassifier, rows: pd.DataFrame, repaid: pd.Series) -> ShapeTree:
    return classifier.fit(rows, repaid).tree_


def test_a_tree_is_drawn(tree: ShapeTree) -> None:
    text = tree._repr_html_()
    assert drawings(text) == [tree.to_svg()]
    assert f"alt='Shape tree of depth 2 with {tree.n_leaves} leaves'" in text


def test_a_wide_drawing_scrolls(tree: ShapeTree) -> None:
    found = re.search(r'width="(\d+)"', tree.to_svg())
    assert found is not None
    text = tree._repr_html_()
    assert text.startswith("<div style='overflow-x:auto'>")
    assert f"min-width:{0.6 * int(found[1]):.0f}px" in text


def test_a_tree_that_is_too_large_is_not_drawn(tree: ShapeTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_LEAVES", tree.n_leaves - 1)
    text = tree._repr_html_()
    assert drawings(text) == []
    assert "ShapeTree(depth=2" in text
    assert "too large to be drawn here; to_svg() draws it" in text


def test_a_fitted_classifier_has_its_tree_below_the_diagram(
    either: Any, rows: pd.DataFrame, repaid: pd.Series
) -> None:
    assert drawings(either._repr_html_()) == []
    either.fit(rows, repaid)
    text = either._repr_html_()
    assert drawings(text) == [either.tree_.to_svg()]
    assert text.index("sk-container") < text.index("<img ")
    assert drawings(either._repr_mimebundle_()["text/html"]) == [either.tree_.to_svg()]


def test_display_as_text(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    either.fit(rows, repaid)
    with config_context(display="text"):
        assert not hasattr(either, "_repr_html_")
        assert either._repr_mimebundle_() == {"text/plain": repr(either)}


def test_a_pipeline_shows_scikit_learns_diagram(either: Any, rows: pd.DataFrame, repaid: pd.Series) -> None:
    pipeline = make_pipeline("passthrough", either).fit(rows, repaid)
    assert type(either).__name__ in pipeline._repr_html_()
