"""The icicle of a large tree: bars, readout, zoom, keyboard; and the colours of many classes."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.browser import Tab
from tests.support.page.large_trees import depths, icicle_model
from tests.support.page.page_data import Service


@pytest.fixture
def tree(service: Service) -> dict[str, Any]:
    return service.tree(icicle_model(service))


@pytest.fixture
def page(tab: Tab, service: Service) -> Page:
    page = tab.go(f"/models/{icicle_model(service)}")
    expect(page.locator(".icicle canvas")).to_be_visible()
    return page


def place_of(page: Page, tree: dict[str, Any], index: int) -> dict[str, float]:
    """Return the middle of a node's bar, computed from the rows of the nodes."""
    level, x, width, at = 0, 0.0, 1.0, 0
    while at != index:
        node = tree["nodes"][at]
        left, right = node["split"]["left"], node["split"]["right"]
        share = tree["nodes"][left]["rows"] / node["rows"]
        if left <= index < right:
            at, width = left, width * share
        else:
            at, x, width = right, x + width * share, width * (1 - share)
        level += 1
    box = page.locator(".icicle canvas").bounding_box()
    assert box is not None
    height = box["height"] / (max(depths(tree)) + 1)
    return {"x": (x + width / 2) * box["width"], "y": (level + 0.5) * height}


def test_a_bar_for_every_node_in_the_colour_of_its_class(page: Page, tree: dict[str, Any]) -> None:
    canvas = page.locator(".icicle canvas")
    expect(canvas).to_have_attribute("data-bars", str(len(tree["nodes"])))
    expect(page.locator("svg.drawing")).to_have_count(0)
    # A bar has the colour of its majority class, mixed with the background: the purer, the stronger.
    wide = [i for i, node in enumerate(tree["nodes"]) if node["rows"] >= 25]
    by_purity = sorted(wide, key=lambda i: purity(tree["nodes"][i]))
    back = colour_of(page, "back")
    strengths = []
    for i in [*by_purity[:15], *by_purity[-15:]]:
        spot, node = place_of(page, tree, i), tree["nodes"][i]
        found = page.evaluate(
            """([x, y]) => {
              const canvas = document.querySelector(".icicle canvas");
              const ratio = canvas.width / canvas.clientWidth;
              const spot = canvas.getContext("2d").getImageData(x * ratio, (y + 12) * ratio, 1, 1);
              return [...spot.data].slice(0, 3);
            }""",
            [spot["x"], spot["y"]],
        )
        ink = colour_of(page, f"class{node['label']}")
        away = [a - b for a, b in zip(ink, back, strict=True)]
        strength = sum((f - b) * d for f, b, d in zip(found, back, away, strict=True)) / sum(
            d * d for d in away
        )
        mixed = [b + strength * d for b, d in zip(back, away, strict=True)]
        assert found == pytest.approx(mixed, abs=2.5)
        strengths.append((purity(node), strength))
    purities, shown = zip(*sorted(strengths), strict=True)
    assert purities[-1] > purities[0] + 0.05
    assert shown[0] > 0.1
    assert all(later >= earlier - 0.02 for earlier, later in pairwise(shown))
    assert shown[-1] > shown[0] + 0.03


def purity(node: dict[str, Any]) -> float:
    return float(max(node["counts"]) / sum(node["counts"]))


def colour_of(page: Page, name: str) -> list[int]:
    text = page.evaluate(
        """(name) => {
          document.head.style.color = `var(--${name})`;
          return getComputedStyle(document.head).color;
        }""",
        name,
    )
    return [int(part) for part in re.findall(r"\d+", text)]


def test_hover_names_the_node_and_click_zooms_to_it(page: Page, tree: dict[str, Any]) -> None:
    canvas = page.locator(".icicle canvas")
    node = tree["nodes"][0]["split"]["right"]
    canvas.hover(position=place_of(page, tree, node))  # type: ignore[arg-type]
    rows = tree["nodes"][node]["rows"]
    readout = page.locator(".icicle-readout")
    expect(readout).to_contain_text(
        f"Level 1. {tree['columns'][tree['nodes'][node]['split']['column']]['name']}: "
    )
    expect(readout).to_contain_text(f"{rows:,} rows")
    canvas.click(position=place_of(page, tree, node))  # type: ignore[arg-type]
    page.wait_for_url(re.compile(f"node={node}$"))
    expect(page.locator(".drawer")).to_contain_text(f"{rows:,}")
    size = 1 + sum(1 for i in range(len(tree["nodes"])) if i > node)  # the right subtree is the last one
    expect(canvas).to_have_attribute("data-bars", str(size + 1))  # and the root above it
    page.get_by_role("button", name="Show all rows").click()
    expect(canvas).to_have_attribute("data-bars", str(len(tree["nodes"])))


def test_the_keyboard_moves_and_zooms(page: Page, tree: dict[str, Any]) -> None:
    canvas = page.locator(".icicle canvas")
    assert "Arrow keys" in str(canvas.get_attribute("aria-label"))
    canvas.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    root = tree["nodes"][0]["split"]
    readout = page.locator(".icicle-readout")
    expect(readout).to_contain_text(f"{tree['nodes'][root['left']]['rows']:,} rows")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text(f"{tree['nodes'][root['right']]['rows']:,} rows")
    page.keyboard.press("Enter")
    expect(page.locator(".drawer")).to_be_visible()
    expect(canvas).not_to_have_attribute("data-bars", str(len(tree["nodes"])))
    page.keyboard.press("0")
    expect(canvas).to_have_attribute("data-bars", str(len(tree["nodes"])))
    page.keyboard.press("Escape")
    expect(page.locator(".drawer")).to_have_count(0)


def test_icicle_and_folded_tree_can_be_switched(page: Page, tree: dict[str, Any]) -> None:
    page.get_by_role("button", name="Folded tree").click()
    level = depths(tree)
    expect(page.locator("svg.drawing .node")).to_have_count(sum(1 for depth in level if depth <= 3))
    expect(page.locator(".icicle")).to_have_count(0)
    page.get_by_role("button", name="Icicle").click()
    expect(page.locator(".icicle canvas")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_twenty_four_classes_have_different_colours(page: Page, tree: dict[str, Any], theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.get_by_text("Colours of the 24 classes").click()
    entries = page.get_by_role("list", name="Colours of the classes").get_by_role("listitem")
    expect(entries).to_have_count(24)
    assert entries.all_inner_texts() == [entry["value"] for entry in tree["classes"]["labels"]]
    colours = page.locator(".class-legend .swatch").evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each).backgroundColor)"
    )
    numbers = [tuple(map(int, re.findall(r"\d+", colour))) for colour in colours]
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ground = tuple(map(int, re.findall(r"\d+", back)))
    for k, one in enumerate(numbers):
        assert contrast(one, ground) > 1.8
        for other in numbers[:k]:
            assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) > 30


def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    def luminance(colour: tuple[int, ...]) -> float:
        parts = [
            c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
