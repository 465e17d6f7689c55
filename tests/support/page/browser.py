"""Chromium for tests of the page, with a record of errors, requests and long tasks."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, expect

from tests.support.paths import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots"
SHOOT_ALL = os.environ.get("SCREENSHOTS") == "all"  # otherwise only what a test that fails shows
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PATIENCE = 20_000  # milliseconds, enough for a busy machine
_REFUSED = re.compile(r"Failed to load resource: .* status of (\d+)")
# Collects the long tasks that block the page, as the browser reports them.
_LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
  .observe({ type: "longtask", buffered: true });
"""


def executable() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def launch(playwright: Playwright, path: str) -> Browser:
    # Chromium's sandbox does not work for root, as whom build machines run.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    return playwright.chromium.launch(executable_path=path, args=arguments)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Tab:
    """A page of the browser on one server. It records every error, request and long task."""

    def __init__(self, browser: Browser, url: str, **options: Any) -> None:
        self.url = url
        self.context = browser.new_context(
            base_url=url, viewport={"width": 1440, "height": 900}, accept_downloads=True, **options
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_LONG_TASKS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[Request] = []
        self.refusals: set[int] = set()  # error statuses that the test expects
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        self.page.on("request", lambda request: self.requests.append(request))

    def _on_console(self, message: ConsoleMessage) -> None:
        refused = _REFUSED.search(message.text)
        if refused and int(refused[1]) in self.refusals:
            return
        if message.type == "error":  # this includes violations of the content security policy
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def go(self, place: str) -> Page:
        """Open a view by the part of its address after the `#`."""
        self.page.goto(f"/#{place}")
        return self.page

    def sent(self, method: str, part: str) -> list[Request]:
        return [request for request in self.requests if request.method == method and part in request.url]

    def foreign(self) -> list[str]:
        """Return the requested addresses that are not on this server."""
        return [r.url for r in self.requests if not r.url.startswith((self.url, "blob:", "data:"))]

    def shoot(self, name: str, *, failed: bool = False) -> None:
        """Take a screenshot if all are wanted or the test failed."""
        if not (SHOOT_ALL or failed):
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def close(self) -> None:
        self.context.close()


def drop(page: Page, place: str, file: Path, kind: str = "") -> None:
    """Drop a file onto an element, as from a file manager."""
    transfer = page.evaluate_handle(
        """([name, kind, bytes]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], name, { type: kind }));
          return transfer;
        }""",
        [file.name, kind, list(file.read_bytes())],
    )
    target = page.locator(place)
    target.dispatch_event("dragover", {"dataTransfer": transfer})
    target.dispatch_event("drop", {"dataTransfer": transfer})


def saved(page: Page, act: Callable[[], None]) -> tuple[str, str]:
    """Return the name and text of the file that the page saves."""
    with page.expect_download() as download:
        act()
    return download.value.suggested_filename, Path(download.value.path()).read_text()


def until(page: Page, look: Callable[[], object], what: str) -> None:
    """Wait like `stack.poll`, while the browser's events are processed."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not look():
        assert time.monotonic() < deadline, f"{what} did not happen"
        page.wait_for_timeout(20)


def see(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(text).first).to_be_visible()
