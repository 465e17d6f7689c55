"""Authentication and authorization by API keys. Without keys, only callers on this machine have access.

This is middleware in front of every route, so a new route is protected unless it is listed as public here.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

import structlog
from redis.exceptions import RedisError
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as ASGIScope

from service.auth.api_keys import ApiKeys
from service.auth.key_file import DEFAULT_TENANT, Scope
from service.commands import command
from service.http.problems import Problem, unavailable
from worker.domain.errors import refusal
from worker.store.store_format import StoreFormat

PUBLIC_PATHS = frozenset(
    {
        *("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/version"),
        *("/v2", "/v2/health/live", "/v2/health/ready"),
    }
)
PUBLIC_FOLDERS = ("/assets/",)
_ADMIN_PATHS = frozenset({"/metrics", "/v1/tenants"})
_ADMIN_FOLDERS = ("/v1/tenants/",)
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="literati"'}
_NO_KEYS = (
    "This server has no API keys and answers on the loopback interface only. "
    f"Create a key with `{command('keys')} add NAME`."
)


@dataclass(frozen=True)
class Caller:
    """An authenticated caller."""

    tenant: str
    scopes: frozenset[Scope]
    key_id: str | None = None  # None if no key is required


LOCAL_CALLER = Caller(DEFAULT_TENANT, frozenset(Scope))


def is_public(path: str) -> bool:
    """Return whether a path is answered without a key."""
    return path in PUBLIC_PATHS or path.startswith(PUBLIC_FOLDERS)


def sends_rows(method: str, path: str) -> bool:
    """Return whether a request sends rows to predict or to score. It changes nothing."""
    return method == "POST" and path.endswith(("/predict", "/score", "/infer", "/invocations"))


def needed_scope(method: str, path: str) -> Scope:
    """Return the scope that a key needs for a request."""
    if path in _ADMIN_PATHS or path.startswith(_ADMIN_FOLDERS):
        return Scope.ADMIN
    if method in ("GET", "HEAD", "OPTIONS") or sends_rows(method, path):
        return Scope.READ
    return Scope.TRAIN


log = structlog.get_logger(__name__)
_UNCHECKED = {  # by whether the store refuses this server
    False: "The store does not answer, so the API key cannot be checked; try again soon.",
    True: "The store refuses this server, so the API key cannot be checked; "
    "its administrator must correct the password or the rights.",
}


class AuthMiddleware:
    """ASGI middleware that sets `literati.caller` in the scope, or raises a problem with 401, 403 or 503.

    All requests but those for public paths get 503 while the store is one that this program cannot read.

    A caller whose key lacks a scope is set as `literati.refused`, for the audit log.
    """

    def __init__(self, app: ASGIApp, keys: ApiKeys, store_format: StoreFormat) -> None:
        self.app = app
        self.keys = keys
        self.store_format = store_format

    async def __call__(self, scope: ASGIScope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_public(scope["path"]):
            scope["literati.caller"] = await self._authenticate(scope)
        await self.app(scope, receive, send)

    async def _authenticate(self, scope: ASGIScope) -> Caller:
        if self.store_format.refusal is not None:
            raise unavailable(self.store_format.refusal)
        self.keys.refresh()
        if not self.keys.readable:
            raise unavailable("The key file of the server cannot be read; its administrator must repair it.")
        try:
            if self.keys.unread:
                await self.keys.update()
            if not self.keys.required:
                if not _is_local(scope):
                    raise Problem(403, _NO_KEYS, kind="keys-needed")
                return LOCAL_CALLER
            found = await self.keys.look_up(_bearer(scope))
        except RedisError as error:
            log.warning("store unavailable", error=type(error).__name__, reason=str(error))
            raise unavailable(_UNCHECKED[refusal(error) == "access"]) from None
        if found is None:
            detail = "Send a valid API key: `Authorization: Bearer lit_...`."
            raise Problem(401, detail, kind="not-signed-in", headers=_CHALLENGE)
        caller = Caller(found.tenant, found.scopes, found.id)
        needed = needed_scope(scope["method"], scope["path"])
        if needed not in caller.scopes and Scope.ADMIN not in caller.scopes:
            scope["literati.refused"] = caller
            detail = f"This key lacks the scope `{needed}`; use a key that has it."
            raise Problem(403, detail, kind="scope-needed")
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
    """Return whether a request comes from this machine and not from another site in a browser.

    The check of the Host header defeats DNS rebinding; the check of Sec-Fetch-Site defeats forged forms.
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
    """Return whether a host name or an address means this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
