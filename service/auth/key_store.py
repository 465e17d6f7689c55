"""API keys in the store, where every API process sees a new or revoked key at once.

A key is kept as in a key file: its SHA-256, never itself. Keys are made here by `python -m service.keys`, or
imported from the key file of an API process. Every change sets a new version and is announced on a channel.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import redis

from service.keyring import KeyEntry

CHANNEL = "literati:keys-changed"
_MADE, _IMPORTED = "literati:keys", "literati:keys-imported"  # by id
_REVOKED = "literati:keys-revoked"  # ids of imported keys, which may still stand in a file
_VERSION = "literati:keys-version"  # there since the first key


@dataclass(frozen=True)
class StoredKeys:
    version: str = ""  # empty: there was never a key in this store
    made: tuple[KeyEntry, ...] = ()
    imported: tuple[KeyEntry, ...] = ()
    revoked: frozenset[str] = frozenset()


class KeyStore:
    """Every method raises redis.RedisError if the store does not answer."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def version(self) -> str:
        found: Any = self._client.get(_VERSION)
        return found.decode() if found else ""

    def read(self) -> StoredKeys:
        pipeline = self._client.pipeline(transaction=True)
        pipeline.get(_VERSION)
        pipeline.hvals(_MADE)
        pipeline.hvals(_IMPORTED)
        pipeline.smembers(_REVOKED)
        version, made, imported, revoked = pipeline.execute()
        return StoredKeys(
            version.decode() if version else "",
            _keys(made),
            _keys(imported),
            frozenset(identity.decode() for identity in revoked),
        )

    def add(self, entry: KeyEntry) -> None:
        self._change(add={_MADE: [entry]})

    def import_keys(self, entries: Iterable[KeyEntry]) -> None:
        """Add the keys of a file that are not there yet. Those that were revoked here stay so."""
        stored = self.read()
        known = {entry.id for entry in (*stored.imported, *stored.made)} | stored.revoked
        new = [entry for entry in entries if entry.id not in known]
        if new:
            self._change(add={_IMPORTED: new})

    def forget_imported(self, identities: Iterable[str]) -> None:
        """Take out keys that are gone from the file that they came from."""
        self._change(remove={_IMPORTED: list(identities)})

    def revoke(self, identity: str, *, in_file: bool = False) -> bool:
        """Make a key worthless in every API process. Return whether there was such a key here.

        `in_file` says that it was in a key file, copies of which may be elsewhere.
        """
        stored = self.read()
        made = any(entry.id == identity for entry in stored.made)
        imported = any(entry.id == identity for entry in stored.imported)
        if made or imported or in_file:
            revoked = [] if made and not in_file else [identity]
            self._change(remove={_MADE: [identity], _IMPORTED: [identity]}, revoked=revoked)
        return made or imported

    def _change(
        self,
        *,
        add: dict[str, list[KeyEntry]] | None = None,
        remove: dict[str, list[str]] | None = None,
        revoked: Iterable[str] = (),
    ) -> None:
        """Make all of the changes in one step, and announce them."""
        version = secrets.token_hex(8)
        pipeline = self._client.pipeline(transaction=True)
        for key, entries in (add or {}).items():
            for entry in entries:
                pipeline.hset(key, entry.id, entry.model_dump_json())
        for key, identities in (remove or {}).items():
            for identity in identities:
                pipeline.hdel(key, identity)
        for identity in revoked:
            pipeline.sadd(_REVOKED, identity)
        pipeline.set(_VERSION, version)
        pipeline.publish(CHANNEL, version)
        pipeline.execute()


def _keys(values: Iterable[bytes]) -> tuple[KeyEntry, ...]:
    entries = (KeyEntry.model_validate_json(value) for value in values)
    return tuple(sorted(entries, key=lambda entry: entry.created_at))
