"""Who calls, and what they may: API keys, or anyone on the loopback interface.

A pure ASGI layer in front of every route, so that a new route is closed unless it is listed as open here.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

from redis.exceptions import RedisError
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as ASGIScope

from service.api_keys import Keys
from service.errors import Problem, problem_response, unavailable
from service.keyring import DEFAULT_TENANT, Scope

OPEN_PATHS = frozenset({"/", "/docs", "/openapi.json", "/healthz", "/readyz", "/version"})
OPEN_FOLDERS = ("/assets/",)
_ADMIN_PATHS = frozenset({"/metrics", "/v1/tenants"})
_ADMIN_FOLDERS = ("/v1/tenants/",)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="literati"'}
_NO_KEYS = (
    "This server has no API keys and answers on the loopback interface only. "
    "Make one with `python -m service.keys add NAME`."
)


@dataclass(frozen=True)
class Caller:
    tenant: str
    scopes: frozenset[Scope]
    key_id: str | None = None  # None: keys are off


ANYONE = Caller(DEFAULT_TENANT, frozenset(Scope))


def is_open(path: str) -> bool:
    """Whether it is answered to anyone, key or not."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)


def needed_scope(method: str, path: str) -> Scope:
    if path in _ADMIN_PATHS or path.startswith(_ADMIN_FOLDERS):
        return Scope.ADMIN
    if method in ("GET", "HEAD", "OPTIONS") or (method == "POST" and path.endswith("/predict")):
        return Scope.READ
    return Scope.TRAIN


class AuthLayer:
    """Sets `literati.caller` in the scope, or answers 401 or 403 (and sets `literati.refused`)."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path: str = scope["path"]
        if not is_open(path):
            answer = await self._check(scope, path)
            if isinstance(answer, Problem):
                response = problem_response(answer, scope.get("literati.request_id", "unknown"))
                await response(scope, receive, send)
                return
            scope["literati.caller"] = answer
        await self.app(scope, receive, send)

    async def _check(self, scope: ASGIScope, path: str) -> Caller | Problem:
        self.keys.refresh()
        if not self.keys.readable:
            return unavailable("The server's file of API keys cannot be read, so it lets nobody in.")
        try:
            if self.keys.unknown:
                await self.keys.update()
            if not self.keys.required:
                return ANYONE if _is_local(scope) else Problem(403, _NO_KEYS, kind="keys-needed")
            found = await self.keys.look_up(_bearer(scope))
        except RedisError:
            return unavailable("The store does not answer, so the API key cannot be checked; try again soon.")
        if found is None:
            detail = "Send a valid API key: `Authorization: Bearer lit_...`."
            return Problem(401, detail, kind="not-signed-in", headers=_CHALLENGE)
        caller = Caller(found.tenant, found.scopes, found.id)
        needed = needed_scope(scope["method"], path)
        if needed not in caller.scopes and Scope.ADMIN not in caller.scopes:
            scope["literati.refused"] = caller  # for the audit log
            return Problem(403, f"This key lacks the scope `{needed}`.", kind="scope-needed")
        return caller


def _header(scope: ASGIScope, name: bytes) -> str | None:
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


def _bearer(scope: ASGIScope) -> str:
    scheme, _, key = (_header(scope, b"authorization") or "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _is_local(scope: ASGIScope) -> bool:
    """Reached over loopback, under a loopback name, and not by the page of another site in a browser.

    The name keeps out pages that rebind their own name to 127.0.0.1; the site keeps out forms that post here.
    """
    server = scope.get("server")
    if server is not None and server[1] is not None and not is_loopback(server[0]):
        return False
    host = _header(scope, b"host")
    if host is not None and not is_loopback(_host_name(host.lower())):
        return False
    return _header(scope, b"sec-fetch-site") not in ("cross-site", "same-site")


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and ":" in host else host


@lru_cache(maxsize=256)  # parsing an address takes as long as predicting a row
def is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
