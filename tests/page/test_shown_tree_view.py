"""Which of a job's trees is shown: by a link, by the scrubber, and when the job ends."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from tests.support.page.browser import until
from tests.support.page.live_job import Live


def open_with_trees(live: Live, *trees: int) -> Page:
    for tree in trees:
        live.worker.checkpoint(1.0, tree=tree)
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text(f"Tree {len(trees)} of {len(trees)}")
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    return page


def test_another_link_and_the_end_of_the_job(live: Live) -> None:
    page = open_with_trees(live, 0, 2, 3)
    live.tab.go(f"/jobs/{live.worker.id}?revision=2&node=2")
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 3")
    expect(page.locator('svg.drawing [data-node="2"].selected')).to_be_visible()
    assert page.url.endswith("?revision=2&node=2")
    page.get_by_role("button", name="Show the newest").click()
    drawer = page.locator(".drawer")
    expect(drawer).to_have_count(0)  # another tree has other nodes
    page.locator('svg.drawing [data-node="1"]').click()
    expect(drawer).to_be_visible()
    before = len(live.tab.sent("GET", "/incumbent"))
    live.worker.prove()
    expect(page.locator(".badge.good")).to_be_visible()
    until(page, lambda: len(live.tab.sent("GET", "/incumbent")) > before, "the tree with its last bounds")
    page.wait_for_timeout(300)
    expect(drawer).to_be_visible()  # the tree is the same
    assert page.url.endswith("?node=1")


def test_the_scrubber_does_not_wait_for_the_trees(live: Live) -> None:
    page = open_with_trees(live, 0, 1, 2, 3)
    slow: list[Route] = []
    page.route("**/incumbent?revision=*", lambda route: slow.append(route))
    slider = page.get_by_role("slider", name="Tree of the job")
    for _ in range(2):
        slider.press("ArrowLeft")
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 4")
    expect(slider).to_have_value("2")
    until(page, lambda: slow, "a request")
    page.unroute("**/incumbent?revision=*")  # now they are answered
    expect(page.locator("svg.drawing .node")).to_have_count(3)


def test_a_tree_that_is_not_kept(live: Live) -> None:
    def scores(route: Route) -> None:
        answer = route.fetch()
        body = answer.json() if answer.ok else {"points": []}
        route.fulfill(response=answer, json={**body, "points": body["points"][1:]})

    live.tab.refusals.add(404)
    live.page.route("**/scores", scores)
    live.page.route(
        "**/incumbent?revision=1",
        lambda route: route.fulfill(status=404, json={"detail": "Not kept any more."}),
    )
    page = open_with_trees(live, 0, 1, 2)
    slider = page.get_by_role("slider", name="Tree of the job")
    expect(slider).to_have_attribute("min", "2")
    page.get_by_role("button", name="Earlier tree").click()
    expect(page.get_by_role("button", name="Earlier tree")).to_be_disabled()
    # A link may still name it.
    live.tab.go(f"/jobs/{live.worker.id}?revision=1")
    expect(page.locator(".job-tree .notice")).to_contain_text("Not kept any more.")
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 3")
    expect(page.locator('.job-facts [aria-label^="Tree "]')).to_have_count(0)
    page.get_by_role("button", name="Show the newest").click()
    expect(page.locator("svg.drawing .node")).to_have_count(7)
    expect(page.locator('.job-facts [aria-label="Tree 3"]')).to_be_visible()
