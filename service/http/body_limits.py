"""Limits on request bodies: their size, the pauses while they arrive, and the memory they take together."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.decompression import CODINGS
from service.http.problems import Problem, problem_response, unavailable
from service.settings import Settings

_UPLOAD_PATH = "/v1/datasets"
_COMPRESSIBLE = ("max_upload_bytes", "max_predict_bytes")  # limits of the bodies that may be compressed
CODING = "literati.coding"  # the key in a request's scope for the compression of its body
_CLOSE = {"Connection": "close"}  # the rest of the body is not read
SMALL_BYTES = 1 << 20  # a body up to this size is accepted even when other bodies fill the memory


class BodyLimitMiddleware:
    """ASGI middleware that refuses bodies beyond the limits.

    Starlette passes on a problem that is raised while a body is read, so it becomes the response.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.held_bytes = 0  # of bodies in memory, until their requests are answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = BodyHeaders(scope)
        if headers.empty:
            await self.app(scope, receive, send)
            return
        setting = _limit_setting(scope)
        limit: int = getattr(self.settings, setting)
        codings = CODINGS if setting in _COMPRESSIBLE else {}
        coding = codings.get(headers.coding)
        problem = _unsupported_coding(codings) if headers.coding and coding is None else None
        if headers.content_length is not None and headers.content_length > limit:
            problem = too_large(limit, setting)
        if problem is not None:
            response = problem_response(problem, scope.get("literati.request_id", "unknown"))
            await response(scope, receive, send)
            return
        if coding is not None:
            scope[CODING] = coding
        body = Body(self, receive, setting, in_memory=setting != "max_upload_bytes")
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.release()


class Body:
    """A body while it is received."""

    def __init__(self, middleware: BodyLimitMiddleware, receive: Receive, setting: str, *, in_memory: bool):
        self._middleware = middleware
        self._receive = receive
        self._setting = setting
        self._limit: int = getattr(middleware.settings, setting)
        self._in_memory = in_memory  # uploads are written to disk
        self._received_bytes = 0
        self._complete = False

    def release(self) -> None:
        if self._in_memory:
            self._middleware.held_bytes -= self._received_bytes

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        seconds = self._middleware.settings.body_grace_seconds
        try:
            async with asyncio.timeout(seconds):
                message = await self._receive()
        except TimeoutError:
            raise too_slow(seconds) from None
        if message["type"] == "http.request":
            self._count(len(message.get("body", b"")))
            self._complete = not message.get("more_body", False)
        return message

    def _count(self, size: int) -> None:
        self._received_bytes += size
        if self._in_memory:
            self._middleware.held_bytes += size
        if self._received_bytes > self._limit:
            raise too_large(self._limit, self._setting)
        limit = self._middleware.settings.max_held_bytes
        if self._in_memory and self._received_bytes > SMALL_BYTES and self._middleware.held_bytes > limit:
            raise _memory_full(limit)


def too_large(limit: int, setting: str) -> Problem:
    detail = f"The body exceeds {limit:,} bytes (LITERATI_{setting.upper()}); send less."
    return Problem(413, detail, kind="body-too-large", headers=_CLOSE)


def too_slow(seconds: float) -> Problem:
    detail = (
        f"No part of the body arrived for {seconds:g} seconds (LITERATI_BODY_GRACE_SECONDS); send it again."
    )
    return Problem(408, detail, kind="body-too-slow", headers=_CLOSE)


def _memory_full(limit: int) -> Problem:
    problem = unavailable(
        f"Request bodies fill the {limit:,} bytes of memory that they may take (LITERATI_MAX_HELD_BYTES); "
        "try again soon."
    )
    problem.headers = {**(problem.headers or {}), **_CLOSE}
    return problem


def _unsupported_coding(supported: Collection[str]) -> Problem:
    headers = {**_CLOSE, "Accept-Encoding": ", ".join(supported) or "identity"}
    detail = "Send the body uncompressed, without a Content-Encoding."
    if supported:
        detail = "Send the body with the Content-Encoding gzip or zstd, or without one."
    return Problem(415, detail, kind="media-type", headers=headers)


class BodyHeaders:
    """The headers that describe a request's body."""

    __slots__ = ("chunked", "coding", "content_length")

    def __init__(self, scope: Scope) -> None:
        self.content_length: int | None = None
        self.chunked = False
        self.coding = ""  # the Content-Encoding; empty if there is none
        for name, value in scope["headers"]:
            if name == b"content-length":
                self.content_length = int(value) if value.isdigit() else None
            elif name == b"transfer-encoding":
                self.chunked = True
            elif name == b"content-encoding":
                given = value.decode("latin-1").strip().lower()
                if given not in ("", "identity"):
                    self.coding = f"{self.coding}, {given}" if self.coding else given

    @property
    def empty(self) -> bool:
        return self.content_length == 0 or (self.content_length is None and not self.chunked)


def _limit_setting(scope: Scope) -> str:
    """Return the name of the setting that limits the size of the body."""
    if scope["path"].endswith("/predict"):
        return "max_predict_bytes"
    upload = scope["method"] == "POST" and scope["path"] == _UPLOAD_PATH
    return "max_upload_bytes" if upload else "max_request_bytes"
