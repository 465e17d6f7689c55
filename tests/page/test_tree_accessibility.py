"""axe finds no problem in any tab of the tree view."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from tests.support.page.browser import Tab
from tests.support.page.large_trees import folded_model, icicle_model
from tests.support.page.page_data import Service
from tests.support.stack.stack import Stack


def open_split(page: Page) -> None:
    page.locator("svg.drawing .node.split").first.click()
    expect(page.locator(".drawer .node-bars")).to_be_visible()


def open_bar(page: Page) -> None:
    page.get_by_text("Colours of the 24 classes").click()
    page.locator(".icicle canvas").click(position={"x": 60, "y": 40})
    expect(page.locator(".drawer")).to_be_visible()


def nothing(_: Page) -> None:
    pass


# The address, what must be visible, and what to do before the check.
VIEWS: dict[str, tuple[str, str, Callable[[Page], None]]] = {
    "folded": ("/models/{folded}", ".node.chip", open_split),
    "icicle": ("/models/{icicle}", ".icicle canvas", open_bar),
    "rules": ("/models/{small}?tab=rules", ".rules tbody tr", nothing),
    "features": ("/models/{small}?tab=features", ".feature", nothing),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_no_violations(
    browser: Browser, page_stack: Stack, service: Service, theme: str, width: int
) -> None:
    ids = {"folded": folded_model(service), "icicle": icicle_model(service), "small": service.model()}
    tab = Tab(browser, page_stack.url, color_scheme=theme, reduced_motion="reduce")
    tab.page.set_viewport_size({"width": width, "height": 900})
    findings = {}
    for name, (place, there, act) in VIEWS.items():
        page = tab.go(place.format(**ids))
        expect(page.locator(there).first).to_be_visible()
        act(page)
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        findings[name] = [
            f"{entry['impact']} {entry['id']}: {node['html'][:160]}"
            for entry in violations
            for node in entry["nodes"]
        ]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        tab.shoot(f"axe-tree-{theme}-{width}-{name}")
    complaints = tab.complaints
    tab.close()
    assert not any(findings.values()), json.dumps(findings, indent=2)
    assert complaints == []
