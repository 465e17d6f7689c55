"""Errors of the store. The service turns each of them into an HTTP problem with a status."""

from __future__ import annotations

from redis import ResponseError

# Error codes of a server that takes no writes at present; redis-py has classes for other such errors.
_TEMPORARY_CODES = ("MISCONF", "NOREPLICAS", "BUSY", "UNKILLABLE")


class StoreError(Exception):
    """Base class of these errors. Trouble with the server itself is a redis.RedisError."""


class JobNotFoundError(StoreError):
    """There is no such job, or it belongs to another tenant."""


class JobNotEndedError(StoreError):
    """The job has not ended, so it cannot be deleted."""


class WrongStateError(StoreError):
    """The state of a job or a sweep does not allow this action; `detail` explains it to the client."""

    def __init__(self, state: str, detail: str) -> None:
        super().__init__(detail)
        self.state = state
        self.detail = detail


class PreconditionFailedError(StoreError):
    """The record does not have the revision that the client's `If-Match` names."""


class FencedError(StoreError):
    """The worker no longer holds the job's lease. It has to stop, and its updates are rejected."""


class RevisionNotFoundError(StoreError):
    """The job has no tree with this revision, or no longer keeps it."""


class NoTreeError(StoreError):
    """A job without a tree cannot succeed."""


class IdempotencyConflictError(StoreError):
    """The idempotency key was used with another request body."""


class LimitReachedError(StoreError):
    """A limit does not allow another record; `limit` is its name.

    It is one of live_jobs, jobs, sweeps, models, datasets, dataset_bytes and aliases, which are limits of a
    tenant, or queue.
    """

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class ArchiveMissingError(StoreError):
    """The blob is lost that has what was moved out of Redis after the end of a job."""


class SweepNotFoundError(StoreError):
    """There is no such sweep, or it belongs to another tenant."""


class SweepNotEndedError(StoreError):
    """The sweep has not ended, so it cannot be deleted."""


class JobOfSweepError(StoreError):
    """The job belongs to a sweep, which alone controls it."""


class DatasetNotFoundError(StoreError):
    """There is no such dataset, or it belongs to another tenant."""


class DatasetInUseError(StoreError):
    """A job that has not ended uses the dataset."""


class ModelNotFoundError(StoreError):
    """There is no such model, or it belongs to another tenant."""


class ModelInUseError(StoreError):
    """An alias refers to the model."""


class AliasNotFoundError(StoreError):
    """There is no such alias."""


class InvalidTokenError(StoreError):
    """The page token or event id was not issued by this store."""


def is_store_fault(error: BaseException) -> bool:
    """Return whether a command or script failed on the server, so that it would fail again.

    Return False for a server that does not answer, and for one that takes no writes at present.
    """
    return type(error) is ResponseError and not str(error).startswith(_TEMPORARY_CODES)
