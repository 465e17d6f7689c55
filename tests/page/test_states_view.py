"""Views that are loading, empty or without a connection; API keys; themes; the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Request, Route, expect

from service.auth import key_file
from service.auth.key_file import Scope
from tests.support.page.browser import Tab, see
from tests.support.page.page_data import Service, as_csv, flowers
from tests.support.records.model_maker import add_job, add_model, mixed_tree
from tests.support.stack.stack import Process, Stack, poll

LISTS = {
    "/datasets": "/v1/datasets",
    "/train": "/v1/datasets",
    "/jobs": "/v1/jobs",
    "/models": "/v1/models",
    "/predict": "/v1/models",
}


# The parts of the page that reach beyond the window, for a message.
WIDE = """() => [...document.querySelectorAll("main *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth && !each.closest(".scroll"))
  .slice(0, 5).map((each) => each.outerHTML.slice(0, 150))"""


@pytest.fixture
def places(api: Stack) -> dict[str, str]:
    """Return the addresses of all views with content, each with a text that appears in it."""
    tree = mixed_tree()
    model, job = add_model(api, tree), add_job(api, tree)
    with api.client() as client:
        dataset = Service(client).upload(as_csv(flowers()), name="flowers")
    return {
        "/datasets": "flowers",
        f"/datasets/{dataset}": "Classes of kind",
        f"/train?dataset={dataset}": "Change points",
        "/jobs": "made",
        f"/jobs/{job.spec.id}": "Best tree so far",
        "/models": "made",
        f"/models/{model}": "Put in production",
        f"/compare/{model}/{model}": "Balanced accuracy",
        f"/predict/{model}": "with probability",
    }


@pytest.mark.parametrize("place", LISTS)
def test_loading(api_tab: Tab, place: str) -> None:
    held: list[Route] = []
    api_tab.page.route(f"**{LISTS[place]}?*", lambda route: held.append(route))
    page = api_tab.go(place)
    expect(page.locator(".loading .spinner")).to_be_visible()
    see(page, "Loading the")
    for route in held:
        route.continue_()
    api_tab.page.unroute_all()
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.locator(".empty")).to_be_visible()


def test_a_store_that_does_not_respond(api: Stack, api_tab: Tab, places: dict[str, str]) -> None:
    api_tab.refusals.add(503)
    api_tab.go("/jobs")
    see(api_tab.page, "made")
    api.server.stop()
    try:
        for place in places:
            page = api_tab.go(place)
            expect(page.locator("main").get_by_role("alert").first).to_contain_text("store does not answer")
    finally:
        api.server.start()
    for place, word in places.items():
        page = api_tab.go(place)
        retry = page.get_by_role("button", name="Try again")
        expect(page.locator("main").get_by_text(word).first.or_(retry.first)).to_be_visible()
        if retry.count():
            retry.first.click()
        see(page, word)


def test_a_server_that_does_not_respond(
    api: Stack, api_tab: Tab, api_process: list[Process], places: dict[str, str]
) -> None:
    """A view that could not be loaded says so, and loads by itself when the server is back."""
    api_tab.go("/jobs")
    see(api_tab.page, "made")
    api_process[-1].stop()
    for place in places:
        page = api_tab.go(place)
        expect(page.locator(".lost")).to_be_visible()
        expect(page.locator("main").get_by_text("No connection").first).to_be_visible()
    api_process.append(api.start_api())
    see(page, list(places.values())[-1])
    expect(page.locator(".lost")).to_have_count(0)
    api_tab.complaints[:] = [text for text in api_tab.complaints if "net::ERR_" not in text]


@pytest.mark.parametrize("place", ["list", "job", "moving on"])
def test_few_requests_while_the_server_is_away(
    api: Stack, api_tab: Tab, api_process: list[Process], places: dict[str, str], place: str
) -> None:
    """Views do not poll a server that is away; one loop asks whether it is back, less and less often."""
    job = next(address for address in places if address.startswith("/jobs/"))
    page = api_tab.go(job if place == "job" else "/jobs")
    see(page, "made")
    api_process[-1].stop()
    if place == "moving on":
        for other in places:
            api_tab.go(other)
    expect(page.locator(".lost")).to_be_visible()
    page.wait_for_timeout(1500)  # requests that had begun
    before = len(api_tab.requests)
    page.wait_for_timeout(5000)
    asked = [request.url for request in api_tab.requests[before:]]
    assert len(asked) <= 3, asked
    assert all(url.endswith("/healthz") for url in asked)
    api_process.append(api.start_api())
    page.get_by_role("button", name="Try now").click()
    expect(page.locator(".lost")).to_have_count(0)
    see(page, list(places.values())[-1] if place == "moving on" else "made")
    api_tab.complaints[:] = [text for text in api_tab.complaints if "net::ERR_" not in text]


def test_a_gateway_without_a_server_is_a_lost_connection(api_tab: Tab) -> None:
    api_tab.refusals.add(502)
    page = api_tab.go("/models")
    see(page, "No models yet")
    page.route("**/*", lambda route: route.fulfill(status=502, body="Bad gateway"))
    api_tab.go("/jobs")
    expect(page.locator(".lost")).to_be_visible()
    see(page, "No connection")
    page.unroute_all()
    page.locator("main").get_by_role("button", name="Try again").click()
    see(page, "No jobs yet")
    expect(page.locator(".lost")).to_have_count(0)


def test_unknown_records_and_addresses(api_tab: Tab) -> None:
    api_tab.refusals.add(404)
    for place in (f"/datasets/ds_{32 * 'a'}", f"/jobs/job_{32 * 'a'}", f"/models/mdl_{32 * 'a'}"):
        expect(api_tab.go(place).get_by_role("alert")).to_contain_text("There is no such")
    for place in ("/nowhere", "/%E0%A4%A", "/jobs%"):
        see(api_tab.go(place), "Page not found")
        api_tab.page.reload()  # the first view of a page
        see(api_tab.page, "Page not found")


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[tuple[Stack, str]]:
    """Start an API that requires a key, and create a key that may only read."""
    key, _ = key_file.add(tmp_path / "keys.json", "page", "default", frozenset({Scope.READ}))
    with Stack.with_api(tmp_path, LITERATI_API_KEYS_FILE=str(tmp_path / "keys.json")) as stack:
        yield stack, key


def test_a_key_is_asked_for_and_forgotten_with_the_tab(browser: Browser, closed: tuple[Stack, str]) -> None:
    stack, key = closed
    add_model(stack, mixed_tree())
    tab = Tab(browser, stack.url)
    tab.refusals |= {401, 403}
    page = tab.go("/models")
    dialog = page.get_by_role("dialog", name="Sign in")
    field = dialog.get_by_label("API key")
    expect(field).to_be_focused()
    assert field.get_attribute("type") == "password"
    for _ in range(3):  # the browser itself closes a dialog at the second one
        page.keyboard.press("Escape")
    expect(field).to_be_focused()
    field.fill("lit_00000000_wrong")
    page.keyboard.press("Enter")
    expect(dialog.locator(".error")).to_have_text("This key is not valid.")
    field.fill(key)
    dialog.get_by_role("button", name="Sign in").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("link", name="made")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage)") == []
    # The key is kept by a reload and for other views.
    page.reload()
    expect(page.get_by_role("link", name="made")).to_be_visible()
    tab.go("/jobs")
    page.get_by_role("link", name="made").click()
    expect(page.locator("svg.drawing .node").first).to_be_visible()  # the stream has the key too

    def streams() -> list[Request] | None:
        page.wait_for_timeout(50)  # so that the browser's events arrive
        return tab.sent("GET", "/events") or None

    assert poll(streams, what="the stream")[-1].headers["authorization"] == f"Bearer {key}"
    # An action that the key does not allow shows an error where it was tried.
    tab.go("/models")
    page.get_by_role("button", name="Put made in production").click()
    page.get_by_role("dialog").get_by_role("button", name="Set the alias").click()
    expect(page.locator(".refusal")).to_contain_text("lacks the scope")
    page.get_by_role("dialog").get_by_role("button", name="Go back").click()
    page.get_by_role("button", name="Sign out").click()
    expect(dialog).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0
    assert tab.complaints == []
    tab.close()


class TestThemes:
    @pytest.mark.parametrize(("system", "dark"), [("light", False), ("dark", True)])
    def test_the_systems_theme_and_the_switch(
        self, browser: Browser, api: Stack, system: str, dark: bool
    ) -> None:
        tab = Tab(browser, api.url, color_scheme=system)
        page = tab.go("/datasets")

        def is_dark() -> bool:
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            return int(colour.removeprefix("rgb(").split(",")[0]) < 100

        assert is_dark() is dark
        switch = page.get_by_role("button", name="Theme:")
        switch.click()
        expect(switch).to_have_attribute("aria-label", "Theme: light")
        assert not is_dark()
        switch.click()
        expect(switch).to_have_attribute("aria-label", "Theme: dark")
        assert is_dark()
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert is_dark()
        page.get_by_role("button", name="Theme: dark").click()
        assert is_dark() is dark
        assert tab.complaints == []
        tab.close()


def test_the_keyboard_alone(api_tab: Tab) -> None:
    page = api_tab.go("/datasets")
    see(page, "No datasets yet")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "file"  # the drop zone's own input
    nav = page.get_by_role("navigation", name="Views")
    nav.get_by_role("link", name="Models").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Models")).to_be_visible()
    expect(page).to_have_title("Models – Literati")
    expect(nav.get_by_role("link", name="Models")).to_have_attribute("aria-current", "page")


def test_the_back_button(api_tab: Tab) -> None:
    page = api_tab.go("/models")
    see(page, "No models yet")
    api_tab.go("/jobs")
    see(page, "No jobs yet")
    page.go_back()
    see(page, "No models yet")


def test_changes_are_announced_to_screen_readers(api: Stack, api_tab: Tab) -> None:
    job = add_job(api, mixed_tree())
    page = api_tab.go(f"/jobs/{job.spec.id}")
    expect(page.locator("svg.drawing .node").first).to_be_visible()
    api.store.jobs.control("default", job.spec.id, "pause")
    expect(page.locator(".unseen[role=status]")).to_have_text("made: Pausing")


def test_long_names_do_not_widen_a_phone(browser: Browser, page_stack: Stack, service: Service) -> None:
    """Names without a space, of the greatest length, in every view."""
    name, column = 200 * "n", 60 * "column_"
    rows = [[*row[:5], f"{row[5]}_" * 30] for row in flowers(seed=9)]
    text = as_csv(rows, (f"{column}1", f"{column}2", "zip", f"{column}3", "fresh", f"{column}target"))
    dataset = service.upload(text, target=f"{column}target", name=name)
    found = [
        service.wait(service.job(each, dataset, parameters={"max_depth": depth}))
        for each, depth in ((name, 2), ("m" * 200, 1))
    ]
    jobs, models = [job["id"] for job in found], [job["model_id"] for job in found]
    places = {
        "/datasets": name,
        f"/datasets/{dataset}": "Classes of",
        f"/train?dataset={dataset}": "Dataset",
        "/jobs": name,
        f"/jobs/{jobs[0]}": name,
        f"/jobs/{','.join(jobs)}": name,
        "/models": name,
        f"/models/{models[0]}": name,
        f"/compare/{models[0]}/{models[1]}": "Balanced accuracy",
        f"/predict/{models[0]}": "with probability",
    }
    tab = Tab(browser, page_stack.url)
    tab.page.set_viewport_size({"width": 320, "height": 800})
    wide = {}
    for place, word in places.items():
        page = tab.go(place)
        expect(page.locator("main").get_by_text(word).first).to_be_attached()
        page.wait_for_timeout(500)  # charts and trees are drawn
        tab.shoot(f"long-{place.strip('/').partition('/')[0].partition('?')[0]}-{len(place)}")
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 320:
            wide[place] = page.evaluate(WIDE)
    tab.close()
    for kind, ids in (("jobs", jobs), ("models", models), ("datasets", [dataset])):
        for each in ids:
            service.client.delete(f"/v1/{kind}/{each}")  # other tests look at the lists
    assert wide == {}
    assert tab.complaints == []


def test_nothing_overflows_on_a_phone(browser: Browser, page_stack: Stack, service: Service) -> None:
    model, other, dataset = service.model(3), service.model(1), service.dataset
    job = service.client.get(f"/v1/models/{model}").json()["job_id"]
    places = {
        "/datasets": "flowers",
        f"/datasets/{dataset}": "Classes of kind",
        f"/train?dataset={dataset}": "Change points",
        "/jobs": "flowers 3",
        f"/jobs/{job}": "Held-back rows",
        "/models": "flowers 3",
        f"/models/{model}": "Held-back rows",
        f"/compare/{model}/{other}": "Balanced accuracy",
        f"/predict/{model}": "with probability",
    }
    tab = Tab(browser, page_stack.url)
    for place, word in places.items():
        page = tab.go(place)
        see(page, word)
        for width in (390, 320):
            tab.page.set_viewport_size({"width": width, "height": 800})
            # The chart is resized a moment after the window.
            poll(
                partial(page.evaluate, "document.documentElement.scrollWidth <= innerWidth"),
                what=f"{place} in a window of {width} px",
            )
        tab.shoot(f"phone-{place.strip('/').partition('/')[0].partition('?')[0]}-{len(place)}")
    assert tab.complaints == []
    tab.close()
