"""Caps on request bodies: their size, declared or not, the time they may take, and how many come at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import Problem, problem_response
from service.ingest.packing import CODINGS
from service.settings import Settings

_UPLOAD_PATH = "/v1/datasets"
_UNPACKED = ("max_upload_bytes", "max_predict_bytes")  # caps of the bodies that may be packed
CODING = "literati.coding"  # in a request's scope: what its body is packed with
_CLOSE = {"Connection": "close"}  # the rest of the body is not read
SMALL_BYTES = 1 << 20  # a body that is never refused for the memory that others take


class BodyLimits:
    """Pure ASGI. The framework lets a problem raised while a body is read pass, so it becomes the answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings
        self.held = 0  # bytes of bodies that are in memory, until their requests are answered
        self.coming: set[Body] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        framing = Framing(scope)
        if framing.empty:
            await self.app(scope, receive, send)  # nothing to watch
            return
        name = _cap(scope)
        most: int = getattr(self.settings, name)
        takes = CODINGS if name in _UNPACKED else {}
        coding = takes.get(framing.coding)
        refusal = _coded(takes) if framing.coding and coding is None else None
        if framing.declared is not None and framing.declared > most:
            refusal = too_large(most, name)
        if refusal is not None:
            response = problem_response(refusal, scope.get("literati.request_id", "unknown"))
            await response(scope, receive, send)
            return
        if coding is not None:
            scope[CODING] = coding
        body = Body(self, receive, name, held=name != "max_upload_bytes")
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.forget()

    def make_room(self) -> None:
        """Where as many bodies come as may, the one that was waited for the longest is given up."""
        if len(self.coming) >= self.settings.max_bodies:
            max(self.coming, key=lambda body: body.patience_used).give_up()


class Body:
    """One body on its way."""

    def __init__(self, limits: BodyLimits, receive: Receive, name: str, *, held: bool) -> None:
        self._limits = limits
        self._receive = receive
        self._name = name  # of the setting that caps it
        self._most: int = getattr(limits.settings, name)
        self._held = held  # in memory, not on disk
        self._received = 0
        self._waited = 0.0  # for the client; what the handler does in between is not the client's fault
        self._since: float | None = None
        self._timeout: asyncio.Timeout | None = None
        self._given_up = False
        self._complete = False

    @property
    def patience_used(self) -> float:
        return self._waited + (0.0 if self._since is None else time.monotonic() - self._since)

    def give_up(self) -> None:
        self._given_up = True
        self._limits.coming.discard(self)
        if self._timeout is not None:
            self._timeout.reschedule(0)

    def forget(self) -> None:
        self._limits.coming.discard(self)
        if self._held:
            self._limits.held -= self._received

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        if self._given_up:
            raise _gave_way(self._limits.settings)
        if not self._received:
            self._limits.make_room()
            self._limits.coming.add(self)
        message = await self._await()
        if message["type"] == "http.request":
            self._take(len(message.get("body", b"")))
            self._complete = not message.get("more_body", False)
            if self._complete:
                self._limits.coming.discard(self)
        return message

    async def _await(self) -> Message:
        settings = self._limits.settings
        allowed = settings.body_grace_seconds + self._received / settings.body_bytes_per_second
        self._since = time.monotonic()
        try:
            async with asyncio.timeout(allowed - self._waited) as self._timeout:
                return await self._receive()
        except TimeoutError:
            raise _gave_way(settings) if self._given_up else too_slow(settings) from None
        finally:
            self._waited += time.monotonic() - self._since
            self._since = self._timeout = None

    def _take(self, size: int) -> None:
        self._received += size
        if self._held:
            self._limits.held += size
        if self._received > self._most:
            raise too_large(self._most, self._name)
        most = self._limits.settings.max_held_bytes
        if self._held and self._received > SMALL_BYTES and self._limits.held > most:
            raise _too_much_held(most)


def too_large(most: int, name: str) -> Problem:
    detail = f"The body is larger than the {most:,} bytes that are taken here (LITERATI_{name.upper()})."
    return Problem(413, detail, kind="body-too-large", headers=_CLOSE)


def too_slow(settings: Settings) -> Problem:
    rule = f"{settings.body_grace_seconds:g} s and 1 s more for {settings.body_bytes_per_second:g} bytes"
    named = "LITERATI_BODY_GRACE_SECONDS, LITERATI_BODY_BYTES_PER_SECOND"
    detail = f"The body came too slowly: it has {rule} ({named})."
    return Problem(408, detail, kind="body-too-slow", headers=_CLOSE)


def _gave_way(settings: Settings) -> Problem:
    detail = f"{settings.max_bodies:,} bodies come at once (LITERATI_MAX_BODIES), and this was the slowest."
    return Problem(503, detail, kind="unavailable", headers={**_CLOSE, "Retry-After": "2"})


def _too_much_held(most: int) -> Problem:
    detail = f"Bodies take the {most:,} bytes of memory that they may (LITERATI_MAX_HELD_BYTES); try again."
    return Problem(503, detail, kind="unavailable", headers={**_CLOSE, "Retry-After": "2"})


def _coded(taken: Iterable[str]) -> Problem:
    headers = {**_CLOSE, "Accept-Encoding": ", ".join(taken) or "identity"}
    message = "Send the bytes as they are, without a Content-Encoding."
    if taken:
        message = "A Content-Encoding of gzip or zstd is taken here, or none."
    return Problem(415, message, kind="media-type", headers=headers)


class Framing:
    """What a request's headers say of its body."""

    __slots__ = ("chunked", "coding", "declared")

    def __init__(self, scope: Scope) -> None:
        self.declared: int | None = None
        self.chunked = False
        self.coding = ""  # its Content-Encoding, if it has one
        for name, value in scope["headers"]:
            if name == b"content-length":
                self.declared = int(value) if value.isdigit() else None
            elif name == b"transfer-encoding":
                self.chunked = True
            elif name == b"content-encoding":
                given = value.decode("latin-1").strip().lower()
                if given not in ("", "identity"):
                    self.coding = f"{self.coding}, {given}" if self.coding else given

    @property
    def empty(self) -> bool:
        return self.declared == 0 or (self.declared is None and not self.chunked)


def _cap(scope: Scope) -> str:
    """The setting that says how large the body may be."""
    if scope["path"].endswith("/predict"):
        return "max_predict_bytes"
    upload = scope["method"] == "POST" and scope["path"] == _UPLOAD_PATH
    return "max_upload_bytes" if upload else "max_request_bytes"
