"""The chart of a job's bounds: lines, scales, values under the pointer, and clicks."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from literati.tree.nodes import BEYOND_SPACE
from tests.support.page.browser import see
from tests.support.page.live_job import Live
from tests.support.stack.acting_worker import costs
from tests.support.stack.stack import poll


def colours(page: Page) -> int:
    """Return the number of pixels of the plot that have the colour of the upper bound."""
    return int(
        page.evaluate(
            """() => {
              const canvas = document.querySelector(".bounds .plot canvas");
              const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              let found = 0;
              for (let i = 0; i < data.length; i += 4)
                if (data[i] === 33 && data[i + 1] === 86 && data[i + 2] === 184) found += 1;
              return found;
            }"""
        )
    )


def lowest(page: Page) -> float:
    """Return the distance in pixels between the bottom of the plot and the line of the lower bound."""
    return float(
        page.evaluate(
            """() => {
              const canvas = document.querySelector(".bounds .plot canvas");
              const box = canvas.getBoundingClientRect();
              const over = document.querySelector(".bounds .plot .u-over").getBoundingClientRect();
              const ratio = canvas.width / box.width;
              const x = Math.round((over.left - box.left + over.width / 2) * ratio);
              const { data } = canvas.getContext("2d").getImageData(x, 0, 1, canvas.height);
              let y = 0;
              for (let i = 0; i < canvas.height; i += 1)
                if (data[4 * i] === 29 && data[4 * i + 1] === 35 && data[4 * i + 2] === 43) y = i;
              return over.bottom - box.top - y / ratio;
            }"""
        )
    )


def pixels(page: Page) -> str:
    """Read everything in one call, because the canvas is replaced when the scale changes."""
    return str(page.evaluate('document.querySelector(".bounds .plot canvas")?.toDataURL() ?? ""'))


def test_values_under_the_pointer_and_log_scale(live: Live) -> None:
    for lower, tree in ((0.0, 0), (10.0, 1), (30.0, 2), (40.0, 4)):
        live.worker.checkpoint(lower, tree=tree)
    page = live.open()
    poll(lambda: colours(page) > 100, what="the upper bound's line")
    readout = page.locator(".bounds dl.readout")
    expect(readout).to_contain_text(f"Upper{costs()[4]:g}")
    plot = page.locator(".bounds .plot .u-over")
    box = poll(plot.bounding_box, what="the plot, which is drawn anew")
    plot.hover(position={"x": 2, "y": box["height"] / 2})
    expect(readout).to_contain_text(f"Upper{costs()[0]:g}")
    expect(readout).to_contain_text("Lower0")
    plot.hover(position={"x": box["width"] * 0.5, "y": box["height"] / 2})  # 0.1 s to 0.4 s: the second
    expect(readout).to_contain_text(f"Upper{costs()[1]:g}")
    expect(readout).to_contain_text("Tree2")
    linear = pixels(page)
    page.get_by_label("Log scale").check()
    poll(lambda: pixels(page) != linear, what="another scale")
    assert colours(page) > 100
    # The same by keyboard.
    page.locator(".bounds .plot").focus()
    page.keyboard.press("Home")
    expect(readout).to_contain_text("Lower0")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text("Lower10")
    label = page.locator(".bounds .plot").get_attribute("aria-label")
    assert label is not None
    assert f"fell from {costs()[0]:g} to {costs()[4]:g}" in label


def test_a_bound_of_zero_is_drawn_as_zero_on_a_log_scale(live: Live) -> None:
    for tree in (0, 1, 2):
        live.worker.checkpoint(0.0, tree=tree)
    page = live.open()
    poll(lambda: colours(page) > 100, what="the upper bound's line")
    linear = pixels(page)
    page.get_by_label("Log scale").check()
    poll(lambda: pixels(page) != linear, what="another scale")
    poll(lambda: colours(page) > 100, what="the upper bound's line")
    assert 0 <= lowest(page) <= 3


def test_time_on_a_log_scale(live: Live) -> None:
    for lower, tree in ((0.0, 0), (10.0, 1), (30.0, 2)):
        live.worker.checkpoint(lower, tree=tree)
    page = live.open()
    poll(lambda: colours(page) > 100, what="the upper bound's line")
    linear = pixels(page)
    page.get_by_label("Log time").check()
    poll(lambda: pixels(page) != linear, what="another scale")
    plot = page.locator(".bounds .plot .u-over")
    box = poll(plot.bounding_box, what="the plot, which is drawn anew")
    plot.hover(position={"x": box["width"] - 2, "y": 20})
    expect(page.locator(".bounds dl.readout")).to_contain_text(
        "Lower10"
    )  # 0.1 s, 0.2 s, 0.3 s: just before the last
    plot.hover(position={"x": 2, "y": 20})
    expect(page.locator(".bounds dl.readout")).to_contain_text("Lower0")


def test_a_polished_tree_has_a_line_of_its_own(live: Live) -> None:
    """A polished tree may cost less than the upper bound, which covers only the searched cuts."""
    live.worker.checkpoint(0.0, tree=0)
    page = live.open()
    expect(page.locator(".bounds dl.readout")).to_contain_text("Tree1")
    expect(page.locator(".key.cost")).to_have_count(0)
    word = live.worker._word(10.0, 2)
    trace = [point.model_copy(update={"upper": costs()[1]}) for point in word.trace]
    better = word.model_copy(update={"upper_bound": costs()[1], "trace": trace})
    live.stack.store.jobs.publish_progress(live.worker.id, live.worker.epoch, better)
    expect(page.locator(".key.cost")).to_be_visible()
    expect(live.fact("Cost of the tree")).to_have_text(f"{costs()[2]:g}")
    expect(live.fact("Upper bound")).to_have_text(f"{costs()[1]:g}")
    expect(page.locator(".bounds dl.readout")).to_contain_text(f"Tree2, cost {costs()[2]:g}")
    see(page, BEYOND_SPACE)


def test_a_click_on_a_mark_shows_that_tree(live: Live) -> None:
    for lower, tree in ((0.0, 0), (10.0, 1), (30.0, 2)):
        live.worker.checkpoint(lower, tree=tree)
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 3 of 3")
    poll(lambda: colours(page) > 100, what="the chart")
    page.locator(".bounds .plot .u-over").click(position={"x": 4, "y": 20})
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 3")
    page.get_by_text("When the tree improved").click()
    page.get_by_role("button", name="Tree 2", exact=True).click()
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 3")
