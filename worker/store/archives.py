"""Read what was archived: the parts of ended jobs and models that are in the blobs instead of Redis."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import redis

from worker.blobs.local import BlobNotFoundError, Blobs
from worker.domain.errors import ArchiveMissingError
from worker.store import codecs
from worker.store.archive_files import ArchiveReader
from worker.store.client import Scripts
from worker.store.packed_records import Record, long_form

Method = TypeVar("Method", bound=Callable[..., Any])


class ArchiveMovedError(Exception):
    """The record has another archive, or none, since it was read."""


def following_archives(method: Method) -> Method:
    """Repeat a method that read a record and then its archive, if the record has changed in between."""

    @wraps(method)
    def repeat(*args: Any, **options: Any) -> Any:
        while True:
            try:
                return method(*args, **options)
            except ArchiveMovedError:
                continue

    return cast(Method, repeat)


class Archives:
    """The archives of the records of one store."""

    def __init__(self, client: redis.Redis, scripts: Scripts, blobs: Blobs | None) -> None:
        self._client = client
        self._scripts = scripts
        self._blobs = blobs

    def open(self, key: str, name: bytes) -> ArchiveReader:
        """Return the archive that the record at this key names, by 32 bytes.

        Raise ArchiveMissingError if it is lost or damaged. Methods that call this need `following_archives`.
        """
        content = self._read(name)
        if content is not None and hashlib.sha256(content).digest() == name:
            return ArchiveReader(content)
        if self._client.hget(key, "archive") != name:
            raise ArchiveMovedError
        raise ArchiveMissingError(name.hex())

    def _read(self, name: bytes) -> bytes | None:
        try:
            return None if self._blobs is None else self._blobs.path(name.hex()).read_bytes()
        except (BlobNotFoundError, FileNotFoundError):
            return None

    def whole(self, key: str, record: Record) -> Record:
        """Return all fields of the record at this key, of which the store has these."""
        name = record.get(b"archive")
        if not name:
            return record
        # What the store has is newer: the saved search of a job may have been deleted.
        return self.open(key, name).fields() | long_form(record)

    def run_on_whole_job(self, name: str, job_id: str, *arguments: str | bytes | int) -> Any:
        """Run a script that needs all of a job in Redis."""
        while (answer := self._scripts.run(name, job_id, *arguments))[0] == b"ARCHIVED":
            self._take_back(job_id)
        return answer

    def _take_back(self, job_id: str) -> None:
        """Move an archived job back to Redis, as it was before."""
        key = f"literati:job:{job_id}"
        name = self._client.hget(key, "archive")
        if not isinstance(name, bytes):
            return
        archive = self.open(key, name)
        parts: list[Record | list[bytes]] = [archive.fields(), archive.models(), archive.trace()]
        entries = [
            part for i, f in archive.events() for part in (i, f.get(b"type", b""), f.get(b"data", b""))
        ]
        arguments: list[bytes | int] = []
        for part in (*parts, entries):
            flat = [value for item in part.items() for value in item] if isinstance(part, dict) else part
            arguments += [len(flat), *flat]
        for revision in archive.revisions():
            fields = archive.incumbent(revision)
            if b"tree" in fields:
                fields[b"tree"] = zlib.compress(fields[b"tree"])
            arguments += [
                revision,
                2 * len(fields),
                *(value for item in fields.items() for value in item),
            ]
        self._scripts.run("take_back", job_id, name, *arguments)


def incumbent_record(archive: ArchiveReader, revision: int | None) -> tuple[int, Record]:
    """Return the tree of a revision, or the best one, and its revision."""
    chosen = int(archive.fields()[b"incumbents"]) if revision is None else revision
    return chosen, archive.incumbent(chosen)


def score_fields(archive: ArchiveReader, revision: int) -> list[bytes | None]:
    fields = archive.incumbent_fields(revision)
    return [fields.get(name.encode()) for name in codecs.INCUMBENT_SCORES]
