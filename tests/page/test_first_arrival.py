"""A first visit: the tour, and the sample data."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.page.browser import Tab, see
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack


def test_the_sample_data_is_one_click_away(api: Stack, api_tab: Tab) -> None:
    page = api_tab.go("/datasets")
    page.get_by_role("button", name="Try it with sample data").click()
    expect(page.get_by_role("heading", level=1, name="Train")).to_be_visible()
    with api.client() as client:
        [dataset] = client.get("/v1/datasets").json()["items"]
    sample = (ROOT / "examples" / "loans.csv").read_bytes()
    assert (dataset["name"], dataset["target"], dataset["bytes"]) == ("loans", "repaid", len(sample))
    assert dataset["rows"] == len(sample.splitlines()) - 1
    expect(page).to_have_url(f"{api.url}/#/train?dataset={dataset['id']}")
    expect(page.get_by_label("Dataset", exact=True)).to_have_value(dataset["id"])
    api_tab.go("/datasets")
    expect(page.get_by_role("link", name="loans", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Try it with sample data")).to_have_count(0)


def test_the_tour_is_shown_once_and_on_request(api_tab: Tab) -> None:
    page = api_tab.go("/datasets")
    tour = page.get_by_role("complementary", name="Tour")
    expect(tour.get_by_role("listitem")).to_have_count(3)
    expect(page.get_by_role("dialog")).to_have_count(0)  # the page can be used meanwhile
    assert page.evaluate("localStorage.length") == 0
    api_tab.go("/models")
    see(page, "No models yet")
    expect(tour).to_have_count(0)
    api_tab.go("/datasets")
    tour.get_by_role("button", name="Close the tour").click()
    expect(tour).to_have_count(0)
    page.reload()
    see(page, "No datasets yet")
    expect(tour).to_have_count(0)
    api_tab.go("/models")
    page.get_by_role("button", name="Tour", exact=True).click()
    expect(tour).to_be_focused()
    page.keyboard.press("Escape")
    expect(tour).to_have_count(0)
    expect(page.get_by_role("button", name="Tour", exact=True)).to_be_focused()
