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
    text = page.locator(".stage svg.drawing > g").get_attribute("transform") or ""
    x, y, scale = map(float, re.findall(r"-?[\d.]+", text))
    return x, y, scale


def rule(page: Page) -> list[str]:
    """Return the conditions to reach the node in the drawer, with exact numbers."""
    lines = page.locator(".drawer ul.rule").last.locator("li > span")
    return [str(lines.nth(i).get_attribute("title")) for i in range(lines.count())]


def holds(condition: str, row: dict[str, Any]) -> bool:
    """Return whether a row matches a condition, judged only by its words."""
    words = condition.removesuffix(" or missing")
    is_missing = words != condition or condition.endswith(" is missing")
    name = next(name for name in sorted(row, key=len, reverse=True) if name in words)
    value = row[name]
    if value is None:
        return is_missing
    if " is " in words:
        listed = re.split(r", | or ", words.partition(" is ")[2])
        return str(value).lower() in [each.lower() for each in listed] or listed == ["known"]
    return any(_within(piece, name, value) for piece in words.split(" or "))


def _within(piece: str, name: str, value: float) -> bool:
    low = re.match(r"(-?[\d.e-]+) < ", piece) or re.search(r" > (-?[\d.e-]+)$", piece)
    high = re.search(r" ≤ (-?[\d.e-]+)$", piece)
    assert name in piece
    assert low or high
    return (not low or value > float(low[1])) and (not high or value <= float(high[1]))
