"""Sweeps: progress, the choice, leaderboard, charts, trials and trees are those of the API."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from tests.support.page.browser import Tab, saved, see, until
from tests.support.page.page_data import Service
from tests.support.records import jobs, sweep_results, sweeps
from tests.support.stack.stack import Stack, poll

# Two depths with one and two change points on three folds, each with all penalties.
SMALL: dict[str, Any] = {
    "space": {"max_depth": [1, 2], "max_changepoints": [1, 2], "split_penalty": "path"},
    "validation": {"folds": 3},
    "test": {"fraction": 0.2},
    "trial_limits": {"time_limit": 5},
}
LONG: dict[str, Any] = {  # more jobs than end while a test looks
    "space": {"max_depth": [4, 5], "max_changepoints": [2, 3], "min_samples_leaf": [1, 2, 3, 4, 5]},
    "trial_limits": {"time_limit": 2},
}


def start(service: Service, name: str, **fields: Any) -> str:
    answer = service.client.post("/v1/sweeps", json={"dataset_id": service.dataset, "name": name, **fields})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def look(service: Service, sweep: str, part: str = "") -> dict[str, Any]:
    found: dict[str, Any] = service.client.get(f"/v1/sweeps/{sweep}{part}").json()
    return found


def wait(service: Service, sweep: str, *states: str) -> dict[str, Any]:
    wanted = states or ("SUCCEEDED",)
    poll(lambda: look(service, sweep)["state"] in wanted, seconds=60, what=f"{sweep} to be {wanted}")
    return look(service, sweep)


@pytest.fixture(scope="module")
def done(service: Service) -> str:
    """Return the id of a sweep that has ended."""
    sweep = start(service, "small sweep", **SMALL)
    wait(service, sweep)
    return sweep


@pytest.fixture
def long_sweep(service: Service) -> Iterator[str]:
    sweep = start(service, "long sweep", **LONG)
    yield sweep
    service.client.post(f"/v1/sweeps/{sweep}/cancel")


def opened(tab: Tab, sweep: str, query: str = "") -> Page:
    page = tab.go(f"/sweeps/{sweep}{query}")
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    return page


def percent(share: float) -> str:
    value = 100 * share
    rounded = Decimal(value).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{value:g} %" if value == int(value) else f"{rounded} %"


def score(trial: dict[str, Any]) -> str:
    error = Decimal(100 * trial["standard_error"]).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{percent(trial['mean'])} ± {error}"


def complete(service: Service, sweep: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = look(service, sweep, "/trials?limit=10000&state=SUCCEEDED")["items"]
    return items


def test_from_the_form_to_a_model(tab: Tab, service: Service) -> None:
    """Submit the defaults with a small budget, and watch the sweep to its end."""
    page = tab.go(f"/train?dataset={service.dataset}")
    page.get_by_text("What is tried").click()
    page.get_by_label("Depths").fill("1, 2")
    page.get_by_label("Change points").fill("1, 2")
    page.get_by_label("Folds", exact=True).fill("3")
    page.get_by_label("Time", exact=True).select_option("1 minute")
    expect(page.locator(".plan")).to_contain_text("4 combinations × 3 folds = 12 jobs")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.sweep")).to_be_visible()
    sweep = page.url.rpartition("/")[2]
    expect(page.locator(".view-head .badge")).to_have_text("Everything tried", timeout=60_000)
    expect(page.get_by_role("region", name="Why this one")).to_be_visible()
    expect(page.get_by_role("link", name="Open the model")).to_be_visible()
    record, board = look(service, sweep), look(service, sweep, "/leaderboard")
    why = page.get_by_role("region", name="Why this one")
    expect(why).to_contain_text(board["explanation"])
    expect(why).to_contain_text(score(board["chosen"]))
    model = service.client.get(f"/v1/models/{record['model_id']}").json()
    tested = model["metrics"]["validation"]
    expect(why.locator(".test-score")).to_contain_text(percent(tested["accuracy"]))
    expect(why.locator(".test-score")).to_contain_text(f"{tested['rows']} test rows")
    expect(page.locator(".sweep-progress")).to_contain_text("12 of 12 jobs done")
    expect(page).to_have_title(re.compile("^Everything tried, "))
    page.get_by_role("link", name="Open the model").click()
    assert page.url.endswith(record["model_id"])


def test_the_leaderboard_is_the_apis(tab: Tab, service: Service, done: str) -> None:
    page = opened(tab, done)
    board = look(service, done, "/leaderboard")
    rows = page.get_by_role("region", name="Leaderboard", exact=True).locator("tbody tr")
    expect(rows).to_have_count(len(board["items"]))
    for i, trial in enumerate(board["items"]):
        cells = rows.nth(i).locator("th, td").all_inner_texts()
        assert cells[0] == str(trial["rank"])
        assert f"depth {trial['parameters']['max_depth']}" in cells[1]
        assert cells[2] == score(trial)
        assert float(cells[3]) == pytest.approx(trial["leaves"], abs=0.051)
    chosen = rows.filter(has_text="Chosen")
    expect(chosen).to_have_count(1)
    assert str(board["chosen"]["rank"]) == chosen.locator("th").inner_text()
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the parameters").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied == {**board["chosen"]["parameters"], "split_penalty": board["chosen"]["penalty"]}


def test_the_chart_shows_every_trial(tab: Tab, service: Service, done: str) -> None:
    page = opened(tab, done)
    trials = complete(service, done)
    chart = page.locator(".scatter")
    points = re.findall(r"M([\d.]+) ([\d.]+)h0", chart.locator(".dots").get_attribute("d") or "")
    assert len(points) == len(trials)
    bars = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", chart.locator(".bars").get_attribute("d") or "")
    assert len(bars) == len(trials)
    # The places are those of the trials: more leaves are further right, better scores are higher.
    ordered = sorted(trials, key=lambda trial: (trial["leaves"], trial["mean"]))
    places = [(float(x), float(y)) for x, y in points]
    scale = (places[0][1] - places[-1][1]) / (ordered[0]["mean"] - ordered[-1]["mean"])
    for trial, (x, y), bar in zip(ordered, places, bars, strict=True):
        assert (x > places[0][0]) == (trial["leaves"] > ordered[0]["leaves"])
        assert y - places[0][1] == pytest.approx(scale * (trial["mean"] - ordered[0]["mean"]), abs=0.2)
        assert float(bar[1]) - float(bar[2]) == pytest.approx(-scale * 2 * trial["standard_error"], abs=0.3)
    # The front: the best mean of all trials that are not larger.
    best, front = -1.0, []
    for leaves in sorted({trial["leaves"] for trial in trials}):
        mean = max(trial["mean"] for trial in trials if trial["leaves"] == leaves)
        if mean > best:
            best = mean
            front.append((leaves, mean))
    line = chart.locator("path.front").get_attribute("d") or ""
    assert line.count("V") == len(front) - 1
    # The keyboard reads the trials and shows their trees.
    chart.focus()
    page.keyboard.press("Home")
    readout = page.locator(".sweep-chart .readout")
    expect(readout).to_contain_text(score(ordered[0]))
    page.keyboard.press("End")
    expect(readout).to_contain_text(score(ordered[-1]))
    page.keyboard.press("Enter")
    expect(page.locator(".tree-panel h2")).to_contain_text(f"Trial {ordered[-1]['number']}")
    assert f"trial={ordered[-1]['number']}" in page.url


def test_a_click_shows_the_tree_of_a_trial(tab: Tab, service: Service, done: str) -> None:
    page = opened(tab, done)
    ordered = sorted(complete(service, done), key=lambda trial: (trial["leaves"], trial["mean"]))
    chart = page.locator(".scatter")
    first = re.search(r"M([\d.]+) ([\d.]+)h0", chart.locator(".dots").get_attribute("d") or "")
    assert first
    chart.click(position={"x": float(first[1]), "y": float(first[2])})
    expect(page.locator(".tree-panel h2")).to_have_text(f"Trial {ordered[0]['number']}")


def test_trees_of_folds_are_the_apis(tab: Tab, service: Service, done: str) -> None:
    chosen = look(service, done, "/leaderboard")["chosen"]
    largest = complete(service, done)[-1]
    for trial in (chosen, max(complete(service, done), key=lambda each: float(each["leaves"])), largest):
        for fold in (0, 2):
            tree = look(
                service,
                done,
                f"/settings/{trial['setting']}/folds/{fold}/tree?penalty={trial['penalty']}",
            )
            page = opened(tab, done, f"?trial={trial['number']}&fold={fold}")
            expect(page.locator(".tree-panel h2")).to_contain_text(f"Trial {trial['number']}")
            leaves = sum(node["split"] is None for node in tree["nodes"])
            expect(page.locator(".tree-panel")).to_contain_text(f"{leaves} lea")
            expect(page.locator(".tree-panel svg.drawing .node")).to_have_count(len(tree["nodes"]))
            expect(page.get_by_label("Fold", exact=True)).to_have_value(str(fold))
    select = page.get_by_label("Fold", exact=True)
    select.focus()
    page.keyboard.press("ArrowUp")  # from the third fold to the second
    until(page, lambda: "fold=1" in page.url, "the other fold")
    expect(page.locator(".tree-panel svg.drawing .node").first).to_be_visible()
    expect(select).to_be_focused()


def test_the_path_of_a_fold(tab: Tab, service: Service, done: str) -> None:
    page = opened(tab, done)
    page.get_by_role("tab", name="Path of a combination").click()
    chosen = look(service, done, "/leaderboard")["chosen"]
    see(page, "Chosen: penalty")
    page.get_by_label("Combination", exact=True).select_option("3")
    paths = look(service, done, "/paths?setting=3")["settings"][0]
    plot = page.locator(".steps-plot")

    def levels(place: int) -> list[float]:
        """Return the heights of a line from left to right."""
        text = plot.locator(".step-line").nth(place).get_attribute("d") or ""
        return [float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)H", text)]

    assert len(levels(0)) == len(paths["trials"])
    page.get_by_label("Fold of the path").select_option("1")
    segments = paths["folds"][1]["segments"]
    until(page, lambda: len(levels(1)) == len(segments), "the path of the fold")
    # The lines fall and rise as the scores and leaves do.
    for line, name in ((0, "score"), (1, "leaves")):
        for (y, next_y), (value, next_value) in zip(
            pairwise(levels(line)), pairwise(segment[name] for segment in segments), strict=True
        ):
            assert (next_y < y) == (next_value > value)
    plot.focus()
    page.keyboard.press("End")
    expect(page.locator(".sweep-chart .readout")).to_contain_text("and more")
    page.keyboard.press("Enter")  # the trial of this penalty
    last = paths["trials"][-1]["number"]
    expect(page.locator(".tree-panel h2")).to_contain_text(f"Trial {last}")
    assert chosen["number"] != last
    assert "chart=path" in page.url


def test_trials_are_filtered_sorted_and_saved(tab: Tab, service: Service, done: str) -> None:
    page = opened(tab, done)
    trials = complete(service, done)
    table = page.get_by_role("region", name="All trials")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(len(trials))
    names = table.locator("thead th").all_inner_texts()
    assert {"Depth", "Change points", "Penalty per split"} <= {name.strip() for name in names}
    table.get_by_role("button", name="Leaves").click()
    shown = [float(text) for text in table.locator("tbody tr td:nth-child(10)").all_inner_texts()]
    assert shown == sorted(shown)
    assert shown == pytest.approx(sorted(trial["leaves"] for trial in trials), abs=0.051)
    page.get_by_label("Filter").fill(f"{trials[0]['rank']} complete")
    expect(rows).not_to_have_count(len(trials))
    page.get_by_label("Filter").fill("")
    page.get_by_label("State of trials").select_option("complete")
    expect(rows).to_have_count(len(trials))
    name, text = saved(page, lambda: page.get_by_role("button", name="CSV").click())
    lines = list(csv.DictReader(io.StringIO(text)))
    assert name == "small-sweep-trials.csv"
    assert sorted(float(line["Accuracy"]) for line in lines) == pytest.approx(
        sorted(trial["mean"] for trial in trials)
    )


def test_a_random_sweep_is_copied(tab: Tab, service: Service) -> None:
    """The form has no fields for intervals and constraints, but copies them."""
    given = {
        "space": {"max_depth": [1, 2], "split_penalty": {"low": 1, "high": 64, "log": True}},
        "fixed": {"max_changepoints": 1, "heuristic": "impurity"},
        "constraints": ["max_depth <= split_penalty"],
        "strategy": "RANDOM",
        "seed": 3,
        "limits": {"max_trials": 4},
        "validation": {"folds": 2, "repeats": 2},
        "metric": "log_loss",
        "select": "BEST",
        "test": {"fraction": 0.2, "seed": 5},
        "trial_limits": {"time_limit": 4},
    }
    sweep = start(service, "random", **given)
    page = tab.go(f"/train?from={sweep}")
    expect(page.locator(".plan")).to_contain_text("4 combinations × 4 folds = 16 jobs of at most 4 seconds")
    page.get_by_role("button", name="Start").click()
    expect(page.locator("article.sweep")).to_be_visible()
    before, after = look(service, sweep), look(service, page.url.rpartition("/")[2])
    same = ("space", "fixed", "constraints", "strategy", "seed", "limits", "validation", "metric", "select")
    assert {name: after[name] for name in (*same, "test")} == {name: before[name] for name in (*same, "test")}
    assert after["trial_limits"] == before["trial_limits"]
    assert after["name"] == "random (2)"
    # A smaller log loss is better, so the front falls from left to right.
    expect(page.locator(".view-head .badge")).to_have_text("Everything tried", timeout=60_000)
    line = page.locator(".scatter path.front").get_attribute("d") or ""
    heights = [float(y) for y in re.findall(r"(?:V|M[\d.]+ )([\d.]+)", line)]
    assert heights == sorted(heights)
    best = min(trial["mean"] for trial in complete(service, after["id"]))
    expect(page.get_by_role("region", name="Why this one")).to_contain_text(f"{best:.3f} ±")


def test_the_last_job_of_a_sweep_is_copied(tab: Tab, service: Service, done: str) -> None:
    """Its parameters are those of the choice. The job does not say which rows the sweep held back."""
    record = look(service, done)
    page = tab.go(f"/train?from={record['refit_job_id']}")
    chosen = record["choice"]["parameters"]
    expect(page.get_by_label("Depth", exact=True)).to_have_value(str(chosen["max_depth"]))
    shown = float(page.get_by_label("Penalty per split").input_value())
    assert shown == pytest.approx(chosen["split_penalty"])
    expect(page.get_by_label("Rows held back")).to_have_value("20")


def test_promote_and_undo(tab: Tab, service: Service, done: str) -> None:
    model = look(service, done)["model_id"]
    other = service.model(1)
    service.client.put("/v1/models/aliases/flowers.production", json={"model_id": other})
    page = opened(tab, done)
    page.get_by_role("button", name="Put in production").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Alias")).to_have_value("flowers.production")
    expect(dialog.locator("thead th").nth(1)).to_have_text("Now: flowers 1")
    dialog.get_by_role("button", name="Move the alias").click()

    def named() -> str:
        items = service.client.get("/v1/models/aliases").json()["items"]
        return next(str(item["model_id"]) for item in items if item["name"] == "flowers.production")

    until(page, lambda: named() == model, "the name to move")
    page.get_by_role("button", name="Undo", exact=True).click()
    until(page, lambda: named() == other, "the name to move back")
    service.client.delete("/v1/models/aliases/flowers.production")


def test_held_out_predictions_are_saved(tab: Tab, service: Service, done: str) -> None:
    """Also when the model of the sweep is deleted, to which nothing leads then."""
    tab.refusals.add(404)
    record = look(service, done)
    assert service.client.delete(f"/v1/models/{record['model_id']}").status_code == 204
    page = opened(tab, done)
    why = page.get_by_role("region", name="Why this one")
    expect(why).to_contain_text("The model of this sweep is deleted.")
    expect(page.locator(f'a[href*="{record["model_id"]}"]')).to_have_count(0)
    expect(why.get_by_role("link", name="Its job")).to_have_attribute(
        "href", f"#/jobs/{record['refit_job_id']}"
    )
    service.client.post(f"/v1/models/{record['model_id']}/restore")
    _, text = saved(page, lambda: page.get_by_role("button", name="Held-out predictions").click())
    assert text == service.client.get(f"/v1/sweeps/{done}/oof").text


def test_pause_resume_and_cancel(tab: Tab, service: Service, long_sweep: str) -> None:
    page = tab.go(f"/sweeps/{long_sweep}")
    expect(page.locator(".view-head .badge")).to_have_text("Trying parameters")
    expect(page).to_have_title(re.compile(r"^\d+ % tried, long sweep – Literati$"))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".view-head .badge")).to_have_text("Paused")
    assert look(service, long_sweep)["state"] == "PAUSED"
    expect(page).to_have_title("Paused, long sweep – Literati")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".view-head .badge")).to_have_text("Trying parameters")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Go back").click()
    assert look(service, long_sweep)["state"] in ("RUNNING", "QUEUED")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the sweep").click()
    expect(page.locator(".view-head .badge")).to_have_text("Cancelled")
    see(page, "This sweep was cancelled")
    wait(service, long_sweep, "CANCELLED")


def test_finish_now_and_extend(tab: Tab, service: Service, long_sweep: str) -> None:
    page = tab.go(f"/sweeps/{long_sweep}")
    page.get_by_role("button", name="Finish now").click(timeout=60_000)
    expect(page.locator(".view-head .badge")).to_have_text("Finished by you", timeout=60_000)
    done_before = look(service, long_sweep)["progress"]["done"]
    page.get_by_role("button", name="Extend").click()
    page.get_by_label("More time").fill("2")
    page.get_by_role("dialog").get_by_role("button", name="Extend").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    until(page, lambda: look(service, long_sweep)["progress"]["done"] > done_before, "another job to end")
    count = re.compile(rf"^({'|'.join(str(done_before + more) for more in range(1, 50))}) of 100 jobs")
    expect(page.locator(".sweep-progress strong")).to_have_text(count)


def test_delete_and_undo(tab: Tab, service: Service) -> None:
    sweep = start(service, "short-lived sweep", **SMALL)
    wait(service, sweep)
    page = opened(tab, sweep)
    page.get_by_role("button", name="Delete").click()
    see(page, "1 sweep was deleted.")
    assert service.client.get(f"/v1/sweeps/{sweep}").status_code == 404
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("link", name="short-lived sweep")).to_be_visible()
    assert look(service, sweep)["state"] == "SUCCEEDED"


def test_what_cannot_be_extended_is_told_at_the_field(tab: Tab, service: Service, done: str) -> None:
    tab.refusals.add(422)
    page = opened(tab, done)
    page.get_by_role("button", name="Extend").click()
    page.get_by_role("dialog").get_by_role("button", name="Extend").click()
    expect(page.get_by_role("dialog").locator(".field.wrong label")).to_have_text(
        "Maximum number of combinations"
    )


def acted(api: Stack, name: str, **fields: Any) -> str:
    dataset = jobs.add_dataset(api.store, api.blobs, jobs.easy())
    made = sweeps.submit(api.store, sweeps.spec(dataset, **fields), settings={"name": name})
    return str(made.spec.id)


def test_the_leaderboard_is_live(api: Stack, api_tab: Tab) -> None:
    """The test ends the jobs one by one."""
    api_tab.refusals.add(404)  # no trees are stored
    depths = {"max_depth": [1, 2, 3], "max_changepoints": [1]}
    sweep = acted(api, "acted", space=depths, validation={"folds": 2}, metric="macro_f1")
    page = api_tab.go(f"/sweeps/{sweep}")
    see(page, "The best trials appear here")
    expect(page.locator(".view-head")).to_contain_text("judged by macro F1 on 2 folds")
    see(page, "The chart appears here")
    sweep_results.run_scores(api.store, [0.5, 0.7])
    board = page.get_by_role("region", name="Leaderboard", exact=True)
    expect(board.locator("tbody tr")).to_have_count(1)
    expect(board).to_contain_text("60 % ± 10.0")
    expect(page.get_by_role("region", name="Best so far")).to_be_visible()
    expect(page.locator(".sweep-progress")).to_contain_text("2 of 6 jobs done, 4 waiting")
    expect(page).to_have_title("33 % tried, acted – Literati")
    see(page, "Would be chosen now")
    expect(board.locator(".badge.rest")).to_have_text("Would be chosen now")
    # It can be renamed while it runs.
    page.get_by_role("button", name="Rename or tag acted").click()
    page.get_by_role("dialog").get_by_label("Name").fill("renamed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="renamed")).to_be_visible()
    assert sweeps.look(api.store, sweep).settings.name == "renamed"
    # The combination that the user chose stays when there are new results.
    sweep_results.run_scores(api.store, [0.4, 0.4])
    expect(board.locator("tbody tr")).to_have_count(2)
    page.get_by_role("tab", name="Path of a combination").click()
    combination = page.get_by_label("Combination", exact=True)
    expect(combination).to_have_value("0")
    combination.select_option("1")
    sweep_results.run_scores(api.store, [0.3, 0.3])
    expect(board.locator("tbody tr")).to_have_count(3)
    expect(board.locator(".badge.good")).to_have_text("Chosen")
    page.wait_for_timeout(100)  # what follows from the new results
    expect(combination).to_have_value("1")


def test_a_failed_sweep_explains_itself(api: Stack, api_tab: Tab) -> None:
    sweep = acted(
        api,
        "hopeless",
        validation={"folds": 2},
        limits={"max_failed_trials": 0},
    )
    while sweeps.look(api.store, sweep).state != "FAILED":
        sweep_results.end(api.store, sweep_results.claim(api.store), sweep_results.FAILED)
    page = api_tab.go(f"/sweeps/{sweep}")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("This sweep failed")
    expect(alert).to_contain_text("As told.")
    expect(page.get_by_role("button", name="Extend")).to_be_visible()
    expect(page.get_by_role("region", name="All trials")).to_contain_text("failed: As told.")
    expect(page).to_have_title("Failed, hopeless – Literati")
    expect(page.get_by_role("region", name="Charts")).to_have_count(0)  # there is nothing to draw


def test_an_unknown_sweep(api_tab: Tab) -> None:
    api_tab.refusals.add(404)
    page = api_tab.go(f"/sweeps/swp_{32 * 'f'}")
    expect(page.get_by_role("alert")).to_contain_text("There is no such sweep")


def test_thousands_of_trials_stay_fast(tab: Tab, service: Service, done: str) -> None:
    """The trials of the sweep many times over: no task over 50 ms of the page, and few nodes in the page."""
    listed = look(service, done, "/trials?limit=10000")
    first = listed["items"]
    most = 5000
    many = [
        {
            **trial,
            "number": i,
            "setting": i // len(first) * 4 + trial["setting"],
            "rank": i + 1,
            "mean": trial["mean"] - 1e-6 * i,
        }
        for i, trial in enumerate((first * (most // len(first) + 1))[:most])
    ]
    answer = json.dumps({**listed, "items": many, "total": most})
    tab.page.route("**/trials?*", lambda route: route.fulfill(body=answer, content_type="application/json"))
    page = opened(tab, done)
    expect(page.locator(".all-trials .table-foot")).to_contain_text("5,000 rows")
    assert (page.locator(".dots").get_attribute("d") or "").count("M") == most
    assert page.locator("*").count() < 6000
    page.locator(".scatter").hover(position={"x": 200, "y": 150})
    page.get_by_label("Filter").fill("49")
    expect(page.locator(".all-trials .table-foot")).to_contain_text(" of 5,000 rows")
    page.get_by_role("region", name="All trials").get_by_role("button", name="Accuracy").click()
    # Elapsed time depends on the load of the machine, so the time is measured that the page itself takes.
    spent = page.evaluate(
        """async () => {
          const start = performance.now();
          for (let x = 100; x < 400; x += 3) {
            document.querySelector(".scatter").dispatchEvent(
              new MouseEvent("mousemove", { clientX: x, clientY: 400, bubbles: true }));
            await new Promise((resolve) => setTimeout(resolve));
          }
          return (performance.now() - start) / 100;
        }"""
    )
    assert spent < 50


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_and_narrow_windows(
    browser: Browser, page_stack: Stack, service: Service, done: str, theme: str
) -> None:
    tab = Tab(browser, page_stack.url, color_scheme=theme, reduced_motion="reduce")
    findings: dict[str, list[str]] = {}
    places = {
        "tune": (f"/train?dataset={service.dataset}&tune=1&folds=3", ".plan strong"),
        "own": (f"/train?dataset={service.dataset}&max_depth=2,3&candidates=adaptive,shape", ".plan strong"),
        "sweep": (f"/sweeps/{done}", "svg.drawing .node"),
        "path": (f"/sweeps/{done}?chart=path", ".step-line"),
    }
    for name, (place, there) in places.items():
        page = tab.go(place)
        expect(page.locator(there).first).to_be_visible()
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        findings[name] = [
            f"{entry['id']}: {node['html'][:160]}" for entry in violations for node in entry["nodes"]
        ]
        for width in (1920, 768, 320):
            page.set_viewport_size({"width": width, "height": 900})
            until(
                page,
                partial(page.evaluate, "document.documentElement.scrollWidth <= innerWidth"),
                f"{place} in a window of {width} px",
            )
            tab.shoot(f"sweeps-{theme}-{name}-{width}")
        page.set_viewport_size({"width": 1440, "height": 900})
    tab.close()
    assert not any(findings.values()), json.dumps(findings, indent=2)
    assert tab.complaints == []
