"""The picture: valid XML, nothing outside the frame, no text upon text, every part of the tree in it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from literati import LiteratiClassifier, ShapeTree
from literati.data.table import build
from literati.tree.plot.text import fit, number_labels, spread, width, wrap
from tests.support.solver.random_trees import random_frame, random_tree

SVG = "{http://www.w3.org/2000/svg}"


@dataclass
class Area:
    left: float
    top: float
    right: float
    bottom: float
    what: str

    def meets(self, other: Area) -> bool:
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)

    def inside(self, other: Area) -> bool:
        return (
            other.left - 0.1 <= self.left
            and self.right <= other.right + 0.1
            and other.top - 0.1 <= self.top
            and self.bottom <= other.bottom + 0.1
        )


def areas(svg: str) -> tuple[Area, list[Area], list[Area]]:
    """The frame, the boxes of nodes, and all text, in the picture's coordinates."""
    root = ET.fromstring(svg)
    texts: list[Area] = []
    boxes: list[Area] = []

    def walk(element: ET.Element, x: float, y: float) -> None:
        moved = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag == f"{SVG}text":
            words, size = element.text or "", float(element.get("font-size", ""))
            wide = width(words, size)
            at = (
                x
                + float(element.get("x", ""))
                - {"middle": wide / 2, "end": wide}.get(element.get("text-anchor", ""), 0.0)
            )
            base = y + float(element.get("y", ""))
            texts.append(Area(at, base - 0.75 * size, at + wide, base + 0.2 * size, words))
        if element.tag == f"{SVG}rect" and element.get("class") in ("lt-box", "lt-leaf"):
            a, b = x + float(element.get("x", "")), y + float(element.get("y", ""))
            size_x, size_y = float(element.get("width", "")), float(element.get("height", ""))
            boxes.append(Area(a, b, a + size_x, b + size_y, "box"))
        for child in element:
            walk(child, x, y)

    walk(root, 0.0, 0.0)
    frame = Area(0, 0, float(root.get("width", "")), float(root.get("height", "")), "frame")
    return frame, boxes, texts


def check_picture(tree: ShapeTree) -> None:
    frame, boxes, texts = areas(tree.to_svg())
    assert len(boxes) == len(tree.nodes)
    for area in boxes + texts:
        assert area.inside(frame), area
    for i, box in enumerate(boxes):
        assert not any(box.meets(other) for other in boxes[i + 1 :])
    for i, words in enumerate(texts):
        for other in texts[i + 1 :]:
            assert not words.meets(other), (words, other)
        touched = [box for box in boxes if words.meets(box)]
        assert all(words.inside(box) for box in touched), words


def hard_tree(depth: int, seed: int = 0, classes: int = 10) -> ShapeTree:
    rng = np.random.default_rng(seed)
    rows = 1500
    frame = pd.DataFrame(
        {
            'a "name" <with> & all that XML minds, and longer than any box': rng.choice(
                [*"abcdefgh", "ultramarine & <teal>", "a category with quite a long name"], rows
            ),
            "many": rng.choice([f"category {i}" for i in range(60)], rows),
            "flag": rng.random(rows) < 0.3,
            "income": np.where(rng.random(rows) < 0.2, np.nan, np.exp(rng.normal(10, 3, rows))),
            "tiny": rng.normal(size=rows) * 1e-9,
            "漢字の名前": 1e9 + rng.integers(0, 50, rows),
        }
    )
    names = [f"class {i} with a rather long name <&>" if i % 3 == 0 else f"k{i}" for i in range(classes)]
    tree, _ = random_tree(build(frame, rng.choice(names, rows)), rng, depth=depth, most=8)
    return tree


