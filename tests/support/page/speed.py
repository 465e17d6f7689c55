"""Measure a page: its longest task, the best of several attempts, and how slow the machine is.

The limits of these tests hold on the machine on which they were set. On a slower one they grow with the time
of a fixed piece of work in the same browser, so that a test fails because of the page, not of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Browser

ATTEMPTS = 3  # the best one counts, because other processes use the machine too
LONG_TASK_MS = 50.0
TRACED = ["toplevel", "devtools.timeline", "__metadata"]
REFERENCE_MS = 17.0  # processor time of the fixed work where the limits were set
MAX_SLOWNESS = 3.0
# Scripts, styles and layout, as a page has them: fill a table and ask where its last row is.
_FIXED_WORK = """() => {
  const table = document.createElement("table");
  for (let row = 0; row < 400; row++) {
    const cells = table.insertRow();
    for (let column = 0; column < 6; column++) {
      cells.insertCell().textContent = `${(row * 7919 + column) % 1000} of ${row}`;
    }
  }
  document.body.append(table);
  table.rows[399].getBoundingClientRect();
  table.remove();
}"""
_REPETITIONS = 10


def slowness(browser: Browser) -> float:
    """Return how many times slower than the reference this machine is now, from 1 to MAX_SLOWNESS."""
    page = browser.new_page()
    page.set_content("<!doctype html><title>Fixed work</title><body></body>")
    browser.start_tracing(page=page, categories=TRACED)
    for _ in range(_REPETITIONS):
        page.evaluate(_FIXED_WORK)
    longest = sorted(_tasks(browser.stop_tracing()))[-_REPETITIONS:]
    page.close()
    return min(max(1.0, longest[0] / REFERENCE_MS), MAX_SLOWNESS)


def best(measure: Callable[[], float], good: float) -> float:
    found = []
    for _ in range(ATTEMPTS):
        found.append(measure())
        if found[-1] <= good:
            break
    return min(found)


def longest_task(trace: bytes) -> float:
    """Return the processor time of the page's longest task in milliseconds."""
    tasks = _tasks(trace)
    assert len(tasks) > 50
    return max(tasks)


def _tasks(trace: bytes) -> list[float]:
    """Return the processor time of each task of a page's main thread in milliseconds."""
    events = json.loads(trace)["traceEvents"]
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return [
        event["tdur"] / 1000
        for event in events
        if event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in mains and "tdur" in event
    ]
