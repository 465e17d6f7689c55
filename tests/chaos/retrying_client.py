"""An HTTP client that repeats a request when the connection broke or the server was not ready."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

import httpx

from tests.chaos.findings import Findings

ANSWER_SECONDS = 30.0  # a request that takes longer counts as hanging
INITIAL_PAUSE, MAX_PAUSE = 0.05, 1.0
_RETRIED = (429, 503)


class GaveUpError(Exception):
    """No expected response came in time."""


class RetryingClient:
    """For one thread. `request` repeats, `try_once` does not. Broken promises are added to `findings`."""

    def __init__(self, url: str, findings: Findings) -> None:
        self.url = url
        self.findings = findings
        self._client = httpx.Client(base_url=url, timeout=httpx.Timeout(ANSWER_SECONDS, connect=10.0))

    def request(
        self, method: str, path: str, *expected: int, seconds: float = 300.0, **options: Any
    ) -> httpx.Response:
        """Return a response with an expected status; a status that does not ask to retry is a violation."""
        deadline, pause = time.monotonic() + seconds, INITIAL_PAUSE
        while True:
            answer = self.try_once(method, path, **options)
            if answer is not None and answer.status_code in expected:
                return answer
            if answer is not None and answer.status_code not in _RETRIED:
                self.findings.violation(
                    "no unexpected answer", f"{method} {path}: {answer.status_code} {answer.text[:300]}"
                )
                raise GaveUpError(f"{method} {path}: {answer.status_code}")
            if time.monotonic() > deadline:
                self.findings.violation("every request is answered", f"{method} {path}: not in {seconds:g} s")
                raise GaveUpError(f"{method} {path}: no answer")
            time.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)

    def upload(self, csv: bytes) -> tuple[int, str]:
        """Upload a table; return the status and the id of the dataset."""
        headers = {"Content-Type": "text/csv"}
        answer = self.request("POST", "/v1/datasets?target=label", 200, 201, content=csv, headers=headers)
        return answer.status_code, str(answer.json()["id"])

    def try_once(self, method: str, path: str, **options: Any) -> httpx.Response | None:
        """Send the request once; return None if the connection broke. A timeout or a 500 is a violation."""
        started = time.monotonic()
        try:
            answer = self._client.request(method, path, **options)
        except httpx.ReadTimeout:
            self.findings.violation("nothing hangs", f"{method} {path}: {time.monotonic() - started:.1f} s")
            return None
        except httpx.TransportError:
            self.findings.count("requests broken off")
            return None
        self._check(answer, method, path, time.monotonic() - started)
        return answer

    def _check(self, answer: httpx.Response, method: str, path: str, seconds: float) -> None:
        self.findings.answered(f"{method} {path}", seconds)
        if answer.status_code == 503:
            self.findings.count("answers of 503")
            if "retry-after" not in answer.headers or "problem+json" not in answer.headers["content-type"]:
                self.findings.violation("503 says when to try again", f"{method} {path}: {answer.headers}")
        elif answer.status_code >= 500:
            self.findings.violation(
                "never a 500", f"{method} {path}: {answer.status_code} {answer.text[:300]}"
            )

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
