"""axe finds no problem in any view, in the light and the dark theme."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from tests.support.page.browser import Tab
from tests.support.page.page_data import Service
from tests.support.stack.stack import Stack


def open_leaf(page: Page) -> None:
    page.locator("svg.drawing .node.leaf").first.click()
    expect(page.locator(".rule").first).to_be_visible()


def refuse(page: Page) -> None:
    page.get_by_label("Set the parameters myself").check()
    page.get_by_text("More parameters").click()
    page.get_by_label("Depth").fill("99")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".field.wrong")).to_be_visible()


def open_labels(page: Page) -> None:
    page.get_by_role("button", name="Rename or tag").click()
    expect(page.get_by_label("Notes", exact=True)).to_be_visible()


def open_tour(page: Page) -> None:
    page.get_by_role("button", name="Tour", exact=True).click()
    expect(page.get_by_role("complementary", name="Tour")).to_be_visible()


def choose_file(page: Page) -> None:
    """Choose a file with a date, an id and a target that the server refuses."""
    rows = [f"{i},2024-01-{1 + i % 28:02},{'ab'[i % 2]},{i + 0.5}" for i in range(40)]
    text = "\n".join(["id,day,kind,target", *rows])
    page.locator("input[type=file]").set_input_files(
        {"name": "odd.csv", "mimeType": "text/csv", "buffer": text.encode()}
    )
    page.locator("summary").click()
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("tr.wrong")).to_be_visible()


def choose_columns(page: Page) -> None:
    page.get_by_role("checkbox", name="Choose all rows").check()
    page.locator("summary").filter(has_text="Columns").click()
    expect(page.get_by_role("group", name="Columns")).to_be_visible()


def rename(page: Page) -> None:
    page.get_by_role("button", name="Rename or tag").first.click()
    expect(page.get_by_role("dialog").get_by_label("New tag")).to_be_visible()


def put_in_production(page: Page) -> None:
    page.get_by_role("button", name="in production").first.click()
    expect(page.get_by_role("dialog").locator("tbody tr")).to_have_count(6)


def ask_for_many(page: Page) -> None:
    page.get_by_role("button", name="Many rows").click()
    page.get_by_label("Or paste rows").fill("length,width,zip,colour,fresh\n3,,10115,red,true\n")
    page.get_by_role("button", name="Predict", exact=True).click()
    expect(page.get_by_role("heading", name="1 prediction")).to_be_visible()


def wait_for_both(page: Page) -> None:
    for part in (".bounds .plot canvas", "svg.drawing"):
        expect(page.locator(part)).to_have_count(2)


def nothing(_: Page) -> None:
    pass


# The address, what must be visible, and what to do before the check.
VIEWS: dict[str, tuple[str, str, Callable[[Page], None]]] = {
    "datasets": ("/datasets", "table.list", open_tour),
    "new dataset": ("/datasets", "table.list", choose_file),
    "dataset": ("/datasets/{dataset}", "svg.histogram", open_labels),
    "train": ("/train?dataset={dataset}", "form .field", refuse),
    "jobs": ("/jobs", "table.data tbody tr", choose_columns),
    "rename": ("/models", "table.data tbody tr", rename),
    "job": ("/jobs/{job}", ".bounds .plot canvas", open_leaf),
    "jobs side by side": ("/jobs/{job},{other_job}", ".bounds .plot canvas", wait_for_both),
    "models": ("/models", "table.data tbody tr", put_in_production),
    "model": ("/models/{model}", "svg.drawing .node", open_leaf),
    "model's evaluation": ("/models/{model}?part=evaluation", "table.confusion", nothing),
    "model's use": ("/models/{model}?part=use", ".code pre", nothing),
    "model's details": ("/models/{model}?part=about", ".origin", nothing),
    "compare": ("/compare/{model}/{other}", "table.confusion", nothing),
    "predict": ("/predict/{model}", ".verdict", nothing),
    "predict many": ("/predict/{model}", ".verdict", ask_for_many),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violations(browser: Browser, page_stack: Stack, service: Service, theme: str) -> None:
    model, other = service.model(3), service.model(1)
    job, other_job = (service.client.get(f"/v1/models/{each}").json()["job_id"] for each in (model, other))
    ids = {"dataset": service.dataset, "model": model, "other": other, "job": job, "other_job": other_job}
    tab = Tab(browser, page_stack.url, color_scheme=theme, reduced_motion="reduce")
    tab.refusals.add(422)
    findings = {}
    for name, (place, there, act) in VIEWS.items():
        page = tab.go(place.format(**ids))
        expect(page.locator(there).first).to_be_visible()
        act(page)
        if name == "model":
            assert (
                page.locator(".node").first.evaluate("(e) => getComputedStyle(e).transitionDuration")
                == "0.001s"
            )
        # A theme can change only the contrast.
        rules = {} if theme == "light" else {"runOnly": ["color-contrast"]}
        violations = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
        findings[name] = [
            f"{entry['impact']} {entry['id']}: {node['html'][:160]}"
            for entry in violations
            for node in entry["nodes"]
        ]
        tab.shoot(f"axe-{theme}-{name}".replace(" ", "-").replace("'", ""))
        page.keyboard.press("Escape")
    tab.close()
    assert not any(findings.values()), json.dumps(findings, indent=2)
    assert tab.complaints == []
