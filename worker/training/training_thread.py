"""The thread that does the work of a job, while the main thread of the process takes care of the lease."""

from __future__ import annotations

import threading
from abc import abstractmethod
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue

import structlog

from literati import SearchReport
from literati.errors import Interrupted
from worker.blobs.local import BlobNotFoundError, Blobs
from worker.domain.jobs import Job, StopReason
from worker.domain.parameters import Limits
from worker.domain.progress import ProgressUpdate
from worker.store import Store
from worker.training import tables
from worker.training.folds import split_for_sweep
from worker.training.training_task import TrainingTask

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ThreadEnded:
    """The last message of the thread."""

    error: BaseException | None = None


@dataclass(frozen=True)
class FoldResult:
    """What a job of a sweep found, if that is not a tree: JSON of FoldScores."""

    text: str
    stop_reason: StopReason


# A report says that the search has reached a limit or has proven its tree; its last update follows.
TrainingMessage = ProgressUpdate | SearchReport | FoldResult | ThreadEnded


class TrainingThread(threading.Thread):
    """Do the work of a job until it ends or `stop` is called; everything that happens is in `messages`."""

    def __init__(self, job: Job, limits: Limits, store: Store, blobs: Blobs) -> None:
        super().__init__(name=f"training {job.spec.id}", daemon=True)
        self.messages: SimpleQueue[TrainingMessage] = SimpleQueue()
        self._context = copy_context()  # so that log lines of this thread name the job
        self._job = job
        self._limits = limits
        self._store = store
        self._blobs = blobs
        self._stopping = False

    # Called by the main thread

    @abstractmethod
    def stop(self, save: bool = True) -> None:
        """Ask the thread to end. With `save`, it keeps what another attempt can use."""

    @abstractmethod
    def change_limits(self, limits: Limits) -> None:
        """Apply other limits."""

    @abstractmethod
    def seconds_over_limit(self) -> float:
        """Return how long the thread has been running beyond its time limit; 0 if it has not."""

    # Runs on this thread

    def run(self) -> None:
        self._context.run(self._run)

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            self._work()
        except Interrupted:
            log.info("stopped before the first tree")
        except BaseException as caught:  # the main thread decides what it means for the job
            error = caught
        self.messages.put(ThreadEnded(error))

    @abstractmethod
    def _work(self) -> None:
        """Do the work, and put messages on the queue."""

    def _load(self) -> TrainingTask:
        """Read the rows of the job's dataset and split them."""
        spec = self._job.spec
        dataset = self._store.datasets.get(spec.tenant, spec.dataset_id)
        if dataset is None:
            raise BlobNotFoundError(spec.dataset_id)
        rows = tables.load(self._blobs.path(dataset.blob), dataset)
        if spec.sweep is None:
            train, validation = tables.split(rows, spec.validation)
        else:
            train, validation = split_for_sweep(rows, spec.sweep)
        return TrainingTask(spec, train, validation, self._raise_if_stopping, self._job.threads or 1)

    def _raise_if_stopping(self) -> None:
        """Interrupt the encoding of the rows, during which there is no search that could be stopped."""
        if self._stopping:
            raise Interrupted
