"""Keep all blobs while a backup is made."""

from __future__ import annotations

import secrets
import threading
from types import TracebackType
from typing import Any, Self

import redis
import structlog

from worker.backup.folder import BackupError
from worker.store import Store
from worker.store.retention import DELETION_HOLD

log = structlog.get_logger(__name__)
HOLD_SECONDS = 120.0  # after which the hold of a killed backup ends


class DeletionHold:
    """While the context lasts, no process deletes a blob.

    The hold is a key in the store with a time limit, which a thread renews. Scripts look at the key when they
    decide whether a blob may be deleted, so it takes effect at once everywhere.
    """

    def __init__(self, store: Store, seconds: float = HOLD_SECONDS) -> None:
        self._client: Any = store.client
        self._milliseconds = round(1000 * seconds)
        self._token = secrets.token_hex(16).encode()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew, args=(seconds / 6,), daemon=True)

    def __enter__(self) -> Self:
        self._client.set(DELETION_HOLD, self._token, nx=True, px=self._milliseconds)
        # The answer is not used: a command whose answer was lost is sent again and then finds its own token.
        if self._client.get(DELETION_HOLD) != self._token:
            raise BackupError(
                "Another backup of this store is being made. If it was killed, try again in "
                f"{self._milliseconds / 1000:g} seconds."
            )
        self._thread.start()
        return self

    def _renew(self, interval: float) -> None:
        while not self._stop.wait(interval):
            try:
                if self._client.get(DELETION_HOLD) == self._token:
                    self._client.pexpire(DELETION_HOLD, self._milliseconds)
            except redis.RedisError as error:
                log.warning("the hold of the backup was not renewed", error=str(error))

    def check(self) -> None:
        """Raise a BackupError unless the hold was valid from its beginning until now."""
        if self._client.get(DELETION_HOLD) != self._token:
            raise BackupError(
                "The store did not answer for so long that blobs may have been deleted meanwhile; "
                "make the backup again."
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        try:
            if self._client.get(DELETION_HOLD) == self._token:
                self._client.delete(DELETION_HOLD)
        except redis.RedisError as lost:
            log.warning("the hold of the backup ends by its time limit", error=str(lost))
