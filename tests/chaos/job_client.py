"""A client with a method for each request about a job, for scenarios and tests of single faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.chaos.client_task import LONG
from tests.chaos.retrying_client import RetryingClient
from tests.chaos.rows import Rows
from tests.chaos.rules import ended
from tests.support.stack.stack import poll

Json = dict[str, Any]


class JobClient(RetryingClient):
    """Submit, read and control jobs."""

    def submit(
        self, rows: Rows, parameters: Json | None = None, limits: Json | None = None, **fields: Any
    ) -> str:
        """Submit a job and return its id. By default its search takes longer than any test."""
        _, dataset_id = self.upload(rows.csv)
        body = {
            "dataset_id": dataset_id,
            "parameters": parameters or LONG,
            "limits": limits or {"time_limit": 600.0},
            **fields,
        }
        return str(self.request("POST", "/v1/jobs", 202, json=body).json()["id"])

    def job(self, job_id: str) -> Json:
        job: Json = self.request("GET", f"/v1/jobs/{job_id}", 200).json()
        return job

    def until(
        self, job_id: str, enough: Callable[[Json], object], what: str = "it", seconds: float = 30.0
    ) -> Json:
        def look() -> Json | None:
            job = self.job(job_id)
            return job if enough(job) else None

        return poll(look, seconds=seconds, what=f"{what} of {job_id}")

    def until_tree(self, job_id: str) -> Json:
        return self.until(job_id, has_tree, "a tree")

    def until_end(self, job_id: str, seconds: float = 40.0) -> Json:
        return self.until(job_id, ended, "the end", seconds)

    def steer(self, job_id: str, verb: str) -> Json:
        job: Json = self.request("POST", f"/v1/jobs/{job_id}/{verb}", 200, 202).json()
        return job

    def events(self, job_id: str) -> list[Json]:
        page: Json = self.request("GET", f"/v1/jobs/{job_id}/events?page_size=1000", 200).json()
        return list(page["items"])

    def log_messages(self, job_id: str) -> str:
        """Return the messages that the worker added to the job's events."""
        messages = [event["data"]["message"] for event in self.events(job_id) if event["type"] == "log"]
        return "; ".join(messages)


def has_tree(job: Json) -> bool:
    return bool(job["progress"]["incumbents"])
