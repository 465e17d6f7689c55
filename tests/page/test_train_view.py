"""Train: a form with defaults and descriptions."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Page, Request, expect

from tests.support.page.browser import Tab, see
from tests.support.page.page_data import Service, as_csv, flowers


def test_no_datasets_yet(api_tab: Tab) -> None:
    page = api_tab.go("/train")
    see(page, "No datasets yet")
    page.get_by_role("link", name="Add a dataset").click()
    expect(page.get_by_role("heading", level=1, name="Datasets")).to_be_visible()


def own(tab: Tab, dataset: str, query: str = "") -> Page:
    """Open the form in which the user sets the parameters."""
    page = tab.go(f"/train?dataset={dataset}{query}")
    page.get_by_label("Set the parameters myself").check()
    return page


def sent(tab: Tab, path: str) -> Request:
    """Return the last request that started something, not one that only checked the form."""
    return [request for request in tab.sent("POST", path) if "validate_only" not in request.url][-1]


def checked(tab: Tab) -> dict[str, Any]:
    """Return the body of the last request about a sweep."""
    body: dict[str, Any] = json.loads(tab.sent("POST", "/v1/sweeps")[-1].post_data or "{}")
    return body


def test_defaults_are_the_apis_and_every_parameter_has_a_sentence(tab: Tab, service: Service) -> None:
    page = own(tab, service.dataset)
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

    assert sent(tab, "/v1/jobs").headers["idempotency-key"]
    started = service.look(page.url.rpartition("/")[2])
    plain = service.client.post(
        "/v1/jobs?validate_only=true", json={"dataset_id": service.dataset, "validation": {"fraction": 0.2}}
    ).json()
    assert started["parameters"] == plain["parameters"]
    assert started["limits"] == plain["limits"]
    assert started["validation"] == plain["validation"]
    assert re.fullmatch(
        r"flowers, depth 4, 2 change points( \(\d+\))?", started["name"]
    )  # a number if it is taken
    service.client.post(f"/v1/jobs/{started['id']}/cancel")


def test_names_differ(tab: Tab, service: Service) -> None:
    """The proposed name says what is not as usual, and has a number if there is such a job."""
    dataset = service.upload(as_csv(flowers(seed=8)), name="petals")
    page = own(tab, dataset)
    name = page.get_by_label("Name", exact=True)
    expect(name).to_have_value("petals, depth 4, 2 change points")
    page.get_by_label("Depth", exact=True).fill("1")
    page.get_by_label("Change points").fill("1")
    page.get_by_label("Penalty per split", exact=True).fill("2.5")
    expect(name).to_have_value("petals, depth 1, 1 change point, penalty 2.5")
    page.get_by_role("button", name="Start").click()
    expect(
        page.get_by_role("heading", level=1, name="petals, depth 1, 1 change point, penalty 2.5")
    ).to_be_visible()
    page.get_by_role("link", name="Train again").click()
    expect(name).to_have_value("petals, depth 1, 1 change point, penalty 2.5 (2)")
    page.get_by_label("Penalty per split", exact=True).fill("0")
    expect(name).to_have_value("petals, depth 1, 1 change point")
    name.fill("mine")
    page.get_by_label("Depth", exact=True).fill("2")
    expect(name).to_have_value("mine")


def test_all_fields_are_sent(tab: Tab, service: Service) -> None:
    page = own(tab, service.dataset)
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
    page.get_by_label("Criterion of proposed cuts").select_option("entropy")
    page.get_by_label("Class weights").select_option("balanced")
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
        "criterion": "entropy",
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
    for name, text in {**filled, "Name": "all of it (2)"}.items():
        expect(page.get_by_label(name, exact=True)).to_have_value(text)
    page.get_by_label("Begin with the best tree of all of it").check()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.job")).to_be_visible()
    copied = service.look(page.url.rpartition("/")[2])
    assert copied["parent_job_id"] == job["id"]
    assert copied["parameters"] == job["parameters"]


def test_parts_of_a_job_without_a_field_are_copied(tab: Tab, service: Service) -> None:
    odd = {"max_depth": 2, "candidate_leaves": [5, 3], "heuristic": "impurity", "class_weight": {"rose": 2.0}}
    held_back = {"fraction": 0.25, "seed": 7}
    job = service.job("odd", parameters=odd, validation=held_back)
    service.wait(job)
    page = tab.go(f"/train?from={job}")
    see(page, "Also copied")
    for word in ("candidate_leaves", "heuristic", "class_weight", "seed of the rows held back: 7"):
        see(page, word)
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.job")).to_be_visible()
    copied = service.look(page.url.rpartition("/")[2])
    assert odd.items() <= copied["parameters"].items()
    assert copied["validation"] == held_back  # the same rows
    tab.go(f"/train?from={job}")
    page.get_by_label("Find the best tree for me").check()
    expect(page.locator(".plan strong")).to_be_visible()
    assert checked(tab)["test"] == held_back
    page.get_by_label("Set the parameters myself").check()
    page.get_by_role("button", name="Leave out").click()
    expect(page.get_by_text("Also copied")).to_have_count(0)
    # Of a job that is deleted, the link keeps the dataset and what it presets.
    tab.refusals.add(404)
    service.client.delete(f"/v1/jobs/{job}")
    tab.go(f"/train?from={job}&dataset={service.dataset}&split_penalty=3")
    see(page, "The job whose parameters were to be copied is deleted")
    expect(page.get_by_label("Penalty per split")).to_have_value("3")
    expect(page.get_by_label("Dataset")).to_have_value(service.dataset)


def test_a_link_presets_fields(tab: Tab, service: Service) -> None:
    page = tab.go(f"/train?dataset={service.dataset}&split_penalty=2&min_samples_leaf=4&gap=0.05")
    expect(page.get_by_label("Set the parameters myself")).to_be_checked()
    expect(page.get_by_label("Penalty per split")).to_have_value("2")
    expect(page.get_by_label("Rows per interval")).to_be_visible()  # its section is open
    expect(page.get_by_label("Rows per interval")).to_have_value("4")
    expect(page.get_by_label("Stop at a gap of")).to_have_value("5")
    tab.go(f"/train?dataset={service.dataset}")
    expect(page.get_by_label("Find the best tree for me")).to_be_checked()
    tab.go(f"/train?dataset={service.dataset}&tune=1&metric=log_loss&folds=3")
    expect(page.get_by_label("Find the best tree for me")).to_be_checked()
    expect(page.get_by_label("Judge trees by")).to_have_value("log_loss")
    expect(page.get_by_label("Folds", exact=True)).to_have_value("3")
    expect(page.get_by_label("Folds", exact=True)).to_be_visible()
    # "Find the best tree for me" tries every penalty, whatever a link presets.
    tab.go(f"/train?dataset={service.dataset}&tune=1&split_penalty=12&probability_smoothing=3&max_depth=1,2")
    expect(page.locator(".plan")).to_contain_text("6 combinations")
    asked = checked(tab)
    assert asked["space"] == {"max_depth": [1, 2], "max_changepoints": [1, 2, 3], "split_penalty": "path"}
    assert asked["fixed"] == {}


def test_errors_are_shown_at_their_fields(tab: Tab, service: Service) -> None:
    tab.refusals.add(422)
    page = own(tab, service.dataset)
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


def test_the_form_is_checked_while_it_is_filled_in(tab: Tab, service: Service) -> None:
    """The server's complaint appears at the field, and its proposal is a button."""
    tab.refusals.add(422)
    page = own(tab, service.dataset)
    page.get_by_label("Depth").fill("99")
    expect(page.locator(".field.wrong label")).to_have_text("Depth")
    assert all("validate_only" in request.url for request in tab.sent("POST", "/v1/jobs"))
    page.get_by_role("button", name="Use 12").click()
    expect(page.get_by_label("Depth")).to_have_value("12")
    expect(page.locator(".field.wrong")).to_have_count(0)
    page.get_by_label("Depth").fill("two")
    expect(page.locator(".field.wrong .error")).to_contain_text("valid integer")


