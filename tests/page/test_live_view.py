"""A job, live: bounds by Server-Sent Events, trees as they improve, the verbs, and what goes wrong.

The worker is the test itself, so that each moment is known.
"""

from __future__ import annotations

import os
import re
import signal

import pytest
from playwright.sync_api import Locator, Page, expect

import jobs
from acting_worker import ActingWorker, costs
from browsing import Tab, see, until
from page_data import Service, as_csv
from stack import Process, Stack, poll
from worker.messages import JobState, StopReason


class Live:
    """A job with a worker, and a tab that looks at it."""

    def __init__(self, stack: Stack, tab: Tab) -> None:
        dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.easy())
        stack.store.jobs.submit(jobs.spec(dataset, name="watched"))
        self.stack, self.tab, self.page = stack, tab, tab.page
        self.worker = ActingWorker(stack.store)

    def open(self) -> Page:
        self.tab.go(f"/jobs/{self.worker.id}")
        expect(self.page.get_by_role("heading", level=1, name="watched")).to_be_visible()
        return self.page

    def fact(self, name: str) -> Locator:
        return self.page.locator(".job-facts .fact").filter(has_text=re.compile(f"^{name}")).locator("dd")

    def state(self) -> JobState:
        job = self.stack.store.jobs.get(jobs.TENANT, self.worker.id)
        assert job is not None
        return job.state


@pytest.fixture
def live(api: Stack, api_tab: Tab) -> Live:
    return Live(api, api_tab)


def colours(page: Page) -> int:
    """How many pixels of the plot have the colour of the upper bound."""
    return int(
        page.evaluate(
            """() => {
              const canvas = document.querySelector(".plot canvas");
              const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              let found = 0;
              for (let i = 0; i < data.length; i += 4)
                if (data[i] === 33 && data[i + 1] === 86 && data[i + 2] === 184) found += 1;
              return found;
            }"""
        )
    )


