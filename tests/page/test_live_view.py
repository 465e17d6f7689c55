"""The live view of a job: bounds by Server-Sent Events, better trees, controls and failures.

The worker is the test itself, so that each moment is known.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.support.page.browser import Tab, see
from tests.support.page.live_job import Live
from tests.support.page.page_data import Service, as_csv
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker, costs
from worker.domain.jobs import JobState, StopReason


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
    # Changes are marked in the tree and described.
    assert page.locator("svg.drawing .node.changed .mark text").count() >= 4
    expect(page.locator(".scrub + p")).to_contain_text(f"Cost {costs()[0]:g} to {costs()[2]:g}")
    expect(page.locator(".scrub + p")).to_contain_text("new node")

    live.worker.checkpoint(60.0, tree=4)
    live.worker.prove()
    expect(page.locator(".badge.good")).to_have_text("Proven optimal")
    expect(page.locator(".headline")).to_contain_text(
        f"Proven: no tree over the searched cuts costs less than {costs()[4]:g}."
    )
    expect(live.fact("Gap")).to_have_text("0 %")
    expect(page.get_by_role("group", name="Control the job")).to_have_count(0)
    expect(page.get_by_role("link", name="Open the model")).to_be_visible()
    # All of it came over one stream.
    streams = live.tab.sent("GET", "/events")
    assert len(streams) == 1
    assert streams[0].headers["accept"] == "text/event-stream"


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
    expect(page.locator(".scrub + p")).to_contain_text("The first tree")
    # A better tree does not replace an earlier tree that the user has chosen.
    live.worker.checkpoint(1.0, tree=3)
    expect(title).to_have_text("Tree 1 of 4")
    page.get_by_role("button", name="Show the newest").click()
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
    if verb == "Cancel":  # it makes no model, so the page asks for confirmation
        page.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
    see(page, "Stopping")
    assert live.worker.checkpoint(1.0).value == verb.lower()
    reason = StopReason.USER_FINISH if verb == "Finish" else StopReason.USER_CANCEL
    live.worker.finish(1.0, state=state, reason=reason)
    see(page, words)
    assert live.state() is state
    expect(page.get_by_role("link", name="Open the model")).to_have_count(int(verb == "Finish"))
    expect(page.locator("svg.drawing .node")).to_have_count(3)  # the trees stay visible


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
    expect(page.locator("tbody tr")).to_contain_text("As told.")
    expect(page.locator("tbody .badge.bad")).to_have_text("Failed")


def test_the_log_of_the_search(live: Live) -> None:
    live.worker.checkpoint(1.0, tree=1, log="The column 'x' was set aside.")
    page = live.open()
    page.get_by_text("Search log").click()
    see(page, "The column 'x' was set aside.")
    expect(page.get_by_text("lines are shown")).to_have_count(0)
    for number in range(50):
        live.worker.checkpoint(1.0, log=f"Line {number}.")
    see(page, "The last 50 of 51 lines are shown.")


def test_with_a_real_worker(tab: Tab, service: Service) -> None:
    """Go from the form to a model, with a search that would not end by itself."""
    cells = jobs.noise()
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    dataset = service.upload(as_csv(rows, tuple(cells)), "label", name="noise")
    page = tab.go(f"/train?dataset={dataset}")
    page.get_by_label("Set the parameters myself").check()
    page.get_by_label("Depth").fill("6")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1, name="noise, depth 6")).to_be_visible()
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    figures = page.locator(".job-facts .fact")
    expect(figures.filter(has_text="Expansions/s").locator("dd")).to_have_text(re.compile(r"[1-9]"))
    expect(figures.filter(has_text="Memory").locator("dd")).to_have_text(re.compile(r"[1-9].* [kM]B"))
    expect(page.locator("svg.drawing path.rows").first).to_be_attached()  # the rows of the nodes
    page.get_by_role("button", name="Pause").click()
    see(page, "Paused")
    page.get_by_role("button", name="Resume").click()
    see(page, "Searching")
    page.get_by_role("button", name="Finish").click()
    see(page, "Finished by you")
    page.get_by_role("link", name="Open the model").click()
    expect(page.get_by_role("button", name="Put in production")).to_be_visible()
    assert service.client.get(f"/v1/models/{page.url.rpartition('/')[2]}").status_code == 200


def test_an_unknown_job(api_tab: Tab) -> None:
    api_tab.refusals.add(404)
    page = api_tab.go(f"/jobs/job_{32 * 'f'}")
    expect(page.get_by_role("alert")).to_contain_text("There is no such job")
