"""A client for the API of a stack of containers, with a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx

from tests.compose.engine import until
from tests.support.http.event_client import Seen, listen


class Api:
    def __init__(self, address: str, key: str) -> None:
        self.address = address
        self.key = key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(base_url=address, headers=headers, timeout=60.0, trust_env=False)

    def call(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Send a request; a text is sent as CSV, anything else as JSON."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if isinstance(body, str):
            answer = self._client.request(
                method, path, content=body, headers={**headers, "Content-Type": "text/csv"}
            )
        else:
            answer = self._client.request(method, path, json=body, headers=headers)
        answer.raise_for_status()
        return answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.text

    def status(self, path: str, key: str | None = None) -> int | None:
        """Return the status, or None if there is no response."""
        try:
            self.call("GET", path, key=key)
        except httpx.HTTPStatusError as error:
            return error.response.status_code
        except httpx.TransportError:
            return None
        return 200

    def ready(self) -> bool:
        return self.status("/readyz") == 200

    def job(self, job_id: str) -> dict[str, Any]:
        """Read the job, again while a part of the stack is unavailable."""

        def look() -> dict[str, Any] | None:
            try:
                found: dict[str, Any] = self.call("GET", f"/v1/jobs/{job_id}")
            except httpx.HTTPError:
                return None
            return found

        return until(look, 60, "an answer")

    def submit(self, dataset: str, parameters: dict[str, Any], **limits: Any) -> str:
        body = {"dataset_id": dataset, "parameters": parameters, "limits": limits}
        job_id: str = self.call("POST", "/v1/jobs", body)["id"]
        return job_id

    def ended(self, job_id: str, seconds: float = 60.0) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            job = self.job(job_id)
            return job if job["finished_at"] else None

        return until(look, seconds, "the job's end")

    def events(self, job_id: str, last: str | None = None) -> Iterator[Seen]:
        return listen(self._client, f"/v1/jobs/{job_id}/events", last)
