"""Metrics of jobs, sweeps, workers, the store and the disk. Every API process reports the same values."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import structlog
from prometheus_client.core import CounterMetricFamily, GaugeHistogramMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import RedisError

from service.ops.server_metrics import StoreClock, server_gauges
from worker.blobs.local import Blobs
from worker.domain.errors import refusal
from worker.domain.jobs import StopReason
from worker.domain.sweeps import SweepState
from worker.store import Store
from worker.store.measurements import Measurements

log = structlog.get_logger(__name__)
SHARES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
BLOB_ERRORS = ("missing", "unavailable")
FENCED = ("beat", "checkpoint", "finish", "release")
# The counters of the store.
_COUNTERS = {
    "submitted": ("literati_jobs_submitted", "Jobs accepted."),
    "sweeps_submitted": ("literati_sweeps_submitted", "Sweeps accepted."),
    "checkpoints": ("literati_checkpoints", "Progress updates published by workers."),
    "incumbents": ("literati_incumbents", "Improved trees found by jobs."),
    "expansions": ("literati_expansions", "Node expansions of all searches."),
    "archived_jobs": ("literati_jobs_archived", "Ended jobs moved from the store to the blobs."),
    "archived_models": ("literati_models_archived", "Models moved from the store to the blobs."),
    "lease_losses": ("literati_lease_losses", "Jobs whose worker let its lease expire."),
    "reconciler_rounds": ("literati_reconciler_rounds", "Rounds of the reconciler, by any process."),
}


class JobCollector(Collector):
    """Read the store and the disk whenever metrics are collected. It takes one round trip to the store."""

    def __init__(self, store: Store, blobs: Blobs) -> None:
        self.store = store
        self.blobs = blobs
        self._clock = StoreClock()

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics. If the store does not answer, only `literati_store_up` is yielded for it."""
        yield from self._disk()
        try:
            found = self.store.measure()
        except RedisError as error:
            log.warning("store metrics unavailable", error=type(error).__name__, reason=str(error))
            yield from _availability(up=False, refused=refusal(error) == "access")
            return
        yield from _availability(up=True, refused=False)
        yield from self._clock.metrics(found.clock)
        for name, (text, value) in _gauges(found).items():
            yield _gauge(name, text, value)
        yield from _families(found)
        for key, (name, text) in _COUNTERS.items():
            yield CounterMetricFamily(name, text, value=found.totals.get(key, 0))

    def _disk(self) -> Iterator[Metric]:
        writable, free = self.blobs.disk_status()
        yield _gauge("literati_blobs_writable", "1 if the blob folder accepts writes, else 0.", writable)
        if free is not None:
            yield _gauge("literati_blobs_free_bytes", "Free space on the disk of the blobs.", free)


def _availability(*, up: bool, refused: bool) -> Iterator[Metric]:
    yield _gauge("literati_store_up", "1 if the store answers, else 0.", up)
    text = "1 if the store refuses the password or the rights of this process, else 0."
    yield _gauge("literati_store_refused", text, refused)


def _gauges(found: Measurements) -> dict[str, tuple[str, float]]:
    """Return the text and the value of each gauge without labels.

    Those of running jobs are over all jobs. A label per job would be unbounded.
    """
    slots = sum(worker.slots for worker in found.workers)
    largest = max(found.memory, default=0)
    return {
        "literati_store_writable": ("1 if the store accepts writes, else 0.", found.writable),
        "literati_queue_depth": ("Jobs waiting for a worker.", found.queue_depth),
        "literati_queue_oldest_seconds": ("Age of the oldest queued job.", found.oldest_queued_seconds),
        "literati_queue_tenants": ("Tenants with queued jobs.", found.queue_tenants),
        "literati_workers": ("Workers with a recent heartbeat.", len(found.workers)),
        "literati_worker_slots": ("Cores of all workers together.", slots),
        "literati_busy_slots": ("Cores used by running jobs.", found.busy_cores),
        "literati_search_memory_bytes": ("Memory of all running searches together.", sum(found.memory)),
        "literati_search_memory_max_bytes": ("Memory of the largest running search.", largest),
        "literati_saved_search_bytes": ("Size of all saved searches.", found.totals.get("saved_bytes", 0)),
        **server_gauges(found),
    }


def _families(found: Measurements) -> Iterator[Metric]:
    """Yield the metrics with labels. Kinds without a count are 0, so that the first count is an increase."""
    jobs = GaugeMetricFamily("literati_jobs", "Jobs by state.", labels=["state"])
    for state, count in found.states.items():
        jobs.add_metric([state.value], count)
    yield jobs
    sweeps = GaugeMetricFamily("literati_sweeps", "Sweeps by state.", labels=["state"])
    for sweep_state, count in found.sweep_states.items():
        sweeps.add_metric([sweep_state.value], count)
    yield sweeps
    yield GaugeHistogramMetricFamily(
        "literati_running_gap",
        "Relative gap between the bounds of running jobs that have a tree.",
        buckets=list(_buckets(found.gaps)),
        gsum_value=sum(found.gaps),
    )
    yield GaugeHistogramMetricFamily(
        "literati_running_explored",
        "Explored share of the search space of running jobs that have a tree.",
        buckets=list(_buckets(found.explored)),
        gsum_value=sum(found.explored),
    )
    ended = CounterMetricFamily("literati_jobs_ended", "Ended jobs by stop reason.", labels=["stop_reason"])
    sweeps_ended = CounterMetricFamily("literati_sweeps_ended", "Ended sweeps by state.", labels=["state"])
    fenced = CounterMetricFamily(
        "literati_fenced_writes",
        "Updates rejected because the worker no longer held the job's lease.",
        labels=["write"],
    )
    blob_errors = CounterMetricFamily(
        "literati_blob_errors", "Blobs that could not be read, by the kind of error.", labels=["error"]
    )
    kinds: Iterable[str]
    for key, family, kinds in (
        ("ended", ended, StopReason),
        ("sweeps_ended", sweeps_ended, [state for state in SweepState if state.terminal]),
        ("fenced", fenced, FENCED),
        ("blob_errors", blob_errors, BLOB_ERRORS),
    ):
        for kind, count in (dict.fromkeys(kinds, 0) | found.by_kind(key)).items():
            family.add_metric([kind], count)
        yield family


def _buckets(shares: Sequence[float]) -> Iterator[tuple[str, float]]:
    counts = [0] * (len(SHARES) + 1)
    for share in shares:
        counts[bisect_left(SHARES, share)] += 1
    names = [*(repr(edge) for edge in SHARES), "+Inf"]
    yield from zip(names, accumulate(counts), strict=True)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=float(value))
