"""Which blobs the records name. Datasets and jobs count theirs; what nobody names is garbage."""

from __future__ import annotations

from typing import Any

import redis

from .client import Scripts


class BlobReferences:
    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def garbage(self) -> list[str]:
        """Blobs whose last record went away; some may be named again by now."""
        names: set[Any] = self._client.smembers("literati:garbage")
        return [name.decode() for name in names]

    def wanted(self, name: str) -> bool:
        """Whether a record names it. Takes it off the garbage either way."""
        return bool(self._scripts.run("wanted_blob", name))
