"""Moving in the tree: zoom, pan, levels of detail and the keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.tree_drawing import transform
from tests.support.stack.stack import poll


def test_zoom_and_pan(page: Page) -> None:
    start = transform(page)
    page.get_by_role("button", name="Zoom in").click()
    assert transform(page)[2] == pytest.approx(1.25 * start[2], rel=0.01)
    page.get_by_role("button", name="Zoom out").click()
    assert transform(page) == pytest.approx(start, abs=0.5)
    box = page.locator("svg.drawing").bounding_box()
    assert box is not None
    x, y = box["x"] + 30, box["y"] + 60  # an empty corner
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 40, steps=4)
    page.mouse.up()
    moved = transform(page)
    assert (moved[0] - start[0], moved[1] - start[1]) == pytest.approx((60, -40), abs=1)
    # With Ctrl, the wheel zooms around the pointer; without Ctrl, the page scrolls.
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function(
        "(before) => !document.querySelector('.stage svg > g').getAttribute('transform').includes(before)",
        arg=f"scale({moved[2]:.4f})",
    )
    assert transform(page)[2] > moved[2]
    page.get_by_role("button", name="Fit the tree").click()
    assert transform(page) == pytest.approx(start, abs=0.5)
    # A drag that begins on a node does not open it.
    node = page.locator('svg.drawing [data-node="0"]').bounding_box()
    assert node is not None
    page.mouse.move(node["x"] + 20, node["y"] + 20)
    page.mouse.down()
    page.mouse.move(node["x"] + 60, node["y"] + 50, steps=4)
    page.mouse.up()
    expect(page.locator(".drawer")).to_have_count(0)


def test_zoomed_out_nodes_have_less_and_larger_text(page: Page, tree: dict[str, Any]) -> None:
    """The cuts are the last to disappear."""
    number = next(i for i, node in enumerate(tree["nodes"]) if node["split"] and node["split"]["thresholds"])
    node = page.locator(f'svg.drawing [data-node="{number}"]')
    name, cuts = node.locator("text.name"), node.locator("text.cuts")
    expect(name).to_be_visible()
    size = float(name.get_attribute("font-size") or 0)
    texts = cuts.all_text_contents()
    for _ in range(3):
        page.get_by_role("button", name="Zoom out").click()
    expect(cuts).to_have_text([" | ".join(texts)])
    expect(name).to_be_visible()
    assert float(name.get_attribute("font-size") or 0) > size
    expect(node.locator("text")).to_have_count(2)
    for _ in range(2):
        page.get_by_role("button", name="Zoom out").click()
    expect(node.locator("text")).to_have_count(1)
    expect(cuts).to_be_visible()
    expect(cuts).to_have_text(" | ".join(texts))


@pytest.mark.parametrize("width", [390, 1440])
def test_the_stage_is_as_high_as_the_tree_needs(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})

    def wasted() -> float:
        return float(
            page.evaluate(
                """() => {
                  const stage = document.querySelector(".stage").getBoundingClientRect();
                  const nodes = [...document.querySelectorAll(".node")];
                  const boxes = nodes.map((node) => node.getBoundingClientRect());
                  const bottom = Math.max(...boxes.map((box) => box.bottom));
                  return 1 - (bottom - Math.min(...boxes.map((box) => box.top))) / stage.height;
                }"""
            )
        )

    poll(lambda: wasted() < 0.3, what="a stage without much empty room")


def test_the_keyboard_walks_the_tree(page: Page, tree: dict[str, Any]) -> None:
    page.locator('svg.drawing [data-node="0"]').focus()
    root = tree["nodes"][0]["split"]
    page.keyboard.press("ArrowDown")
    expect(page.locator(f'svg.drawing [data-node="{root["left"]}"]')).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator(f'svg.drawing [data-node="{root["right"]}"]')).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".drawer")).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(page.locator('svg.drawing [data-node="0"]')).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".drawer")).to_have_count(0)
    before = transform(page)[2]
    page.keyboard.press("+")
    assert transform(page)[2] > before
    page.keyboard.press("0")
    assert transform(page)[2] == pytest.approx(before, rel=0.01)
    # The Tab key stops once at the tree, whatever its number of nodes.
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("button", name="JSON")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator('svg.drawing [data-node="0"]')).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('svg.drawing')") is None
