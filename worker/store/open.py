"""The store that the settings name."""

from __future__ import annotations

from .settings import WorkerSettings
from .store import Kept, Store, connect


def open_store(settings: WorkerSettings) -> Store:
    """Nothing is connected yet."""
    kept = Kept(settings.max_events, settings.max_trace_points, settings.max_incumbents)
    return Store(connect(settings.store_url), lease_seconds=settings.lease_seconds, kept=kept)