def test_a_list_of_values_becomes_a_sweep(tab: Tab, service: Service) -> None:
    tab.refusals.add(422)
    page = own(tab, service.dataset)
    page.get_by_text("More parameters").click()
    expect(page.get_by_label("Judge trees by")).to_have_count(0)
    page.get_by_label("Depth").fill("1, 2")
    page.get_by_label("Penalty per split").fill("0 4 8")
    page.get_by_label("Class weights").select_option("several")
    page.get_by_label("Every class weighs the same").check()
    page.get_by_label("Folds", exact=True).fill("3")
    expect(page.locator(".plan")).to_contain_text("12 combinations × 3 folds = 36 jobs")
    expect(page.get_by_label("Patience")).to_have_count(0)  # jobs of a sweep have no patience
    # A wrong value of the list is told at its field.
    page.get_by_label("Depth").fill("1, 99")
    expect(page.locator(".field.wrong label")).to_have_text("Depth")
    page.get_by_label("Depth").fill("1, 2")
    page.get_by_label("Judge trees by").select_option("balanced_accuracy")
    page.get_by_label("Time limit").fill("10")
    page.get_by_label("Rows held back").fill("10")
    expect(page.get_by_label("Name")).to_have_value(
        re.compile("flowers, depth 1/2, 2 change points, penalty 0/4/8")
    )
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.sweep")).to_be_visible()
    sweep = service.client.get(f"/v1/sweeps/{page.url.rpartition('/')[2]}").json()
    tried = {name: value for name, value in sweep["space"].items() if value is not None}
    assert tried == {"max_depth": [1, 2], "split_penalty": [0, 4, 8], "class_weight": [None, "balanced"]}
    assert sweep["fixed"] == {"max_changepoints": 2}
    assert sweep["metric"] == "balanced_accuracy"
    assert sweep["test"] == {"fraction": 0.1, "seed": 0}
    assert (sweep["limits"]["time_limit"], sweep["trial_limits"]["time_limit"]) == (3600, 10)
    assert sweep["progress"]["jobs"] == 36
    service.client.post(f"/v1/sweeps/{sweep['id']}/cancel")
    # "Train again" opens the form with the values of the sweep.
    page.get_by_role("link", name="Train again").click()
    expect(page.get_by_label("Set the parameters myself")).to_be_checked()
    expect(page.get_by_label("Depth")).to_have_value("1, 2")
    expect(page.get_by_label("Folds", exact=True)).to_have_value("3")
    expect(page.locator(".plan")).to_contain_text("36 jobs")


