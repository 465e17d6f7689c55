"""A route that bypasses FastAPI for requests without a query string.

FastAPI takes 130 µs to validate parameters, even if there are none; predicting a row takes 25 µs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.routing import request_response
from starlette.types import Receive, Scope, Send

Handler = Callable[[Request], Awaitable[Response]]


class FastPathRoute(APIRoute):
    """A route that calls the endpoint's `fast_path` if there is no query string, else the endpoint."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        handler: Handler | None = getattr(endpoint, "fast_path", None)
        if handler is not None:
            full, fast = self.app, request_response(handler)

            async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
                await (full if scope["query_string"] else fast)(scope, receive, send)

            self.app = dispatch


def with_fast_path(handler: Handler) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Set the fast path of an endpoint. This decorator stands below the route's decorator."""

    def decorate(endpoint: Callable[..., Any]) -> Callable[..., Any]:
        endpoint.fast_path = handler  # type: ignore[attr-defined]
        return endpoint

    return decorate
