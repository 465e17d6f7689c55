"""The outcome of a job: as its client requested, or a failure with a message for the client."""

from __future__ import annotations

from worker.blobs.local import BlobNotFoundError
from worker.domain.jobs import ControlRequest, JobError, JobState, Outcome, StopReason

_MEMORY_NOTE = "; this worker lowered it (LITERATI_WORKER_MEMORY_LIMIT)"

# The job goes back to the queue if nothing was requested.
REQUESTED: dict[ControlRequest, Outcome | None] = {
    ControlRequest.CANCEL: Outcome(state=JobState.CANCELLED, stop_reason=StopReason.USER_CANCEL),
    ControlRequest.FINISH: Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH),
    ControlRequest.PAUSE: Outcome(state=JobState.PAUSED),
    ControlRequest.NONE: None,
}


def failure(error: BaseException, *, memory_limit_lowered: bool) -> Outcome:
    """Return the outcome of a job that an error ended."""
    return Outcome(
        state=JobState.FAILED,
        stop_reason=StopReason.ERROR,
        error=_job_error(error, memory_limit_lowered),
    )


def _job_error(error: BaseException, memory_limit_lowered: bool) -> JobError:
    """Describe an error to the client. Only errors about the data show their own message."""
    if isinstance(error, MemoryError):
        return JobError(
            code="MEMORY", message="The worker ran out of memory; use a lower memory_limit or less data."
        )
    if isinstance(error, BlobNotFoundError):
        return JobError(code="DATASET_GONE", message="The dataset has been deleted.")
    if isinstance(error, ValueError | TypeError):
        note = memory_limit_lowered and str(error).startswith("memory_limit:")
        return JobError(code="DATA", message=f"{error}{_MEMORY_NOTE if note else ''}")
    return JobError(code="INTERNAL", message="The search failed unexpectedly; see the worker's log.")
