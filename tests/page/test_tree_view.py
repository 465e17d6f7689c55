"""The tree view: paths, rules in words, distributions, proofs and exported files."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from literati import LiteratiClassifier, ShapeTree
from tests.support.page.browser import Tab, saved
from tests.support.page.page_data import Service
from tests.support.page.tree_drawing import holds, leaves, lit, path_to, rule
from tests.support.records.model_maker import add_model
from tests.support.stack.stack import Stack

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
            parts = drawn.locator(":scope > g.shares > rect")
            widths = [float(parts.nth(k).get_attribute("width") or 0) for k in range(parts.count())]
            assert [width / sum(widths) for width in widths] == pytest.approx(shares)
        else:
            assert f"{node['error']:g} wrong" in words
            for count in filter(None, node["counts"]):
                assert f"{count:g}" in words


def stacked(page: Page, node: int) -> dict[int, list[tuple[float, float, float]]]:
    """Return the bars of a node by class: the place, the width and the height of each."""
    drawn = page.locator(f'svg.drawing [data-node="{node}"] path.rows')
    expect(drawn.first).to_be_visible()
    found = {}
    for k in range(drawn.count()):
        style = re.search(r"class(\d+)", str(drawn.nth(k).get_attribute("class")))
        assert style
        path = str(drawn.nth(k).get_attribute("d"))
        bars = re.findall(r"M([-\d.]+) [-\d.]+h([-\d.]+)v([-\d.]+)", path)
        found[int(style[1])] = [(float(x), float(width), float(height)) for x, width, height in bars]
    return found


def test_bars_are_the_rows_of_the_node(page: Page, tree: dict[str, Any], service: Service) -> None:
    """Each bar stands on the side that its rows take, and its parts are as high as the classes' rows."""
    numbers = [
        i
        for i, node in enumerate(tree["nodes"])
        if node["split"] and tree["columns"][node["split"]["column"]]["kind"] == "number"
    ]
    for number in numbers:
        split = tree["nodes"][number]["split"]
        answer = service.client.get(f"/v1/models/{service.model()}/nodes/{number}/rows").json()
        assert answer["rows"] == tree["nodes"][number]["rows"]
        bins = [*answer["histogram"]["bins"], answer["histogram"]["missing"]]
        tallest = max(sum(entry["rows"]) for entry in bins)
        found = stacked(page, number)
        assert sum(tree["nodes"][number]["counts"]) == answer["rows"]
        for k in range(len(answer["classes"])):
            heights = [
                entry["rows"][k] / sum(entry["rows"]) * max(1.5, 34 * sum(entry["rows"]) / tallest)
                for entry in bins
                if entry["rows"][k]
            ]
            assert [height for _, _, height in found.get(k, [])] == pytest.approx(heights, abs=0.02)
        drawn = page.locator(f'svg.drawing [data-node="{number}"] > g').first
        cells = drawn.locator("rect.side-left, rect.side-right")
        sides = [str(cells.nth(k).get_attribute("class")) for k in range(cells.count())]
        assert sides == [["side-left", "side-right"][k % 2] for k in range(len(split["thresholds"]) + 1)]
        places = [float(cells.nth(k).get_attribute("x") or 0) for k in range(cells.count())]
        filled = [entry for entry in answer["histogram"]["bins"] if entry["rows"][0]]
        for (x, width, _), entry in zip(found.get(0, []), filled, strict=False):
            below = max(j for j, place in enumerate(places) if place <= x + width / 2)
            assert sides[below] == f"side-{entry['side']}"
        labels = [float(text.replace(",", "")) for text in drawn.locator("text.ink").all_text_contents()]
        assert labels == pytest.approx(split["thresholds"], rel=0.01)
    # The distribution of the whole dataset is in no node.
    assert not page.get_by_text("whole dataset").count()


def test_rounded_cuts_stay_different(tab: Tab, service: Service) -> None:
    values = [round(i / 100_000, 5) for i in range(0, 40_000, 4)]
    text = "".join(f"{x},{'in' if 0.12341 < x <= 0.12349 else 'out'}\n" for x in values)
    dataset = service.upload(f"a,kind\n{text}")
    model = service.wait(service.job("near", dataset, parameters={"max_depth": 1}))["model_id"]
    thresholds = service.tree(model)["nodes"][0]["split"]["thresholds"]
    assert len(thresholds) == 2
    page = tab.go(f"/models/{model}")
    labels = page.locator('svg.drawing [data-node="0"] text.cuts')
    expect(labels).to_have_count(2)
    shown = [float(text) for text in labels.all_text_contents()]
    assert shown[0] < shown[1]
    half = (thresholds[1] - thresholds[0]) / 2
    assert shown == pytest.approx(thresholds, abs=half)
    assert all(len(f"{number:g}".partition(".")[2]) <= 5 for number in shown)


