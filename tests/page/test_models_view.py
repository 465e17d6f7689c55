"""Models: list, compare, parts of a model, name the one in production, delete."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.page.browser import Tab, see
from tests.support.page.page_data import Service


def test_no_models_yet(api_tab: Tab) -> None:
    page = api_tab.go("/models")
    see(page, "No models yet")


def test_two_models_side_by_side(tab: Tab, service: Service) -> None:
    small, large = service.model(1), service.model(3)
    page = tab.go("/models")
    expect(page.get_by_role("button", name="Compare")).to_be_disabled()
    for name in ("flowers 1", "flowers 3"):
        page.get_by_role("checkbox", name=f"Compare {name}", exact=True).check()
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_role("heading", name="Compare models")).to_be_visible()
    models = [service.client.get(f"/v1/models/{model}").json() for model in (small, large)]
    cells = figures(page)
    for name, metric in (("Held-back accuracy", "validation"), ("Training accuracy", "train")):
        for model, text in zip(models, cells[name], strict=True):
            scores = model["metrics"][metric]
            interval = scores["accuracy_interval"]
            shown = [float(part) for part in re.findall(r"[\d.]+", text)]
            assert shown == pytest.approx(
                [100 * scores["accuracy"], 50 * (interval["high"] - interval["low"])], abs=0.51
            )
    leaves = [sum(node["split"] is None for node in model["tree"]["nodes"]) for model in models]
    assert [int(re.sub(r"\D", "", text)) for text in cells["Leaves"]] == leaves
    assert "Balanced accuracy, held-back rows" in cells
    # The better value of each line is highlighted.
    winners = page.locator("table.compare td.strong")
    assert winners.count() >= 2
    check_matrices(page, models, "validation")
    page.get_by_role("group", name="Rows").get_by_role("button", name="Training rows").click()
    assert "Balanced accuracy, training rows" in figures(page)
    check_matrices(page, models, "train")
    expect(page.locator("svg.drawing")).to_have_count(2)
    page.get_by_role("button", name="Row %").click()
    page.reload()  # the link keeps the choices
    expect(page.locator("table.confusion caption").first).to_have_text("Training rows")
    expect(page.get_by_role("button", name="Row %")).to_have_attribute("aria-pressed", "true")


def figures(page: Page) -> dict[str, list[str]]:
    expect(page.get_by_role("region", name="Figures").locator("tbody tr")).to_have_count(11)
    table = page.get_by_role("region", name="Figures").locator("tbody tr")
    return {
        line.locator("th").inner_text(): line.locator("td").all_text_contents()
        for line in (table.nth(i) for i in range(table.count()))
    }


def check_matrices(page: Page, models: list[dict[str, Any]], rows: str) -> None:
    matrices = page.locator("table.confusion")
    expect(matrices).to_have_count(2)
    for i, model in enumerate(models):
        counts = [int(text) for text in matrices.nth(i).locator("td:not(.total)").all_text_contents()]
        expected = model["metrics"][rows]["confusion_matrix"]["counts"]
        assert counts == [count for row in expected for count in row]


def test_parameters_are_compared(tab: Tab, service: Service) -> None:
    ids = [service.model(depth) for depth in (1, 2, 3)]
    page = tab.go(f"/compare/{'/'.join(ids)}")
    changed = page.get_by_role("region", name="Parameters", exact=True).locator("tbody tr")
    expect(changed).to_have_count(1)
    assert changed.locator("th").inner_text() == "max_depth"
    assert changed.locator("td").all_text_contents() == ["1", "2", "3"]
    parameters = service.client.get(f"/v1/models/{ids[0]}").json()["parameters"]
    page.get_by_text(f"{len(parameters) - 1} parameters that are the same").click()
    same = page.get_by_role("region", name="Equal parameters").locator("tbody tr")
    assert set(same.locator("th").all_text_contents()) == set(parameters) - {"max_depth"}
    expect(page.locator("svg.drawing")).to_have_count(3)


def test_parts_of_a_model(tab: Tab, service: Service) -> None:
    model = service.client.get(f"/v1/models/{service.model()}").json()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = tab.go(f"/models/{model['id']}")
    held = model["metrics"]["validation"]
    expect(page.locator(".headline")).to_contain_text(f"right on {held['rows']} held-back rows")
    page.get_by_role("tab", name="About").click()
    assert "part=about" in page.url
    page.reload()
    origin = page.get_by_role("region", name="Origin")
    for name, key in (("Model", "id"), ("Dataset", "dataset_id"), ("SHA-256 of the data", "dataset_sha256")):
        expect(origin).to_contain_text(model[key])
        origin.get_by_role("button", name=f"Copy the id: {name}").click()
        assert page.evaluate("navigator.clipboard.readText()") == model[key]
    parameters = page.get_by_role("region", name="Parameters")
    shown = parameters.locator("tbody tr")
    assert sorted(shown.locator("th").all_text_contents()) == sorted(model["parameters"])
    assert shown.first.locator("th").inner_text() == "max_depth"  # not the default, so it comes first
    parameters.get_by_role("button", name="Copy max_depth").click()
    assert page.evaluate("navigator.clipboard.readText()") == "max_depth=3"
    parameters.get_by_role("button", name="Copy as JSON").click()
    assert json.loads(page.evaluate("navigator.clipboard.readText()")) == model["parameters"]


def test_one_model_is_in_production(tab: Tab, service: Service) -> None:
    first, second = service.model(1), service.model(2)
    page = tab.go("/models")
    page.get_by_role("button", name="Use flowers 1 in production").click()
    row = page.locator("tbody tr").filter(has=page.get_by_role("link", name="flowers 1", exact=True))
    expect(row).to_contain_text("In production")
    assert service.client.get("/v1/models/aliases/production").json()["model_id"] == first
    page.get_by_role("link", name="flowers 2", exact=True).click()
    page.get_by_role("button", name="Use in production").click()
    expect(page.get_by_role("region", name="Names").locator(".chip")).to_contain_text("production")
    assert service.client.get("/v1/models/production").json()["id"] == second


def test_names_are_added_and_removed(tab: Tab, service: Service) -> None:
    model = service.model(2)
    page = tab.go(f"/models/{model}")
    names = page.get_by_role("region", name="Names")
    names.get_by_label("Another name").fill("spring.2026")
    names.get_by_role("button", name="Add").click()
    expect(names.locator(".chip").filter(has_text="spring.2026")).to_be_visible()
    assert service.client.get("/v1/models/spring.2026").json()["id"] == model
    tab.refusals.add(422)
    names.get_by_label("Another name").fill("Not A Name")
    names.get_by_role("button", name="Add").click()
    expect(names.locator(".field.wrong .error")).to_contain_text("Expected a name")
    # A model that has a name cannot be deleted; the page shows the reason.
    tab.refusals.add(409)
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    see(page, "An alias names this model")
    names.get_by_role("button", name="Remove the name spring.2026").click()
    expect(names.locator(".chip").filter(has_text="spring.2026")).to_have_count(0)


def test_delete(tab: Tab, service: Service) -> None:
    model = service.wait(service.job("soon gone", parameters={"max_depth": 1}))["model_id"]
    page = tab.go(f"/models/{model}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1, name="Models")).to_be_visible()
    expect(page.get_by_role("link", name="soon gone")).to_have_count(0)
    assert service.client.get(f"/v1/models/{model}").status_code == 404
