"""The file behind a record that is gone."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from redis.exceptions import RedisError

from worker.blobs import Blobs
from worker.store import Store


def discard(store: Store, blobs: Blobs, name: str) -> None:
    """Delete a blob that no record names. If that cannot be done now, the reconciler will do it."""
    with suppress(OSError, RedisError):
        blobs.discard(name, partial(store.blobs.wanted, name))