def test_hovering_highlights_a_path(page: Page, tree: dict[str, Any]) -> None:
    leaf = leaves(tree)[-1]
    assert lit(page) == set()
    page.locator(f'svg.drawing [data-node="{leaf}"]').hover()
    expect(page.locator("svg.drawing .node.lit")).to_have_count(len(path_to(tree, leaf)))
    assert lit(page) == path_to(tree, leaf)
    expect(page.locator("svg.drawing .edge.lit")).to_have_count(len(path_to(tree, leaf)) - 1)
    page.get_by_role("heading", level=1).hover()
    expect(page.locator("svg.drawing .node.lit")).to_have_count(0)


def test_a_leaf_shows_its_rule(page: Page, tree: dict[str, Any]) -> None:
    drawer = page.get_by_role("complementary", name="Details of the node")
    for leaf in leaves(tree)[:3]:
        page.locator(f'svg.drawing [data-node="{leaf}"]').click()
        node = tree["nodes"][leaf]
        label = tree["classes"]["labels"][node["label"]]["value"]
        expect(drawer.locator(".verdict-line")).to_contain_text(f"then {label}, ")
        assert f"of {node['rows']} training row" in drawer.locator(".verdict-line").inner_text()
        lines = rule(page)
        for above in path_to(tree, leaf) - {leaf}:
            name = tree["columns"][tree["nodes"][above]["split"]["column"]]["name"]
            assert sum(name in line for line in lines) == 1  # one line for each column
        facts = drawer.locator("dt").all_text_contents()
        assert ("Lower bound" in facts) == (not node["proven"] or node["bound"] >= node["cost"])
        assert "Share of training rows" in drawer.inner_text()
        assert "probability" not in drawer.inner_text().lower()
        # The drawer stands beside the tree, where the window is wide.
        stage, beside = page.locator(".stage").bounding_box(), drawer.bounding_box()
        assert stage is not None
        assert beside is not None
        assert beside["x"] >= stage["x"] + stage["width"]
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


def test_a_rule_is_copied_with_exact_cuts(tab: Tab, service: Service) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tree = service.tree(service.model())
    leaf = leaves(tree)[-1]
    page = tab.go(f"/models/{service.model()}?node={leaf}")
    page.get_by_role("button", name="Copy the rule").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    text = page.evaluate("navigator.clipboard.readText()")
    lines = text.splitlines()
    assert [line.removeprefix("If ").removeprefix("and ") for line in lines[:-1]] == rule(page)
    label = tree["classes"]["labels"][tree["nodes"][leaf]["label"]]["value"]
    assert lines[-1].startswith(f"then {label} (")


def test_on_a_narrow_screen_the_details_come_into_view(tab: Tab, service: Service) -> None:
    tab.page.set_viewport_size({"width": 390, "height": 800})
    page = tab.go(f"/models/{service.model()}")
    page.locator("svg.drawing .node").first.click()
    heading = page.get_by_role("complementary", name="Details of the node").get_by_role("heading")
    expect(heading).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_rules_agree_with_the_tree(page: Page, tree: dict[str, Any], service: Service) -> None:
    """The rows of the dataset that match the rule of a leaf are those that reach the leaf."""
    rows = service.client.get(f"/v1/datasets/{service.dataset}/preview?rows=100").json()["records"]
    apply = ShapeTree.from_dict(tree).apply
    names = [column["name"] for column in tree["columns"]]
    ends = apply([[row[name] for name in names] for row in rows])
    for leaf in leaves(tree):
        page.locator(f'svg.drawing [data-node="{leaf}"]').click()
        expect(page.locator(f'svg.drawing [data-node="{leaf}"].selected')).to_be_visible()
        lines = rule(page)
        for row, end in zip(rows, ends, strict=True):
            assert all(holds(line, row) for line in lines) == (end == leaf), (lines, row)


