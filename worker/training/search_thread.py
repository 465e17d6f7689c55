"""The search on its own thread, in slices; the main thread stays free for signals, the lease and wishes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context

import structlog

from literati import Search, SearchReport, ShapeTree, StopReason
from literati.errors import Interrupted

from .blobs import Blobs
from .messages import Checkpoint, Limits, NewIncumbent, TracePoint
from .opening import Opened, search_limits
from .problem import Judge, Problem
from .saved import SavedSearch

SLICE = 0.1  # seconds of search between two looks at the world
TRACE_SECONDS = 0.25  # how often the bounds are read for the trace
TRACE_POINTS = 64  # of the trace in one checkpoint; more would not be seen
SAVE_SECONDS = 3.0  # between two saves of the search itself ...
SAVE_SHARE = 20  # ... and at least so many times what the last one took
BASELINE_SECONDS = 5.0  # that the end of a job may wait for its baseline

log = structlog.get_logger(__name__)


class Stepper(threading.Thread):
    """Runs until the search ends or `stop` is called; `take` says what is new, `failure` what went wrong."""

    def __init__(
        self, job_id: str, prepare: Callable[[], tuple[Problem, Opened]], blobs: Blobs, shown: float | None
    ) -> None:
        super().__init__(name=f"search {job_id}", daemon=True)
        self.news = threading.Event()  # something worth publishing at once
        self.done = threading.Event()
        self.failure: BaseException | None = None
        self.report: SearchReport | None = None
        self.has_tree = shown is not None
        self._context = copy_context()  # so that its log lines name the job
        self._job_id = job_id
        self._prepare = prepare
        self._blobs = blobs
        self._shown = shown  # objective of the last incumbent handed over
        self._search: Search | None = None
        self._new_limits: Limits | None = None  # to be taken on before the next slice
        self._limited_at = 0.0  # search seconds when it got its present limits
        self._stopping = False
        self._saving = True
        self._lock = threading.Lock()
        self._pending: Checkpoint | None = None
        self._notes: list[str] = []
        self._traced = 0  # points of the search's trace handed over
        self._traced_at = 0.0
        self._saved_at = time.monotonic()
        self._save_took = 0.0
        self._save_failed = False
        self._saved_bytes = 0  # of the last one

    # From the main thread

    def stop(self, save: bool = True) -> None:
        """Come to an end within a tenth of a second or so; `save` the search for another process."""
        self._saving = self._saving and save
        self._stopping = True
        if self._search is not None:
            self._search.stop()

    def poll(self) -> None:
        """Raise Interrupted when a stop is wanted: while the rows are encoded there is no search to stop."""
        if self._stopping:
            raise Interrupted

    def seconds_over(self) -> float:
        """How long the search has gone on beyond its time limit; 0 if it has not."""
        search = self._search
        if search is None or search.limits.time_limit is None or self.done.is_set():
            return 0.0
        due = max(search.limits.time_limit, self._limited_at)  # a limit may be used up when it is set
        return max(0.0, search.elapsed_seconds - due)

    def change_limits(self, limits: Limits) -> None:
        """Search on under other limits from the next slice on."""
        self._new_limits = limits

    def take(self) -> Checkpoint | None:
        """What is new since the last call."""
        with self._lock:
            pending, self._pending = self._pending, None
            self.news.clear()
        return pending

    # On its own thread

    def run(self) -> None:
        self._context.run(self._run)

    def _run(self) -> None:
        try:
            problem, opened = self._prepare()
            self._notes = [*opened.notes, *problem.notes]
            self._limited_at = opened.search.elapsed_seconds
            self._search, self._spent = opened.search, opened.spent
            self._traced = len(opened.search.trace())  # those were handed over by an earlier attempt
            if self._stopping and not self._saving:
                return
            self._step(opened.search, Judge(problem, opened.search))
        except Interrupted:
            log.info("stopped before the first tree")
        except BaseException as error:  # it must reach the main thread, whatever it is
            self.failure = error
        finally:
            self.done.set()
            self.news.set()

    def _step(self, search: Search, judge: Judge) -> None:
        seconds = 0.0  # the first tree is shown at once
        while True:
            self._take_limits(search)
            report = search.run(0.0 if self._stopping else seconds)
            # Limits that were changed meanwhile may let the search go on.
            over = report.stop_reason is not StopReason.RUNNING and self._new_limits is None
            ended = over or self._stopping
            self.report = report
            if ended and self._saving:
                judge.wait_for_baseline(BASELINE_SECONDS)
            self._offer(search, report, judge, ended)
            if ended:
                return
            seconds = SLICE

    def _take_limits(self, search: Search) -> None:
        limits, self._new_limits = self._new_limits, None
        if limits is not None:
            self._limited_at = search.elapsed_seconds
            search.change_limits(search_limits(limits, self._spent))
            self._notes.append("the limits were changed")

    def _offer(self, search: Search, report: SearchReport, judge: Judge, ended: bool) -> None:
        better = self._shown is None or report.objective < self._shown
        tree = search.incumbent() if better or (ended and self._saving) else None
        incumbent = None if tree is None else self._judged(tree, judge, search.report().found_seconds)
        blob = self._save(search) if self._save_is_due(ended) else None
        fresh = Checkpoint(
            upper_bound=report.upper_bound,
            lower_bound=report.lower_bound,
            expansions=report.expansions - self._spent.expansions,
            states_live=report.states_live,
            elapsed_seconds=max(0.0, report.elapsed_seconds - self._spent.seconds),
            memory_bytes=report.memory_bytes,
            trace=self._trace(search, incumbent is not None or ended),
            incumbent=incumbent,
            blob=blob,
            blob_bytes=self._saved_bytes if blob else 0,
            log="; ".join(self._notes) or None,
        )
        self._notes = []
        with self._lock:
            self._pending = fresh if self._pending is None else self._merged(self._pending, fresh)
        if incumbent is not None:
            self.has_tree = True
            self.news.set()

    def _judged(self, tree: ShapeTree, judge: Judge, found_seconds: float) -> NewIncumbent:
        metrics = judge.judge(tree)
        self._shown = tree.objective
        return NewIncumbent(
            objective=tree.objective,
            tree=tree.to_dict(),
            metrics=metrics,
            found_seconds=max(0.0, found_seconds - self._spent.seconds),
        )

    def _trace(self, search: Search, now: bool) -> list[TracePoint]:
        if not now and time.monotonic() - self._traced_at < TRACE_SECONDS:
            return []
        self._traced_at = time.monotonic()
        points = search.trace()
        fresh = points[self._traced :]
        self._traced = len(points)
        step = -(-len(fresh) // TRACE_POINTS) or 1
        kept = fresh[::-1][::step][::-1]  # the last one always
        spent = self._spent
        return [
            TracePoint(
                seconds=max(0.0, float(point["seconds"]) - spent.seconds),
                expansions=max(0, int(point["expansions"]) - spent.expansions),
                upper=float(point["upper"]),
                lower=float(point["lower"]),
            )
            for point in kept
        ]

    def _save_is_due(self, ended: bool) -> bool:
        since = time.monotonic() - self._saved_at
        return self._saving and (ended or since >= max(SAVE_SECONDS, SAVE_SHARE * self._save_took))

    def _save(self, search: Search) -> str | None:
        """None if it could not be: the search goes on, and the job with what was saved before."""
        start = time.monotonic()
        name = None
        try:
            saved = SavedSearch(self._job_id, self._spent, search.checkpoint()).to_bytes()
            name = self._blobs.put(saved)
            self._saved_bytes = len(saved)
        except (OSError, MemoryError) as error:
            log.warning("search not saved", error=repr(error))
            if not self._save_failed:
                self._notes.append(
                    "the search could not be saved: the worker has no room for it, or the blob store is away"
                )
        self._save_failed = name is None
        self._saved_at = time.monotonic()
        self._save_took = self._saved_at - start
        return name

    def _merged(self, old: Checkpoint, new: Checkpoint) -> Checkpoint:
        if old.blob is not None and new.blob is not None and old.blob != new.blob:
            with suppress(OSError):
                self._blobs.delete(old.blob)  # nobody has heard of it
        return new.model_copy(
            update={
                "trace": old.trace + new.trace,
                "incumbent": new.incumbent or old.incumbent,
                "blob": new.blob or old.blob,
                "blob_bytes": new.blob_bytes if new.blob else old.blob_bytes,
                "log": "; ".join(filter(None, (old.log, new.log))) or None,
            }
        )