@pytest.mark.parametrize("depth", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", range(3))
def test_hard_trees_fit_their_frames(depth: int, seed: int) -> None:
    check_picture(hard_tree(depth, seed))


@pytest.mark.parametrize("seed", range(15))
def test_random_trees_fit_their_frames(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random(70) if seed % 2 else None
    table = build(random_frame(rng, 70), np.r_[0, 1, rng.integers(0, 3, 68)], sample_weight=weights)
    check_picture(random_tree(table, rng, depth=4, most=4)[0])


def test_forty_classes_and_a_lone_leaf() -> None:
    check_picture(hard_tree(2, classes=40))
    leaf = LiteratiClassifier(split_penalty=100.0).fit([[1], [2], [3]], [0, 1, 1]).tree_
    assert leaf.n_leaves == 1
    check_picture(leaf)


def strips(svg: str) -> list[list[Any]]:
    """For every split box: the side classes of its rectangles in order, that of missing values last."""
    root = ET.fromstring(svg)
    found = []
    for group in root.iter(f"{SVG}g"):
        first = group.find(f"{SVG}rect")
        if first is not None and first.get("class") == "lt-box":
            sides = [r.get("class", "") for r in group.iter(f"{SVG}rect")]
            found.append([side for side in sides if side.startswith(("lt-left", "lt-right"))])
    return found


def test_the_strip_shows_the_shape_function() -> None:
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, None]})
    tree = LiteratiClassifier(max_depth=1, max_changepoints=3).fit(X, list("aababba")).tree_
    assert strips(tree.to_svg()) == [["lt-left", "lt-right", "lt-left", "lt-right", "lt-left"]]
    texts = [area.what for area in areas(tree.to_svg())[2]]
    for words in (
        "size",
        "2.5",
        "3.5",
        "4.5",
        "missing",
        "100 % of 4 rows",
        "goes left",
        "goes right",
        "4",
        "3",
    ):
        assert words in texts
    without = LiteratiClassifier(max_depth=1).fit(X[:6], list("aaabbb")).tree_.to_svg()
    assert strips(without) == [["lt-left", "lt-right", "lt-left lt-guess"]]
    assert "nothing missing in training" in without


def test_names_are_escaped_and_control_characters_dropped() -> None:
    frame = pd.DataFrame({'a<b>&"c"\x00\x1b': [1.0, 2.0, 3.0]})
    svg = LiteratiClassifier().fit(frame, ["<script>", "]]>", "\ud800"]).tree_.to_svg()
    root = ET.fromstring(svg)
    assert not list(root.iter(f"{SVG}script"))
    assert any("<script>" in (text.text or "") for text in root.iter(f"{SVG}text"))
    svg.encode("utf-8")


def test_themes() -> None:
    tree = hard_tree(1)
    assert "prefers-color-scheme:dark" in tree.to_svg()
    assert "prefers-color-scheme" not in tree.to_svg("light") + tree.to_svg("dark")
    assert tree.to_svg("light") != tree.to_svg("dark")
    with pytest.raises(ValueError, match="theme: expected one of light, dark, auto, got 'blue'"):
        tree.to_svg("blue")


def test_it_loads_nothing_from_elsewhere() -> None:
    svg = hard_tree(2).to_svg()
    assert re.findall(r"https?://[^\s\"<]+", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"url\(|@import|href", svg)


def test_text_is_shortened_in_the_middle() -> None:
    name = "sepal length of the very first flower (cm)"
    short = fit(name, 10, 120)
    assert width(short, 10) <= 120
    assert short.startswith("sepal")
    assert short.endswith("(cm)")
    assert fit(name, 10, 1000) == name
    assert fit(name, 10, 1) == "…"
    assert all(width(line, 10) <= 100 for line in wrap(name, 10, 100))
    assert " ".join(wrap(name, 10, 100)) == name


def test_number_labels_tell_numbers_apart() -> None:
    assert number_labels([0.5, 1.25], 3.0) == ["0.5", "1.25"]
    assert number_labels([1258.7, 3851.2], 1e7) == ["1260", "3850"]
    assert number_labels([1.19e7, -2.5e-9], 1e8) == ["1.19e7", "-2.5e-9"]
    close = number_labels([1000000.25, 1000000.5], 1.0)
    assert close == ["1000000.25", "1000000.5"]


def test_labels_are_spread() -> None:
    centres = spread([0.0, 1.0, 2.0, 99.0], [20.0, 20.0, 20.0, 20.0], 0.0, 100.0, 5.0)
    assert centres == [10.0, 35.0, 60.0, 90.0]
