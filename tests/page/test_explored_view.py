"""What the page shows of the explored share, the time left, the stages and the threads of a job."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.browser import Tab, see
from tests.support.page.live_job import Live
from tests.support.page.page_data import Service
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker, costs
from tests.support.stack.stack import Stack, poll
from worker.domain.jobs import JobState


def green(page: Page) -> int:
    """Return the number of pixels inside the axes that have the colour of the explored share.

    The area between the bounds tints it a little.
    """
    return int(
        page.evaluate(
            """() => {
              const canvas = document.querySelector(".bounds .plot canvas");
              const box = canvas.getBoundingClientRect();
              const over = document.querySelector(".bounds .plot .u-over").getBoundingClientRect();
              const ratio = canvas.width / box.width;
              const [x, width] = [(over.left - box.left) * ratio, over.width * ratio];
              const { data } = canvas.getContext("2d").getImageData(x, 0, width, canvas.height);
              let found = 0;
              for (let i = 0; i < data.length; i += 4)
                if (data[i] < 50 && data[i + 1] > 105 && data[i + 1] < 135 && data[i + 2] < 95) found += 1;
              return found;
            }"""
        )
    )


def test_the_share_and_the_time_left_in_words(live: Live) -> None:
    live.worker.checkpoint(0.0, tree=0)
    page = live.open()
    words, bar = page.locator(".job > .explored p"), page.get_by_role("progressbar")
    expect(words).to_contain_text(
        "Nothing of the search space is explored; the time left cannot be estimated yet."
    )
    live.worker.checkpoint(1.0, explored=0.0004, seconds_left=None)
    expect(words).to_contain_text("Less than 0.1 % of the search space is explored")
    live.worker.checkpoint(10.0, tree=1, explored=0.12, seconds_left=39.2)
    expect(words).to_contain_text("About 12 % of the search space is explored; about 40 s left (estimate).")
    assert bar.evaluate("bar => bar.value") == 0.12
    live.worker.checkpoint(11.0, explored=0.2, seconds_left=7200.0)
    expect(words).to_contain_text(
        "exploring the rest takes about 2 h (estimate), but the time limit comes first."
    )
    live.worker.checkpoint(12.0, explored=0.9999, seconds_left=0.1)
    expect(words).to_contain_text("About 99 % of the search space is explored; about 1 s left (estimate).")
    page.get_by_text("When the tree improved").click()
    expect(page.locator("details tbody tr td:last-child")).to_have_text(["12 %", "0 %"])
    live.worker.prove()
    expect(words).to_contain_text("All of the search space was explored.")
    assert bar.evaluate("bar => bar.value") == 1


def test_a_job_that_ends_without_a_proof(live: Live) -> None:
    live.worker.checkpoint(10.0, tree=0, explored=0.034, seconds_left=100.0)
    page = live.open()
    live.worker.finish(10.0)
    expect(page.locator(".job > .explored p")).to_contain_text(
        "About 3.4 % of the search space was explored."
    )


def test_the_share_in_the_chart(live: Live) -> None:
    for lower, share in ((0.0, 0.0), (10.0, 0.25), (10.0, 0.5), (20.0, 0.75)):
        live.worker.checkpoint(lower, tree=0 if lower == 0 else None, explored=share)
    page = live.open()
    expect(page.locator(".key.share")).to_be_visible()
    poll(lambda: green(page) > 100, what="the line of the explored share")
    readout = page.locator(".bounds dl.readout")
    expect(readout).to_contain_text("Explored75 %")
    page.locator(".bounds .plot").focus()
    page.keyboard.press("Home")
    expect(readout).to_contain_text("Explored0 %")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text("Explored50 %")
    label = page.locator(".bounds .plot").get_attribute("aria-label") or ""
    assert "75 % of the search space is explored." in label
    expect(page.locator(".key.wider")).to_have_count(0)
    expect(readout).not_to_contain_text("Stage")


def stage(number: int, space: str, explored: float, proven: str = "") -> dict[str, Any]:
    return {
        "stage": number,
        "space": space,
        "explored": explored,
        "proven_space": proven,
        "last_stage": False,
    }


def test_stages_of_ever_wider_spaces(live: Live) -> None:
    live.worker.checkpoint(0.0, tree=0, **stage(0, "adaptive 17", 0.5))
    live.worker.checkpoint(costs()[0], **stage(0, "adaptive 17", 1.0, "adaptive 17"))
    live.worker.checkpoint(30.0, tree=2, **stage(1, "shape 17", 0.25, "adaptive 17"))
    page = live.open()
    expect(page.locator(".key.wider")).to_be_visible()
    see(page, re.compile("At each vertical line the search went on to a wider space"))
    readout = page.locator(".bounds dl.readout")
    expect(readout).to_contain_text("Stage2, shape 17")
    expect(live.fact("Lower bound")).to_have_text("30")
    assert "trees of at most 17 leaves" in (
        page.locator(".job-facts .fact").filter(has_text="Lower bound").get_attribute("title") or ""
    )
    words = page.locator(".job > .explored p")
    expect(words).to_contain_text("About 25 % of stage 2 of the search is explored")
    expect(words).to_contain_text("The bounds are about trees over the cuts that trees of at most 17 leaves")
    expect(words).to_contain_text("Proven so far: the best tree over the cuts that trees of at most 17")
    page.locator(".bounds .plot").focus()
    page.keyboard.press("Home")
    expect(readout).to_contain_text("Stage1, adaptive 17")
    label = page.locator(".bounds .plot").get_attribute("aria-label") or ""
    assert "In its present stage, the upper bound" in label
    # The mark of the tree that was found in the second stage is where it was found.
    page.get_by_text("When the tree improved").click()
    expect(page.locator("details tbody tr")).to_have_count(2)


def test_the_list_shows_the_share(api: Stack, api_tab: Tab) -> None:
    dataset = jobs.add_dataset(api.store, api.blobs, jobs.easy())
    for name in ("first", "second"):
        api.store.jobs.submit(jobs.spec(dataset, name=name))
    worker = ActingWorker(api.store)
    worker.checkpoint(10.0, tree=0, explored=0.12, seconds_left=40.0)
    page = api_tab.go("/jobs")
    cards = page.locator(".card")
    expect(cards.filter(has_text="first").locator(".explored p")).to_have_text("12 % explored")
    expect(cards.filter(has_text="second").locator(".explored")).to_have_count(0)
    worker.finish(10.0)
    expect(page.locator("tbody tr").filter(has_text="first")).to_be_visible()
    expect(cards).to_have_count(1)


def test_a_job_of_version_0_1_0_has_no_share(live: Live) -> None:
    live.worker.checkpoint(10.0, tree=0)
    live.worker.finish(20.0, state=JobState.CANCELLED, reason=None)
    key = f"literati:job:{live.worker.id}"
    live.stack.connection.hdel(key, "explored", "seconds_left", "stage", "space", "threads")
    live.stack.connection.delete(f"{key}:trace")
    live.stack.connection.rpush(f"{key}:trace", "0.1 10 50.0 10.0", "0.2 20 50.0 20.0")
    page = live.open()
    expect(page.locator(".bounds dl.readout")).to_contain_text("Lower20")
    expect(page.locator(".explored")).to_have_count(0)
    expect(page.locator(".key.share")).to_have_count(0)
    assert green(page) == 0


@pytest.mark.parametrize("given", ["2", "-1"])
def test_threads_in_the_form(tab: Tab, service: Service, given: str) -> None:
    """The worker of these tests has two cores."""
    page = tab.go(f"/train?dataset={service.dataset}")
    page.get_by_label("Set the parameters myself").check()
    page.get_by_text("More parameters").click()
    page.get_by_label("Threads").fill(given)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("depth")
    see(page, re.compile("2 threads"))
    job = service.look(page.url.rpartition("/")[2])
    assert (job["parameters"]["n_threads"], job["threads"]) == (int(given), 2)


def test_threads_that_cannot_be(tab: Tab, service: Service) -> None:
    tab.refusals.add(422)
    page = tab.go(f"/train?dataset={service.dataset}")
    page.get_by_label("Set the parameters myself").check()
    page.get_by_text("More parameters").click()
    page.get_by_label("Threads").fill("0")
    page.get_by_role("button", name="Start").click()
    see(page, re.compile("-1 or an integer from 1 to 16"))
