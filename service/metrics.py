"""What Prometheus is told: requests by route, jobs by state, and how many wait for a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from worker.messages import JobState
from worker.store import Store

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class JobCollector(Collector):
    """Asks the store when asked itself."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        counts = self.store.jobs.count_by_state()
        jobs = GaugeMetricFamily("literati_jobs", "Jobs by state.", labels=["state"])
        for state in JobState:
            jobs.add_metric([state.value], counts.get(state, 0))
        yield jobs
        yield GaugeMetricFamily(
            "literati_queue_depth", "Jobs waiting for a worker.", value=counts.get(JobState.QUEUED, 0)
        )


class Metrics:
    """One registry per app, so that several apps can live in one process."""

    def __init__(self, store: Store, waiting: Callable[[], float]) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "literati_http_requests",
            "Requests by method, route and status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "literati_http_request_seconds",
            "Time to the end of the answer, by route.",
            ["method", "route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        Gauge(
            "literati_http_waiting", "Requests held open for news of a job.", registry=self.registry
        ).set_function(waiting)
        self.registry.register(JobCollector(store))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def page(self) -> bytes:
        return generate_latest(self.registry)
