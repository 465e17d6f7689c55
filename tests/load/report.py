"""The result of a load test as a table and as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import mean
from typing import Any

from tests.load.requests import Measurements
from tests.load.tenants import Tenant

DISTURBED_SECONDS = 20.0  # after a kill, in which requests are counted separately
KINDS = ("submit", "poll", "predict")


def summarize(
    tenants: Sequence[Tenant],
    measurements: Measurements,
    kills: Sequence[tuple[float, str]],
    problems: Sequence[str],
) -> dict[str, Any]:
    """Return all figures.

    `lost` counts accepted jobs that did not succeed or that the service does not list, and `made_twice` jobs
    that it lists although no tenant got their ids: a request that was sent again has made a second job.
    """
    ended = [job for tenant in tenants for job in tenant.ended]
    succeeded = {job.id for job in ended if job.state == "SUCCEEDED"}
    accepted = {job for tenant in tenants for job in tenant.accepted}
    stored = {job for tenant in tenants for job in tenant.stored}
    waits = {
        tenant.name: mean(job.queue_seconds for job in tenant.ended) for tenant in tenants if tenant.ended
    }
    largest, smallest = tenants[0].name, tenants[-1].name
    first_trees = [job.first_tree_seconds for job in ended if job.first_tree_seconds is not None]
    return {
        "jobs": len(accepted),
        "lost": len(accepted - (succeeded & stored)),
        "made_twice": len(stored - accepted),
        "problems": list(problems),
        "kills": dict(Counter(service for _, service in kills)),
        "failed_attempts": dict(measurements.failed_attempts),
        "milliseconds": _latencies(measurements, [at for at, _ in kills]),
        "first_tree_ms": _quantiles(first_trees),
        "queue_ms": _quantiles([job.queue_seconds for job in ended]),
        "fairness": waits[largest] / waits[smallest] if waits.get(smallest) else None,
        "jobs_of_largest": len(tenants[0].accepted),
        "jobs_of_smallest": len(tenants[-1].accepted),
    }


def table(figures: dict[str, Any]) -> str:
    """Return the latencies as Markdown."""
    rows = {**figures["milliseconds"], "first tree": figures["first_tree_ms"], "queue": figures["queue_ms"]}
    lines = ["| what | requests | median ms | p99 ms | worst ms |", "|---|---|---|---|---|"]
    for name, found in rows.items():
        if found:
            numbers = " | ".join(f"{found[key]:,.0f}" for key in ("count", "median", "p99", "worst"))
            lines.append(f"| {name} | {numbers} |")
    return "\n".join(lines)


def _latencies(measurements: Measurements, kills: Sequence[float]) -> dict[str, dict[str, float]]:
    """Return the latencies of each kind, of requests soon after a kill and of the others."""
    groups: dict[str, list[float]] = defaultdict(list)
    for kind in KINDS:
        for at, seconds in measurements.seconds[kind]:
            begin = at - seconds
            disturbed = any(begin - DISTURBED_SECONDS < kill < at for kill in kills)
            groups[f"{kind} after a kill" if disturbed else kind].append(seconds)
    return {name: _quantiles(seconds) for name, seconds in groups.items()}


def _quantiles(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {}
    ordered = sorted(1000 * value for value in seconds)
    pick = {"median": 0.5, "p99": 0.99}
    found = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in pick.items()}
    return {"count": len(ordered), **found, "worst": ordered[-1]}
