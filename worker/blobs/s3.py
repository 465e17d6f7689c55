"""Blobs in an S3-compatible store, for machines that share no folder; what is read is kept in a local cache.

Keys are laid out as the files of a folder of blobs are, so that any copying tool moves the one to the other.
Where the store is and who we are comes from the variables and files that every S3 tool knows (AWS_...).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from io import BufferedRandom
from pathlib import Path
from typing import Any

from .blobs import BlobGoneError, Blobs

TRIES, SILENCE_SECONDS = 2, 10.0  # of a request: together less than a job's lease
READ_PAUSES = (1.0, 3.0)  # before reading is tried anew
PART_BYTES = 64 << 20  # what is larger goes in parts of this size
READY_SECONDS = 30.0  # that a successful write is remembered by `check`
LATELY = 300.0  # seconds; what was used since is not taken out of the cache


class BucketAwayError(OSError):
    """The store does not answer, or not to us; another time it may."""


class BucketBlobs(Blobs):
    """`put`, `adopt` and `publish` return when the store has all the bytes; an object appears whole or not.

    The inherited folder holds drafts and the cache. A blob that another machine deleted may still be read
    here: it cannot have changed, and no record names it any more.
    """

    def __init__(self, address: str, cache: Path, *, cache_bytes: int) -> None:
        super().__init__(cache)
        self._bucket, _, prefix = address.removeprefix("s3://").strip("/").partition("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._cache_bytes = cache_bytes
        self._evicting = threading.Lock()
        self._written_at = float("-inf")

    def adopt(self, file: BufferedRandom, name: str | None = None) -> str:
        file.flush()
        if name is None:
            file.seek(0)
            name = hashlib.file_digest(file, "sha256").hexdigest()
        self._send(Path(file.name), self._key(name))
        return name

    def publish(self, name: str) -> None:
        self._send(super().path(name), self._key(name))

    def path(self, name: str) -> Path:
        path = self._path(name)
        try:
            os.utime(path)  # it was used just now
        except FileNotFoundError:
            self._fetch(name, path)
        return path

    def get(self, name: str) -> bytes:
        with suppress(BlobGoneError):
            return super().get(name)
        data: bytes = self._read(name, lambda stream: stream.read())
        _compare(hashlib.sha256(data).hexdigest(), name)
        return data

    def delete(self, name: str) -> None:
        super().delete(name)
        self._remove(self._key(name))

    def discard(self, name: str, wanted: Callable[[], bool]) -> None:
        super().delete(name)
        key, aside = self._key(name), f"{self._prefix}incoming/{name}-{secrets.token_hex(8)}"
        try:
            self._copy(key, aside)
        except BlobGoneError:
            return
        self._remove(key)
        keep = True  # also when the question fails
        try:
            keep = wanted()
        finally:
            if keep:
                self._copy(aside, key)
            self._remove(aside)

    def drop_drafts(self, older_than: float) -> None:
        """Of this machine; what a killed process left aside in the bucket is left to the bucket's rules."""
        super().drop_drafts(older_than)
        self._evict()

    def check(self) -> None:
        super().check()
        if time.monotonic() - self._written_at > READY_SECONDS:
            with self.draft() as file:
                self._send(Path(file.name), f"{self._prefix}ready")
            self._written_at = time.monotonic()

    # The store

    @cached_property
    def _client(self) -> Any:
        """Made on first use: it takes a second to import, and a process that was forked needs its own."""
        import boto3.session
        from botocore.config import Config

        config = Config(
            connect_timeout=SILENCE_SECONDS,
            read_timeout=SILENCE_SECONDS,
            retries={"mode": "standard", "total_max_attempts": TRIES},
            # Most stores but Amazon's own do not take the checksums that are else sent unasked.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        session = boto3.session.Session(region_name=os.environ.get("AWS_REGION") or None)
        try:
            return session.client("s3", config=config)
        except ValueError as error:  # an endpoint that is no address
            raise BucketAwayError(str(error)) from error

    @cached_property
    def _transfer(self) -> Any:
        from boto3.s3.transfer import TransferConfig

        return TransferConfig(
            multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, use_threads=False
        )

    def _key(self, name: str) -> str:
        self._path(name)  # checks the name
        return f"{self._prefix}{name[:2]}/{name}"

    def _send(self, path: Path, key: str) -> None:
        with _told(key), open(path, "rb") as file:
            self._client.upload_fileobj(file, self._bucket, key, Config=self._transfer)

    def _fetch(self, name: str, path: Path) -> None:
        with self.draft() as file:
            _compare(self._read(name, lambda stream: _take(stream, file)), name)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):
                os.link(file.name, path)
        self._evict()

    def _read(self, name: str, take: Callable[[Any], Any]) -> Any:
        key = self._key(name)
        for pause in (*READ_PAUSES, 0.0):
            try:
                with _told(name):
                    return take(self._client.get_object(Bucket=self._bucket, Key=key)["Body"])
            except BucketAwayError:
                if not pause:
                    raise
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _copy(self, key: str, to: str) -> None:
        """In one request, within the store: up to 5 GB everywhere."""
        source = {"Bucket": self._bucket, "Key": key}
        with _told(key):
            self._client.copy_object(CopySource=source, Bucket=self._bucket, Key=to)

    def _remove(self, key: str) -> None:
        with _told(key):
            self._client.delete_object(Bucket=self._bucket, Key=key)

    # The cache

    def _evict(self) -> None:
        """What was not used for longest goes first. Who has it open or mapped keeps it."""
        if not self._evicting.acquire(blocking=False):
            return
        try:
            kept = [(status, path) for path in self.folder.glob("??/*") if (status := _status(path))]
            total = sum(status.st_size for status, _ in kept)
            for status, path in sorted(kept, key=lambda entry: entry[0].st_mtime):
                if total <= self._cache_bytes or time.time() - status.st_mtime < LATELY:
                    return
                path.unlink(missing_ok=True)
                total -= status.st_size
        finally:
            self._evicting.release()


@contextmanager
def _told(name: str) -> Iterator[None]:
    """The client's errors in our words: gone, or away."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in ("NoSuchKey", "404"):
            raise BlobGoneError(name) from None
        raise BucketAwayError(str(error)) from error
    except (BotoCoreError, Boto3Error) as error:
        raise BucketAwayError(str(error)) from error


def _take(stream: Any, file: BufferedRandom) -> str:
    """The digest of what came. A second try begins anew."""
    file.seek(0)
    file.truncate()
    digest = hashlib.sha256()
    for block in stream.iter_chunks(4 << 20):
        file.write(block)
        digest.update(block)
    file.flush()
    return digest.hexdigest()


def _compare(found: str, name: str) -> None:
    if found != name:
        raise BucketAwayError(f"blob {name} came with other bytes than were written")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
