"""The features of a tree: errors saved, and every cut on one axis."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.page.browser import Tab
from tests.support.page.page_data import Service


def splits_by_column(tree: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for node in tree["nodes"]:
        if node["split"]:
            found.setdefault(tree["columns"][node["split"]["column"]]["name"], []).append(node)
    return found


def test_every_feature_with_its_errors_and_cuts(tab: Tab, service: Service) -> None:
    tree = service.tree(service.model())
    used = splits_by_column(tree)
    page = tab.go(f"/models/{service.model()}?tab=features")
    features = page.locator(".feature")
    expect(features).to_have_count(len(used))
    saved = tree["summary"]["feature_importances"]
    assert features.locator("h3").all_inner_texts()[0] == saved[0]["feature"]
    for entry in saved:
        feature = features.filter(has=page.get_by_role("heading", name=entry["feature"], exact=True))
        noun = "error" if entry["errors_saved"] == 1 else "errors"
        expect(feature).to_contain_text(f"{entry['errors_saved']:g} {noun} saved")
        nodes = used[entry["feature"]]
        expect(feature).to_contain_text(f"{len(nodes)} split")
        column = next(each for each in tree["columns"] if each["name"] == entry["feature"])
        if column["kind"] != "number":
            assert feature.locator("button.side-mark").count() % len(nodes) == 0
            continue
        cuts = sorted(cut for node in nodes for cut in node["split"]["thresholds"])
        marks = feature.locator(".cut-mark")
        expect(marks).to_have_count(len(cuts))
        places = sorted(
            float(x)
            for x in marks.locator(".cut-line").evaluate_all(
                "(all) => all.map((each) => each.getAttribute('x'))"
            )
        )
        info = next(
            each
            for each in service.client.get(f"/v1/datasets/{service.dataset}").json()["columns"]
            if each["name"] == entry["feature"]
        )
        edges = info["histogram"]["edges"]
        bars = feature.locator(".spread-bar")
        expect(bars).to_have_count(len(info["histogram"]["counts"]))
        # One axis: the distance of two cuts is that of their numbers.
        width = float(bars.last.get_attribute("x") or 0) / (edges[-2] - edges[0])
        assert places == pytest.approx([(cut - edges[0]) * width - 1 for cut in cuts], abs=0.5)


def test_a_cut_leads_to_its_node(tab: Tab, service: Service) -> None:
    tree = service.tree(service.model())
    page = tab.go(f"/models/{service.model()}?tab=features")
    mark = page.locator(".cut-mark").first
    mark.focus()
    page.keyboard.press("Enter")
    selected = page.locator("svg.drawing .node.selected.split")
    expect(selected).to_be_visible()
    column = tree["nodes"][int(selected.get_attribute("data-node") or -1)]["split"]["column"]
    name = tree["columns"][column]["name"]
    expect(page.locator(".drawer h3")).to_have_text(name)
