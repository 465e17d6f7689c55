"""Open the store that the settings name."""

from __future__ import annotations

from worker.settings import WorkerSettings
from worker.store import Store
from worker.store.client import HistoryLimits, connect


def open_store(settings: WorkerSettings) -> Store:
    """Return the store; the first command connects to the server."""
    history = HistoryLimits(settings.max_events, settings.max_trace_points, settings.max_incumbents)
    return Store(connect(settings.store_url), lease_seconds=settings.lease_seconds, history=history)
