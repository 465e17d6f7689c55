"""How a job ends by its worker: as it was wished, or with an error that says what a client may know."""

from __future__ import annotations

from .blobs import BlobGoneError
from .messages import JobError, JobState, Outcome, StopReason, Wish

_LOWERED = "; this worker lowered it (LITERATI_WORKER_MEMORY_LIMIT)"


def granted(wish: Wish) -> Outcome | None:
    """None: nothing is wished, and the job goes back to the queue."""
    return {
        Wish.CANCEL: Outcome(state=JobState.CANCELLED, stop_reason=StopReason.USER_CANCEL),
        Wish.FINISH: Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH),
        Wish.PAUSE: Outcome(state=JobState.PAUSED),
        Wish.NONE: None,
    }[wish]


def failed(error: BaseException, *, memory_lowered: bool) -> Outcome:
    told = _described(error, memory_lowered)
    return Outcome(state=JobState.FAILED, stop_reason=StopReason.ERROR, error=told)


def _described(error: BaseException, memory_lowered: bool) -> JobError:
    """Bad data in the library's words, anything else without its inside."""
    if isinstance(error, MemoryError):
        return JobError(
            code="MEMORY", message="The worker ran out of memory; lower memory_limit or the data."
        )
    if isinstance(error, BlobGoneError):
        return JobError(code="DATASET_GONE", message="The dataset is no longer there.")
    if isinstance(error, ValueError | TypeError):
        met = memory_lowered and str(error).startswith("memory_limit:")
        return JobError(code="DATA", message=f"{error}{_LOWERED if met else ''}")
    return JobError(code="INTERNAL", message="The search failed unexpectedly; the worker's log says more.")
