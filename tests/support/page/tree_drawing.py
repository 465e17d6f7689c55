"""Read what a tree in the browser shows, and compute what it should show."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.support.page.browser import Tab
from tests.support.page.page_data import Service


def open_model(tab: Tab, service: Service) -> Page:
    page = tab.go(f"/models/{service.model()}")
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    return page


def leaves(tree: dict[str, Any]) -> list[int]:
    return [i for i, node in enumerate(tree["nodes"]) if node["split"] is None]


def path_to(tree: dict[str, Any], index: int) -> set[int]:
    above = {
        child: i
        for i, node in enumerate(tree["nodes"])
        if node["split"]
        for child in (node["split"]["left"], node["split"]["right"])
    }
    path = {index}
    while index in above:
        index = above[index]
        path.add(index)
    return path


def lit(page: Page) -> set[int]:
    nodes = page.locator("svg.drawing .node.lit")
    return {int(nodes.nth(i).get_attribute("data-node") or -1) for i in range(nodes.count())}


def transform(page: Page) -> tuple[float, float, float]:
    text = page.locator("svg.drawing > g").get_attribute("transform") or ""
    x, y, scale = map(float, re.findall(r"-?[\d.]+", text))
    return x, y, scale
