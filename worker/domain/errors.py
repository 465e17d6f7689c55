"""Errors of the store. The service turns each of them into an HTTP problem with a status."""

from __future__ import annotations

import re
from typing import Literal

from redis import RedisError, ResponseError
from redis.exceptions import AuthenticationError, NoPermissionError, OutOfMemoryError

# Error codes of a server that takes no writes at present; redis-py has classes for other such errors. Redis
# before 7.0 puts the code of an error within a script after a hyphen, inside of its message.
_TEMPORARY = re.compile(r"(?:^|.* -)(?:MISCONF|NOREPLICAS|BUSY|UNKILLABLE|UNBLOCKED|READONLY)\b")
# The answer to a command with many arguments of a client that has not given the right password.
_UNAUTHENTICATED = "Protocol error: unauthenticated"


class StoreError(Exception):
    """Base class of these errors. Trouble with the server itself is a redis.RedisError."""


class StoreFormatError(StoreError):
    """A newer program has written what this one cannot read. The message says which, and the remedy."""


class NotReplicatedError(RedisError):
    """Too few replicas confirmed a change in time. It may have been made, and it may be lost in a failover.

    It is a RedisError, so that a worker treats it as a store that does not answer and tries again. `answer`
    is that of the script.
    """

    def __init__(self, replicas: int, answer: object) -> None:
        wanted = f"{replicas} replica{'s' if replicas > 1 else ''}"
        super().__init__(f"{wanted} did not confirm the change in time (LITERATI_REDIS_WAIT_REPLICAS)")
        self.answer = answer


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


def refusal(error: BaseException) -> Literal["access", "full"] | None:
    """Return why a server that answers refuses: the user's rights, or no room. None for other errors."""
    text = str(error)
    if isinstance(error, AuthenticationError | NoPermissionError) or text.startswith(_UNAUTHENTICATED):
        return "access"
    is_full = isinstance(error, OutOfMemoryError) or text.startswith("MISCONF")
    return "full" if is_full else None


def is_store_fault(error: BaseException) -> bool:
    """Return whether a command or script failed on the server, so that it would fail again.

    Return False for a server that does not answer, and for one that refuses this program or all writes at
    present.
    """
    return type(error) is ResponseError and not refusal(error) and not _TEMPORARY.match(str(error))
