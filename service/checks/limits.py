"""Limits of searches: the server's defaults for those that a request does not give, and its maxima."""

from __future__ import annotations

import math
from typing import TypeVar

from service.checks.issues import Issue, issue
from service.http.remedies import in_body
from service.settings import Settings
from worker.domain.parameters import Limits
from worker.domain.sweeps import TrialLimits

AnyLimits = TypeVar("AnyLimits", Limits, TrialLimits)


def with_defaults(limits: AnyLimits, settings: Settings) -> AnyLimits:
    """Fill in the limits that the request does not give: the server's default, or its maximum if smaller."""
    time_limit: float | None = settings.default_time_limit
    defaults = {
        "time_limit": _smaller(None if time_limit == math.inf else time_limit, settings.max_time_limit),
        "memory_limit": _smaller(settings.default_memory_limit, settings.max_memory_limit),
    }
    return limits.model_copy(
        update={name: value for name, value in defaults.items() if name not in limits.model_fields_set}
    )


def _smaller(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


def limit_issues(limits: Limits | TrialLimits, settings: Settings, field: str = "limits") -> list[Issue]:
    """Return an issue for each limit that is above the server's maximum. `field` holds the limits."""
    found = []
    for name, maximum, unit in (
        ("time_limit", settings.max_time_limit, "seconds"),
        ("memory_limit", settings.max_memory_limit, "bytes"),
    ):
        value = getattr(limits, name)
        if maximum is not None and (value is None or value > maximum):
            most = f"{maximum:g} {unit}"
            message = f"This server requires a limit of at most {most} (LITERATI_MAX_{name.upper()})."
            fix = in_body(f"Use {most}", field, name, value=maximum)
            found.append(issue((field, name), "ABOVE_MAXIMUM", message, fix))
    return found


def memory_issues(
    limit: int | None, min_bytes: int | None, *, given: bool = True, field: str = "limits"
) -> list[Issue]:
    """Return the issue of a memory limit that is too small to start. `given`: the request contains it."""
    if limit is None or min_bytes is None or limit >= min_bytes:
        return []
    where = (field, "memory_limit")
    message = f"A search on this data needs at least {min_bytes:,} bytes of memory to start."
    if not given:
        message += f" The default limit of this server is {limit:,} (LITERATI_DEFAULT_MEMORY_LIMIT)."
    without = in_body("Remove the memory limit", *where, value=None)
    enough = in_body(f"Use {min_bytes:,} bytes", *where, value=min_bytes)
    return [issue(where, "TOO_SMALL", message, without, enough)]
