"""The Celery task that runs jobs, and what a worker process does when it starts and ends."""

from __future__ import annotations

import atexit
import os
import socket
import sys
from contextlib import suppress
from functools import cache
from typing import Any

import structlog
from celery import signals
from celery.worker import state
from redis import RedisError
from structlog.contextvars import bound_contextvars

from literati.cores import usable_cores
from worker import logs
from worker.app import TASK, app, wake
from worker.blobs.open import open_blobs
from worker.domain.errors import StoreFormatError
from worker.domain.jobs import Job
from worker.processes.parent_death import set_parent_death_signal
from worker.reconciler import Reconciler, retention_days
from worker.settings import WorkerSettings
from worker.shutdown import MainProcess, create_main_process, main_process
from worker.store import Store, open_store
from worker.store.client import connect
from worker.store.leases import WorkerCores
from worker.store.measurements import WorkerInfo
from worker.sweeps.advance import advance
from worker.training.memory import job_memory_limit
from worker.training.runner import JobRun

log = structlog.get_logger(__name__)
MAX_JOBS_PER_TASK = 20


class ProcessContext:
    """What every process has for itself: a forked child must not use its parent's connections."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self.blobs = open_blobs(settings)
        self.store = open_store(settings, self.blobs)
        self.name = f"{socket.gethostname()}:{os.getpid()}"


@cache
def process_context() -> ProcessContext:
    return ProcessContext(WorkerSettings())


# Messages in a queue name the task, so its name TASK, "worker.tasks.work", must not change.
@app.task(name=TASK, acks_late=True, reject_on_worker_lost=True, ignore_result=True)
def run_jobs() -> None:
    """Claim jobs of the queue and run them, one after another, until there are none for this process.

    After some jobs the task ends, because Celery replaces a process that has grown only between two tasks.
    """
    context, main = process_context(), main_process()
    for _ in range(MAX_JOBS_PER_TASK):
        if main.is_shutting_down():
            return
        try:
            job = _claim(context, main)
        except (RedisError, StoreFormatError) as error:
            log.warning("no job claimed", error=f"{type(error).__name__}: {error}")
            return
        if job is None:
            return
        _run(context, main, job)
    wake()


def _run(context: ProcessContext, main: MainProcess, job: Job) -> None:
    """Run a claimed job to its end, and wake other processes for what follows from it."""
    try:
        with bound_contextvars(**_log_fields(job)):
            memory = job_memory_limit(context.settings, _cores(job))
            lease = context.settings.lease_seconds
            JobRun(context.store, context.blobs, job, lease, main.is_shutting_down, memory).run()
    finally:
        main.core_slots.release()
    try:
        if job.spec.sweep is not None:
            advance(context.store, job.spec.sweep.sweep_id)
    except Exception as error:  # the reconciler tries again, and fails the sweep if that does not help
        log.warning("sweep not advanced", error=f"{type(error).__name__}: {error}")
    with suppress(RedisError):  # the reconciler sends wake-ups that are missing
        wake(min(_cores(job) - 1, context.store.jobs.wakeups_wanted()))  # one core is for this process


def _claim(context: ProcessContext, main: MainProcess) -> Job | None:
    """Claim a job for which this worker has enough free cores, and reserve them."""
    context.store.format.check()
    slots = main.core_slots
    with slots.reserve() as free:
        cores = WorkerCores(f"{socket.gethostname()}:{main.pid}", free, slots.cores)
        job = context.store.jobs.claim(context.name, cores)
        if job is not None:
            slots.keep(_cores(job))
        return job


def _cores(job: Job) -> int:
    """Return how many cores of this worker a claimed job uses: one for each thread of its search."""
    return job.threads or 1


def _log_fields(job: Job) -> dict[str, Any]:
    """Return the fields of every log line about a job."""
    fields = {"job_id": job.spec.id, "epoch": job.epoch, "request_id": job.request_id}
    return {name: value for name, value in fields.items() if value is not None}


@signals.celeryd_init.connect
def _on_celeryd_init(instance: Any, **_: Any) -> None:
    instance.quiet = True  # Celery's banner is not JSON
    _on_setup_logging()


@signals.setup_logging.connect  # a receiver of this signal replaces Celery's own logging
def _on_setup_logging(**_: Any) -> None:
    logs.configure(WorkerSettings().log_level)


@signals.worker_init.connect
def _on_worker_init(sender: Any, **_: Any) -> None:
    """Check the store, and create what the main process shares with its children, before they are forked."""
    _check_store_format()
    concurrency = sender.concurrency
    create_main_process(concurrency if isinstance(concurrency, int) else usable_cores())  # or "auto"


def _check_store_format() -> None:
    """End the worker if a newer program has written to the store. If it does not answer, check it later."""
    # The children must not inherit the connection.
    with suppress(RedisError), connect(WorkerSettings().store_url) as client:
        try:
            Store(client).format.check()
        except StoreFormatError as error:
            sys.exit(str(error))


def _end_worker() -> None:
    """Return the jobs to the queue and end with an error. What restarts the worker is told the reason."""
    main_process().shut_down()
    state.should_stop = 1  # type: ignore[assignment]  # the exit code of a warm shutdown


@signals.worker_process_init.connect
def _on_child_start(**_: Any) -> None:
    process_context.cache_clear()
    set_parent_death_signal(main_process().pid)  # otherwise a search would outlive a killed worker


@signals.worker_ready.connect
def _on_worker_ready(sender: Any, **_: Any) -> None:
    context = process_context()
    reconciler = Reconciler(
        context.store,
        wake,
        context.blobs,
        interval=context.settings.reconcile_seconds,
        worker=WorkerInfo(context.name, sender.controller.concurrency),
        retention=retention_days(context.settings),
        on_refused=_end_worker,
        archive_after_hours=context.settings.archive_after_hours,
    )
    reconciler.start()
    atexit.register(reconciler.stop)  # Celery has no signal for the end of a cold shutdown


@signals.worker_shutting_down.connect
def _on_shutdown(**_: Any) -> None:
    main_process().shut_down()  # a warm shutdown waits for its tasks; a soft one has set this already
