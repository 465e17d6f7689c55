"""Which blobs are in use. Every dataset and job counts as a reference to its blob."""

from __future__ import annotations

from typing import Any

import redis

from worker.store.client import Scripts


class BlobReferences:
    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def unreferenced(self) -> list[str]:
        """Return the blobs that have lost their last reference. Some may have a new one by now."""
        names: set[Any] = self._client.smembers("literati:garbage")
        return [name.decode() for name in names]

    def is_referenced(self, name: str) -> bool:
        """Return whether a record refers to the blob, and remove it from the list of unreferenced blobs."""
        return bool(self._scripts.run("is_referenced", name))
