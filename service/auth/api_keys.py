"""The keys that an API process knows: those of the store, and those of the key file that it was given.

A request is answered from memory. Changes in the store are announced on a channel, and the store is asked
every second in any case; a change of the file is seen by its date, which is looked at before every request.

While the store does not answer, the keys that were read last are good: no key can be revoked then, and a key
opens nothing but the metrics of this process, because everything else is in the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog
from starlette.concurrency import run_in_threadpool

from service import keyring
from service.key_store import KeyStore, StoredKeys
from service.keyring import KeyEntry, KeyFile

log = structlog.get_logger(__name__)
LOOK_ANYWAY = 1.0  # seconds
Stamp = tuple[int, int, int, int]


class Keys:
    """Once there is a key, or a file for keys, a key is needed for good.

    When the keys are revoked, the file is deleted or cannot be read, nobody gets in. A key of a file is good
    as long as it stands in the file and was not revoked in the store. Where no file is given, imported keys
    are as good as those that were made in the store.
    """

    def __init__(self, path: Path | None, store: KeyStore | None = None) -> None:
        self._path = path
        self._store = store
        self._stamp: Stamp | None = None
        self._file = KeyFile()
        self._imported: KeyFile | None = None  # what of the file the store was told
        self._stored: StoredKeys | None = None
        self._announced = asyncio.Event()
        self._required = path is not None
        self.readable = True
        if path is not None and path.exists():
            self._stamp = self._read_stamp(path)
            self._file = keyring.read(path)  # a file that cannot be read must not start a server
        self._combine()

    @property
    def required(self) -> bool:
        return self._required

    @property
    def unknown(self) -> bool:
        """Return whether it is not known yet if a key is needed: the store has never answered."""
        return self._stored is None and self._store is not None and not self._required

    def entries(self) -> tuple[KeyEntry, ...]:
        """Return the keys that are good now."""
        return self._good.keys

    def find(self, key: str) -> KeyEntry | None:
        return self._good.find(key)

    async def look_up(self, key: str) -> KeyEntry | None:
        """As `find`, but ask the store before a key is refused: it may have been made a moment ago."""
        found = self.find(key)
        if found is None and self._store is not None and keyring.well_formed(key):
            await self.update()
            found = self.find(key)
        return found

    def knows(self, key_id: str | None) -> bool:
        """Return whether who was let in with this key would still be: for answers that go on for hours."""
        self.refresh()
        if key_id is None:
            return not self.required
        return any(entry.id == key_id for entry in self.entries())

    def _combine(self) -> None:
        """Work out which keys are good, after a change."""
        stored = self._stored or StoredKeys()
        own = (entry for entry in self._file.keys if entry.id not in stored.revoked)
        imported = stored.imported if self._path is None else ()
        self._good = KeyFile.model_construct(keys=(*own, *stored.made, *imported))

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
            self._file = keyring.read(self._path)
            self.readable = True
        except FileNotFoundError:
            self._stamp, self._file, self.readable = None, KeyFile(), True
        except (OSError, ValueError) as error:
            log.error(
                "the file of keys cannot be read: nobody gets in", path=str(self._path), error=str(error)
            )
        self._combine()
        self._announced.set()  # for the store

    @staticmethod
    def _read_stamp(path: Path) -> Stamp:
        status = path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode

    # The store

    def announce(self) -> None:
        """Say that the keys in the store may have changed."""
        self._announced.set()

    async def follow(self, changed: Callable[[], None]) -> None:
        """Keep up with the store for ever; call `changed` when the keys have changed."""
        away = False
        while True:
            before = self._stored
            try:
                await self.update()
                away = False
            except Exception as error:  # one that ended this task would keep revoked keys alive
                if not away:
                    log.warning("keys not read from the store", error=f"{type(error).__name__}: {error}")
                away = True
            if self._stored is not before:
                changed()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_ANYWAY):
                    await self._announced.wait()
            self._announced.clear()
            self.refresh()

    async def update(self) -> None:
        """Read the keys of the store if they have changed, and tell it of changes in the file."""
        if self._store is None:
            return
        if self.readable and self._file is not self._imported and self._path is not None:
            imported = self._file
            await run_in_threadpool(self._import, self._store, self._imported or KeyFile(), imported)
            self._imported = imported
        if self._stored is None or await run_in_threadpool(self._store.version) != self._stored.version:
            self._stored = await run_in_threadpool(self._store.read)
            self._required = self._required or bool(self._stored.version)
            self._combine()

    @staticmethod
    def _import(store: KeyStore, before: KeyFile, now: KeyFile) -> None:
        store.import_keys(now.keys)
        gone = {entry.id for entry in before.keys} - {entry.id for entry in now.keys}
        if gone:
            store.forget_imported(gone)