def test_tab_and_node_are_kept_in_the_link(tab: Tab, service: Service) -> None:
    tree = service.tree(service.model())
    leaf = leaves(tree)[1]
    page = tab.go(f"/models/{service.model()}")
    page.locator(f'svg.drawing [data-node="{leaf}"]').click()
    page.wait_for_url(re.compile(f"node={leaf}$"))
    page.get_by_role("tab", name="Rules").click()
    page.wait_for_url(re.compile("tab=rules"))
    page.reload()
    expect(page.get_by_role("tab", name="Rules")).to_have_attribute("aria-selected", "true")
    page.locator(".tree-view").get_by_role("tab", name="Tree").click()
    expect(page.locator(f'svg.drawing [data-node="{leaf}"].selected')).to_be_visible()
    page.get_by_role("button", name="Close").click()
    assert "?" not in page.url
    expect(page.locator(f'svg.drawing [data-node="{leaf}"]')).to_be_focused()  # not lost with the button
    # Another link to the same model opens what it names.
    tab.go(f"/models/{service.model()}?tab=features")
    expect(page.get_by_role("tab", name="Features")).to_have_attribute("aria-selected", "true")
    # A node that the tree does not have is left out.
    page = tab.go(f"/models/{service.model()}?node=999")
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    expect(page.locator(".drawer")).to_have_count(0)


def test_a_split_shows_its_figures(page: Page, tree: dict[str, Any]) -> None:
    page.locator('svg.drawing [data-node="0"]').click()
    details = page.locator(".drawer")
    root = tree["nodes"][0]
    expect(details).to_contain_text("proven optimal" if root["proven"] else "not proven")
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
    assert not classes & {"lit", "dim", "selected"}
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
    page.wait_for_timeout(500)
    expect(page.locator("svg.drawing path.rows")).to_have_count(0)
    assert not tab.sent("GET", "/rows")


def test_parts_that_failed_to_load_are_loaded_again(tab: Tab, service: Service) -> None:
    tree = service.tree(service.model())
    tab.page.route("**/nodes/*/rows*", lambda route: route.abort(), times=1)
    page = tab.go(f"/models/{service.model()}")
    for i, node in enumerate(tree["nodes"]):
        if node["split"]:
            expect(page.locator(f'svg.drawing [data-node="{i}"] path.rows').first).to_be_visible()
    page.route("**/assets/part-*.js", lambda route: route.abort())
    page.get_by_role("tab", name="Rules").click()
    expect(page.get_by_role("tabpanel").last).to_contain_text("This part of the page could not be loaded.")
    page.unroute("**/assets/part-*.js")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("region", name="Rules of the tree").locator("tbody tr")).to_have_count(
        len(leaves(tree))
    )
    tab.complaints[:] = [text for text in tab.complaints if "net::ERR_" not in text]


def test_weights_are_not_called_rows(api: Stack, api_tab: Tab) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(200, 2)).round(2), np.where(rng.random(200) < 0.15, "rare", "frequent")
    search = LiteratiClassifier(max_depth=2, class_weight="balanced", candidates="quantile")
    tree = search.fit(x, y).tree_.to_dict()
    leaf = next(i for i in leaves(tree) if min(tree["nodes"][i]["counts"]) > 0)
    node = tree["nodes"][leaf]
    words = f"{100 * max(node['counts']) / sum(node['counts']):.1f} % of the weight of {node['rows']}"
    model = add_model(api, search.tree_)
    page = api_tab.go(f"/models/{model}?node={leaf}")
    drawer = page.locator(".drawer")
    expect(drawer.locator(".verdict-line")).to_contain_text(f"{words} training rows")
    expect(drawer).to_contain_text("Share of the weight of the training rows")
    expect(drawer.locator(".fact").filter(has_text="Wrong weight").locator("dd")).to_have_text(
        f"{node['error']:.4g}"
    )
    drawn = page.locator(f'svg.drawing [data-node="{leaf}"]')
    wrong = f"weight {node['error']:.4g} wrong"
    expect(drawn).to_have_attribute("aria-label", re.compile(f"{words} rows; {wrong}"))
    expect(drawn).to_contain_text(wrong)
    page.get_by_role("tab", name="Features").click()
    saved_weight = tree["summary"]["feature_importances"][0]["errors_saved"]
    expect(page.locator(".feature").first).to_contain_text(f"weight {saved_weight:.4g} saved")
    api_tab.go(f"/predict/{model}")
    expect(page.locator(".answer")).to_contain_text("of their weight (")
    expect(page.locator(".answer")).to_contain_text("its share of the weight of these training rows")
