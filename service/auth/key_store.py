"""API keys in the store, where every API process sees a new or revoked key at once.

Only the SHA-256 of a key is stored, as in a key file. Keys are created by `python -m service.keys` or
imported from the key file of an API process. Every change sets a new version and is announced on a channel.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.auth.key_file import KeyEntry
from worker.store import Store
from worker.store.atomic_reads import AtomicReads

CHANNEL = "literati:keys-changed"
_CREATED, _IMPORTED = "literati:keys", "literati:keys-imported"  # by id
_REVOKED = "literati:keys-revoked"  # ids of imported keys, which may still be in a file
_VERSION = "literati:keys-version"  # set with the first key


@dataclass(frozen=True)
class StoredKeys:
    """All keys of the store."""

    version: str = ""  # empty if the store has never had a key
    created: tuple[KeyEntry, ...] = ()
    imported: tuple[KeyEntry, ...] = ()
    revoked: frozenset[str] = frozenset()


class KeyStore:
    """The keys in the store. Every method raises redis.RedisError if the store does not answer."""

    def __init__(self, store: Store) -> None:
        self._client = store.client
        self._scripts = store.scripts

    def version(self) -> str:
        found: Any = self._client.get(_VERSION)
        return found.decode() if found else ""

    def read(self) -> StoredKeys:
        reads = AtomicReads(self._client)
        reads.get(_VERSION)
        reads.hvals(_CREATED)
        reads.hvals(_IMPORTED)
        reads.smembers(_REVOKED)
        version, created, imported, revoked = reads.execute()
        return StoredKeys(
            version.decode() if version else "",
            _keys(created),
            _keys(imported),
            frozenset(identity.decode() for identity in revoked),
        )

    def add(self, entry: KeyEntry) -> None:
        self._change(created={entry.id: entry.model_dump_json()})

    def import_keys(self, entries: Iterable[KeyEntry]) -> None:
        """Add the new keys of a file. Keys that were revoked here stay revoked."""
        stored = self.read()
        known = {entry.id for entry in (*stored.imported, *stored.created)} | stored.revoked
        new = {entry.id: entry.model_dump_json() for entry in entries if entry.id not in known}
        if new:
            self._change(imported=new)

    def forget_imported(self, identities: Iterable[str]) -> None:
        """Remove imported keys that are no longer in their file."""
        self._change(imported=dict.fromkeys(identities, False))

    def revoke(self, identity: str, *, in_file: bool = False) -> bool:
        """Revoke a key in every API process. Return whether the store had it.

        If `in_file`, the key was in a key file, and copies of that file must not bring it back.
        """
        stored = self.read()
        created = any(entry.id == identity for entry in stored.created)
        imported = any(entry.id == identity for entry in stored.imported)
        if created or imported or in_file:
            gone = {identity: False}
            self._change(gone, gone, [identity] if in_file or not created else [])
        return created or imported

    def _change(
        self,
        created: Mapping[str, str | bool] | None = None,
        imported: Mapping[str, str | bool] | None = None,
        revoked: Sequence[str] = (),
    ) -> None:
        """Store keys by id, or remove those with False; revoke others. Announce the change."""
        changes = (json.dumps(created or {}), json.dumps(imported or {}), json.dumps(revoked))
        self._scripts.run("change_keys", secrets.token_hex(8), CHANNEL, *changes)


def _keys(values: Iterable[bytes]) -> tuple[KeyEntry, ...]:
    entries = (KeyEntry.model_validate_json(value) for value in values)
    return tuple(sorted(entries, key=lambda entry: entry.created_at))
