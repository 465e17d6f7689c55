"""Trees of every size can be read: complete up to 16 leaves, folded beyond."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.support.page.browser import Tab, saved
from tests.support.page.large_trees import below, depths, folded_model, noise_model
from tests.support.page.page_data import Service
from tests.support.page.tree_drawing import leaves, path_to, transform
from tests.support.stack.stack import Stack, poll

SVG = "{http://www.w3.org/2000/svg}"
LEAST_FONT = 8.5  # pixels on the screen


def shown(page: Page, kind: str = "node") -> set[int]:
    nodes = page.locator(f"svg.drawing .node.{kind}" if kind != "node" else "svg.drawing .node")
    return {int(nodes.nth(i).get_attribute("data-node") or -1) for i in range(nodes.count())}


@pytest.mark.parametrize("view", ["models", "jobs"])
def test_sixteen_leaves_are_complete_and_readable(tab: Tab, service: Service, view: str) -> None:
    model = noise_model(service, 900, 4, 2)
    record = service.client.get(f"/v1/models/{model}").json()
    tree = record["tree"]
    assert len(leaves(tree)) == 16
    tab.page.set_viewport_size({"width": 1360, "height": 900})
    page = tab.go(f"/{view}/{model if view == 'models' else record['job_id']}")
    expect(page.locator("svg.drawing .node")).to_have_count(31)
    scale = transform(page)[2]
    stage = page.locator(".stage").bounding_box()
    assert stage is not None
    for i, node in enumerate(tree["nodes"]):
        drawn = page.locator(f'svg.drawing [data-node="{i}"]')
        box = drawn.bounding_box()
        assert box is not None
        assert stage["x"] <= box["x"]
        assert box["x"] + box["width"] <= stage["x"] + stage["width"]
        assert stage["y"] <= box["y"]
        assert box["y"] + box["height"] <= stage["y"] + stage["height"]
        if not node["split"]:
            continue
        cuts = drawn.locator("text.cuts:visible")
        texts = [float(text) for text in cuts.all_text_contents()]
        assert texts == pytest.approx(node["split"]["thresholds"], abs=0.005)
        size = float(cuts.first.get_attribute("font-size") or 0)
        assert size * scale >= LEAST_FONT


def test_a_large_tree_is_folded_below_three_levels(tab: Tab, service: Service) -> None:
    model = folded_model(service)
    tree = service.tree(model)
    level = depths(tree)
    assert len(leaves(tree)) > 16
    page = tab.go(f"/models/{model}")
    chips = {i for i, node in enumerate(tree["nodes"]) if node["split"] and level[i] == 3}
    expect(page.locator("svg.drawing .node.chip")).to_have_count(len(chips))
    assert shown(page, "chip") == chips
    assert shown(page, "split") == {i for i, n in enumerate(tree["nodes"]) if n["split"] and level[i] < 3}
    for i in chips:
        words = page.locator(f'svg.drawing [data-node="{i}"] text').all_text_contents()
        wrong = sum(tree["nodes"][leaf]["error"] for leaf in below(tree, i))
        rows = tree["nodes"][i]["rows"]
        assert words == [f"{len(below(tree, i))} leaves", f"{rows} rows", f"{wrong:g} wrong"]


def test_chips_open_by_click_and_by_keyboard_and_fold_again(tab: Tab, service: Service) -> None:
    model = folded_model(service)
    tree = service.tree(model)
    page = tab.go(f"/models/{model}")
    first, second = sorted(i for i in shown_when_drawn(page, "chip"))[:2]
    page.locator(f'svg.drawing [data-node="{first}"]').click()
    expect(page.locator(f'svg.drawing [data-node="{first}"].split')).to_be_visible()
    split = tree["nodes"][first]["split"]
    assert {split["left"], split["right"]} <= shown(page)
    expect(page.locator(".drawer")).to_have_count(0)
    page.locator(f'svg.drawing [data-node="{second}"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator(f'svg.drawing [data-node="{second}"].split')).to_be_visible()
    expect(page.locator(f'svg.drawing [data-node="{second}"]')).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Fold this subtree").click()
    expect(page.locator(f'svg.drawing [data-node="{second}"].chip')).to_be_attached()


def shown_when_drawn(page: Page, kind: str) -> set[int]:
    expect(page.locator(f"svg.drawing .node.{kind}").first).to_be_visible()
    return shown(page, kind)


def test_the_slider_opens_levels(tab: Tab, service: Service) -> None:
    model = folded_model(service)
    tree = service.tree(model)
    level = depths(tree)
    page = tab.go(f"/models/{model}")
    slider = page.get_by_label("Levels open")
    expect(slider).to_have_value("3")
    for levels in (1, 4, 6):
        slider.fill(str(levels))
        count = sum(1 for depth in level if depth <= levels)
        expect(page.locator("svg.drawing .node")).to_have_count(count)


def test_a_chosen_node_is_unfolded_and_the_export_is_complete(tab: Tab, service: Service) -> None:
    model = folded_model(service)
    tree = service.tree(model)
    leaf = max(leaves(tree), key=lambda i: depths(tree)[i])
    page = tab.go(f"/models/{model}?node={leaf}")
    expect(page.locator(f'svg.drawing [data-node="{leaf}"].selected')).to_be_in_viewport(ratio=0.9)
    assert path_to(tree, leaf) <= shown(page)
    assert len(shown(page)) < len(tree["nodes"])
    _, text = saved(page, lambda: page.get_by_role("button", name="SVG").click())
    drawing = ET.fromstring(text)
    boxes = [g for g in drawing.iter(f"{SVG}g") if "node" in (g.get("class") or "").split()]
    assert len(boxes) == len(tree["nodes"])
    assert not [g for g in boxes if "chip" in (g.get("class") or "")]


def test_a_followed_row_is_unfolded_and_in_view(tab: Tab, service: Service) -> None:
    model = folded_model(service)
    page = tab.go(f"/predict/{model}")
    expect(page.locator(".verdict")).to_be_visible()
    row = {name: float(page.get_by_label(name, exact=True).input_value()) for name in "abcd"}
    answer = service.client.post(f"/v1/models/{model}/predict?explain=true", json={"records": [row]}).json()
    path = [step["node"] for step in answer["explanations"][0]["steps"]] + answer["leaf_ids"]
    expect(page.locator("svg.drawing .node.lit")).to_have_count(len(path))
    stage = page.locator(".stage").bounding_box()
    assert stage is not None
    for node in path:
        box = page.locator(f'svg.drawing [data-node="{node}"]').bounding_box()
        assert box is not None
        assert stage["x"] <= box["x"] + box["width"] / 2 <= stage["x"] + stage["width"]
    last = page.locator(f'svg.drawing [data-node="{path[-1]}"]').bounding_box()
    assert last is not None
    assert stage["y"] <= last["y"]
    assert last["y"] + last["height"] <= stage["y"] + stage["height"]
    assert transform(page)[2] >= 0.69


def test_full_screen(tab: Tab, service: Service) -> None:
    page = tab.go(f"/models/{folded_model(service)}")
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator(".tree-frame.full")).to_be_visible()

    def fills() -> bool:
        frame = page.locator(".tree-frame").bounding_box()
        return frame is not None and frame["x"] == 0 and frame["width"] >= page.evaluate("innerWidth")

    page.wait_for_timeout(200)
    assert fills()
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator(".tree-frame.full")).to_have_count(0)


def touch(page: Page, session: CDPSession, *fingers: list[tuple[float, float]]) -> None:
    """Move fingers, each along its points."""
    for step, points in enumerate(zip(*fingers, strict=True)):
        kind = "touchMove" if step else "touchStart"
        places = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})
        page.wait_for_timeout(16)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_one_finger_scrolls_the_page_over_the_tree(
    browser: Browser, page_stack: Stack, service: Service
) -> None:
    tab = Tab(browser, page_stack.url, has_touch=True, is_mobile=True)
    tab.page.set_viewport_size({"width": 390, "height": 700})
    page = tab.go(f"/models/{service.model()}")
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    page.evaluate("document.querySelector('.stage').scrollIntoView({ block: 'end' })")
    start, before = page.evaluate("scrollY"), transform(page)
    box = page.locator(".stage").bounding_box()
    assert box is not None
    session = tab.context.new_cdp_session(page)
    x, y = box["x"] + 15, box["y"] + 0.8 * box["height"]
    touch(page, session, [(x, y - 12 * k) for k in range(13)])
    page.wait_for_function("(start) => scrollY > start + 60", arg=start)
    assert transform(page) == pytest.approx(before, abs=0.5)
    # Two fingers zoom the drawing and not the page.
    page.evaluate("document.querySelector('.stage').scrollIntoView({ block: 'end' })")
    page.wait_for_timeout(300)
    box = page.locator(".stage").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    spread = [[(x + side * (30 + 6 * k), y) for k in range(13)] for side in (-1, 1)]
    touch(page, session, *spread)
    poll(lambda: transform(page)[2] > 1.5 * before[2], what="the drawing to be larger")
    assert page.evaluate("visualViewport.scale") == 1
    assert tab.complaints == []
    tab.close()


def test_a_narrow_place_folds_earlier(tab: Tab, service: Service) -> None:
    tab.page.set_viewport_size({"width": 320, "height": 700})
    page = tab.go(f"/models/{noise_model(service, 900, 4, 2)}")
    expect(page.locator("svg.drawing .node.chip")).to_have_count(4)
    scale = transform(page)[2]
    cuts = page.locator("svg.drawing .node.split text.cuts:visible")
    sizes = [float(cuts.nth(i).get_attribute("font-size") or 0) * scale for i in range(cuts.count())]
    assert sizes
    assert min(sizes) >= LEAST_FONT
    assert re.search(r"\d", cuts.first.text_content() or "")
