"""The HTTP protocol of the API server: uvicorn's, with limits that uvicorn does not have.

It limits the size of a request's head and the time until the head is complete, refuses requests that two
servers could read in two ways, and answers malformed HTTP with a problem. Limits per client, and clients that
send or read slowly, are left to a proxy (docs/deployment.md).
"""

from __future__ import annotations

import asyncio
import secrets
from asyncio import TimerHandle
from http import HTTPStatus
from typing import Any, NoReturn

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.http.problems import Problem, problem_response, unavailable
from service.http.security_headers import add_default_headers
from service.settings import Settings

MAX_PIPELINED = 64  # requests that a client may send before the first response
LINGER_SECONDS = 2.0  # how long a client may go on sending the body of a request that was answered
_SINGLE_HEADERS = {b"authorization": "Authorization", b"host": "Host"}


class RejectedError(Exception):
    """Raised in a callback of the parser to make it stop."""


def protocol_class(settings: Settings) -> type[Protocol]:
    """Return the protocol class for a server with these settings."""
    return type("Protocol", (Protocol,), {"settings": settings})


class Protocol(HttpToolsProtocol):
    """One connection of a client."""

    settings: Settings

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._unparsed_bytes = 0  # received since the parser last completed a head or a part of a body
        self._rejection: Problem | None = None
        self._in_trailers = False
        self._head_timer: TimerHandle | None = None
        self._linger_timer: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_head_timer()
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        super().connection_lost(exc)

    # The head of a request

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.settings.head_seconds, self._head_timed_out)

    def _cancel_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_timed_out(self) -> None:
        if self._unparsed_bytes:
            seconds = f"{self.settings.head_seconds:g} seconds (LITERATI_HEAD_SECONDS)"
            detail = f"The request's headers did not arrive within {seconds}."
            self._respond(Problem(408, detail, kind="head-too-slow"))
        else:  # nothing was sent, so nothing is answered
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.timeout_keep_alive_task is not None and self._head_timer is None:
            self._start_head_timer()  # the next request on an idle connection
        self._unparsed_bytes += len(data)
        super().data_received(data)
        if self._unparsed_bytes > self.settings.max_head_bytes and not self.transport.is_closing():
            self._respond(_head_too_large(self.settings.max_head_bytes))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_trailers = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Record a header. Trailers are dropped: the parser reports them too, after authentication."""
        if self._in_trailers:
            return
        super().on_header(name, value)
        if name.lower() == b"transfer-encoding" and value.strip().lower() != b"chunked":
            detail = "The only Transfer-Encoding that is supported is `chunked`."
            self._reject(Problem(501, detail, kind="transfer-encoding"))

    def on_headers_complete(self) -> None:
        self._in_trailers = True
        self._unparsed_bytes = 0
        self._cancel_head_timer()
        self._check_head()
        super().on_headers_complete()

    def _check_head(self) -> None:
        names = [name for name, _ in self.headers]
        max_bytes = self.settings.max_head_bytes
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > max_bytes:
            self._reject(_head_too_large(max_bytes))
        if len(self.pipeline) >= MAX_PIPELINED:
            self._reject(_malformed(f"Send at most {MAX_PIPELINED} requests before the first is answered."))
        for name, title in _SINGLE_HEADERS.items():
            if names.count(name) > 1:
                self._reject(_malformed(f"Send the header {title} once."))
        if b"host" not in names and self.parser.get_http_version() == "1.1":  # RFC 9112, section 3.2
            self._reject(_malformed("Send the header Host: HTTP/1.1 requires it in every request."))
        if len(self.tasks) >= (limit := self.settings.max_connections):
            detail = f"{limit:,} requests are in progress, the maximum (LITERATI_MAX_CONNECTIONS); retry."
            self._reject(unavailable(detail))

    def _reject(self, problem: Problem) -> NoReturn:
        self._rejection = problem
        raise RejectedError

    def on_body(self, body: bytes) -> None:
        self._unparsed_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed_bytes = 0
        super().on_message_complete()

    # Responses

    def on_response_complete(self) -> None:
        unfinished = self.cycle.more_body
        super().on_response_complete()
        if unfinished and not self.pipeline and not self.transport.is_closing():
            self._linger_timer = self.loop.call_later(LINGER_SECONDS, self._stop_lingering, self.cycle)

    def _stop_lingering(self, answered: Any) -> None:
        if self.cycle is answered and answered.more_body:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        self._respond(self._rejection or _malformed())

    def _respond(self, problem: Problem) -> None:
        """Send a problem in place of the application and close the connection.

        A response that has begun is broken off instead.
        """
        self._cancel_head_timer()
        if self.cycle is not None and not self.cycle.response_complete:
            if self.cycle.response_started or self.pipeline:
                self.transport.abort()
                return
            self.cycle.disconnected = True  # the application's own response is not sent
            self.cycle.message_event.set()
        request_id = secrets.token_hex(8)
        response = problem_response(problem, request_id)
        headers = add_default_headers(response.raw_headers, request_id)
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        status = HTTPStatus(problem.status_code)
        start = f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
        self.transport.write(start + lines + b"connection: close\r\n\r\n" + bytes(response.body))
        self.transport.close()


def _malformed(detail: str = "The request is not valid HTTP/1.1.") -> Problem:
    return Problem(400, detail, kind="malformed-request")


def _head_too_large(max_bytes: int) -> Problem:
    detail = f"The request's address and headers exceed {max_bytes:,} bytes (LITERATI_MAX_HEAD_BYTES)."
    return Problem(431, detail, kind="head-too-large")
