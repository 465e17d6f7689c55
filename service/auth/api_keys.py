"""The API keys of a process: those of the store, and those of its key file.

Requests are checked against a copy in memory. The store announces changes on a channel and is also asked
every second. A change of the file is detected by its modification time before every request.

While the store does not answer, the keys that were read last are valid. A key then gives access only to the
metrics of this process, because everything else is in the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog
from starlette.concurrency import run_in_threadpool

from service.auth import key_file
from service.auth.key_file import KeyEntry, KeyFile
from service.auth.key_store import KeyStore, StoredKeys

log = structlog.get_logger(__name__)
POLL_SECONDS = 1.0
Stamp = tuple[int, int, int, int]


class ApiKeys:
    """The valid keys, and whether a key is required.

    Once there is a key or a key file, a key is required from then on, even if all keys are revoked or the
    file is deleted or unreadable. A key of the file is valid while it is in the file and is not revoked in
    the store. Without a file, imported keys are valid like those that were created in the store.
    """

    def __init__(self, path: Path | None, store: KeyStore | None = None) -> None:
        self._path = path
        self._store = store
        self._stamp: Stamp | None = None
        self._file = KeyFile()
        self._imported: KeyFile | None = None  # the content of the file when it was last imported
        self._stored: StoredKeys | None = None
        self._announced = asyncio.Event()
        self.required = path is not None  # whether a caller must send a key
        self.readable = True
        if path is not None and path.exists():
            self._stamp = self._read_stamp(path)
            self._file = key_file.read(path)  # a server does not start with an unreadable file
        self._combine()

    @property
    def unread(self) -> bool:
        """Whether the store, which may require keys or have revoked some of the file, is not read yet."""
        return self._stored is None and self._store is not None

    def entries(self) -> tuple[KeyEntry, ...]:
        """Return the valid keys."""
        return self._valid.keys

    def find(self, key: str) -> KeyEntry | None:
        """Return the entry of a valid key."""
        return self._valid.find(key)

    async def look_up(self, key: str) -> KeyEntry | None:
        """Return the entry of a valid key. The store is asked about an unknown one, which may be new."""
        found = self.find(key)
        if found is None and self._store is not None and key_file.well_formed(key):
            await self.update()
            found = self.find(key)
        return found

    def knows(self, key_id: str | None) -> bool:
        """Return whether a caller with this key, or without one, still has access. Event streams ask this."""
        self.refresh()
        if key_id is None:
            return not self.required
        return any(entry.id == key_id for entry in self.entries())

    def _combine(self) -> None:
        """Determine the valid keys after a change."""
        stored = self._stored or StoredKeys()
        own = (entry for entry in self._file.keys if entry.id not in stored.revoked)
        imported = stored.imported if self._path is None else ()
        self._valid = KeyFile.model_construct(keys=(*own, *stored.created, *imported))

    # The file

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        if self._path is None:
            return
        try:
            stamp = self._read_stamp(self._path)
            if stamp == self._stamp:
                return
            self._stamp, self._file, self.readable = stamp, KeyFile(), False
            self._file = key_file.read(self._path)
            self.readable = True
        except FileNotFoundError:
            self._stamp, self._file, self.readable = None, KeyFile(), True
        except (OSError, ValueError) as error:
            log.error("key file unreadable, all requests are refused", path=str(self._path), error=str(error))
        self._combine()
        self._announced.set()  # so that `follow` imports the file

    @staticmethod
    def _read_stamp(path: Path) -> Stamp:
        status = path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode

    # The store

    def announce(self) -> None:
        """Make `follow` read the store, because its keys may have changed."""
        self._announced.set()

    async def follow(self, changed: Callable[[], None]) -> None:
        """Follow the store until cancelled, and call `changed` when the keys have changed."""
        failing = False
        while True:
            before = self._stored
            try:
                await self.update()
                failing = False
            except Exception as error:  # if this task ended, revoked keys would stay valid
                if not failing:
                    log.warning("API keys not read from the store", error=f"{type(error).__name__}: {error}")
                failing = True
            if self._stored is not before:
                changed()
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._announced.wait()
            self._announced.clear()
            self.refresh()

    async def update(self) -> None:
        """Import the key file if it has changed, and read the keys of the store if they have changed."""
        if self._store is None:
            return
        if self.readable and self._file is not self._imported and self._path is not None:
            imported = self._file
            await run_in_threadpool(self._import, self._store, self._imported or KeyFile(), imported)
            self._imported = imported
        if self._stored is None or await run_in_threadpool(self._store.version) != self._stored.version:
            self._stored = await run_in_threadpool(self._store.read)
            self.required = self.required or bool(self._stored.version)
            self._combine()

    @staticmethod
    def _import(store: KeyStore, before: KeyFile, now: KeyFile) -> None:
        store.import_keys(now.keys)
        gone = {entry.id for entry in before.keys} - {entry.id for entry in now.keys}
        if gone:
            store.forget_imported(gone)
