"""The outermost layer: request ids, security headers, measurements, audit, the answer when all else fails.

Pure ASGI and one layer for all of it: a request that is answered in a fraction of a millisecond pays for
every layer it passes.
"""

from __future__ import annotations

import re
import secrets
import time
from typing import Any

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from service.audit import Audit
from service.compression import CompressedAnswer
from service.errors import Problem, problem_response
from service.metrics import Metrics
from service.security_headers import Header, completed

log = structlog.get_logger(__name__)
# What uvloop says of a client that has left, before uvicorn knows of it and says nothing more to it.
_HUNG_UP = "the handler is closed"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Front:
    def __init__(self, app: ASGIApp, metrics: Metrics, audit: Audit, *, access_log: bool) -> None:
        self.app = app
        self.metrics = metrics
        self.audit = audit
        self.access_log = access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        method: str = scope["method"]
        request_id = scope["literati.request_id"] = _request_id(scope)
        bind_contextvars(request_id=request_id)  # for this request's lines only: it has a task of its own
        if method == "HEAD":  # as GET; the server leaves the body out
            scope = {**scope, "method": "GET"}
        status = 0
        headers: list[Header] = []
        answer = CompressedAnswer(scope, send)

        async def send_on(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                given = [*message.get("headers", ()), *scope.get("literati.headers", ())]
                headers = message["headers"] = completed(given, request_id)
            try:
                await answer(message)
            except RuntimeError as error:
                if _HUNG_UP not in str(error):
                    raise

        try:
            await self.app(scope, receive, send_on)
        except Exception:
            log.exception("unexpected", method=method, route=_template(scope))
            if status:
                raise  # the answer has begun: all that is left is to break it off
            await problem_response(_unexpected(), request_id)(scope, receive, send_on)
        finally:
            seconds = time.perf_counter() - started
            self.metrics.request(method, _template(scope), status, seconds)
            self.audit.note(scope, method, status, headers)
            if self.access_log or status >= 500:
                self._log(method, scope, status, seconds)

    def _log(self, method: str, scope: Scope, status: int, seconds: float) -> None:
        caller = scope.get("literati.caller")
        log.info(
            "request",
            method=method,
            route=_template(scope),
            status=status,
            milliseconds=round(1000 * seconds, 3),
            key=getattr(caller, "key_id", None),
            job_id=scope.get("path_params", {}).get("job_id"),
        )


def _unexpected() -> Problem:
    return Problem(
        500, "Something went wrong here; the log has it under this request's id.", kind="unexpected"
    )


def _request_id(scope: Scope) -> str:
    """The client's own id if it is a plain word, so that its logs and ours can be laid side by side."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value.decode())
    return secrets.token_hex(8)


def _template(scope: Scope) -> str:
    """The route's path with its parameters by name: few values, whatever clients ask for."""
    route: Any = scope.get("route")
    return str(getattr(route, "path_format", None) or getattr(route, "path", None) or "unmatched")
