"""A tree of a thousand nodes opens within a second and without a long task."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, expect

from tests.page.test_speed import best, longest_task
from tests.support.page.browser import Tab
from tests.support.page.large_trees import icicle_model
from tests.support.page.page_data import Service
from tests.support.stack.stack import Stack

pytestmark = pytest.mark.alone

# Records when the icicle is painted, after the tree arrived.
_PAINTED = """
const fetched = window.fetch;
window.fetch = async (...asked) => {
  const answer = await fetched(...asked);
  if (/\\/v1\\/models\\/[^/]+$/.test(String(asked[0]))) window.arrivedAt = performance.now();
  return answer;
};
new MutationObserver((_, observer) => {
  if (!document.querySelector("canvas[data-bars]")) return;
  window.paintedAt = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true, attributes: true });
"""


def test_a_thousand_nodes_open_within_a_second(browser: Browser, page_stack: Stack, service: Service) -> None:
    model = icicle_model(service)
    assert len(service.tree(model)["nodes"]) >= 1000
    tasks: list[float] = []

    def measure() -> float:
        tab = Tab(browser, page_stack.url)
        tab.context.add_init_script(_PAINTED)
        page = tab.go("/models")
        expect(page.locator("table.list tbody tr").first).to_be_visible()
        browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline", "__metadata"])
        page = tab.go(f"/models/{model}")
        page.wait_for_function("() => window.paintedAt !== undefined")
        page.wait_for_timeout(300)
        for name in ("Folded tree", "Icicle"):
            page.get_by_role("button", name=name).click()
            page.wait_for_timeout(200)
        page.get_by_role("tab", name="Rules").click()
        page.wait_for_timeout(200)
        trace = browser.stop_tracing()
        assert len(json.loads(trace)["traceEvents"]) > 0
        tasks.append(longest_task(trace))
        elapsed: float = page.evaluate("window.paintedAt - window.arrivedAt")
        assert tab.complaints == []
        tab.close()
        return elapsed if tasks[-1] <= 50 else 1000 + tasks[-1]

    assert best(measure, 1000) <= 1000, tasks
