"""A job whose worker is the test itself, and a tab that shows the job."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.support.page.browser import Tab
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker
from tests.support.stack.stack import Stack
from worker.domain.jobs import JobState


class Live:
    """A job, the worker that the test plays, and a tab that shows the job."""

    def __init__(self, stack: Stack, tab: Tab) -> None:
        dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.easy())
        stack.store.jobs.submit(jobs.spec(dataset, name="watched"))
        self.stack, self.tab, self.page = stack, tab, tab.page
        self.worker = ActingWorker(stack.store)

    def open(self) -> Page:
        self.tab.go(f"/jobs/{self.worker.id}")
        expect(self.page.get_by_role("heading", level=1, name="watched")).to_be_visible()
        return self.page

    def fact(self, name: str) -> Locator:
        return self.page.locator(".job-facts .fact").filter(has_text=re.compile(f"^{name}")).locator("dd")

    def state(self) -> JobState:
        job = self.stack.store.jobs.get(jobs.TENANT, self.worker.id)
        assert job is not None
        return job.state
