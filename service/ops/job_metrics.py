"""What Prometheus is told of jobs, workers, the store and the disk. Every API process says the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import structlog
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeHistogramMetricFamily,
    GaugeMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from redis import RedisError

from worker.blobs import Blobs
from worker.messages import StopReason
from worker.store import Measurements, Store

log = structlog.get_logger(__name__)
GAPS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
FENCED = ("beat", "checkpoint", "finish", "release")
# What the store counts under the same name.
_COUNTERS = {
    "submitted": ("literati_jobs_submitted", "Jobs accepted."),
    "checkpoints": ("literati_checkpoints", "Checkpoints that workers published."),
    "incumbents": ("literati_incumbents", "Trees that were better than the one before."),
    "expansions": ("literati_expansions", "Expansions of the solver, as jobs count them."),
    "lease_losses": ("literati_lease_losses", "Jobs whose worker let its lease run out."),
    "reconciler_rounds": ("literati_reconciler_rounds", "Looks for lost jobs and wake-ups, by any process."),
}


class JobCollector(Collector):
    """Asks the store and the disk when asked itself: one round trip, whatever is stored."""

    def __init__(self, store: Store, blobs: Blobs) -> None:
        self.store = store
        self.blobs = blobs

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        """A store that is away is one of the things to be told, not an error."""
        yield from self._disk()
        try:
            found = self.store.measure()
        except RedisError as error:
            log.warning("store not measured", error=type(error).__name__)
            yield _gauge("literati_store_up", "1: the store answers.", 0)
            return
        yield _gauge("literati_store_up", "1: the store answers.", 1)
        yield _gauge("literati_store_writable", "1: the store takes writes.", found.writable)
        yield from _queue(found)
        yield from _running(found)
        yield from _counted(found)

    def _disk(self) -> Iterator[Metric]:
        writable, free = self.blobs.room()
        yield _gauge("literati_blobs_writable", "1: the folder of blobs takes writes.", writable)
        if free is not None:
            yield _gauge("literati_blobs_free_bytes", "Room on the disk of the blobs.", free)


def _queue(found: Measurements) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("literati_jobs", "Jobs by state.", labels=["state"])
    for state, count in found.states.items():
        jobs.add_metric([state.value], count)
    yield jobs
    yield _gauge("literati_queue_depth", "Jobs waiting for a worker.", found.queue_depth)
    yield _gauge(
        "literati_queue_oldest_seconds",
        "How long the job has waited that has waited longest.",
        found.oldest_queued_seconds,
    )
    yield _gauge(
        "literati_queue_tenants", "Tenants that have jobs waiting for a worker.", found.queue_tenants
    )
    yield _gauge("literati_workers", "Workers that are alive.", len(found.workers))
    yield _gauge(
        "literati_worker_slots",
        "Cores that these have for jobs.",
        sum(worker.slots for worker in found.workers),
    )
    yield _gauge("literati_busy_slots", "Cores that running jobs use.", found.busy_cores)


def _running(found: Measurements) -> Iterator[Metric]:
    """Over all jobs that a worker has: never a label for one of them."""
    yield GaugeHistogramMetricFamily(
        "literati_running_gap",
        "Relative gaps between the bounds of jobs that a worker has, once they have a tree.",
        buckets=list(_buckets(found.gaps)),
        gsum_value=sum(found.gaps),
    )
    yield _gauge("literati_search_memory_bytes", "Memory of running searches together.", sum(found.memory))
    yield _gauge("literati_search_memory_max_bytes", "Memory of the largest.", max(found.memory, default=0))
    yield _gauge(
        "literati_saved_search_bytes",
        "Saved searches on disk, from which jobs can go on.",
        found.totals.get("saved_bytes", 0),
    )


def _buckets(gaps: Sequence[float]) -> Iterator[tuple[str, float]]:
    counts = [0] * (len(GAPS) + 1)
    for gap in gaps:
        counts[bisect_left(GAPS, gap)] += 1
    names = [*(repr(edge) for edge in GAPS), "+Inf"]
    yield from zip(names, accumulate(counts), strict=True)


def _counted(found: Measurements) -> Iterator[Metric]:
    for key, (name, text) in _COUNTERS.items():
        yield CounterMetricFamily(name, text, value=found.totals.get(key, 0))
    yield _by_kind(
        found, "ended", "literati_jobs_ended", "Jobs ended, by the reason.", "stop_reason", StopReason
    )
    yield _by_kind(
        found,
        "fenced",
        "literati_fenced_writes",
        "Words of workers that were refused: the job is another's.",
        "write",
        FENCED,
    )


def _by_kind(
    found: Measurements, key: str, name: str, text: str, label: str, kinds: Iterable[str]
) -> CounterMetricFamily:
    """Kinds that have not happened are there too, as 0: else the first of a kind would not be an increase."""
    family = CounterMetricFamily(name, text, labels=[label])
    for kind, count in (dict.fromkeys(kinds, 0) | found.by_kind(key)).items():
        family.add_metric([kind], count)
    return family


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=float(value))
