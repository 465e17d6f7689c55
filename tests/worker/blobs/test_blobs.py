"""Test blobs in a local folder and in a bucket of a real S3 server."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.stack.s3_server import S3Server
from worker.blobs.local import BlobNotFoundError, Blobs
from worker.blobs.s3 import BucketBlobs

Files = Callable[[], list[str]]


@pytest.fixture(params=["folder", "bucket"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "folder":
        return Blobs(tmp_path / "state" / "blobs")
    bucket: BucketBlobs = request.getfixturevalue("bucket")
    return bucket


@pytest.fixture
def files(blobs: Blobs, request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    """Return the names of all blobs and temporary files."""
    if not isinstance(blobs, BucketBlobs):
        return lambda: sorted(path.name for path in blobs.folder.rglob("*") if path.is_file())
    s3: S3Server = request.getfixturevalue("s3")
    return lambda: sorted(
        [path.name for path in (*blobs.incoming.glob("*"), *s3.objects(tmp_path.name).values())]
    )


def test_a_blob_has_the_name_of_its_bytes(blobs: Blobs, files: Files) -> None:
    data = os.urandom(10_000)
    name = blobs.put(data)
    assert name == hashlib.sha256(data).hexdigest()
    assert blobs.get(name) == data
    assert blobs.path(name).read_bytes() == data
    assert files() == [name], "no draft is left"


def test_nobody_else_may_look(blobs: Blobs) -> None:
    path = blobs.path(blobs.put(b"x"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for folder in (blobs.folder, blobs.incoming):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_draft_that_is_not_adopted_leaves_nothing(blobs: Blobs, files: Files) -> None:
    def broken_off() -> None:
        with blobs.temporary_file() as file:
            file.write(b"half")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        broken_off()
    assert files() == []


def test_a_draft_is_adopted_under_its_digest(blobs: Blobs) -> None:
    with blobs.temporary_file() as file:
        file.write(b"one")
        file.seek(0)
        file.write(b"two")
        assert blobs.commit(file) == hashlib.sha256(b"two").hexdigest()
    assert blobs.get(hashlib.sha256(b"two").hexdigest()) == b"two"


def test_an_empty_blob(blobs: Blobs) -> None:
    assert blobs.get(blobs.put(b"")) == b""


def test_the_same_bytes_are_one_blob(blobs: Blobs, files: Files) -> None:
    inode = blobs.path(blobs.put(b"same")).stat().st_ino
    assert blobs.path(blobs.put(b"same")).stat().st_ino == inode
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: blobs.put(b"many"), range(32)))) == 1
    assert len(files()) == 2


def test_what_is_gone_is_gone(blobs: Blobs) -> None:
    name = blobs.put(b"x")
    with open(blobs.path(name), "rb") as opened:
        blobs.delete(name)
        blobs.delete(name)
        assert opened.read() == b"x"
    with pytest.raises(BlobNotFoundError):
        blobs.get(name)
    with pytest.raises(BlobNotFoundError):
        blobs.path(name)


@pytest.mark.parametrize("name", ["", "x", "../" * 21 + "x", "A" * 64, "a" * 63, "a" * 64 + "\n", "a" * 65])
def test_only_digests_are_names(blobs: Blobs, name: str) -> None:
    for method in (blobs.get, blobs.path, blobs.delete):
        with pytest.raises(ValueError, match="SHA-256"):
            method(name)


def test_discard_asks_when_the_blob_is_out_of_the_way(blobs: Blobs, files: Files) -> None:
    name = blobs.put(b"x")

    def wanted() -> bool:
        with pytest.raises(BlobNotFoundError):
            blobs.get(name)
        return False

    blobs.delete_unless(name, wanted)
    assert files() == []
    blobs.delete_unless(name, wanted)  # gone already: not asked


def test_discard_puts_back_what_is_wanted(blobs: Blobs, files: Files) -> None:
    name = blobs.put(b"x")
    blobs.delete_unless(name, lambda: True)
    assert blobs.get(name) == b"x"

    def unreachable() -> bool:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        blobs.delete_unless(name, unreachable)
    assert blobs.get(name) == b"x"
    assert files() == [name]


@pytest.mark.parametrize("wanted", [False, True])
def test_whoever_adopts_meanwhile_has_it(blobs: Blobs, wanted: bool) -> None:
    with blobs.temporary_file() as file:
        file.write(b"x")
        name = blobs.commit(file)

        def recorded() -> bool:
            """Act like an upload of the same bytes, which commits again after it has added its record."""
            if wanted:
                blobs.commit(file, name)
            return wanted

        blobs.delete_unless(name, recorded)
        blobs.commit(file, name)
    assert blobs.get(name) == b"x"


def test_old_drafts_are_dropped(blobs: Blobs, files: Files) -> None:
    name = blobs.put(b"x")
    young, old = blobs.incoming / "young", blobs.incoming / "old"
    young.write_bytes(b"")
    old.write_bytes(b"")
    yesterday = time.time() - 90_000
    os.utime(old, (yesterday, yesterday))
    os.utime(blobs.path(name), (yesterday, yesterday))
    blobs.delete_temporary_files(86_400)
    assert files() == sorted([name, "young"])
