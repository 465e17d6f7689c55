"""The frame of a job's view: parameters, the tab's title, notifications, badges, a server that is away."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, expect

from tests.support.page.browser import Tab, until
from tests.support.page.live_job import Live
from tests.support.page.made_metrics import metrics, scores
from tests.support.page.page_data import Service
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker, costs
from tests.support.stack.stack import Process, Stack
from worker.domain.jobs import StopReason


def test_parameters(tab: Tab, service: Service) -> None:
    job = service.job(
        "with parameters",
        parameters={
            "max_depth": 2,
            "split_penalty": 0.5,
            "candidates": "shape",
            "candidate_leaves": [9, 5],
        },
        limits={"time_limit": 30, "patience": 20},
        validation={"fraction": 0.25, "seed": 7},
    )
    found = service.wait(job)
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = tab.go(f"/jobs/{job}")
    panel = page.get_by_role("region", name="Parameters of with parameters")
    changed = panel.locator("dl").first
    expect(changed.locator("dd")).to_have_count(7)
    terms = changed.locator("dt").all_inner_texts()
    assert dict(zip(terms, changed.locator("dd").all_inner_texts(), strict=True)) == {
        "Rows held back validation": "25 %, seed 7",
        "Depth max_depth": "2",
        "Penalty per split split_penalty": "0.5 rows",
        "Where cuts may lie candidates": "shape",
        "Proposed cuts candidate_leaves": "9, 5",
        "Time limit time_limit": "30 seconds",
        "Patience patience": "20 seconds",
    }
    every = [*found["parameters"], *found["limits"], "validation"]
    expect(panel.locator("dl").nth(1)).to_be_hidden()
    panel.get_by_text("parameters have their defaults").click()
    assert sorted(panel.locator("code").all_inner_texts()) == sorted(every)
    panel.get_by_role("button", name="Copy candidate_leaves").click()
    assert page.evaluate("navigator.clipboard.readText()") == "candidate_leaves=[9,5]"
    panel.get_by_role("button", name="Copy as JSON").click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied == {name: found[name] for name in ("dataset_id", "parameters", "limits", "validation")}
    # It is a valid request.
    answer = service.client.post("/v1/jobs", json=copied)
    assert answer.status_code == 202, answer.text
    service.client.post(f"/v1/jobs/{answer.json()['id']}/cancel")


def test_the_title_of_the_tab(live: Live) -> None:
    page = live.open()
    expect(page).to_have_title("Reading the data, watched – Literati")
    live.worker.checkpoint(1.0, tree=0, explored=0.62)
    expect(page).to_have_title("62 % explored, watched – Literati")
    live.worker.prove()
    expect(page).to_have_title("Proven optimal, watched – Literati")
    live.tab.go("/jobs")
    expect(page).to_have_title("Jobs – Literati")


def test_a_hidden_tab_goes_on_to_tell_the_state(live: Live) -> None:
    live.worker.checkpoint(1.0, tree=0, explored=0.1)
    page = live.open()
    expect(page).to_have_title("10 % explored, watched – Literati")
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    live.worker.prove()
    expect(page).to_have_title("Proven optimal, watched – Literati")


STUB = """
window.asked = 0;
window.told = [];
window.Notification = class {
  static async requestPermission() { window.asked += 1; return window.answer ?? "granted"; }
  constructor(title, options) {
    window.told.push([title, options.body]);
    throw new TypeError("Illegal constructor."); // as on phones
  }
  close() {}
};
"""


class TestNotification:
    def test_it_tells_the_end_of_a_job(self, live: Live) -> None:
        live.tab.context.grant_permissions(["notifications"])
        live.tab.context.add_init_script(STUB)
        live.worker.checkpoint(1.0, tree=2, metrics=metrics(scores(300, costs()[2]), scores(120, 18)))
        page = live.open()
        button = page.get_by_role("button", name="Notify me when it ends")
        expect(button).to_have_attribute("aria-pressed", "false")
        assert page.evaluate("window.asked") == 0  # permission is asked for on a click only
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        live.tab.go("/datasets")  # whichever view is open
        live.worker.prove()
        page.wait_for_function("() => window.told.length > 0")
        assert page.evaluate("window.told") == [
            ["watched: Proven optimal", "85 % ± 6 right on 120 held-back rows."]
        ]
        # Where the browser does not show it, the page does.
        expect(page.get_by_role("group", name="Message")).to_have_text(
            "watched: Proven optimal. 85 % ± 6 right on 120 held-back rows."
        )
        live.open()
        expect(button).to_have_count(0)

    def test_it_can_be_taken_back_and_refused(self, live: Live) -> None:
        live.tab.context.add_init_script(STUB)
        live.worker.checkpoint(1.0, tree=2)
        page = live.open()
        button = page.get_by_role("button", name="Notify me when it ends")
        page.evaluate("window.answer = 'denied'")
        button.click()
        expect(page.get_by_text("The browser does not allow notifications")).to_be_visible()
        expect(button).to_have_attribute("aria-pressed", "false")
        page.evaluate("window.answer = 'granted'")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "false")
        live.worker.prove()
        expect(page.locator(".badge.good")).to_be_visible()
        page.wait_for_timeout(4000)
        assert page.evaluate("window.told") == []


@pytest.mark.parametrize(
    ("reason", "words", "colour"),
    [
        (StopReason.PROVEN_OPTIMAL, "Proven optimal", "good"),
        (StopReason.TIME_LIMIT, "Time limit reached", "rest"),
        (StopReason.USER_FINISH, "Finished by you", "rest"),
    ],
)
def test_only_a_proof_is_green(live: Live, reason: StopReason, words: str, colour: str) -> None:
    live.worker.checkpoint(1.0, tree=0)
    lower = live.worker.upper if reason is StopReason.PROVEN_OPTIMAL else 1.0
    live.worker.finish(lower, reason=reason)
    page = live.open()
    expect(page.locator(f".badge.{colour}")).to_have_text(words)
    live.tab.go("/jobs")
    expect(page.locator(f"tbody .badge.{colour}").first).to_have_text(words)


def test_a_server_that_is_away_is_not_asked_every_second(live: Live, api_process: list[Process]) -> None:
    live.worker.checkpoint(1.0, tree=0)
    page = live.open()
    expect(page.locator(".scrub strong")).to_have_text("Tree 1 of 1")
    api_process[-1].stop()
    expect(page.locator(".lost")).to_be_visible()
    page.wait_for_timeout(1500)  # requests that were on their way
    before = len(live.tab.sent("GET", "/v1/jobs/"))
    page.wait_for_timeout(5000)
    assert len(live.tab.sent("GET", "/v1/jobs/")) == before
    live.worker.checkpoint(2.0, tree=1)
    api_process.append(live.stack.start_api())
    expect(page.locator(".scrub strong")).to_have_text("Tree 2 of 2")
    until(page, lambda: len(live.tab.sent("GET", "/v1/jobs/")) > before, "another request")
    live.tab.complaints[:] = [text for text in live.tab.complaints if "net::ERR_" not in text]


def test_an_error_that_passes_leaves_no_notice(live: Live) -> None:
    live.tab.refusals.add(503)
    page = live.open()
    address, busy = f"**/v1/jobs/{live.worker.id}", {"detail": "The store is busy."}
    page.route(address, lambda route: route.fulfill(status=503, json=busy))
    expect(page.get_by_text("The store is busy.")).to_be_visible()
    page.unroute(address)
    expect(page.get_by_text("The store is busy.")).to_have_count(0)


def test_jobs_side_by_side_keep_their_own_tree(browser: Browser, api: Stack) -> None:
    """Their trees are not in the link, which belongs to both."""
    dataset = jobs.add_dataset(api.store, api.blobs, jobs.easy())
    workers = []
    for name in ("first", "second"):
        api.store.jobs.submit(jobs.spec(dataset, name=name))
        workers.append(ActingWorker(api.store))
        for tree in (0, 1, 2):
            workers[-1].checkpoint(1.0, tree=tree)
    tab = Tab(browser, api.url)
    page = tab.go("/jobs/" + ",".join(worker.id for worker in workers))
    first, second = (page.get_by_role("article", name=name) for name in ("first", "second"))
    first.get_by_role("button", name="Earlier tree").click()
    expect(first.locator(".scrub strong")).to_have_text("Tree 2 of 3")
    expect(second.locator(".scrub strong")).to_have_text("Tree 3 of 3")
    assert "revision" not in page.url
    assert tab.complaints == []
    tab.close()
