"""The outermost middleware: request ids, default headers, metrics, the audit log and unexpected errors.

It is one ASGI class, because some requests take a fraction of a millisecond and every layer costs time.
"""

from __future__ import annotations

import re
import secrets
import time
from typing import Any

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars

from service.http.compression import CompressedResponse
from service.http.problems import Problem, problem_response
from service.http.security_headers import Header, add_default_headers
from service.ops.audit import Audit
from service.ops.metrics import Metrics

log = structlog.get_logger(__name__)
_CLOSED_BY_CLIENT = "the handler is closed"  # uvloop's message before uvicorn knows that the client is gone
_UNEXPECTED = "The server failed unexpectedly; its log has the error under this request's id."
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestMiddleware:
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
        bind_contextvars(request_id=request_id)  # a request has its own task, so this ends with it
        if method == "HEAD":  # handled as GET; uvicorn omits the body
            scope = {**scope, "method": "GET"}
        status = 0
        headers: list[Header] = []
        response = CompressedResponse(scope, send)

        async def send_with_headers(message: Message) -> None:
            nonlocal status, headers
            if message["type"] == "http.response.start":
                status = message["status"]
                given = [*message.get("headers", ()), *scope.get("literati.headers", ())]
                headers = message["headers"] = add_default_headers(given, request_id)
            try:
                await response(message)
            except RuntimeError as error:
                if _CLOSED_BY_CLIENT not in str(error):
                    raise

        try:
            await self.app(scope, receive, send_with_headers)
        except Exception as error:
            problem = error
            if not isinstance(problem, Problem):  # inner middleware raises problems
                log.exception("unexpected error", method=method, route=_route_path(scope))
                problem = Problem(500, _UNEXPECTED, kind="unexpected")
            if status:
                raise  # the response has begun and can only be broken off
            refusal = problem_response(problem, request_id, scope["path"])
            await refusal(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            self.metrics.observe_request(method, _route_path(scope), status, seconds)
            self.audit.record(scope, method, status, headers)
            if self.access_log or status >= 500:
                log.info(
                    "request",
                    method=method,
                    route=_route_path(scope),
                    status=status,
                    milliseconds=round(1000 * seconds, 3),
                    key=getattr(scope.get("literati.caller"), "key_id", None),
                    job_id=scope.get("path_params", {}).get("job_id"),
                )


def _request_id(scope: Scope) -> str:
    """Return the client's `X-Request-ID` if it is a plain word, so that both logs can be compared."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value.decode())
    return secrets.token_hex(8)


def _route_path(scope: Scope) -> str:
    """Return the path of the route with the names of its parameters, to limit the labels of metrics."""
    route: Any = scope.get("route")
    return str(getattr(route, "path_format", None) or getattr(route, "path", None) or "unmatched")
