"""The thread that owns the search of a job.

It runs the search in short slices and puts messages on a queue. The main thread reads the queue, which leaves
it free for signals, the lease and control requests.
"""

from __future__ import annotations

import time

import structlog

from literati import Search, SearchReport, ShapeTree, StopReason
from literati.search.options import SEQUENTIAL
from literati.search.stages import wider_space
from worker.blobs.local import Blobs
from worker.domain.jobs import Job
from worker.domain.parameters import WIDENING, Limits
from worker.domain.progress import NewIncumbent, ProgressUpdate
from worker.store import Store
from worker.training.search_snapshot import Effort, SearchSnapshot
from worker.training.start_search import search_limits, start_search
from worker.training.trace_reader import TraceReader
from worker.training.training_thread import TrainingThread
from worker.training.tree_evaluator import TreeEvaluator

SLICE_SECONDS = 0.1  # search time between two looks at the stop flag and the limits
SNAPSHOT_SECONDS = 3.0  # minimum time between two snapshots ...
SNAPSHOT_FACTOR = 20  # ... and minimum time as a multiple of what the last snapshot took
BASELINE_SECONDS = 5.0  # how long the end of a job waits for its baseline

log = structlog.get_logger(__name__)


class SearchThread(TrainingThread):
    """Run a job's search until it ends or `stop` is called."""

    def __init__(self, job: Job, limits: Limits, store: Store, blobs: Blobs) -> None:
        super().__init__(job, limits, store, blobs)
        self._best = job.progress.objective  # the objective of the last incumbent that was published
        self._offset = Effort()
        self._search: Search | None = None
        self._new_limits: Limits | None = None  # to be applied before the next slice
        self._limited_at = 0.0  # search seconds when the present limits were applied
        self._saving = True
        place = job.spec.sweep
        self._is_trial = place is not None and place.fold is not None
        self._notes: list[str] = []  # for the log of the next update
        self._snapshot_at = time.monotonic()
        self._snapshot_took = 0.0
        self._snapshot_failed = False

    # Called by the main thread

    def stop(self, save: bool = True) -> None:
        """Ask the search to end, which takes about a tenth of a second. With `save`, write a snapshot."""
        self._saving = self._saving and save
        self._stopping = True
        if self._search is not None:
            self._search.stop()

    def change_limits(self, limits: Limits) -> None:
        """Apply other limits from the next slice on."""
        self._new_limits = limits

    def seconds_over_limit(self) -> float:
        """Return how long the search has been running beyond its time limit; 0 if it has not."""
        search = self._search
        if search is None or search.limits.time_limit is None or not self.is_alive():
            return 0.0
        due = max(search.limits.time_limit, self._limited_at)  # a new limit may already be used up
        return max(0.0, search.elapsed_seconds - due)

    # Runs on this thread

    def _work(self) -> None:
        task = self._load()
        started = start_search(self._job, task, self._limits, self._store, self._blobs)
        search = started.search
        self._notes = [*started.notes, *task.notes, *self._threads_note()]
        self._offset = started.offset
        self._limited_at = search.elapsed_seconds
        self._search = search
        if self._saving or not self._stopping:
            self._step(search, TreeEvaluator(task, search.table), TraceReader(search, self._offset))

    def _threads_note(self) -> list[str]:
        """Say how many threads the search has if they are not as many as were asked for."""
        wanted, threads = self._job.spec.parameters.n_threads, self._job.threads or 1
        if wanted == threads:
            return []
        if self._job.spec.parameters.candidates in SEQUENTIAL:
            return [f"threads of the search: 1, because `{self._job.spec.parameters.candidates}` uses one"]
        if wanted < 0:
            return [f"threads of the search: {threads}, one for each core of its worker"]
        return [f"threads of the search: {threads} instead of {wanted}, because no worker has more cores"]

    def _step(self, search: Search, evaluator: TreeEvaluator, trace: TraceReader) -> None:
        seconds = 0.0  # the first tree is published at once
        while True:
            self._apply_new_limits(search)
            report = search.run(0.0 if self._stopping else seconds)
            # Limits that have changed meanwhile may let the search continue.
            finished = report.stop_reason is not StopReason.RUNNING and self._new_limits is None
            ending = finished or self._stopping
            if ending:
                if report.stop_reason not in (StopReason.RUNNING, StopReason.USER_STOP):
                    self.messages.put(report)
                if self._saving and not self._is_trial:
                    evaluator.baseline.wait(BASELINE_SECONDS)  # so that the last metrics include it
            self.messages.put(self._update(search, report, evaluator, trace, ending))
            if ending:
                return
            seconds = SLICE_SECONDS

    def _apply_new_limits(self, search: Search) -> None:
        limits, self._new_limits = self._new_limits, None
        if limits is not None:
            self._limited_at = search.elapsed_seconds
            search.change_limits(search_limits(limits, self._offset))
            self._notes.append("the limits were changed")

    def _update(
        self,
        search: Search,
        report: SearchReport,
        evaluator: TreeEvaluator,
        trace: TraceReader,
        ending: bool,
    ) -> ProgressUpdate:
        better = self._best is None or report.objective < self._best
        tree = search.incumbent() if better or (ending and self._saving) else None
        incumbent = None if tree is None else self._incumbent(tree, evaluator, search.report())
        snapshot, size = self._save(search) if self._snapshot_is_due(ending) else (None, 0)
        notes, self._notes = self._notes, []
        candidates = self._job.spec.parameters.candidates
        widening = candidates == WIDENING
        whole_space = "" if widening else candidates
        proven_space = report.proven_space or whole_space
        if widening:  # a resumed search may not have proven again what was reported before
            proven_space = wider_space(self._job.proven_space, proven_space)
        return ProgressUpdate(
            upper_bound=report.upper_bound,
            lower_bound=report.lower_bound,
            expansions=report.expansions - self._offset.expansions,
            states_live=report.states_live,
            elapsed_seconds=max(0.0, report.elapsed_seconds - self._offset.seconds),
            memory_bytes=report.memory_bytes,
            explored=report.explored,
            seconds_left=report.seconds_left,
            stage=report.stage,
            space=report.space or whole_space,
            proven_space=proven_space,
            last_stage=not widening or report.stop_reason is StopReason.PROVEN_OPTIMAL,
            trace=trace.read(report, now=incumbent is not None or ending),
            incumbent=incumbent,
            snapshot=snapshot,
            snapshot_bytes=size,
            log="; ".join(notes) or None,
        )

    def _incumbent(self, tree: ShapeTree, evaluator: TreeEvaluator, report: SearchReport) -> NewIncumbent:
        metrics = evaluator.evaluate(tree)
        self._best = tree.objective
        return NewIncumbent(
            objective=tree.objective,
            tree=tree.to_dict(),
            metrics=metrics,
            found_seconds=max(0.0, report.found_seconds - self._offset.seconds),
            stage=report.stage,
        )

    def _snapshot_is_due(self, ending: bool) -> bool:
        """Return whether to write a snapshot now. While the main thread is busy, at most one waits for it."""
        since = time.monotonic() - self._snapshot_at
        pause_over = since >= max(SNAPSHOT_SECONDS, SNAPSHOT_FACTOR * self._snapshot_took)
        at_end = ending and (self._stopping or not self._is_trial)  # nothing continues a trial that is done
        return self._saving and (at_end or (not ending and pause_over and self.messages.empty()))

    def _save(self, search: Search) -> tuple[str | None, int]:
        """Write a snapshot; return its blob and size, or (None, 0) if it could not be written."""
        start = time.monotonic()
        name, size = None, 0
        try:
            data = SearchSnapshot(self._job.spec.id, self._offset, search.checkpoint()).to_bytes()
            name, size = self._blobs.put(data), len(data)
        except (OSError, MemoryError) as error:
            log.warning("search not saved", error=repr(error))
            if not self._snapshot_failed:
                self._notes.append(
                    "the search could not be saved: the worker's disk or memory is full, "
                    "or the blob store does not respond"
                )
        self._snapshot_failed = name is None
        self._snapshot_at = time.monotonic()
        self._snapshot_took = self._snapshot_at - start
        return name, size
