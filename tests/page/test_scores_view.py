"""The trees of a job over time: one clock, the chart of their scores, and what follows the chosen tree."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.support.page.browser import until
from tests.support.page.live_job import Live
from tests.support.page.made_metrics import metrics, scores
from tests.support.stack.acting_worker import costs
from tests.support.stack.stack import poll

# Wrong rows of 300 training rows and of 100 held-back rows, and log loss on the latter, of four trees.
TREES = [(0, 60, 0.7), (1, 40, 0.5), (2, 30, 0.6), (4, 35, 0.9)]
FOUND = [0.05, 0.6, 1.7, 2.9]


def made(tree: int, held: float, loss: float) -> dict[str, Any]:
    cart = scores(100, 45, log_loss=0.55)
    return metrics(scores(300, costs()[tree]), scores(100, held, log_loss=loss), cart)


def find_trees(live: Live) -> None:
    """Publish trees some time after they were found: at 1, 2, 3 and 4 seconds of search."""
    for (tree, held, loss), found in zip(TREES, FOUND, strict=True):
        live.worker.expansions += 90
        word = live.worker._word(5.0, tree, made(tree, held, loss))
        assert word.incumbent is not None
        incumbent = word.incumbent.model_copy(update={"found_seconds": found})
        live.stack.store.jobs.publish_progress(
            live.worker.id, live.worker.epoch, word.model_copy(update={"incumbent": incumbent})
        )


def choose(page: Page, revision: int) -> None:
    """Go back to an earlier tree."""
    title = page.locator(".scrub strong")
    expect(title).to_have_text(re.compile("^Tree"))
    shown = int(title.inner_text().split()[1])
    for earlier in range(shown - 1, revision - 1, -1):
        page.get_by_role("button", name="Earlier tree").click()
        expect(title).to_have_text(f"Tree {earlier} of {len(TREES)}")


def test_a_tree_has_one_time(live: Live) -> None:
    """It is the time of the search when the tree was found, not when the page heard of it."""
    find_trees(live)
    page = live.open()
    choose(page, 3)
    shown = "1.7 s"
    expect(page.locator(".scrub + p")).to_contain_text(f"Found after {shown}.")
    expect(live.fact("Found after")).to_have_text(shown)
    expect(page.locator(".score-readout")).to_contain_text(f"Tree3After{shown}")
    page.get_by_text("When the tree improved").click()
    expect(page.locator("details tbody tr td:nth-child(2)")).to_have_text(["2.9 s", shown, "600 ms", "50 ms"])
    # The mark in the chart of the bounds is there as well: from 0.05 s to 4 s.
    plot = page.locator(".bounds .plot .u-over")
    box = poll(plot.bounding_box, what="the plot")
    x = box["width"] * (0.6 - 0.05) / (4.0 - 0.05)
    plot.click(position={"x": x, "y": 20})
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 4")
    plot.click(position={"x": box["width"] / 4, "y": 20})  # 1 s: the page heard of a tree, but none was found
    page.wait_for_timeout(200)
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 4")


def test_everything_follows_the_chosen_tree(live: Live) -> None:
    find_trees(live)
    page = live.open()
    for revision in (4, 3, 1):
        tree, held, _ = TREES[revision - 1]
        choose(page, revision)
        wrong = costs()[tree]
        headline = page.locator(".headline")
        expect(headline).to_contain_text(f"{wrong:g} of 300 training rows wrong, {100 - held} % ±")
        expect(live.fact("Cost of the tree")).to_have_text(f"{wrong:g}")
        expect(live.fact("Held-back accuracy")).to_have_text(re.compile(f"^{100 - held} % ±"))
        row = page.locator("table.accuracy tr.strong td")
        expect(row).to_have_text([f"{100 * (1 - wrong / 300):.1f} %", f"{100 - held} %"])
        expect(page.locator(".score-readout")).to_contain_text(f"Held-back{100 - held} %")
        expect(page.locator(".doubts", has_text=f"right on {100 - held} %")).to_have_count(int(held > 39))
    # An earlier tree is not called proven or optimal.
    expect(page.locator(".headline")).to_contain_text(
        f"Tree 4 of this job costs {costs()[4]:g} instead of {costs()[0]:g}."
    )
    choose_back = page.get_by_role("button", name="Show the newest")
    choose_back.click()
    expect(page.locator(".headline")).to_contain_text(f"{costs()[4]:g} of 300 training rows wrong")


def test_the_best_tree_on_held_back_rows(live: Live) -> None:
    find_trees(live)
    page = live.open()
    chart = page.locator("figure.scores")
    expect(chart.locator(".best-tree")).to_contain_text("Best accuracy on held-back rows: tree 3 with 70 %.")
    chart.get_by_role("button", name="Show tree 3").click()
    expect(page.locator(".scrub strong")).to_have_text("Tree 3 of 4")
    expect(chart.get_by_role("button", name="Show tree")).to_have_count(0)
    chart.get_by_label("Score").select_option("Log loss")
    expect(chart.locator(".best-tree")).to_contain_text("Best log loss on held-back rows: tree 2 with 0.500.")
    expect(chart.locator(".score-readout")).to_contain_text("Held-back0.600Training0.400CART0.550")
    chart.get_by_label("Score").select_option("Balanced accuracy")
    expect(chart.locator(".best-tree")).to_contain_text(
        "Best balanced accuracy on held-back rows: tree 3 with 69 %."
    )
    # The same by keyboard.
    chart.locator(".score-plot").focus()
    page.keyboard.press("Home")
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 4")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 4")
    label = chart.locator(".score-plot").get_attribute("aria-label") or ""
    assert "of 4 trees" in label
    assert "tree 3 is the best with 69 %" in label


def test_the_series_is_that_of_the_api(live: Live) -> None:
    find_trees(live)
    page = live.open()
    with live.stack.client() as client:
        points = client.get(f"/v1/jobs/{live.worker.id}/scores").json()["points"]
    assert [point["found_seconds"] for point in points] == FOUND
    for point in reversed(points):
        choose(page, point["revision"])
        expect(page.locator(".score-readout")).to_have_text(
            re.compile(
                f"Held-back{100 * point['validation_accuracy']:.0f} %"
                f"Training{100 * point['train_accuracy']:.1f} %"
            )
        )


def test_a_new_tree_appears_in_the_chart(live: Live) -> None:
    find_trees(live)
    page = live.open()
    expect(page.locator(".score-readout")).to_contain_text("Tree4")
    live.worker.upper = costs()[4]
    better = live.worker._word(6.0, 4, made(4, 10, 0.3))
    assert better.incumbent is not None
    update = {"incumbent": better.incumbent.model_copy(update={"objective": costs()[4] - 1})}
    live.stack.store.jobs.publish_progress(
        live.worker.id, live.worker.epoch, better.model_copy(update=update)
    )
    expect(page.locator(".best-tree")).to_contain_text("tree 5 with 90 %")
    # The scores are requested when there is a new tree, not every second.
    asked = len(live.tab.sent("GET", "/scores"))
    page.wait_for_timeout(2500)
    assert len(live.tab.sent("GET", "/scores")) == asked
    tags = [request.headers.get("if-none-match") for request in live.tab.sent("GET", "/scores")]
    assert tags[0] is None
    assert all(tags[1:])


def hovered(page: Page, figure: str, share: float) -> str:
    """Return the time that the chart of the bounds shows when the pointer is over a chart."""
    plot = page.locator(f"figure.{figure} .u-over")
    box = poll(plot.bounding_box, what="the plot")
    plot.hover(position={"x": share * box["width"], "y": 40})
    return page.locator(".bounds dl.readout dd").first.inner_text()


def test_both_charts_share_the_time_and_the_zoom(live: Live) -> None:
    find_trees(live)
    page = live.open()
    expect(page.locator(".score-readout")).to_be_visible()
    until(page, lambda: hovered(page, "scores", 0.5) == "2.0 s", "the cursor in both charts")
    assert hovered(page, "bounds", 0.5) == "2.0 s"
    page.locator("figure.scores .u-over").scroll_into_view_if_needed()
    box = poll(page.locator("figure.scores .u-over").bounding_box, what="the plot")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 50, steps=5)
    page.mouse.up()
    everything = page.get_by_role("button", name="Show all")
    expect(everything).to_be_visible()
    for figure in ("bounds", "scores"):  # from 2.0 s to 3.0 s
        until(page, lambda chart=figure: hovered(page, chart, 0.5) == "2.5 s", f"the zoom of {figure}")  # type: ignore[misc]
    live.worker.checkpoint(7.0)  # new points do not reset the zoom
    expect(live.fact("Lower bound")).to_have_text("7")
    assert hovered(page, "bounds", 0.5) == "2.5 s"
    everything.click()
    until(page, lambda: hovered(page, "scores", 0.25) in ("1.0 s", "1.1 s"), "all of the time")
    # The same by keyboard.
    page.mouse.move(0, 0)
    page.locator(".bounds .plot").focus()
    page.keyboard.press("+")
    expect(everything).to_be_visible()
    page.keyboard.press("0")
    expect(everything).to_have_count(0)


def test_the_link_keeps_the_tree_and_the_scales(live: Live) -> None:
    find_trees(live)
    page = live.open()
    choose(page, 2)
    page.get_by_label("Log scale").check()
    page.get_by_label("Log time").check()
    page.get_by_label("Score").select_option("Log loss")
    kept = "revision=2&log=1&logtime=1&score=log_loss"
    assert page.url.endswith(f"#/jobs/{live.worker.id}?{kept}")
    page.reload()
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 4")
    expect(page.get_by_label("Log scale")).to_be_checked()
    expect(page.get_by_label("Log time")).to_be_checked()
    expect(page.get_by_label("Score")).to_have_value("log_loss")
    page.get_by_role("button", name="Show the newest").click()
    page.get_by_label("Log scale").uncheck()
    assert page.url.endswith("?logtime=1&score=log_loss")


def test_a_model_of_the_chosen_tree(live: Live) -> None:
    find_trees(live)
    page = live.open()
    choose(page, 3)
    model = f"mdl_{32 * 'a'}"
    page.route("**/v1/jobs/*/models", lambda route: route.fulfill(status=201, json={"id": model}))
    page.get_by_role("button", name="Make a model of this tree").click()
    expect(page.get_by_role("link", name="Model of this tree")).to_have_attribute("href", f"#/models/{model}")
    sent = live.tab.sent("POST", "/models")
    assert [request.post_data_json for request in sent] == [{"revision": 3}]
    choose_newest = page.get_by_role("button", name="Show the newest")
    choose_newest.click()
    expect(page.get_by_role("button", name="Make a model of this tree")).to_be_visible()
