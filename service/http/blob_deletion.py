"""Delete the blob of a deleted record."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from redis.exceptions import RedisError

from worker.blobs.local import Blobs
from worker.store import Store


def discard(store: Store, blobs: Blobs, name: str) -> None:
    """Delete a blob that no record refers to. If that fails now, the reconciler does it later."""
    with suppress(OSError, RedisError):
        blobs.delete_unless(name, partial(store.blobs.is_referenced, name))
