from __future__ import annotations

import hashlib
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from worker.blobs import BlobGoneError, Blobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "state" / "blobs")


def files(blobs: Blobs) -> list[str]:
    return sorted(path.name for path in blobs.folder.rglob("*") if path.is_file())


def test_a_blob_has_the_name_of_its_bytes(blobs: Blobs) -> None:
    data = os.urandom(10_000)
    name = blobs.put(data)
    assert name == hashlib.sha256(data).hexdigest()
    assert blobs.get(name) == data
    assert blobs.path(name).read_bytes() == data
    assert files(blobs) == [name], "no draft is left"


def test_nobody_else_may_look(blobs: Blobs) -> None:
    path = blobs.path(blobs.put(b"x"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for folder in (blobs.folder, blobs.incoming):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_draft_that_is_not_adopted_leaves_nothing(blobs: Blobs) -> None:
    def broken_off() -> None:
        with blobs.draft() as file:
            file.write(b"half")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        broken_off()
    assert files(blobs) == []


def test_a_draft_is_adopted_under_its_digest(blobs: Blobs) -> None:
    with blobs.draft() as file:
        file.write(b"one")
        file.seek(0)
        file.write(b"two")
        assert blobs.adopt(file) == hashlib.sha256(b"two").hexdigest()
    assert blobs.get(hashlib.sha256(b"two").hexdigest()) == b"two"


def test_an_empty_blob(blobs: Blobs) -> None:
    assert blobs.get(blobs.put(b"")) == b""


def test_the_same_bytes_are_one_blob(blobs: Blobs) -> None:
    inode = blobs.path(blobs.put(b"same")).stat().st_ino
    assert blobs.path(blobs.put(b"same")).stat().st_ino == inode
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: blobs.put(b"many"), range(32)))) == 1
    assert len(files(blobs)) == 2


def test_what_is_gone_is_gone(blobs: Blobs) -> None:
    name = blobs.put(b"x")
    with open(blobs.path(name), "rb") as opened:
        blobs.delete(name)
        blobs.delete(name)
        assert opened.read() == b"x"
    with pytest.raises(BlobGoneError):
        blobs.get(name)
    with pytest.raises(BlobGoneError):
        blobs.path(name)


@pytest.mark.parametrize("name", ["", "x", "../" * 21 + "x", "A" * 64, "a" * 63, "a" * 64 + "\n", "a" * 65])
def test_only_digests_are_names(blobs: Blobs, name: str) -> None:
    for method in (blobs.get, blobs.path, blobs.delete):
        with pytest.raises(ValueError, match="SHA-256"):
            method(name)


def test_discard_asks_when_the_blob_is_out_of_the_way(blobs: Blobs) -> None:
    name = blobs.put(b"x")

    def wanted() -> bool:
        with pytest.raises(BlobGoneError):
            blobs.get(name)
        return False

    blobs.discard(name, wanted)
    assert files(blobs) == []
    blobs.discard(name, wanted)  # gone already: not asked


def test_discard_puts_back_what_is_wanted(blobs: Blobs) -> None:
    name = blobs.put(b"x")
    blobs.discard(name, lambda: True)
    assert blobs.get(name) == b"x"

    def unreachable() -> bool:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        blobs.discard(name, unreachable)
    assert blobs.get(name) == b"x"
    assert files(blobs) == [name]


@pytest.mark.parametrize("wanted", [False, True])
def test_whoever_adopts_meanwhile_has_it(blobs: Blobs, wanted: bool) -> None:
    with blobs.draft() as file:
        file.write(b"x")
        name = blobs.adopt(file)

        def recorded() -> bool:
            """An upload of the same bytes adopts again when it has made its record, before or after this."""
            if wanted:
                blobs.adopt(file, name)
            return wanted

        blobs.discard(name, recorded)
        blobs.adopt(file, name)
    assert blobs.get(name) == b"x"


def test_old_drafts_are_dropped(blobs: Blobs) -> None:
    name = blobs.put(b"x")
    young, old = blobs.incoming / "young", blobs.incoming / "old"
    young.write_bytes(b"")
    old.write_bytes(b"")
    yesterday = time.time() - 90_000
    os.utime(old, (yesterday, yesterday))
    os.utime(blobs.path(name), (yesterday, yesterday))
    blobs.drop_drafts(86_400)
    assert files(blobs) == sorted([name, "young"])
