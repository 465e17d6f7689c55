"""Tables of jobs and sweeps: order, filters, columns, CSV, choice, deletion with undo, labels."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.page.browser import Tab, saved, see, until
from tests.support.page.page_data import Service, as_csv, flowers
from tests.support.page.runs_table import cells, choose, names, percent, row, undo
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker
from tests.support.stack.stack import Stack, poll

DEPTHS = (1, 2, 3)
PENALTIES = (0.0, 4.5)


class Runs:
    """A dataset of its own with jobs that differ in depth and penalty; half of them hold rows back."""

    def __init__(self, service: Service) -> None:
        self.service, self.client = service, service.client
        self.dataset = service.upload(as_csv(flowers(120, seed=11)), name="runs")
        for depth in DEPTHS:
            for penalty in PENALTIES:
                job = service.job(
                    f"run {depth} {penalty:g}",
                    self.dataset,
                    parameters={"max_depth": depth, "split_penalty": penalty},
                    validation={"fraction": 0.25, "seed": depth} if penalty else None,
                    tags={"team": "credit"} if depth == 2 else {},
                )
                service.wait(job)

    def listed(self) -> dict[str, dict[str, Any]]:
        items = self.client.get("/v1/jobs", params={"dataset_id": self.dataset, "page_size": 200}).json()[
            "items"
        ]
        return {item["name"]: item for item in items}

    def status(self, name: str, path: str = "") -> int:
        return self.client.get(f"/v1/jobs/{self.ids[name]}{path}").status_code

    @property
    def ids(self) -> dict[str, str]:
        return {name: item["id"] for name, item in self.listed().items()}

    def open(self, tab: Tab, more: str = "") -> Page:
        page = tab.go(f"/jobs?dataset={self.dataset}{more}")
        expect(page.locator("table.data tbody tr").first).to_be_visible()
        return page


@pytest.fixture(scope="session")
def runs(service: Service) -> Runs:
    return Runs(service)


def test_the_table_shows_what_the_api_says(tab: Tab, runs: Runs) -> None:
    page = runs.open(tab)
    shown, listed = cells(page), runs.listed()
    assert set(shown) == set(listed)
    for name, job in listed.items():
        line, metrics = shown[name], job["metrics"]
        assert line["State"] == "Proven optimal"
        assert line["Dataset"] == "runs"
        assert int(line["Depth"]) == job["parameters"]["max_depth"]
        assert float(line["Penalty per split"]) == job["parameters"]["split_penalty"]
        assert line["Held-back accuracy"] == percent(metrics["validation_accuracy"])
        assert line["Training accuracy"] == percent(metrics["train_accuracy"])
        assert int(line["Leaves"]) == metrics["leaves"]
        assert line["Gap"] == "Proven"
        assert line["Tags"] == ("team: credit" if job["tags"] else "")
    assert "Estimate of subtrees" not in shown[name]  # it is the same in all jobs


def test_order_by_mouse_and_keyboard_is_in_the_link(tab: Tab, runs: Runs) -> None:
    page = runs.open(tab)
    listed = runs.listed()
    newest = sorted(listed, key=lambda name: listed[name]["created_at"], reverse=True)
    assert names(page) == newest
    head = page.get_by_role("columnheader", name="Held-back accuracy")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")

    def scores() -> list[Any]:
        return [listed[name]["metrics"]["validation_accuracy"] for name in names(page)]

    some = [score for score in scores() if score is not None]
    # Jobs without held-back rows come last in either direction.
    assert scores() == [*sorted(some, reverse=True), None, None, None]
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert scores() == [*sorted(some), None, None, None]
    page.reload()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert scores() == [*sorted(some), None, None, None]


def test_search_and_filters_are_in_the_link(tab: Tab, service: Service, runs: Runs) -> None:
    service.model(1)  # of another dataset
    limits = {"max_expansions": 1}
    short = service.job("run stopped early", runs.dataset, parameters={"max_depth": 5}, limits=limits)
    assert service.wait(short)["stop_reason"] == "EXPANSION_LIMIT"
    page = runs.open(tab)
    every = set(runs.listed())
    assert set(names(page)) == every
    search = page.get_by_role("searchbox", name="Search the jobs")
    search.fill("team credit")
    expect(page.locator("table.data tbody tr")).to_have_count(2)
    assert set(names(page)) == {name for name, job in runs.listed().items() if job["tags"]}
    see(page, re.compile(r"^2 of [\d,]+ jobs$"))
    page.reload()
    expect(page.locator("table.data tbody tr")).to_have_count(2)
    expect(search).to_have_value("team credit")
    search.fill("nothing is called so")
    see(page, "matches the search and the filters")
    search.fill("")
    page.get_by_role("combobox", name="State").select_option("Proven optimal")
    proven = {name for name, job in runs.listed().items() if job["proven_optimal"]}
    expect(page.locator("table.data tbody tr")).to_have_count(len(proven))
    assert set(names(page)) == proven
    assert "state=PROVEN_OPTIMAL" in page.url
    # The link of the navigation opens the list without filters.
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Jobs").click()
    expect(page.get_by_role("combobox", name="State")).to_have_value("")
    expect(page.get_by_role("combobox", name="Dataset")).to_have_value("")
    service.client.delete(f"/v1/jobs/{short}")


def test_columns_are_chosen(tab: Tab, runs: Runs) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = runs.open(tab)
    menu = page.locator("summary").filter(has_text="Columns")
    menu.focus()
    page.keyboard.press("Enter")
    group = page.get_by_role("group", name="Columns")
    group.get_by_label("Estimate of subtrees").check()
    group.get_by_label("Leaves").uncheck()
    group.get_by_label("Id", exact=True).check()
    page.keyboard.press("Escape")
    expect(group).to_be_hidden()
    expect(menu).to_be_focused()
    line = cells(page)["run 1 0"]
    assert line["Estimate of subtrees"] == runs.listed()["run 1 0"]["parameters"]["heuristic"]
    assert "Leaves" not in line
    page.get_by_role("button", name=f"Copy the id {runs.ids['run 1 0']}").click()
    assert page.evaluate("navigator.clipboard.readText()") == runs.ids["run 1 0"]
    page.reload()
    line = cells(page)["run 1 0"]
    assert "Estimate of subtrees" in line
    assert "Leaves" not in line
    menu.click()
    group.get_by_role("button", name="Usual columns").click()
    expect(page.get_by_role("columnheader", name="Leaves")).to_be_visible()
    assert "columns=" not in page.url


def test_the_csv_file_has_what_the_api_says(tab: Tab, runs: Runs) -> None:
    page = runs.open(tab, "&q=run+2")
    name, text = saved(page, lambda: page.get_by_role("button", name="CSV").click())
    assert name == "jobs.csv"
    lines = list(csv.DictReader(io.StringIO(text)))
    listed = {name: job for name, job in runs.listed().items() if "run 2" in name}
    assert {line["Name"] for line in lines} == set(listed)
    for line in lines:
        job = listed[line["Name"]]
        assert line["Id"] == job["id"]
        assert line["Created"] == job["created_at"]
        assert float(line["Penalty per split"]) == job["parameters"]["split_penalty"]
        assert line["Estimate of subtrees"] == job["parameters"]["heuristic"]  # a column that is not shown
        held = job["metrics"]["validation_accuracy"]
        assert line["Held-back accuracy"] == ("" if held is None else str(held))
        assert float(line["Search time"]) == job["progress"]["elapsed_seconds"]
        assert float(line["Training log loss"]) == job["metrics"]["train_log_loss"]
        assert float(line["Further cuts"]) == job["metrics"]["changepoints"]
        assert line["Tags"] == "team: credit"


def test_up_to_three_jobs_are_compared(tab: Tab, runs: Runs) -> None:
    page = runs.open(tab)
    chosen = ["run 1 0", "run 2 0", "run 3 0", "run 1 4.5"]
    bar = page.get_by_role("group", name="Chosen jobs")
    expect(bar.get_by_role("button", name="Compare")).to_be_disabled()
    choose(page, *chosen)
    expect(bar).to_contain_text("At most 3 jobs can be compared side by side, and 4 are chosen.")
    expect(bar.get_by_role("button", name="Compare")).to_be_disabled()
    for name in chosen:  # nothing is unticked
        expect(page.get_by_role("checkbox", name=f"Choose {name}", exact=True)).to_be_checked()
    page.get_by_role("checkbox", name="Choose run 1 4.5").uncheck()
    # A filter does not hide what is chosen without a word.
    page.get_by_role("searchbox").fill("run 1")
    expect(bar).to_contain_text("3 jobs chosen")
    expect(bar).to_contain_text("2 of them hidden by the filters")
    bar.get_by_role("link", name="Compare").click()
    articles = page.locator("article.job")
    expect(articles).to_have_count(3)
    for i in range(3):
        expect(articles.nth(i).locator("svg.drawing .node").first).to_be_visible()
    left = [articles.nth(i).bounding_box()["x"] for i in range(3)]  # type: ignore[index]
    assert left == sorted(set(left))
    assert page.url.rpartition("/")[2].split(",") == [runs.ids[name] for name in chosen[:3]]
    page = tab.go(f"/jobs/{','.join(runs.ids[name] for name in chosen)}")
    see(page, "These are the first 3 of 4.")
    expect(articles).to_have_count(3)


def test_jobs_are_deleted_and_restored(tab: Tab, service: Service, runs: Runs) -> None:
    gone = {
        name: service.job(name, runs.dataset, parameters={"max_depth": 1}) for name in ("gone 1", "gone 2")
    }
    for job in gone.values():
        service.wait(job)
    before = service.look(gone["gone 1"])
    page = runs.open(tab, "&q=gone")
    choose(page, *gone)
    page.get_by_role("group", name="Chosen jobs").get_by_role("button", name="Delete").click()
    see(page, "2 jobs were deleted.")
    see(page, "matches the search and the filters")
    assert [service.client.get(f"/v1/jobs/{job}").status_code for job in gone.values()] == [404, 404]
    undo(page)
    for name in gone:
        expect(row(page, name)).to_be_visible()
    assert service.look(gone["gone 1"]) == before
    # From its own view, a job is deleted in the same way. The view may still look at the job meanwhile.
    tab.refusals.add(404)
    row(page, "gone 1").get_by_role("link", name="gone 1", exact=True).click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1, name="Jobs")).to_be_visible()
    see(page, "1 job was deleted.")
    assert service.client.get(f"/v1/jobs/{gone['gone 1']}").status_code == 404
    undo(page)
    expect(row(page, "gone 1")).to_be_visible()
    assert service.state(gone["gone 1"]) == "SUCCEEDED"
    # The view of a deleted job offers to restore it.
    service.client.delete(f"/v1/jobs/{gone['gone 1']}")
    tab.go(f"/jobs/{gone['gone 1']}")
    page.get_by_role("alert").get_by_role("button", name="Restore").click()
    expect(page.get_by_role("heading", level=1, name="gone 1")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    for job in gone.values():
        service.client.delete(f"/v1/jobs/{job}")


def test_running_jobs_are_cards_and_cannot_be_deleted(api: Stack, api_tab: Tab) -> None:
    dataset = jobs.add_dataset(api.store, api.blobs, jobs.easy())
    for name in ("first", "second"):
        api.store.jobs.submit(jobs.spec(dataset, name=name))
    first, second = ActingWorker(api.store), ActingWorker(api.store)
    first.finish(10.0, tree=0)
    second.checkpoint(10.0, tree=0)
    page = api_tab.go("/jobs")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card h3")).to_have_text("second")
    expect(page.locator(".card .fact").filter(has_text="Training accuracy")).to_be_visible()
    choose(page, "first", "second")
    bar = page.get_by_role("group", name="Chosen jobs")
    expect(bar).to_contain_text("1 of the chosen jobs has not ended; cancel or finish it before you delete.")
    expect(bar.get_by_role("button", name="Delete")).to_be_disabled()
    expect(bar.get_by_role("link", name="Compare")).to_be_visible()
    # When the job ends, its card becomes a row, and it can be deleted.
    second.finish(20.0)
    expect(row(page, "second")).to_be_visible()
    expect(page.locator(".card")).to_have_count(0)
    bar.get_by_role("button", name="Delete").click()
    see(page, "2 jobs were deleted.")
    see(page, "No jobs yet")
    undo(page)
    expect(row(page, "first")).to_be_visible()


def test_jobs_without_a_name_are_told_apart(tab: Tab, service: Service, runs: Runs) -> None:
    unnamed = []
    for depth in (1, 1, 2):
        body = {"dataset_id": runs.dataset, "parameters": {"max_depth": depth, "max_changepoints": 1}}
        unnamed.append(service.client.post("/v1/jobs", json=body).json()["id"])
    for job in unnamed:
        service.wait(job)
    page = runs.open(tab, "&q=runs%2C+depth")
    expect(page.locator("table.data tbody tr")).to_have_count(3)
    wanted = [f"runs, depth {d}, 1 change point ({i[4:10]})" for d, i in zip((1, 1, 2), unnamed, strict=True)]
    assert names(page) == wanted[::-1]
    page.get_by_role("link", name=wanted[0], exact=True).click()
    expect(page.get_by_role("heading", level=1, name=wanted[0])).to_be_visible()
    page.go_back()
    # Rename one in place.
    page.get_by_role("button", name=f"Rename or tag {wanted[0]}").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("no longer unnamed")
    dialog.get_by_label("Notes").fill("Line one.\nLine two.")
    page.keyboard.press("Tab")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("searchbox").fill("line two")
    expect(row(page, "no longer unnamed")).to_be_visible()
    found = service.look(unnamed[0])
    assert (found["name"], found["notes"]) == ("no longer unnamed", "Line one.\nLine two.")
    for job in unnamed:
        service.client.delete(f"/v1/jobs/{job}")


@pytest.mark.parametrize("kind", ["jobs", "models", "sweeps"])
def test_name_tags_and_notes_in_the_view(
    tab: Tab, service: Service, runs: Runs, sweep: str, kind: str
) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    job = service.wait(
        service.job("to label", runs.dataset, parameters={"max_depth": 1}, tags={"old": "tag"})
    )
    record = {"jobs": job["id"], "models": job["model_id"], "sweeps": sweep}[kind]
    path = f"/{kind}/{record}"
    if kind == "sweeps":
        service.client.patch(f"/v1{path}", json={"name": "to label", "tags": {"old": "tag", "team": None}})

    def labels() -> tuple[Any, ...]:
        found = service.client.get(f"/v1{path}").json()
        return found["name"], found["notes"], found["tags"]

    page = tab.go(f"{path}?part=about" if kind == "models" else path)
    about = page.get_by_role("region", name="About")
    expect(about.get_by_label("Name")).to_have_value("to label")
    expect(about.get_by_role("button", name="Save")).to_be_disabled()
    about.get_by_label("New tag").fill("stage: trial: 1")
    page.keyboard.press("Enter")
    expect(about.locator(".chip")).to_have_text(["old: tag", "stage: trial: 1"])
    assert labels() == ("to label", None, {"old": "tag", "stage": "trial: 1"})
    about.get_by_role("button", name="Remove the tag old").press("Enter")
    expect(about.locator(".chip")).to_have_text(["stage: trial: 1"])
    expect(about.get_by_role("list", name="Tags")).to_be_focused()  # its button is gone
    assert labels()[2] == {"stage": "trial: 1"}
    tab.go("/datasets")
    tab.go(path if kind == "jobs" else f"{path}?part=about")  # a view that did not offer the undo
    expect(about.locator(".chip")).to_have_text(["stage: trial: 1"])
    undo(page)
    expect(about.locator(".chip")).to_have_count(2)
    assert labels()[2] == {"old": "tag", "stage": "trial: 1"}
    about.get_by_label("Name").fill("labelled")
    about.get_by_label("Notes").fill("Checked by hand.")
    about.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1, name="labelled")).to_be_visible()
    assert labels()[:2] == ("labelled", "Checked by hand.")
    tab.refusals.add(422)
    about.get_by_label("New tag").fill(65 * "x")
    page.keyboard.press("Enter")
    expect(about.locator(".field.wrong .error")).to_be_visible()
    about.get_by_role("button", name="Copy the id").click()
    assert page.evaluate("navigator.clipboard.readText()") == record
    service.client.delete(f"/v1/models/{job['model_id']}")
    service.client.delete(f"/v1/jobs/{job['id']}")
    if kind == "sweeps":
        patch = {"name": None, "notes": None, "tags": {"old": None, "stage": None, "team": "risk"}}
        service.client.patch(f"/v1{path}", json=patch)


@pytest.fixture(scope="session")
def sweep(service: Service, runs: Runs) -> str:
    body = {
        "dataset_id": runs.dataset,
        "space": {"max_depth": [1, 2], "max_changepoints": [1]},
        "validation": {"folds": 2},
        "tags": {"team": "risk"},
    }
    answer = service.client.post("/v1/sweeps", json=body)
    assert answer.status_code == 202, answer.text
    made = str(answer.json()["id"])
    poll(lambda: service.client.get(f"/v1/sweeps/{made}").json()["state"] == "SUCCEEDED", seconds=60.0)
    return made


def test_sweeps_have_a_table(tab: Tab, service: Service, runs: Runs, sweep: str) -> None:
    page = tab.go(f"/jobs?show=sweeps&sweeps-dataset={runs.dataset}")
    found = service.client.get(f"/v1/sweeps/{sweep}").json()
    name = f"runs, sweep of 2 folds ({sweep[4:10]})"
    line = cells(page)[name]
    choice = found["choice"]
    assert line["Score"] == f"{percent(choice['mean'])} ± {100 * choice['standard_error']:.1f}"
    assert int(line["Chosen depth"]) == choice["parameters"]["max_depth"]
    assert float(line["Leaves"]) == choice["leaves"]
    assert int(line["Jobs"]) == found["progress"]["jobs"]
    assert line["Tags"] == "team: risk"
    page.get_by_role("button", name=f"Rename or tag {name}").click()
    page.get_by_role("dialog").get_by_label("Name").fill("renamed sweep")
    page.keyboard.press("Enter")
    expect(row(page, "renamed sweep")).to_be_visible()
    assert service.client.get(f"/v1/sweeps/{sweep}").json()["name"] == "renamed sweep"
    choose(page, "renamed sweep")
    page.get_by_role("group", name="Chosen sweeps").get_by_role("button", name="Delete").click()
    see(page, "1 sweep was deleted.")
    assert service.client.get(f"/v1/sweeps/{sweep}").status_code == 404
    undo(page)
    expect(row(page, "renamed sweep")).to_be_visible()
    assert service.client.get(f"/v1/sweeps/{sweep}").json()["state"] == "SUCCEEDED"


def test_jobs_of_sweeps_are_shown_on_request(tab: Tab, service: Service, runs: Runs, sweep: str) -> None:
    page = runs.open(tab)
    single = len(runs.listed())
    expect(page.locator("table.data tbody tr")).to_have_count(single)
    page.get_by_label("Show jobs of sweeps").check()
    swept = service.client.get("/v1/jobs", params={"sweep_id": sweep, "page_size": 200}).json()["items"]
    assert len(swept) >= 4
    expect(page.locator("table.data tbody tr")).to_have_count(single + len(swept))
    page.reload()
    expect(page.locator("table.data tbody tr")).to_have_count(single + len(swept))
    assert len(set(names(page))) == single + len(swept)  # although they all have the name of the sweep
    page.locator("table.data tbody tr").filter(
        has=page.locator(f'a[href="#/sweeps/{sweep}"]')
    ).first.get_by_role("checkbox").check()
    bar = page.get_by_role("group", name="Chosen jobs")
    expect(bar).to_contain_text("belongs to a sweep and can only be deleted with the sweep")
    expect(bar.get_by_role("button", name="Delete")).to_be_disabled()
    # The view of the dataset shows the sweep with its state.
    tab.go(f"/datasets/{runs.dataset}")
    made = page.get_by_role("region", name="Jobs and models").locator("tbody tr")
    line = made.filter(has=page.locator(f'a[href="#/sweeps/{sweep}"]'))
    expect(line).to_contain_text("Everything tried")


def test_jobs_of_a_running_sweep_appear(tab: Tab, runs: Runs, sweep: str) -> None:
    """While the sweep changes faster than its jobs are loaded, the request for them goes on."""
    tab.refusals.add(500)
    held: list[Route] = []
    looks = 0

    def running(route: Route) -> None:
        nonlocal looks
        looks += 1
        body = route.fetch().json()
        for item in body["items"]:
            if item["id"] == sweep:
                item.update(state="RUNNING", stop_reason=None, progress={**item["progress"], "done": looks})
        body["items"] = [item for item in body["items"] if item["id"] == sweep]
        route.fulfill(json=body)

    tab.page.route("**/v1/sweeps?*", running)
    tab.page.route("**/v1/jobs?sweep_id=*", lambda route: held.append(route))
    page = runs.open(tab)
    single = page.locator("table.data tbody tr").count()
    page.get_by_label("Show jobs of sweeps").check()
    until(page, lambda: held, "the request for the jobs")
    before = looks
    until(page, lambda: looks >= before + 3, "more progress")
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("table.data tbody tr")).not_to_have_count(single)
    # A list of sweeps that cannot be loaded is not an empty one.
    page.unroute_all(behavior="ignoreErrors")  # a request may be under way
    problem = {"status": 500, "detail": "This failed."}
    page.route("**/v1/sweeps?*", lambda route: route.fulfill(status=500, json=problem))
    tab.go("/jobs")
    expect(page.get_by_role("alert").filter(has_text="This failed.")).to_be_visible()
    expect(row(page, "run 1 0")).to_be_visible()


def test_on_a_phone(browser: Browser, page_stack: Stack, runs: Runs, sweep: str) -> None:
    tab = Tab(browser, page_stack.url, has_touch=True)
    tab.page.set_viewport_size({"width": 320, "height": 640})
    for place in ("/jobs", "/models", "/jobs?show=sweeps"):
        page = tab.go(place)
        expect(page.locator("table.data tbody tr").first).to_be_visible()
        page.locator("summary").filter(has_text="Columns").tap()
        box = page.get_by_role("group", name="Columns").bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 320
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.get_by_role("heading", level=1).tap()
        expect(page.get_by_role("group", name="Columns")).to_be_hidden()
        page.locator("tbody input[type=checkbox]").first.tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
    tab.shoot("runs-phone")
    assert tab.complaints == []
    tab.close()
