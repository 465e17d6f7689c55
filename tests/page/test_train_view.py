"""Train: a form with defaults and descriptions."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.support.page.browser import Tab, see
from tests.support.page.page_data import Service


def test_no_datasets_yet(api_tab: Tab) -> None:
    page = api_tab.go("/train")
    see(page, "No datasets yet")
    page.get_by_role("link", name="Add a dataset").click()
    expect(page.get_by_role("heading", level=1, name="Datasets")).to_be_visible()


def test_defaults_are_the_apis_and_every_parameter_has_a_sentence(tab: Tab, service: Service) -> None:
    page = tab.go(f"/train?dataset={service.dataset}")
    page.get_by_text("More parameters").click()
    fields = page.locator("form .field")
    assert fields.count() >= 16
    for i in range(fields.count()):
        sentence = fields.nth(i).locator(".help").inner_text()
        assert re.search(r"\w+ .*[.]$", sentence), sentence
    # The description changes with the value.
    page.get_by_label("Depth").fill("6")
    see(page, "up to 64 leaves")
    page.get_by_label("Change points").fill("1")
    see(page, "as in an ordinary tree")
    page.get_by_label("Depth").fill("4")
    page.get_by_label("Change points").fill("2")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.job")).to_be_visible()

    sent = tab.sent("POST", "/v1/jobs")[-1]
    assert sent.headers["idempotency-key"]
    started = service.look(page.url.rpartition("/")[2])
    plain = service.client.post(
        "/v1/jobs?validate_only=true", json={"dataset_id": service.dataset, "validation": {"fraction": 0.2}}
    ).json()
    assert started["parameters"] == plain["parameters"]
    assert started["limits"] == plain["limits"]
    assert started["validation"] == plain["validation"]
    assert started["name"] == "flowers, depth 4"
    service.client.post(f"/v1/jobs/{started['id']}/cancel")


def test_all_fields_are_sent(tab: Tab, service: Service) -> None:
    page = tab.go(f"/train?dataset={service.dataset}")
    page.get_by_text("More parameters").click()
    filled = {
        "Name": "all of it",
        "Depth": "2",
        "Change points": "3",
        "Penalty per split": "1.5",
        "Penalty per further cut": "0.5",
        "Time limit": "30",
        "Rows held back": "25",
        "Proposed cuts": "9",
        "Stop at a gap of": "5",
        "Patience": "20",
        "Memory limit": "500",
        "Expansions": "100000",
    }
    for name, text in filled.items():
        page.get_by_label(name, exact=True).fill(text)
    page.get_by_label("Where cuts may lie").select_option("quantile")
    page.get_by_label("Categories").select_option("one_hot")
    page.get_by_label("Balance the classes").check()
    page.get_by_label("Polish").uncheck()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1, name="all of it")).to_be_visible()
    job = service.look(page.url.rpartition("/")[2])
    parameters = {
        "max_depth": 2,
        "max_changepoints": 3,
        "split_penalty": 1.5,
        "changepoint_penalty": 0.5,
        "candidates": "quantile",
        "candidate_leaves": 9,
        "polish": False,
        "class_weight": "balanced",
        "categories": "one_hot",
    }
    assert parameters.items() <= job["parameters"].items()
    assert job["limits"] == {
        "time_limit": 30,
        "max_expansions": 100_000,
        "memory_limit": 500_000_000,
        "gap": 0.05,
        "gap_absolute": 0,
        "patience": 20,
    }
    assert job["validation"] == {"fraction": 0.25, "seed": 0}
    # "Train again" opens the form with the values of the job.
    service.wait(job["id"])
    page.get_by_role("link", name="Train again").click()
    page.get_by_text("More parameters").click()
    for name, text in filled.items():
        expect(page.get_by_label(name, exact=True)).to_have_value(text)
    page.get_by_label("Begin with the best tree of all of it").check()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.job")).to_be_visible()
    assert service.look(page.url.rpartition("/")[2])["parent_job_id"] == job["id"]


def test_errors_are_shown_at_their_fields(tab: Tab, service: Service) -> None:
    tab.refusals.add(422)
    page = tab.go(f"/train?dataset={service.dataset}")
    page.get_by_label("Depth").fill("99")
    page.get_by_label("Time limit").fill("-3")
    page.get_by_role("button", name="Start").click()
    depth, limit = page.get_by_label("Depth"), page.get_by_label("Time limit")
    expect(depth).to_have_attribute("aria-invalid", "true")
    expect(depth).to_be_focused()
    told = page.locator(".field.wrong")
    assert told.locator("label").all_text_contents() == ["Depth", "Time limit"]
    expect(told.first.locator(".error")).to_contain_text("12")
    expect(limit).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Name")).not_to_have_attribute("aria-invalid", "true")
    depth.fill("2")
    limit.fill("5")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.job")).to_be_visible()