def test_the_best_tree_by_default(tab: Tab, service: Service) -> None:
    """The defaults are those of the API, with test rows and the time that is chosen."""
    page = tab.go(f"/train?dataset={service.dataset}")
    expect(page.get_by_label("Find the best tree for me")).to_be_checked()
    expect(page.locator(".plan")).to_contain_text("12 combinations × 5 folds = 60 jobs of at most 15 seconds")
    page.get_by_label("Time", exact=True).select_option("1 minute")
    expect(page.locator(".plan")).to_contain_text("of at most 3 seconds")
    expect(page.locator(".plan")).to_contain_text("After 1 minute no more are tried")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.sweep")).to_be_visible()
    found = service.client.get(f"/v1/sweeps/{page.url.rpartition('/')[2]}").json()
    service.client.post(f"/v1/sweeps/{found['id']}/cancel")
    plain = service.client.post("/v1/sweeps?validate_only=true", json={"dataset_id": service.dataset}).json()
    same = ("space", "fixed", "metric", "select", "strategy", "n_folds", "refit", "constraints", "validation")
    assert {name: found[name] for name in same} == {name: plain[name] for name in same}
    assert found["test"] == {"fraction": 0.2, "seed": 0}
    assert (found["limits"]["time_limit"], found["trial_limits"]["time_limit"]) == (60, 3)
    assert found["name"] == "flowers, best tree, 1 min"


def test_folds_of_a_column(tab: Tab, service: Service) -> None:
    tab.refusals.add(422)
    page = tab.go(f"/train?dataset={service.dataset}&tune=1&folds=2")
    page.get_by_label("Where folds come from").select_option("length")
    wrong = page.locator(".field.wrong")
    expect(wrong.locator("label")).to_have_text("Where folds come from")
    page.get_by_role("button", name="Draw the folds").click()
    expect(page.get_by_label("Where folds come from")).to_have_value("")
    expect(wrong).to_have_count(0)
    page.get_by_label("Where folds come from").select_option("colour")
    expect(page.locator(".plan")).to_contain_text("× 4 folds")
