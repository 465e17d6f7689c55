"""Metrics of the store's server: its memory, its file and its clock, and the age of the last backup."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from worker.store.measurements import Measurements

MIN_JUMP_SECONDS = 5.0


def server_gauges(found: Measurements) -> dict[str, tuple[str, float]]:
    """Return the text and the value of each gauge; only those that are known."""
    gauges: dict[str, tuple[str, float]] = {}
    server = found.server
    if "used_memory" in server:
        gauges["literati_store_memory_bytes"] = ("Memory of the store's data.", float(server["used_memory"]))
        gauges["literati_store_file_ok"] = (
            "1 if the store writes its data to a file, and the last write and rewrite succeeded, else 0.",
            server.get("aof_enabled") == "1"
            and server.get("aof_last_write_status") == "ok"
            and server.get("aof_last_bgrewrite_status") == "ok",
        )
    if limit := float(server.get("maxmemory", 0)):
        gauges["literati_store_memory_max_bytes"] = ("Limit of the store's memory (maxmemory).", limit)
    if found.backup_age_seconds is not None:
        text = "Time since the last complete backup began."
        gauges["literati_backup_age_seconds"] = (text, found.backup_age_seconds)
        text = "Blobs that the last backup lacks, because they could not be read."
        gauges["literati_backup_missing_blobs"] = (text, found.backup_missing)
    return gauges


class StoreClock:
    """Compare the clock of the store with the clocks of this process.

    Leases, time limits and ages are measured by the clock of the store. A jump of it is a change of its
    distance to the monotonic clock of this process, which never jumps.
    """

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time
    ) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._distance: float | None = None
        self._jumps = 0

    def metrics(self, store_time: float) -> Iterator[Metric]:
        distance = store_time - self._monotonic()
        if self._distance is not None and abs(distance - self._distance) > MIN_JUMP_SECONDS:
            self._jumps += 1
        self._distance = distance
        text = f"Jumps of the store's clock by more than {MIN_JUMP_SECONDS:g} seconds."
        yield CounterMetricFamily("literati_store_clock_jumps", text, value=self._jumps)
        text = "How far the clock of the store is ahead of the clock of this process."
        yield GaugeMetricFamily("literati_store_clock_offset_seconds", text, value=store_time - self._wall())
