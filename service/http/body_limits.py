"""Limits on request bodies: their size, the pauses while they arrive, and the memory they take together."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.auth.authentication import sends_rows
from service.http.decompression import CODINGS
from service.http.problems import Problem, unavailable
from service.settings import Settings

_UPLOAD_PATH = "/v1/datasets"
_COMPRESSIBLE = ("max_upload_bytes", "max_predict_bytes")  # limits of the bodies that may be compressed
CODING = "literati.coding"  # the key in a request's scope for the compression of its body
_CLOSE = {"Connection": "close"}  # the rest of the body is not read
SMALL_BYTES = 1 << 20  # a body up to this size is accepted even when other bodies fill the memory


class BodyLimitMiddleware:
    """ASGI middleware that raises a problem for a body beyond the limits, at once or while it is read."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.held_bytes = 0  # of bodies in memory, until their requests are answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        size, coding = _declared(scope) if scope["type"] == "http" else (0, "")
        if size == 0:
            await self.app(scope, receive, send)
            return
        setting = _limit_setting(scope)
        limit: int = getattr(self.settings, setting)
        if size is not None and size > limit:
            raise too_large(limit, setting)
        codings = CODINGS if setting in _COMPRESSIBLE else {}
        if coding:
            if coding not in codings:
                raise _unsupported_coding(codings)
            scope[CODING] = codings[coding]
        body = Body(self, receive, setting)
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.release()


class Body:
    """A body while it is received."""

    def __init__(self, middleware: BodyLimitMiddleware, receive: Receive, setting: str) -> None:
        self._middleware = middleware
        self._receive = receive
        self._setting = setting
        self._limit: int = getattr(middleware.settings, setting)
        self._in_memory = setting != "max_upload_bytes"  # uploads are written to disk
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


def _declared(scope: Scope) -> tuple[int | None, str]:
    """Return the size of the body by its headers, None if it is not known yet, and its Content-Encoding."""
    size: int | None = 0
    chunked = False
    codings: list[str] = []
    for name, value in scope["headers"]:
        if name == b"content-length":
            size = int(value) if value.isdigit() else None
        elif name == b"transfer-encoding":
            chunked = True
        elif name == b"content-encoding":
            codings.append(value.decode("latin-1").strip().lower())
    coding = ", ".join(coding for coding in codings if coding not in ("", "identity"))
    return None if chunked else size, coding


def _limit_setting(scope: Scope) -> str:
    """Return the name of the setting that limits the size of the body."""
    if sends_rows(scope["method"], scope["path"]):
        return "max_predict_bytes"
    upload = scope["method"] == "POST" and scope["path"] == _UPLOAD_PATH
    return "max_upload_bytes" if upload else "max_request_bytes"
