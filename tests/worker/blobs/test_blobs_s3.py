"""Test blobs in a bucket of a real S3 server that is stopped, started and given wrong bytes."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stack.s3_server import BUCKET, S3Server
from worker.blobs import s3 as module
from worker.blobs.local import BlobNotFoundError, Blobs
from worker.blobs.open import open_blobs
from worker.blobs.s3 import BucketBlobs, BucketUnavailableError
from worker.settings import WorkerSettings


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between the three attempts to read."""
    monkeypatch.setattr(module, "READ_PAUSES", (0.01, 0.02))


@pytest.fixture
def stopped(s3: S3Server) -> Iterator[None]:
    s3.stop()
    yield
    s3.start()


def test_keys_are_laid_out_as_files_are(bucket: BucketBlobs, s3: S3Server, tmp_path: Path) -> None:
    name = bucket.put(b"x")
    assert list(s3.objects(tmp_path.name)) == [f"{name[:2]}/{name}"]
    bucket.delete(name)
    assert s3.objects(tmp_path.name) == {}


def test_without_a_prefix(s3: S3Server, tmp_path: Path) -> None:
    blobs = BucketBlobs(f"s3://{BUCKET}/", tmp_path, cache_bytes=0)
    name = blobs.put(b"at the root")
    assert blobs.get(name) == b"at the root"
    assert f"{name[:2]}/{name}" in s3.objects("")


def test_in_parts(bucket: BucketBlobs, s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART_BYTES", 5 << 20)  # the smallest that S3 allows
    data = os.urandom(12 << 20)
    name = bucket.put(data)
    assert name == hashlib.sha256(data).hexdigest()
    assert bucket.path(name).read_bytes() == data
    bucket.delete_unless(name, lambda: True)
    assert bucket.get(name) == data


def test_what_another_process_adopted_is_published(bucket: BucketBlobs, tmp_path: Path, s3: S3Server) -> None:
    name = Blobs(bucket.folder).put(b"a table")
    assert s3.objects(tmp_path.name) == {}
    bucket.upload(name)
    elsewhere = BucketBlobs(f"s3://{BUCKET}/{tmp_path.name}", tmp_path / "other", cache_bytes=0)
    assert elsewhere.get(name) == b"a table"


def test_other_bytes_are_not_taken_for_the_blob(
    bucket: BucketBlobs, s3: S3Server, tmp_path: Path, impatient: None
) -> None:
    name = bucket.put(b"as it was written")
    (path,) = s3.objects(tmp_path.name).values()
    path.write_bytes(b"as it was damaged")
    for read in (bucket.get, bucket.path):
        with pytest.raises(BucketUnavailableError, match="other bytes"):
            read(name)
    assert not list(bucket.incoming.iterdir()), "no draft is left"


@pytest.mark.usefixtures("impatient")
class TestAway:
    def test_it_is_said(self, bucket: BucketBlobs, stopped: None) -> None:
        name = "0" * 64
        for method in (bucket.get, bucket.path, bucket.delete):
            with pytest.raises(BucketUnavailableError):
                method(name)
        for use in (
            lambda: bucket.put(b"x"),
            bucket.check,
            lambda: bucket.delete_unless(name, lambda: False),
        ):
            with pytest.raises(BucketUnavailableError):
                use()
        assert bucket.disk_status()[0] is False
        assert not list(bucket.incoming.iterdir()), "no draft is left"

    def test_what_was_read_before_is_still_there(self, bucket: BucketBlobs, s3: S3Server) -> None:
        name = bucket.put(b"read before")
        bucket.path(name)
        s3.stop()
        try:
            assert bucket.get(name) == b"read before"
            assert bucket.path(name).read_bytes() == b"read before"
        finally:
            s3.start()

    def test_a_wrong_key(self, bucket: BucketBlobs, monkeypatch: pytest.MonkeyPatch) -> None:
        name = bucket.put(b"x")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "guessed")
        stranger = BucketBlobs(f"s3://{BUCKET}/{bucket._prefix}", bucket.folder, cache_bytes=0)
        with pytest.raises(BucketUnavailableError, match="SignatureDoesNotMatch"):
            stranger.get(name)
        with pytest.raises(BucketUnavailableError, match="SignatureDoesNotMatch"):
            stranger.check()

    def test_a_wrong_bucket_is_not_a_missing_blob(self, s3: S3Server, tmp_path: Path) -> None:
        blobs = BucketBlobs("s3://no-such-bucket", tmp_path, cache_bytes=0)
        with pytest.raises(BucketUnavailableError, match="NoSuchBucket"):
            blobs.get("0" * 64)

    def test_an_endpoint_that_is_no_address(
        self, bucket: BucketBlobs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", "not an address")
        with pytest.raises(BucketUnavailableError, match="Invalid endpoint"):
            bucket.check()


class TestCache:
    @pytest.fixture
    def cached(self, bucket: BucketBlobs) -> list[str]:
        """Return three blobs in a cache for two, of which the first was used last."""
        names = [bucket.put(bytes([i]) * 400_000) for i in range(3)]
        paths = [bucket.path(name) for name in names]
        for age, path in zip((1_000, 3_000, 2_000), paths, strict=True):
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - age))
        return names

    def test_the_one_longest_unused_goes(self, bucket: BucketBlobs, cached: list[str]) -> None:
        bucket.delete_temporary_files(86_400)
        kept = {path.name for path in bucket.folder.glob("??/*")}
        assert kept == {cached[0], cached[2]}
        assert bucket.get(cached[1]) == b"\x01" * 400_000, "the bucket has it"

    def test_who_has_it_mapped_keeps_it(self, bucket: BucketBlobs, cached: list[str]) -> None:
        with open(bucket.folder / cached[1][:2] / cached[1], "rb") as opened:
            bucket.delete_temporary_files(86_400)
            assert opened.read() == b"\x01" * 400_000

    def test_using_counts(self, bucket: BucketBlobs, cached: list[str]) -> None:
        bucket.path(cached[1])
        bucket.delete_temporary_files(86_400)
        assert {path.name for path in bucket.folder.glob("??/*")} == {cached[0], cached[1]}

    def test_what_is_in_use_is_not_in_danger(self, s3: S3Server, tmp_path: Path) -> None:
        blobs = BucketBlobs(f"s3://{BUCKET}/{tmp_path.name}", tmp_path / "cache", cache_bytes=0)
        assert blobs.path(blobs.put(b"larger than the cache")).exists()

    def test_what_is_deleted_is_gone_from_it(self, bucket: BucketBlobs) -> None:
        for delete in (bucket.delete, lambda name: bucket.delete_unless(name, lambda: False)):
            name = bucket.put(b"x")
            bucket.path(name)
            delete(name)
            with pytest.raises(BlobNotFoundError):
                bucket.get(name)


