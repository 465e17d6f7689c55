"""The one task, and what a worker process does at its start and its end."""

from __future__ import annotations

import atexit
import os
import socket
from contextlib import suppress
from typing import Any

import structlog
from celery.signals import (
    celeryd_init,
    setup_logging,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutting_down,
)
from redis import RedisError
from structlog.contextvars import bound_contextvars

from literati.cores import usable_cores

from . import logs
from .app import TASK, app, wake
from .core_slots import CoreSlots
from .memory import limit_of_a_job
from .open_blobs import open_blobs
from .open_store import open_store
from .reconciler import Reconciler, keep_days
from .runner import JobRun
from .settings import WorkerSettings
from .shutdown import departure, prepare
from .store import Claim, WorkerSeat
from .store.claims import Room
from .tether import die_with_parent

log = structlog.get_logger(__name__)


class Process:
    """What belongs to one process: a child that was forked must not use its parent's connection."""

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self.store = open_store(settings)
        self.blobs = open_blobs(settings)
        self.name = f"{socket.gethostname()}:{os.getpid()}"


_main: int | None = None  # the process whose children run the jobs
_process: Process | None = None
_slots: CoreSlots | None = None


def slots() -> CoreSlots:
    assert _slots is not None, "made before the children"
    return _slots


def process() -> Process:
    global _process
    if _process is None:
        _process = Process(WorkerSettings())
    return _process


@app.task(name=TASK, acks_late=True, reject_on_worker_lost=True, ignore_result=True)
def work() -> None:
    """Take the most urgent job, if there is one, and see it through."""
    here = process()
    leaving = departure()
    if leaving():
        return
    try:
        claim = _claim(here)
    except RedisError as error:
        log.warning("no job claimed", error=f"{type(error).__name__}: {error}")
        return
    if claim is None:
        return
    try:
        with leaving.busy(), bound_contextvars(**_labels(claim)):
            memory = limit_of_a_job(here.settings)
            JobRun(here.store, here.blobs, claim, here.settings.lease_seconds, leaving, memory).run()
    finally:
        slots().release()
    with suppress(RedisError):  # the reconciler will see
        wake(min(claim.job.spec.cores, here.store.jobs.wakeups_wanted()))


def _claim(here: Process) -> Claim | None:
    """Take a job that the free cores of this worker suffice for, and use them."""
    with slots().claiming() as free:
        claim = here.store.jobs.claim(here.name, Room(_machine(), free, slots().cores))
        if claim is not None:
            slots().keep(claim.job.spec.cores)
        return claim


def _machine() -> str:
    return f"{socket.gethostname()}:{_main}"


def _labels(claim: Claim) -> dict[str, Any]:
    """What every log line about a job carries."""
    labels: dict[str, Any] = {"job_id": claim.job.spec.id, "epoch": claim.epoch}
    if claim.job.request_id is not None:
        labels["request_id"] = claim.job.request_id
    return labels


@celeryd_init.connect
def _earliest(instance: Any, **_: Any) -> None:
    instance.quiet = True  # its banner is not JSON
    _set_up_logging()


@setup_logging.connect  # who listens here does it instead of Celery
def _set_up_logging(**_: Any) -> None:
    logs.configure(WorkerSettings().log_level)


@worker_init.connect
def _before_children(sender: Any, **_: Any) -> None:
    global _main, _slots
    prepare()
    _main = os.getpid()
    concurrency = sender.concurrency
    _slots = CoreSlots(concurrency if isinstance(concurrency, int) else usable_cores())  # or "auto"


@worker_process_init.connect
def _in_child(**_: Any) -> None:
    global _process
    _process = None
    if _main is not None:
        die_with_parent(_main)  # a search would not notice that the worker was killed


@worker_ready.connect
def _ready(sender: Any, **_: Any) -> None:
    here = process()
    reconciler = Reconciler(
        here.store,
        wake,
        here.blobs,
        every=here.settings.reconcile_seconds,
        seat=WorkerSeat(here.name, sender.controller.concurrency),
        keep=keep_days(here.settings),
    )
    reconciler.start()
    atexit.register(reconciler.stop)  # Celery has no signal for the end of a cold shutdown


@worker_shutting_down.connect
def _shutting_down(**_: Any) -> None:
    departure().announce()  # a warm shutdown, which waits for its tasks; a soft one has done it already
