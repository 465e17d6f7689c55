"""Fixtures that open the page in a real browser.

`tab` is on a stack with a worker; `api_tab` is on a stack without one, where the test acts as the worker.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.page.browser import PATIENCE, Tab, executable, free_port, launch
from tests.support.page.live_job import Live
from tests.support.page.page_data import Service
from tests.support.page.tree_drawing import open_model
from tests.support.stack.stack import Process, Stack

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember that a test failed, for the screenshot that is taken when its tab is closed."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


# Playwright keeps an event loop running in this thread, so it must be closed before tests of other folders.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = executable()
    if path is None:
        pytest.skip("Chromium is not installed (Debian: chromium)")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = launch(playwright, path)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def page_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("page")
    with Stack.with_worker_and_api(folder, LITERATI_WORKER_CONCURRENCY="2") as stack:
        yield stack


@pytest.fixture(scope="session")
def service(page_stack: Stack) -> Iterator[Service]:
    with page_stack.client() as client:
        yield Service(client)


@pytest.fixture(scope="session")
def actor_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, list[Process]]]:
    """Start an API on a fixed port, so that a test can stop it and start it at the same address."""
    folder = tmp_path_factory.mktemp("actor")
    with Stack(folder, LITERATI_PORT=str(free_port())) as stack:
        yield stack, [stack.start_api()]


@pytest.fixture
def api(actor_stack: tuple[Stack, list[Process]]) -> Stack:
    """Return an empty stack without a worker."""
    stack, _ = actor_stack
    stack.connection.flushall()
    return stack


@pytest.fixture
def api_process(api: Stack, actor_stack: tuple[Stack, list[Process]]) -> Iterator[list[Process]]:
    """Yield a list whose last entry is the running API process; a test appends the processes it starts."""
    yield actor_stack[1]
    if actor_stack[1][-1].process.poll() is not None:
        actor_stack[1].append(api.start_api())


def _watched(tab: Tab, request: pytest.FixtureRequest) -> Iterator[Tab]:
    yield tab
    module = Path(str(request.node.path)).stem.removeprefix("test_")
    name = re.sub(r"\W+", "-", f"{module}-{request.node.name.removeprefix('test_')}").strip("-")
    tab.shoot(name, failed=request.node.stash.get(FAILED, False))
    complaints, foreign = tab.complaints, tab.foreign()
    tab.close()
    assert complaints == []
    assert foreign == []


@pytest.fixture
def tab(browser: Browser, page_stack: Stack, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """Open a new browser profile on the stack with a worker. Any error in the browser fails the test."""
    yield from _watched(Tab(browser, page_stack.url), request)


@pytest.fixture
def api_tab(browser: Browser, api: Stack, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """Open a new browser profile on the stack where the test is the worker."""
    yield from _watched(Tab(browser, api.url), request)


@pytest.fixture
def live(api: Stack, api_tab: Tab) -> Live:
    return Live(api, api_tab)


@pytest.fixture
def tree(service: Service) -> dict[str, Any]:
    """Return the tree of the model that `page` shows."""
    return service.tree(service.model())


@pytest.fixture
def page(tab: Tab, service: Service) -> Page:
    return open_model(tab, service)
