"""HTTP as the server reads it, with limits on what comes before a request reaches the app.

The server we build on has none of its own: a head may be endless, may never end, and connections that say
nothing are kept for ever. What is no HTTP is answered with a problem too.
"""

from __future__ import annotations

import asyncio
import secrets
from asyncio import TimerHandle
from http import HTTPStatus
from typing import Any, NoReturn

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.crowd import Crowd
from service.errors import Problem, problem_response
from service.security_headers import completed
from service.settings import Settings

MOST_PIPELINED = 64  # requests sent before the answer to the first
LINGER_SECONDS = 2.0  # for a client that still sends the body of a request that was answered
_ONCE = {b"authorization": "Authorization", b"host": "Host"}  # headers of which two could be read in two ways


class UnfitError(Exception):
    """Raised in the parser's callbacks to make it stop."""


def protocol_class(settings: Settings) -> type[Protocol]:
    """For one server: its connections know of each other."""
    return type("Protocol", (Protocol,), {"settings": settings, "crowd": Crowd(settings.max_connections)})


class Protocol(HttpToolsProtocol):
    settings: Settings
    crowd: Crowd

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._most_head = self.settings.max_head_bytes
        self._unheard = 0  # bytes of which nothing came yet: of a head, or of trailers
        self._refusal: Problem | None = None
        self._in_trailers = False
        self._head_timer: TimerHandle | None = None
        self._stall_timer: TimerHandle | None = None
        self._linger_timer: TimerHandle | None = None

    # Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self.crowd.enter(self):
            self._refuse(_crowded(self.crowd.most))
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.exit(self)
        for timer in (self._head_timer, self._stall_timer, self._linger_timer):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def leave(self) -> None:
        """Make room for another."""
        self.transport.abort()

    # The head of a request

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.settings.head_seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self._unheard:
            self._refuse(_head_too_slow(self.settings.head_seconds))
        else:  # it never said anything
            self.transport.close()

    def _head_has_come(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.timeout_keep_alive_task is not None and self._head_timer is None:
            self._await_head()  # the next request on a connection that idled
        self._unheard += len(data)
        super().data_received(data)
        if self._unheard > self._most_head and not self.transport.is_closing():
            self._refuse(_head_too_large(self._most_head))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_trailers = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Leave out trailers: the parser reports them like headers, and who calls is known by then."""
        if self._in_trailers:
            return
        super().on_header(name, value)
        if name.lower() == b"transfer-encoding" and value.strip().lower() != b"chunked":
            self._refuse_head(_unknown_transfer_encoding())

    def _check_repeated(self) -> None:
        names = [name for name, _ in self.headers]
        for name, title in _ONCE.items():
            if names.count(name) > 1:
                self._refuse_head(_repeated_header(title))

    def _check_host(self) -> None:
        """Refuse a request of HTTP/1.1 without the header Host, as RFC 9112, section 3.2, asks for."""
        if self.parser.get_http_version() == "1.1" and not any(name == b"host" for name, _ in self.headers):
            self._refuse_head(_no_host())

    def _refuse_head(self, problem: Problem) -> NoReturn:
        self._refusal = problem
        raise UnfitError

    def on_headers_complete(self) -> None:
        self._in_trailers = True
        self._unheard = 0
        self._head_has_come()
        self.crowd.busy(self)
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > self._most_head:
            self._refuse_head(_head_too_large(self._most_head))
        if len(self.pipeline) >= MOST_PIPELINED:
            self._refuse_head(_too_many_requests())
        self._check_repeated()
        self._check_host()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unheard = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unheard = 0
        super().on_message_complete()

    # Answers

    def on_response_complete(self) -> None:
        unfinished = self.cycle.more_body
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if unfinished and not self.pipeline:
            self._linger_timer = self.loop.call_later(LINGER_SECONDS, self._stop_lingering, self.cycle)
        if not self.pipeline:
            self.crowd.idle(self)

    def _stop_lingering(self, answered: Any) -> None:
        if self.cycle is answered and answered.more_body:
            self.transport.close()

    def pause_writing(self) -> None:
        """The client does not read what it asked for."""
        super().pause_writing()
        self.crowd.idle(self)
        self._stall_timer = self.loop.call_later(self.settings.body_grace_seconds, self.leave)

    def resume_writing(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        self.crowd.busy(self)
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._refusal or _no_http())

    def _refuse(self, problem: Problem) -> None:
        """In the app's place. In the middle of an answer, all that is left is to break it off."""
        self._head_has_come()
        if self.cycle is not None and not self.cycle.response_complete:
            if self.cycle.response_started or self.pipeline:
                self.transport.abort()
                return
            self.cycle.disconnected = True  # whatever the app says is not sent any more
            self.cycle.message_event.set()
        request_id = secrets.token_hex(8)
        response = problem_response(problem, request_id)
        headers = completed(response.raw_headers, request_id)
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        status = HTTPStatus(problem.status_code)
        start = f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode()
        self.transport.write(start + lines + b"connection: close\r\n\r\n" + bytes(response.body))
        self.transport.close()


def _no_http() -> Problem:
    return Problem(400, "This is not HTTP that can be read here.", kind="malformed-request")


def _head_too_large(most: int) -> Problem:
    detail = f"The request's address and headers take more than {most:,} bytes (LITERATI_MAX_HEAD_BYTES)."
    return Problem(431, detail, kind="head-too-large")


def _head_too_slow(seconds: float) -> Problem:
    detail = f"The request's headers did not come in {seconds:g} seconds (LITERATI_HEAD_SECONDS)."
    return Problem(408, detail, kind="head-too-slow")


def _too_many_requests() -> Problem:
    detail = f"At most {MOST_PIPELINED} requests may be sent before the first is answered."
    return Problem(400, detail, kind="malformed-request")


def _repeated_header(title: str) -> Problem:
    return Problem(400, f"Send the header {title} once.", kind="malformed-request")


def _no_host() -> Problem:
    detail = "Send the header Host: HTTP/1.1 asks for it in every request."
    return Problem(400, detail, kind="malformed-request")


def _unknown_transfer_encoding() -> Problem:
    detail = "The only Transfer-Encoding that is understood here is `chunked`."
    return Problem(501, detail, kind="transfer-encoding")


def _crowded(most: int) -> Problem:
    detail = f"There are {most:,} connections at once, and no more are taken (LITERATI_MAX_CONNECTIONS)."
    return Problem(503, detail, kind="unavailable", headers={"Retry-After": "2"})