def test_a_child_that_is_forked_while_others_talk(bucket: BucketBlobs) -> None:
    """Celery may fork children while the main process uses the bucket."""
    name = bucket.put(b"x")
    over = threading.Event()

    def talk() -> None:
        while not over.is_set():
            bucket.get(name)

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        statuses = [_in_child(bucket, name) for _ in range(5)]
    finally:
        over.set()
        talking.join()
    assert statuses == [0] * 5


def _in_child(bucket: BucketBlobs, name: str) -> int:
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    status = 1
    try:
        fresh = BucketBlobs(f"s3://{BUCKET}/{bucket._prefix}", bucket.folder, cache_bytes=0)
        status = 0 if fresh.get(name) == b"x" and fresh.put(b"child") else 1
    finally:
        os._exit(status)


def test_the_settings_choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITERATI_STATE_DIR", str(tmp_path / "state"))
    blobs = open_blobs(WorkerSettings())
    assert (type(blobs).__name__, blobs.folder) == ("Blobs", tmp_path / "state" / "blobs")
    monkeypatch.setenv("LITERATI_BLOBS", "")
    assert open_blobs(WorkerSettings()).folder == blobs.folder
    monkeypatch.setenv("LITERATI_BLOBS", str(tmp_path / "mounted"))
    assert open_blobs(WorkerSettings()).folder == tmp_path / "mounted"
    monkeypatch.setenv("LITERATI_BLOBS", "s3://bucket/some/prefix")
    blobs = open_blobs(WorkerSettings())
    assert isinstance(blobs, BucketBlobs)
    assert blobs.folder == tmp_path / "state" / "cache", "never the folder of blobs: a cache is emptied"


@pytest.mark.parametrize("wrong", ["s3://", "s3:///x", "gs://bucket", "s3://bucket/?x=1", "https://bucket"])
def test_addresses_that_are_none(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("LITERATI_BLOBS", wrong)
    with pytest.raises(ValueError, match="blobs"):
        WorkerSettings()
