"""The tree view: paths, rules in words, distributions, proofs and exported files."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from literati import ShapeTree
from tests.support.page.browser import Tab, saved
from tests.support.page.page_data import Service
from tests.support.page.tree_drawing import leaves, lit, path_to

SVG = "{http://www.w3.org/2000/svg}"


def test_every_node_shows_its_counts_errors_and_proof(page: Page, tree: dict[str, Any]) -> None:
    nodes = page.locator("svg.drawing .node")
    expect(nodes).to_have_count(len(tree["nodes"]))
    for i, node in enumerate(tree["nodes"]):
        drawn = nodes.nth(i)
        words = " ".join(drawn.locator("text").all_text_contents())
        assert f"{node['rows']:,} row" in words
        assert ("proven" if node["proven"] else "open") in words
        if node["split"]:
            column = tree["columns"][node["split"]["column"]]
            assert column["name"] in words
            # Each class has a part whose width is its share of the node's rows.
            total = sum(node["counts"])
            shares = [count / total for count in node["counts"] if count]
            parts = drawn.locator(":scope > rect[class^=class]")
            widths = [float(parts.nth(k).get_attribute("width") or 0) for k in range(parts.count())]
            assert [width / sum(widths) for width in widths] == pytest.approx(shares)
        else:
            assert f"{node['error']:g} wrong" in words
            for count in filter(None, node["counts"]):
                assert f"{count:g}" in words


def test_the_shape_lies_over_the_distribution_coloured_by_side(page: Page, tree: dict[str, Any]) -> None:
    number = next(
        i
        for i, node in enumerate(tree["nodes"])
        if node["split"] and tree["columns"][node["split"]["column"]]["kind"] == "number"
    )
    split = tree["nodes"][number]["split"]
    drawn = page.locator(f'svg.drawing [data-node="{number}"] > g').first
    cells = drawn.locator("rect.side-left:not(.bar), rect.side-right:not(.bar)")
    sides = [str(cells.nth(k).get_attribute("class")) for k in range(cells.count())]
    expected = ["side-left", "side-right"]
    assert sides == [expected[k % 2] for k in range(len(split["thresholds"]) + 1)]
    bars = drawn.locator("rect.bar")
    assert bars.count() >= 10
    # Each bar has the colour of the piece of the strip that it stands on.
    pieces = [
        (float(cells.nth(k).get_attribute("x") or 0), float(cells.nth(k).get_attribute("width") or 0))
        for k in range(cells.count())
    ]
    for k in range(bars.count()):
        bar = bars.nth(k)
        middle = float(bar.get_attribute("x") or 0) + float(bar.get_attribute("width") or 0) / 2
        below = next(j for j, (x, width) in enumerate(pieces) if x - 0.6 <= middle <= x + width + 0.6)
        assert str(bar.get_attribute("class")).startswith(sides[below])
    labels = [float(text.replace(",", "")) for text in drawn.locator("text.ink").all_text_contents()]
    assert labels == pytest.approx(split["thresholds"], rel=0.01)


def test_hovering_highlights_a_path(page: Page, tree: dict[str, Any]) -> None:
    leaf = leaves(tree)[-1]
    assert lit(page) == set()
    page.locator(f'svg.drawing [data-node="{leaf}"]').hover()
    expect(page.locator("svg.drawing .node.lit")).to_have_count(len(path_to(tree, leaf)))
    assert lit(page) == path_to(tree, leaf)
    expect(page.locator("svg.drawing .edge.lit")).to_have_count(len(path_to(tree, leaf)) - 1)
    page.get_by_role("heading", level=1).hover()
    expect(page.locator("svg.drawing .node.lit")).to_have_count(0)


def test_a_leaf_shows_its_rule_in_words(page: Page, tree: dict[str, Any]) -> None:
    details = page.locator(".node-details")
    for leaf in leaves(tree)[:3]:
        page.locator(f'svg.drawing [data-node="{leaf}"]').click()
        rule = details.locator(".rule")
        node = tree["nodes"][leaf]
        label = tree["classes"]["labels"][node["label"]]["value"]
        expect(rule).to_contain_text(f"then {label} (")
        text = rule.inner_text()
        assert text.startswith("If ")
        for above in path_to(tree, leaf) - {leaf}:
            assert tree["columns"][tree["nodes"][above]["split"]["column"]]["name"] in text
        assert f"of {node['rows']} training row" in text
        facts = details.locator("dt").all_text_contents()
        assert ("Lower bound" in facts) == (not node["proven"] or node["bound"] >= node["cost"])
    page.keyboard.press("Escape")
    expect(details.locator(".rule")).to_have_count(0)


def test_rules_agree_with_the_tree(page: Page, tree: dict[str, Any], service: Service) -> None:
    """The rows of the dataset that match the rule of a leaf are those that reach the leaf."""
    rows = service.client.get(f"/v1/datasets/{service.dataset}/preview?rows=100").json()["records"]
    apply = ShapeTree.from_dict(tree).apply
    names = [column["name"] for column in tree["columns"]]
    ends = apply([[row[name] for name in names] for row in rows])
    for leaf in leaves(tree):
        page.locator(f'svg.drawing [data-node="{leaf}"]').click()
        rule = page.locator(".node-details .rule").inner_text()
        words = re.split(rf"(?:, | and |^If )(?=(?:{'|'.join(names)}) is )", rule.partition(", then ")[0])
        conditions = [part for part in words if part]
        for row, end in zip(rows, ends, strict=True):
            assert all(holds(part, row) for part in conditions) == (end == leaf), (rule, row)
        page.keyboard.press("Escape")


def holds(condition: str, row: dict[str, Any]) -> bool:
    """Return whether a row matches a part of a rule, judged only by its words."""
    name, _, words = condition.strip(", ").partition(" is ")
    value, missing = row[name], words.endswith(" (or missing)") or words == "missing"
    words = words.removesuffix(" (or missing)")
    if value is None:
        return missing
    if isinstance(value, bool | str):
        return str(value).lower() in re.split(r", | or ", words.lower())
    for piece in words.split(" or "):
        low = re.search(r"above (-?[\d.]+)", piece)
        high = re.search(r"at most (-?[\d.]+)", piece)
        if (not low or value > float(low[1])) and (not high or value <= float(high[1])):
            return True
    return words == "known"


def test_a_split_shows_its_figures(page: Page, tree: dict[str, Any]) -> None:
    page.locator('svg.drawing [data-node="0"]').click()
    details = page.locator(".node-details")
    root = tree["nodes"][0]
    expect(details).to_contain_text("proven optimal" if root["proven"] else "not proven yet")
    facts = dict(
        zip(details.locator("dt").all_text_contents(), details.locator("dd").all_text_contents(), strict=True)
    )
    assert facts["Rows"] == f"{root['rows']}"
    assert float(facts["Cost of the subtree"]) == root["cost"]
    assert float(facts["Error as a leaf"]) == root["error"]
    assert float(facts["Lower bound"]) == root["bound"]


def test_export(page: Page, tree: dict[str, Any]) -> None:
    page.locator('svg.drawing [data-node="1"]').click()
    name, text = saved(page, lambda: page.get_by_role("button", name="SVG").click())
    assert name == "flowers-3.svg"
    drawing = ET.fromstring(text)
    assert drawing.tag == f"{SVG}svg"
    boxes = [g for g in drawing.iter(f"{SVG}g") if "node" in (g.get("class") or "").split()]
    assert len(boxes) == len(tree["nodes"])
    style = drawing.find(f"{SVG}style")
    assert style is not None
    assert "var(" not in (style.text or "")
    assert "#3f78b5" in (style.text or "") or "rgb(63, 120, 181)" in (style.text or "")
    classes = {word for g in drawing.iter() for word in (g.get("class") or "").split()}
    assert not classes & {"lit", "dim", "selected", "far", "afar"}
    name, text = saved(page, lambda: page.get_by_role("button", name="JSON").click())
    assert name == "flowers-3.json"
    assert json.loads(text) == tree
    assert ShapeTree.from_json(text).n_leaves == len(leaves(tree))


def test_a_tree_whose_dataset_is_gone(tab: Tab, service: Service) -> None:
    dataset = service.upload(
        "a,b\n" + "".join(f"{i},{'yes' if 3 < i < 9 else 'no'}\n" for i in range(40)), "b"
    )
    model = service.wait(service.job("orphan", dataset, parameters={"max_depth": 1}))["model_id"]
    assert service.client.delete(f"/v1/datasets/{dataset}").status_code == 204
    tab.refusals.add(404)
    page = tab.go(f"/models/{model}")
    expect(page.locator("svg.drawing .node")).to_have_count(3)
    expect(page.locator("svg.drawing .bar")).to_have_count(0)
