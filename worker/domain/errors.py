"""What the store refuses, as its callers know it; the service turns each into a problem with a status."""

from __future__ import annotations

from redis import ResponseError

from .messages import JobState

# Codes of errors that say that the server takes no writes at present; redis-py has classes for others.
_NOT_NOW = ("MISCONF", "NOREPLICAS", "BUSY", "UNKILLABLE")


class StoreError(Exception):
    """Base of all refusals. Trouble with the server itself is a redis.RedisError."""


class JobGoneError(StoreError):
    """No such job, or it is another tenant's."""


class JobLiveError(StoreError):
    """The job has not ended, so it cannot be deleted."""


class WrongStateError(StoreError):
    """The job's state does not allow this; `detail` is a sentence for the client."""

    def __init__(self, state: JobState, detail: str) -> None:
        super().__init__(detail)
        self.state = state
        self.detail = detail


class PreconditionFailedError(StoreError):
    """The record is not in the state that the client's `If-Match` names."""


class FencedError(StoreError):
    """The job is no longer this worker's: it has to stop, and nothing it says counts any more."""


class RevisionGoneError(StoreError):
    """The job has no tree of this revision, or does not keep it any more."""


class NoTreeError(StoreError):
    """A job cannot succeed without a tree."""


class IdempotencyConflictError(StoreError):
    """The key was used for another body."""


class LimitReachedError(StoreError):
    """There is as much of something as there may be; `limit` is its name.

    One of live_jobs, jobs, models, datasets, dataset_bytes and aliases, which are a tenant's, or queue.
    """

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class DatasetGoneError(StoreError):
    """No such dataset, or it is another tenant's."""


class DatasetInUseError(StoreError):
    """Jobs that have not ended use the dataset."""


class ModelGoneError(StoreError):
    """No such model, or it is another tenant's."""


class ModelInUseError(StoreError):
    """An alias names the model."""


class AliasGoneError(StoreError):
    """No such alias."""


class BadTokenError(StoreError):
    """Not a token (or an event id) that was given out here."""


def is_store_fault(error: BaseException) -> bool:
    """Return whether the store answered that a command or script failed, which it would do again.

    False for a server that does not answer, and for one that answers that it takes no writes at present.
    """
    return type(error) is ResponseError and not str(error).startswith(_NOT_NOW)
