"""Blobs in an S3-compatible bucket, with a local cache, for machines that share no folder.

The keys are the same as the file names of a local folder of blobs, so that any tool can copy between the two.
The endpoint and the credentials come from the usual AWS_... variables and files.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from io import BufferedRandom
from pathlib import Path
from typing import Any

from worker.blobs.local import BlobNotFoundError, Blobs

MAX_ATTEMPTS, TIMEOUT_SECONDS = 2, 10.0  # of a request; together less than a job's lease
READ_PAUSES = (1.0, 3.0)  # seconds before a read is retried
PART_BYTES = 64 << 20  # larger blobs are uploaded in parts of this size
READY_SECONDS = 30.0  # how long `check` relies on its last successful write
MIN_IDLE_SECONDS = 300.0  # blobs used more recently stay in the cache
KEY = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}")  # of a blob, without the prefix


class BucketUnavailableError(OSError):
    """The bucket does not answer or denies access, perhaps only for now."""


class BucketBlobs(Blobs):
    """A bucket of blobs. `put`, `commit` and `upload` return when the bucket has all the bytes.

    The inherited folder holds temporary files and the cache. A blob that another machine has deleted may
    still be in the cache, which is harmless: it cannot have changed, and no record refers to it.
    """

    def __init__(self, address: str, cache: Path, *, cache_bytes: int) -> None:
        super().__init__(cache)
        self._bucket, _, prefix = address.removeprefix("s3://").strip("/").partition("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._cache_bytes = cache_bytes
        self._evicting = threading.Lock()
        self._written_at = float("-inf")

    def _store_file(self, file: BufferedRandom, name: str) -> None:
        self._send(Path(file.name), self._key(name))

    def upload(self, name: str) -> None:
        self._send(super().path(name), self._key(name))

    def path(self, name: str) -> Path:
        path = self._path(name)
        try:
            os.utime(path)  # it was used now
        except FileNotFoundError:
            self._fetch(name, path)
        return path

    def get(self, name: str) -> bytes:
        with suppress(BlobNotFoundError):
            return super().get(name)
        data: bytes = self._read(name, lambda stream: stream.read())
        _check_digest(hashlib.sha256(data).hexdigest(), name)
        return data

    def size(self, name: str) -> int | None:
        try:
            with _translated_errors(name):
                return int(
                    self._client.head_object(Bucket=self._bucket, Key=self._key(name))["ContentLength"]
                )
        except BlobNotFoundError:
            return None

    def names(self) -> Iterator[str]:
        with _translated_errors(self._prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix
            )
            for page in pages:
                keys = (found["Key"].removeprefix(self._prefix) for found in page.get("Contents", ()))
                yield from (key[3:] for key in keys if KEY.fullmatch(key))

    def copy_to(self, name: str, file: BufferedRandom) -> str:
        """Write a blob of the bucket, not of the cache, to an empty file."""
        digest: str = self._read(name, lambda stream: _copy_stream(stream, file))
        return digest

    def delete(self, name: str) -> None:
        super().delete(name)
        self._remove(self._key(name))

    def delete_unless(self, name: str, is_referenced: Callable[[], bool]) -> None:
        super().delete(name)
        key, aside = self._key(name), f"{self._prefix}incoming/{name}-{secrets.token_hex(8)}"
        try:
            self._copy(key, aside)
        except BlobNotFoundError:
            return
        self._remove(key)
        keep = True  # also if the check fails
        try:
            keep = is_referenced()
        finally:
            if keep:
                self._copy(aside, key)
            self._remove(aside)

    def delete_temporary_files(self, older_than: float) -> None:
        """Delete old temporary files of this machine. Those in the bucket are left to its lifecycle rules."""
        super().delete_temporary_files(older_than)
        self._evict()

    def check(self) -> None:
        super().check()
        if time.monotonic() - self._written_at > READY_SECONDS:
            with self.temporary_file() as file:
                self._send(Path(file.name), f"{self._prefix}ready")
            self._written_at = time.monotonic()

    # The bucket

    @cached_property
    def _client(self) -> Any:
        """The client. Importing it takes a second, and every forked process needs its own."""
        import boto3.session
        from botocore.config import Config

        config = Config(
            connect_timeout=TIMEOUT_SECONDS,
            read_timeout=TIMEOUT_SECONDS,
            retries={"mode": "standard", "total_max_attempts": MAX_ATTEMPTS},
            # Many stores other than Amazon's reject the checksums that boto3 sends by default.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        session = boto3.session.Session(region_name=os.environ.get("AWS_REGION") or None)
        try:
            return session.client("s3", config=config)
        except ValueError as error:  # the endpoint is not a URL
            raise BucketUnavailableError(str(error)) from error

    def _key(self, name: str) -> str:
        self._path(name)  # checks the name
        return f"{self._prefix}{name[:2]}/{name}"

    def _send(self, path: Path, key: str) -> None:
        from boto3.s3.transfer import TransferConfig

        config = TransferConfig(
            multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, use_threads=False
        )
        with _translated_errors(key), open(path, "rb") as file:
            self._client.upload_fileobj(file, self._bucket, key, Config=config)

    def _fetch(self, name: str, path: Path) -> None:
        with self.temporary_file() as file:
            _check_digest(self._read(name, lambda stream: _copy_stream(stream, file)), name)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):
                os.link(file.name, path)
        self._evict()

    def _read(self, name: str, read: Callable[[Any], Any]) -> Any:
        key = self._key(name)
        for pause in (*READ_PAUSES, 0.0):
            try:
                with _translated_errors(name):
                    return read(self._client.get_object(Bucket=self._bucket, Key=key)["Body"])
            except BucketUnavailableError:
                if not pause:
                    raise
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _copy(self, key: str, to: str) -> None:
        """Copy within the bucket in one request, which every store allows up to 5 GB."""
        source = {"Bucket": self._bucket, "Key": key}
        with _translated_errors(key):
            self._client.copy_object(CopySource=source, Bucket=self._bucket, Key=to)

    def _remove(self, key: str) -> None:
        with _translated_errors(key):
            self._client.delete_object(Bucket=self._bucket, Key=key)

    # The cache

    def _evict(self) -> None:
        """Remove the least recently used blobs. Processes that have them open can still read them."""
        if not self._evicting.acquire(blocking=False):
            return
        try:
            kept = [(status, path) for path in self.folder.glob("??/*") if (status := _status(path))]
            total = sum(status.st_size for status, _ in kept)
            for status, path in sorted(kept, key=lambda entry: entry[0].st_mtime):
                if total <= self._cache_bytes or time.time() - status.st_mtime < MIN_IDLE_SECONDS:
                    return
                path.unlink(missing_ok=True)
                total -= status.st_size
        finally:
            self._evicting.release()


@contextmanager
def _translated_errors(name: str) -> Iterator[None]:
    """Raise errors of the client as BlobNotFoundError or BucketUnavailableError."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in ("NoSuchKey", "404"):
            raise BlobNotFoundError(name) from None
        raise BucketUnavailableError(str(error)) from error
    except (BotoCoreError, Boto3Error) as error:
        raise BucketUnavailableError(str(error)) from error


def _copy_stream(stream: Any, file: BufferedRandom) -> str:
    """Write a stream to a file, from its start, and return the digest of the bytes."""
    file.seek(0)
    file.truncate()
    digest = hashlib.sha256()
    for block in stream.iter_chunks(4 << 20):
        file.write(block)
        digest.update(block)
    file.flush()
    return digest.hexdigest()


def _check_digest(found: str, name: str) -> None:
    if found != name:
        raise BucketUnavailableError(f"blob {name} has other bytes than were written")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
