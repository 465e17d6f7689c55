"""Models: compare, parts of a model, put one in production, aliases, delete."""

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
        page.get_by_role("checkbox", name=f"Choose {name}", exact=True).check()
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
    # A model that is gone does not prevent the comparison of the others.
    tab.refusals.add(404)
    gone = f"mdl_{32 * 'f'}"
    tab.go(f"/compare/{ids[0]}/{gone}/{ids[1]}")
    expect(page.locator(".notice.warn")).to_have_text(f"This model does not exist any more: {gone}.")
    expect(page.locator("svg.drawing")).to_have_count(2)


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


def shown_model(model: dict[str, Any]) -> list[str]:
    """Return what the dialog shows of a model, computed from the API's response."""
    scores = model["metrics"]["validation"]
    interval = scores["accuracy_interval"]
    half = 50 * (interval["high"] - interval["low"])
    share = f"{100 * scores['accuracy']:.0f}"
    leaves = sum(node["split"] is None for node in model["tree"]["nodes"])
    return [f"{share} % ± {half:.0f} on {scores['rows']} rows", str(leaves)]


def dialog_model(page: Page, column: int) -> list[str]:
    lines = page.get_by_role("dialog").locator("table tbody tr")
    cells = {line.locator("th").inner_text(): line.locator("td").nth(column) for line in lines.all()}
    return [cells[name].inner_text() for name in ("Held-back accuracy", "Leaves")]


def test_an_alias_is_moved_and_moved_back(tab: Tab, service: Service) -> None:
    first, second = service.model(1), service.model(2)
    models = [service.client.get(f"/v1/models/{model}").json() for model in (first, second)]
    page = tab.go("/models")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Put flowers 1 in production").press("Enter")
    expect(dialog.get_by_label("Alias")).to_have_value("flowers.production")
    see(page, "No other model has this alias now.")
    assert dialog_model(page, 0) == shown_model(models[0])
    assert service.aliases() == {}  # nothing happens before the user confirms
    dialog.get_by_role("button", name="Set the alias").click()
    row = page.locator("tbody tr").filter(has=page.get_by_role("link", name="flowers 1", exact=True))
    expect(row.locator(".badge.live")).to_have_text("flowers.production")
    assert service.aliases() == {"flowers.production": first}
    expect(row.get_by_role("link", name="flowers 1", exact=True)).to_be_focused()  # the button is gone

    page.get_by_role("button", name="Put flowers 2 in production").click()
    expect(dialog.locator("thead th")).to_have_text(["Figure", "Now: flowers 1", "New: flowers 2"])
    assert [dialog_model(page, 0), dialog_model(page, 1)] == [shown_model(model) for model in models]
    dialog.get_by_role("button", name="Move the alias").click()
    expect(row.locator(".badge.live")).to_have_count(0)
    assert service.aliases() == {"flowers.production": second}
    page.get_by_role("group", name="Undo").get_by_role("button", name="Undo").click()
    expect(row.locator(".badge.live")).to_have_text("flowers.production")
    assert service.aliases() == {"flowers.production": first}

    # Remove it, take that back, and undo the first setting: then the alias is gone.
    page.get_by_role("link", name="flowers 1", exact=True).click()
    panel = page.get_by_role("region", name="Aliases")
    panel.get_by_role("button", name="Remove the alias flowers.production").press("Enter")
    expect(panel).to_contain_text("None")
    expect(panel.get_by_role("list", name="Aliases of this model")).to_be_focused()
    assert service.aliases() == {}
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(panel.locator(".chip")).to_have_text("flowers.production")
    assert service.aliases() == {"flowers.production": first}
    panel.get_by_role("button", name="Remove the alias flowers.production").click()
    expect(panel).to_contain_text("None")


def test_an_alias_that_was_moved_meanwhile_stays(tab: Tab, service: Service) -> None:
    first, second, third = (service.model(depth) for depth in (1, 2, 3))
    page = tab.go(f"/models/{second}")
    panel, dialog = page.get_by_role("region", name="Aliases"), page.get_by_role("dialog")
    panel.get_by_role("button", name="Set another alias").click()
    dialog.get_by_label("Alias").fill("plain")
    expect(dialog.get_by_role("button", name="Set the alias")).to_be_enabled()
    service.client.put("/v1/models/aliases/plain", json={"model_id": first})
    dialog.get_by_role("button", name="Set the alias").click()
    see(page, "The alias plain was changed in the meantime")
    assert service.aliases()["plain"] == first
    # The dialog has loaded the aliases again and shows the other model.
    expect(dialog.locator("thead th").nth(1)).to_have_text("Now: flowers 1")
    dialog.get_by_role("button", name="Move the alias").click()
    expect(panel.locator(".chip")).to_have_text("plain")
    assert service.aliases()["plain"] == second
    service.client.put("/v1/models/aliases/plain", json={"model_id": third})
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("group", name="Undo")).to_contain_text("was changed in the meantime")
    assert service.aliases()["plain"] == third
    service.client.delete("/v1/models/aliases/plain")


