"""Caps on request bodies: their size, declared or not, and the time they may take."""

from __future__ import annotations

import asyncio
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import Problem, problem_response
from service.settings import Settings

_UPLOAD_PATH = "/v1/datasets"
_CLOSE = {"Connection": "close"}  # the rest of the body is not read


class BodyLimits:
    """Pure ASGI. The framework lets a problem raised while a body is read pass, so it becomes the answer."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self._most(scope)
        declared = _declared(scope)
        if declared is not None and declared > most:
            response = problem_response(too_large(most), scope.get("literati.request_id", "unknown"))
            await response(scope, receive, send)
            return
        if declared == 0 or (declared is None and not _chunked(scope)):
            await self.app(scope, receive, send)  # no body, nothing to watch
            return
        await self.app(scope, self._watched(receive, most), send)

    def _most(self, scope: Scope) -> int:
        upload = scope["method"] == "POST" and scope["path"] == _UPLOAD_PATH
        return self.settings.max_upload_bytes if upload else self.settings.max_json_bytes

    def _watched(self, receive: Receive, most: int) -> Receive:
        settings = self.settings
        received = 0
        waited = 0.0  # for the client; what the handler does in between is not the client's fault
        complete = False

        async def watched() -> Message:
            nonlocal received, waited, complete
            if complete:
                return await receive()
            allowed = settings.body_grace_seconds + received / settings.body_bytes_per_second
            started = time.monotonic()
            try:
                async with asyncio.timeout(allowed - waited):
                    message = await receive()
            except TimeoutError:
                raise too_slow() from None
            waited += time.monotonic() - started
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                complete = not message.get("more_body", False)
                if received > most:
                    raise too_large(most)
            return message

        return watched


def too_large(most: int) -> Problem:
    detail = f"The body is larger than the {most:,} bytes that are taken here."
    return Problem(413, detail, kind="body-too-large", headers=_CLOSE)


def too_slow() -> Problem:
    return Problem(408, "The body came too slowly.", kind="body-too-slow", headers=_CLOSE)


def _declared(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def _chunked(scope: Scope) -> bool:
    return any(name == b"transfer-encoding" for name, _ in scope["headers"])