def lowest(page: Page) -> float:
    """How far above the bottom of the plot the lower bound's line is, in pixels."""
    return float(
        page.evaluate(
            """() => {
              const canvas = document.querySelector(".plot canvas");
              const box = canvas.getBoundingClientRect();
              const over = document.querySelector(".plot .u-over").getBoundingClientRect();
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
    """In one go, because the canvas is made anew when the scale changes."""
    return str(page.evaluate('document.querySelector(".plot canvas")?.toDataURL() ?? ""'))


def test_bounds_close_and_trees_improve(live: Live) -> None:
    page = live.open()
    see(page, "Reading the data")
    see(page, "No tree yet")
    live.worker.checkpoint(0.0, tree=0)
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 1")
    see(page, "Searching")
    expect(live.fact("Cost of the tree")).to_have_text(f"{costs()[0]:g}")
    nodes = page.locator("svg.drawing .node")
    assert nodes.count() == 3
    expect(page.locator("svg.drawing .mark")).to_have_count(0)

    live.worker.checkpoint(20.0, tree=2)
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")
    expect(nodes).to_have_count(7)
    expect(live.fact("Lower bound")).to_have_text("20")
    expect(live.fact("Gap")).to_have_text(f"{100 * (costs()[2] - 20) / costs()[2]:.1f} %")
    expect(live.fact("Expansions")).to_have_text(["20", re.compile(r"\d+")])
    expect(live.fact("Memory")).to_have_text("4.1 kB")
    # What changed is marked and told.
    assert page.locator("svg.drawing .node.changed .mark text").count() >= 4
    expect(page.locator(".scrub p")).to_contain_text(f"Cost {costs()[0]:g} to {costs()[2]:g}")
    expect(page.locator(".scrub p")).to_contain_text("new node")

    live.worker.checkpoint(60.0, tree=4)
    live.worker.prove()
    see(page, "Proven optimal after")
    expect(live.fact("Gap")).to_have_text("0 %")
    expect(page.get_by_role("group", name="Steer the job")).to_have_count(0)
    expect(page.get_by_role("link", name="Open the model")).to_be_visible()
    # One stream told all of it.
    streams = live.tab.sent("GET", "/events")
    assert len(streams) == 1
    assert streams[0].headers["accept"] == "text/event-stream"


def test_the_chart_reads_out_and_changes_its_scale(live: Live) -> None:
    for lower, tree in ((0.0, 0), (10.0, 1), (30.0, 2), (40.0, 4)):
        live.worker.checkpoint(lower, tree=tree)
    page = live.open()
    poll(lambda: colours(page) > 100, what="the upper bound's line")
    readout = page.locator("dl.readout")
    expect(readout).to_contain_text(f"Upper{costs()[4]:g}")
    plot = page.locator(".plot .u-over")
    box = plot.bounding_box()
    assert box is not None
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
    page.locator(".plot").focus()
    page.keyboard.press("Home")
    expect(readout).to_contain_text("Lower0")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text("Lower10")
    label = page.locator(".plot").get_attribute("aria-label")
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


def test_time_is_drawn_by_its_powers_too(live: Live) -> None:
    for lower, tree in ((0.0, 0), (10.0, 1), (30.0, 2)):
        live.worker.checkpoint(lower, tree=tree)
    page = live.open()
    poll(lambda: colours(page) > 100, what="the upper bound's line")
    linear = pixels(page)
    page.get_by_label("Log time").check()
    poll(lambda: pixels(page) != linear, what="another scale")
    plot = page.locator(".plot .u-over")
    box = plot.bounding_box()
    assert box is not None
    plot.hover(position={"x": box["width"] - 2, "y": 20})
    expect(page.locator("dl.readout")).to_contain_text("Lower10")  # 0.1 s, 0.2 s, 0.3 s: just before the last
    plot.hover(position={"x": 2, "y": 20})
    expect(page.locator("dl.readout")).to_contain_text("Lower0")


def test_a_polished_tree_has_a_line_of_its_own(live: Live) -> None:
    """It may cost less than the upper bound, which is about the searched cuts."""
    live.worker.checkpoint(0.0, tree=0)
    page = live.open()
    expect(page.locator("dl.readout")).to_contain_text("Tree1")
    expect(page.locator(".key.cost")).to_have_count(0)
    word = live.worker._word(10.0, 2)
    trace = [point.model_copy(update={"upper": costs()[1]}) for point in word.trace]
    better = word.model_copy(update={"upper_bound": costs()[1], "trace": trace})
    live.stack.store.jobs.checkpoint(live.worker.id, live.worker.epoch, better)
    expect(page.locator(".key.cost")).to_be_visible()
    expect(live.fact("Cost of the tree")).to_have_text(f"{costs()[2]:g}")
    expect(live.fact("Upper bound")).to_have_text(f"{costs()[1]:g}")
    expect(page.locator("dl.readout")).to_contain_text(f"Tree2, cost {costs()[2]:g}")
    see(page, "polishing moves a tree's cuts")


def test_a_click_on_a_mark_shows_that_tree(live: Live) -> None:
    for lower, tree in ((0.0, 0), (10.0, 1), (30.0, 2)):
        live.worker.checkpoint(lower, tree=tree)
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 3 of 3")
    poll(lambda: colours(page) > 100, what="the chart")
    page.locator(".plot .u-over").click(position={"x": 4, "y": 20})
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 3")
    page.get_by_text("When the tree improved").click()
    page.get_by_role("button", name="Tree 2", exact=True).click()
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 3")


def test_scrub_back_through_earlier_trees(live: Live) -> None:
    for tree in (0, 1, 2):
        live.worker.checkpoint(1.0, tree=tree)
    page = live.open()
    title, nodes = page.locator(".scrub strong"), page.locator("svg.drawing .node")
    expect(nodes).to_have_count(7)
    page.get_by_role("button", name="Earlier tree").click()
    expect(title).to_have_text("Tree 2 of 3")
    expect(nodes).to_have_count(3)
    slider = page.get_by_role("slider", name="Tree of the job")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(title).to_have_text("Tree 1 of 3")
    expect(page.locator(".scrub p")).to_contain_text("The first tree")
    # A better tree does not take the reader away from an earlier one.
    live.worker.checkpoint(1.0, tree=3)
    expect(title).to_have_text("Tree 1 of 4")
    page.get_by_role("button", name="Follow the newest").click()
    expect(title).to_have_text("Tree 4 of 4")
    live.worker.checkpoint(1.0, tree=4)
    expect(title).to_have_text("Tree 5 of 5")


@pytest.mark.parametrize(
    ("verb", "words", "state"),
    [("Finish", "Finished by you", JobState.SUCCEEDED), ("Cancel", "Cancelled", JobState.CANCELLED)],
)
def test_finish_and_cancel(live: Live, verb: str, words: str, state: JobState) -> None:
    live.worker.checkpoint(1.0, tree=1)
    page = live.open()
    page.get_by_role("button", name=verb).click()
    if verb == "Cancel":  # it makes no model: that is worth a question
        page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
    see(page, "Stopping")
    assert live.worker.checkpoint(1.0).value == verb.lower()
    reason = StopReason.USER_FINISH if verb == "Finish" else StopReason.USER_CANCEL
    live.worker.finish(1.0, state=state, reason=reason)
    see(page, words)
    assert live.state() is state
    expect(page.get_by_role("link", name="Open the model")).to_have_count(int(verb == "Finish"))
    expect(page.locator("svg.drawing .node")).to_have_count(3)  # the trees stay to be looked at


def test_pause_and_resume(live: Live) -> None:
    live.worker.checkpoint(1.0, tree=1)
    page = live.open()
    page.get_by_role("button", name="Pause").click()
    see(page, "Pausing")
    live.worker.finish(1.0, state=JobState.PAUSED, reason=None)
    see(page, "Paused")
    page.get_by_role("button", name="Resume").click()
    see(page, "Waiting for a worker")
    again = ActingWorker(live.stack.store)
    again.checkpoint(5.0, tree=2)
    see(page, "Searching")
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")


def test_a_job_that_fails_says_why(live: Live) -> None:
    live.worker.checkpoint(1.0, tree=1)
    page = live.open()
    live.worker.finish(1.0, state=JobState.FAILED, reason=StopReason.ERROR)
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("This job failed")
    expect(notice).to_contain_text("As told.")
    expect(notice).to_contain_text("INTERNAL")
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Jobs").click()
    expect(page.locator(".card")).to_contain_text("As told.")
    expect(page.locator(".card .badge.bad")).to_have_text("Failed")


def test_notes_of_the_search(live: Live) -> None:
    live.worker.checkpoint(1.0, tree=1, log="The column 'x' was set aside.")
    page = live.open()
    page.get_by_text("Notes of the search").click()
    see(page, "The column 'x' was set aside.")


def test_a_lost_connection_is_told_and_taken_up_again(live: Live, api_process: list[Process]) -> None:
    live.worker.checkpoint(1.0, tree=0)
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 1")
    api_process[-1].stop()
    expect(page.locator(".lost")).to_contain_text("The connection is lost")
    expect(page.locator("svg.drawing .node")).to_have_count(3)  # what was there stays
    live.worker.checkpoint(2.0, tree=2)  # nobody hears of it now
    api_process.append(live.stack.start_api())
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")
    expect(page.locator(".lost")).to_have_count(0)
    first, *later = live.tab.sent("GET", "/events")
    assert "last-event-id" not in first.headers
    assert re.fullmatch(r"\d+-\d+", later[-1].headers["last-event-id"])
    live.tab.complaints[:] = [text for text in live.tab.complaints if "net::ERR_" not in text]


def test_a_server_that_hangs_is_a_lost_connection(live: Live, api_process: list[Process]) -> None:
    """It refuses nothing and answers nothing, as behind a dead line."""
    live.worker.checkpoint(1.0, tree=0)
    live.page.clock.install()
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 1")
    server = api_process[-1].process.pid
    os.killpg(server, signal.SIGSTOP)
    try:
        page.clock.run_for(1_000)  # the next look at the job, and more than anybody waits for it
        page.clock.run_for(21_000)
        expect(page.locator(".lost")).to_contain_text("The connection is lost")
        page.clock.run_for(60_000)  # no sign of life on the stream either
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
    """As if another tab were before it; returns when the stream is given back."""
    ended: list[str] = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    page.evaluate(HIDE, True)
    until(page, lambda: any("/events" in url for url in ended), "the stream's end")


def test_a_tab_that_nobody_sees_gives_its_stream_back(live: Live) -> None:
    live.worker.checkpoint(1.0, tree=0)
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 1")
    hide(page)
    live.worker.checkpoint(1.0, tree=1)
    page.evaluate(HIDE, False)
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")
    assert "last-event-id" in live.tab.sent("GET", "/events")[-1].headers


def test_events_that_are_gone_do_not_leave_a_gap(live: Live) -> None:
    live.worker.checkpoint(0.0, tree=0)
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 1")
    hide(page)
    for lower in range(1, 9):
        live.worker.checkpoint(float(lower), tree=1 if lower == 4 else None)
    live.stack.connection.xtrim(f"literati:job:{live.worker.id}:events", maxlen=1, approximate=False)
    page.evaluate(HIDE, False)
    readout = page.locator("dl.readout")
    expect(readout).to_contain_text("Lower8")
    page.locator(".plot").focus()
    for lower in (7, 6, 5):  # from the trace, point by point
        page.keyboard.press("ArrowLeft")
        expect(readout).to_contain_text(f"Lower{lower}")


def test_with_a_real_worker(tab: Tab, service: Service) -> None:
    """From the form to a model, on a search that would not end by itself."""
    cells = jobs.noise()
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    dataset = service.upload(as_csv(rows, tuple(cells)), "label", name="noise")
    page = tab.go(f"/train?dataset={dataset}")
    page.get_by_label("Depth").fill("6")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1, name="noise, depth 6")).to_be_visible()
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    figures = page.locator(".job-facts .fact")
    expect(figures.filter(has_text="Expansions/s").locator("dd")).to_have_text(re.compile(r"[1-9]"))
    expect(figures.filter(has_text="Memory").locator("dd")).to_have_text(re.compile(r"[1-9].* [kM]B"))
    expect(page.locator("svg.drawing .bar").first).to_be_attached()  # distributions of the dataset
    page.get_by_role("button", name="Pause").click()
    see(page, "Paused")
    page.get_by_role("button", name="Resume").click()
    see(page, "Searching")
    page.get_by_role("button", name="Finish").click()
    see(page, "Finished by you")
    page.get_by_role("link", name="Open the model").click()
    expect(page.get_by_role("button", name="Put in production")).to_be_visible()
    assert service.client.get(f"/v1/models/{page.url.rpartition('/')[2]}").status_code == 200


def test_a_job_that_is_not_there(api_tab: Tab) -> None:
    api_tab.refusals.add(404)
    page = api_tab.go(f"/jobs/job_{32 * 'f'}")
    expect(page.get_by_role("alert")).to_contain_text("There is no such job")
