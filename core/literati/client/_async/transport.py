"""Send requests, and send them again where that is safe."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from literati._version import __version__
from literati.client._async.runtime import in_thread, sleep
from literati.client.call import NOT_SENT, Call, checked_status, error_of, given, json_of, no_answer
from literati.client.config import Connection
from literati.client.errors import ClientError, ConnectionFailedError, VersionWarning
from literati.client.retry import Attempts, RetryPolicy, seconds_left
from literati.client.tables import Body
from literati.client.versions import difference

CONNECT_SECONDS = 10.0
VERSION_SECONDS = 5.0  # to compare versions
MIN_SECONDS = 0.5  # that a request gets, however little time is left


class AsyncTransport:
    """A connection pool to one server."""

    def __init__(self, connection: Connection, timeout: float, policy: RetryPolicy) -> None:
        self.connection, self.policy = connection, policy
        headers = {"User-Agent": f"literati/{__version__}", "Accept": "application/json"}
        if connection.api_key:
            headers["Authorization"] = f"Bearer {connection.api_key}"
        self._timeout = timeout
        self._http = httpx2.AsyncClient(base_url=connection.url, headers=headers)
        self._compared = False

    async def aclose(self) -> None:
        await self._http.aclose()

    async def json(self, call: Call) -> dict[str, Any]:
        """Send a call and return the JSON object of its response."""
        return json_of(await self.send(call))

    async def send(self, call: Call) -> httpx2.Response:
        """Send a call until it is answered. Raise ApiError for a response of 400 or above."""
        attempts = Attempts(self.policy, patient=call.patient)
        lost = False  # whether an attempt may have been carried out without an answer
        while True:
            failure: ClientError
            try:
                response = await self._http.send(self._request(call))
            except httpx2.RequestError as error:
                lost = lost or not isinstance(error, NOT_SENT)
                failure, again = self.no_answer(call, error, attempts), call.may_follow(error)
            else:
                await self._compare_versions()
                if response.status_code < 400:
                    return checked_status(response)
                if call.method == "DELETE" and response.status_code == 404 and lost:
                    return response  # an earlier attempt deleted the record
                failure, again = error_of(response), call.may_follow_status(response.status_code)
            if not again:
                raise failure
            await sleep(attempts.delay_or_raise(failure))

    def no_answer(self, call: Call, error: Exception, attempts: Attempts) -> ConnectionFailedError:
        return no_answer(call, self.connection, error, attempts)

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[httpx2.Response]:
        """Send a call once and yield its response before the body is read."""
        response = await self._http.send(self._request(call), stream=True)
        try:
            if response.status_code >= 400:
                await response.aread()
            yield response
        finally:
            await response.aclose()

    def _request(self, call: Call) -> httpx2.Request:
        headers = dict(call.headers)
        content: AsyncIterator[bytes] | None = None
        if call.body is not None:
            content = _parts(call.body)
            headers["Content-Type"] = call.body.content_type
            if call.body.size is not None:
                headers["Content-Length"] = str(call.body.size)
        return self._http.build_request(
            call.method,
            call.path,
            params=given(call.query),
            json=call.json,
            content=content,
            headers=headers,
            timeout=_timeout(self._timeout if call.timeout is None else call.timeout),
        )

    async def _compare_versions(self) -> None:
        """Warn once if the server has another version, after its first answer of any status.

        A server that does not tell is not asked again.
        """
        if self._compared:
            return
        self._compared = True
        try:
            response = await self._http.get("/version", timeout=_timeout(VERSION_SECONDS))
            answer = response.json() if response.status_code == 200 else {}
        except (httpx2.HTTPError, ValueError):
            return
        if response.status_code == 429 or response.status_code >= 500:
            self._compared = False  # the server cannot tell now
            return
        if isinstance(answer, dict) and (sentence := difference(__version__, answer)):
            warnings.warn(sentence, VersionWarning, stacklevel=2)


def _timeout(seconds: float) -> httpx2.Timeout:
    """Return how long the server may be silent, at most what is left for the call."""
    seconds = min(seconds, max(MIN_SECONDS, seconds_left()))
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


async def _parts(body: Body) -> AsyncIterator[bytes]:
    """Yield the parts of a body. The next part is read when the one before is sent."""
    parts = body.parts()
    while part := await in_thread(next, parts, b""):
        yield part
