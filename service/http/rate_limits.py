"""How often a key may call; without keys, an address. Uploads and new jobs have a bucket of their own.

The headers are those of draft-ietf-httpapi-ratelimit-headers.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from service.auth import Caller
from service.errors import Problem, problem_response
from service.purses import Purses, Spent, whole_seconds
from service.settings import Settings

_DEAR = {("POST", "/v1/datasets"), ("POST", "/v1/jobs")}


@dataclass(frozen=True)
class Policy:
    name: str
    rate: float  # a second
    burst: int
    rule: str  # for people, with its settings

    @property
    def header(self) -> bytes:
        return f'"{self.name}";q={self.burst};w={whole_seconds(self.burst / self.rate)}'.encode()

    def state(self, spent: Spent) -> bytes:
        return f'"{self.name}";r={spent.left};t={whole_seconds(spent.after)}'.encode()


def policies(settings: Settings) -> tuple[Policy, Policy]:
    """Of calls, and of those that are dear."""
    calls, dear = settings.calls_per_second, settings.submissions_per_minute
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
            dear / 60,
            settings.submissions_burst,
            f"{dear:g} uploads and new jobs a minute (LITERATI_SUBMISSIONS_PER_MINUTE), "
            f"{settings.submissions_burst:,} at once (LITERATI_SUBMISSIONS_BURST)",
        ),
    )


class RateLimits:
    """A pure ASGI layer, inside the one that knows who calls. What is open to anyone is not limited."""

    def __init__(self, app: ASGIApp, purses: Purses, settings: Settings) -> None:
        self.app = app
        self.purses = purses
        self.always = settings.rate_limits == "on"
        self.calls, self.submissions = policies(settings)
        self.headers = {policy.name: policy.header for policy in (self.calls, self.submissions)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("literati.caller")
        if caller is None or not (self.always or caller.key_id is not None):
            await self.app(scope, receive, send)
            return
        policy = self.submissions if (scope["method"], scope["path"]) in _DEAR else self.calls
        purse = self.purses.of(policy.name, _who(scope, caller), policy.rate, policy.burst)
        spent = await purse.spend()
        scope["literati.headers"] = [
            (b"ratelimit-policy", self.headers[policy.name]),
            (b"ratelimit", policy.state(spent)),
        ]
        if spent.allowed:
            await self.app(scope, receive, send)
            return
        headers = {"Retry-After": str(whole_seconds(spent.after))}
        problem = Problem(429, f"Too many calls: {policy.rule}.", kind="rate-limited", headers=headers)
        await problem_response(problem, scope["literati.request_id"])(scope, receive, send)


def _who(scope: Scope, caller: Caller) -> str:
    if caller.key_id is not None:
        return f"key:{caller.key_id}"
    client = scope.get("client")
    return f"address:{client[0] if client else 'local'}"
