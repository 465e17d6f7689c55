"""Metrics for Prometheus: of the requests and the process, and of jobs and workers from the store."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from service.ops.job_metrics import JobCollector
from worker.blobs.local import Blobs
from worker.store import Store

# Prometheus records creation times itself; these would add a third to the output.
disable_created_metrics()  # type: ignore[no-untyped-call]
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The metrics of one app. Each app has its own registry, so that one process can have several apps."""

    def __init__(self, store: Store, blobs: Blobs, waiting: Callable[[], float]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "literati_http_requests",
            "Requests by method, route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "literati_http_request_seconds",
            "Time until the response was sent, by method and route.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        Gauge(
            "literati_http_waiting", "Requests that wait for a change of a job.", registry=self.registry
        ).set_function(waiting)
        ProcessCollector(registry=self.registry)
        self.registry.register(JobCollector(store, blobs))

    def observe_request(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
