"""The mark of the store's format."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from literati import __version__
from worker.domain.errors import StoreFormatError
from worker.store import Store, store_format
from worker.store.client import script_source
from worker.store.store_format import FORMAT, KEY, READER


def mark(client: redis.Redis) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in client.hgetall(KEY).items()}  # type: ignore[union-attr]


def test_a_store_without_a_mark_is_accepted_and_marked(store: Store, client: redis.Redis) -> None:
    store.format.check()
    assert mark(client) == {"format": str(FORMAT), "reader": str(READER), "version": __version__}
    assert store.format.refusal is None


def test_the_mark_never_falls(store: Store, client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    newer: dict[Any, Any] = {"format": str(FORMAT + 5), "reader": str(FORMAT), "version": "9.0"}
    client.hset(KEY, mapping=newer)
    store.format.check()
    assert mark(client) == newer, "a newer program that writes what this one reads"
    monkeypatch.setattr(store_format, "FORMAT", FORMAT + 6)
    store.format.check()
    assert mark(client) == {"format": str(FORMAT + 6), "reader": str(FORMAT), "version": __version__}


def test_a_newer_store_is_refused_and_left_as_it_is(store: Store, client: redis.Redis) -> None:
    newer: dict[Any, Any] = {"format": "12", "reader": "11", "version": "9.0"}
    client.hset(KEY, mapping=newer)
    with pytest.raises(StoreFormatError) as error:
        store.format.check()
    assert str(error.value) == store.format.refusal
    assert store.format.refusal == (
        "Literati 9.0 has written to the store, and programs below format 11 cannot read it; this is "
        f"Literati {__version__} with format {FORMAT}. Install Literati 9.0 or newer here, or restore a "
        "backup from before the upgrade."
    )
    assert mark(client) == newer
    client.delete(KEY)
    store.format.check()
    assert store.format.refusal is None, "a backup was restored"


def test_a_feature_keeps_older_programs_out(
    store: Store, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = Store(client)
    older.format.check()
    with monkeypatch.context() as newer:
        newer.setattr(store_format, "FORMAT", FORMAT + 1)
        store.format.check()
        older_reads = mark(client)["reader"]
        store.format.require_reader(FORMAT + 1)
    assert older_reads == str(READER)
    assert mark(client)["reader"] == str(FORMAT + 1)
    with pytest.raises(StoreFormatError):
        older.format.check()


def test_a_script_keeps_older_programs_out(store: Store, client: redis.Redis) -> None:
    source = script_source("mark_format").rpartition("-- format(of the program)")[0]
    client.eval(f"{source}\nrequire_reader(ARGV[1], ARGV[2])", 0, FORMAT + 1, "9.1")
    assert mark(client) == {"format": str(FORMAT + 1), "reader": str(FORMAT + 1), "version": "9.1"}
    with pytest.raises(StoreFormatError, match=r"Literati 9\.1 has written"):
        store.format.check()