def test_aliases_are_added_and_removed(tab: Tab, service: Service) -> None:
    model = service.model(2)
    page = tab.go(f"/models/{model}")
    panel, dialog = page.get_by_role("region", name="Aliases"), page.get_by_role("dialog")
    panel.get_by_role("button", name="Set another alias").click()
    expect(page.get_by_role("dialog", name="Set an alias")).to_be_visible()
    expect(dialog.get_by_role("button", name="Set the alias")).to_be_disabled()
    tab.refusals.add(422)
    dialog.get_by_label("Alias").fill("Not A Name")
    dialog.get_by_role("button", name="Set the alias").click()
    expect(dialog.locator(".field.wrong .error")).to_contain_text("An alias has up to 64 lower-case letters")
    dialog.get_by_label("Alias").fill("spring.2026")
    page.keyboard.press("Enter")
    expect(panel.locator(".chip").filter(has_text="spring.2026")).to_be_visible()
    assert service.client.get("/v1/models/spring.2026").json()["id"] == model
    # A model that has an alias cannot be deleted; the page shows the reason.
    tab.refusals.add(409)
    page.get_by_role("button", name="Delete").click()
    see(page, "An alias names this model")
    panel.get_by_role("button", name="Remove the alias spring.2026").click()
    expect(panel.locator(".chip").filter(has_text="spring.2026")).to_have_count(0)


def test_what_could_not_be_loaded_is_not_called_empty(tab: Tab, service: Service) -> None:
    """Neither aliases nor names of datasets: the model may be in production, and the dataset may exist."""
    tab.refusals.add(500)
    model, problem = service.model(1), {"status": 500, "detail": "This failed."}
    tab.page.route("**/v1/models/aliases", lambda route: route.fulfill(status=500, json=problem))
    tab.page.route("**/v1/datasets?*", lambda route: route.fulfill(status=500, json=problem))
    page = tab.go("/models")
    row = page.locator("tbody tr").filter(has=page.get_by_role("link", name="flowers 1", exact=True))
    expect(row).to_contain_text(service.dataset[:9])
    expect(page.get_by_role("alert")).to_contain_text("This failed.")
    expect(page.get_by_role("button", name="in production")).to_have_count(0)
    expect(page.locator("main").get_by_text("Deleted")).to_have_count(0)
    tab.go(f"/models/{model}")
    panel = page.get_by_role("region", name="Aliases")
    expect(panel.get_by_role("alert")).to_contain_text("This failed.")
    expect(panel.get_by_text("None")).to_have_count(0)
    tab.page.unroute_all()
    panel.get_by_role("button", name="Try again").click()
    expect(panel).to_contain_text("None")


def test_delete_and_restore(tab: Tab, service: Service) -> None:
    job = service.wait(service.job("soon gone", parameters={"max_depth": 1}))
    model = job["model_id"]
    page = tab.go(f"/models/{model}")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1, name="Models")).to_be_visible()
    expect(page.locator("tbody th").get_by_role("link", name="flowers 2", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="soon gone")).to_have_count(0)
    assert service.client.get(f"/v1/models/{model}").status_code == 404
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("link", name="soon gone")).to_be_visible()
    assert service.client.get(f"/v1/models/{model}").json()["name"] == "soon gone"
    # The view of a deleted model offers to restore it.
    tab.refusals.add(404)
    service.client.delete(f"/v1/models/{model}")
    tab.go(f"/models/{model}")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("It can be restored until")
    expect(alert).not_to_contain_text("POST")
    alert.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("heading", level=1, name="soon gone")).to_be_visible()
    # Its job leads nowhere that does not exist, and makes the model again.
    service.client.delete(f"/v1/models/{model}")
    tab.go(f"/jobs/{job['id']}")
    expect(page.get_by_role("link", name="Predict with the best tree")).to_be_visible()
    expect(page.locator(f'a[href*="{model}"]')).to_have_count(0)
    page.get_by_role("button", name="Make a model of this tree").click()
    page.get_by_role("link", name="Model of this tree").click()
    expect(page.get_by_role("heading", level=1, name="soon gone")).to_be_visible()
    made = page.url.rpartition("/")[2]
    assert made != model
    service.client.delete(f"/v1/models/{made}")
