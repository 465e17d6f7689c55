"""Rate limits: one for all calls, one for uploads, new jobs and new sweeps.

They apply to an API key, or to an address where there are no keys. The response headers are those of
draft-ietf-httpapi-ratelimit-headers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from starlette.types import ASGIApp, Receive, Scope, Send

from service.auth.authentication import Caller
from service.http.problems import Problem
from service.http.token_cache import RateLimitResult, TokenCache, whole_seconds
from service.settings import Settings
from worker.store.token_buckets import Bucket, Buckets

MAX_CACHES = 10_000  # of callers; the least recently used one is dropped
_SUBMISSIONS = {("POST", "/v1/datasets"), ("POST", "/v1/jobs"), ("POST", "/v1/sweeps")}


@dataclass(frozen=True)
class Policy:
    """A token bucket per caller."""

    name: str
    rate: float  # tokens per second
    burst: int
    description: str  # with the settings that define it

    @property
    def header(self) -> bytes:
        return f'"{self.name}";q={self.burst};w={whole_seconds(self.burst / self.rate)}'.encode()

    def state_header(self, result: RateLimitResult) -> bytes:
        return f'"{self.name}";r={result.remaining};t={whole_seconds(result.reset_seconds)}'.encode()


def policies(settings: Settings) -> tuple[Policy, Policy]:
    """Return the policy for calls and the policy for submissions."""
    calls, submissions = settings.calls_per_second, settings.submissions_per_minute
    return (
        Policy(
            "calls",
            calls,
            settings.calls_burst,
            f"{calls:g} calls a second (LITERATI_CALLS_PER_SECOND), {settings.calls_burst:,} at once "
            "(LITERATI_CALLS_BURST)",
        ),
        Policy(
            "submissions",
            submissions / 60,
            settings.submissions_burst,
            f"{submissions:g} uploads, new jobs and new sweeps a minute (LITERATI_SUBMISSIONS_PER_MINUTE), "
            f"{settings.submissions_burst:,} at once (LITERATI_SUBMISSIONS_BURST)",
        ),
    )


class RateLimitMiddleware:
    """ASGI middleware that raises a problem if a caller exceeds a limit. Public paths are not limited.

    It runs inside the authentication.
    """

    def __init__(self, app: ASGIApp, buckets: Buckets, settings: Settings) -> None:
        @lru_cache(maxsize=MAX_CACHES)
        def token_cache(policy: Policy, caller: str) -> TokenCache:
            return TokenCache(buckets, Bucket(f"{policy.name}:{caller}", policy.rate, policy.burst))

        self.app = app
        self.token_cache = token_cache
        self.limit_without_key = settings.rate_limits == "on"
        self.calls, self.submissions = policies(settings)
        self.headers = {policy.name: policy.header for policy in (self.calls, self.submissions)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("literati.caller")
        if caller is None or not (self.limit_without_key or caller.key_id is not None):
            await self.app(scope, receive, send)
            return
        policy = self.submissions if (scope["method"], scope["path"]) in _SUBMISSIONS else self.calls
        result = await self.token_cache(policy, _caller_name(scope, caller)).acquire()
        scope["literati.headers"] = [
            (b"ratelimit-policy", self.headers[policy.name]),
            (b"ratelimit", policy.state_header(result)),
        ]
        if not result.allowed:
            seconds = whole_seconds(result.reset_seconds)
            detail = f"Too many calls; try again in {seconds} s. The limit is {policy.description}."
            raise Problem(429, detail, kind="rate-limited", headers={"Retry-After": str(seconds)})
        await self.app(scope, receive, send)


def _caller_name(scope: Scope, caller: Caller) -> str:
    if caller.key_id is not None:
        return f"key:{caller.key_id}"
    client = scope.get("client")
    return f"address:{client[0] if client else 'local'}"
