"""Wake workers, which then claim queued jobs."""

from __future__ import annotations

from worker.store import Store


def wake_worker() -> None:
    """Wake a worker for one job."""
    from worker.app import wake  # imports Celery, which the OpenAPI description does not need

    wake()


def wake_workers(store: Store) -> None:
    """Wake a worker for each queued job that none was woken for, up to a number."""
    from worker.app import wake

    wake(store.jobs.wakeups_wanted())
