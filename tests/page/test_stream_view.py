"""The events of a job when the connection breaks, hangs, is closed by a hidden tab, or misses some."""

from __future__ import annotations

import os
import re
import signal

from playwright.sync_api import Page, expect

from tests.support.page.browser import until
from tests.support.page.live_job import Live
from tests.support.stack.stack import Process


def open_with_tree(live: Live) -> Page:
    """Open the job when it has one tree; return when the record and the stream have delivered the tree."""
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 1")
    expect(page.get_by_text("When the tree improved")).to_be_visible()
    until(page, lambda: bool(live.tab.sent("GET", "/events")), "the stream")
    page.wait_for_timeout(1000)  # its first events have no sign on the page
    return page


def test_a_lost_connection_is_shown_and_restored(live: Live, api_process: list[Process]) -> None:
    live.worker.checkpoint(1.0, tree=0)
    page = open_with_tree(live)
    api_process[-1].stop()
    expect(page.locator(".lost")).to_contain_text("The connection is lost")
    expect(page.locator("svg.drawing .node")).to_have_count(3)  # the tree stays visible
    live.worker.checkpoint(2.0, tree=2)  # the page does not receive it
    api_process.append(live.stack.start_api())
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")
    expect(page.locator(".lost")).to_have_count(0)
    first, *later = live.tab.sent("GET", "/events")
    assert "last-event-id" not in first.headers
    assert re.fullmatch(r"\d+-\d+", later[-1].headers["last-event-id"])
    live.tab.complaints[:] = [text for text in live.tab.complaints if "net::ERR_" not in text]


def test_a_server_that_hangs_is_a_lost_connection(live: Live, api_process: list[Process]) -> None:
    """Requests hang without an answer, as behind a broken network."""
    live.worker.checkpoint(1.0, tree=0)
    live.page.clock.install()
    page = open_with_tree(live)
    server = api_process[-1].process.pid
    os.killpg(server, signal.SIGSTOP)
    try:
        page.clock.run_for(1_000)  # the next request for the job, until after its timeout
        page.clock.run_for(21_000)
        expect(page.locator(".lost")).to_contain_text("The connection is lost")
        page.clock.run_for(60_000)  # no data on the stream either
    finally:
        os.killpg(server, signal.SIGCONT)
    page.clock.resume()
    live.worker.checkpoint(2.0, tree=2)
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")
    expect(page.locator(".lost")).to_have_count(0)
    again = "last-event-id"
    until(page, lambda: again in live.tab.sent("GET", "/events")[-1].headers, "another stream")


HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def hide(page: Page) -> None:
    """Hide the page, as if another tab were opened; return when the stream is closed."""
    ended: list[str] = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    page.evaluate(HIDE, True)
    until(page, lambda: any("/events" in url for url in ended), "the stream's end")


def test_a_hidden_tab_closes_its_stream(live: Live) -> None:
    live.worker.checkpoint(1.0, tree=0)
    page = open_with_tree(live)
    hide(page)
    live.worker.checkpoint(1.0, tree=1)
    page.evaluate(HIDE, False)
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")
    assert "last-event-id" in live.tab.sent("GET", "/events")[-1].headers


def test_missed_events_are_loaded_again(live: Live) -> None:
    live.worker.checkpoint(0.0, tree=0)
    page = open_with_tree(live)
    hide(page)
    for lower in range(1, 9):
        live.worker.checkpoint(float(lower), tree=1 if lower == 4 else None)
    live.stack.connection.xtrim(f"literati:job:{live.worker.id}:events", maxlen=1, approximate=False)
    with page.expect_response("**/trace"):  # the job itself may arrive earlier, without the points between
        page.evaluate(HIDE, False)
    readout = page.locator(".bounds dl.readout")
    expect(readout).to_contain_text("Lower8")
    page.locator(".bounds .plot").focus()

    def at_the_point_before() -> bool:
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        return "Lower7" in (readout.text_content() or "")

    until(page, at_the_point_before, "the points of the trace")
    for lower in (6, 5):  # from the trace, point by point
        page.keyboard.press("ArrowLeft")
        expect(readout).to_contain_text(f"Lower{lower}")
