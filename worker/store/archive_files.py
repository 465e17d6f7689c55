"""The archive of a job or model: a zip file, which needs no program of ours to be read.

`record.json` has the fields of the record, `events.json` and `trace.txt` its history, `incumbents.json` the
fields of its trees, and `trees/N.json` the tree of revision N. The archive of a model has its tree in
`tree.json`. Docs and tools may rely on the names; `format` says how they are to be read.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from worker.store.packed_records import Record

FORMAT = 1
Kind = Literal["job", "model"]
EventEntry = tuple[bytes, Record]  # its id, and its fields `type` and `data`


@dataclass(frozen=True)
class WholeRecord:
    """Everything that Redis has of an ended job or a model. Trees are compressed, as in Redis."""

    kind: Kind
    id: str
    fields: Record
    events: Sequence[EventEntry] = ()
    trace: Sequence[bytes] = ()
    incumbents: Mapping[int, Record] = field(default_factory=dict)  # by revision
    models: Record = field(default_factory=dict)  # ids by revision

    def to_bytes(self, made_at: str) -> bytes:
        """Return the archive. `made_at` makes every archive distinct, so that it has one owner."""
        record = {"format": FORMAT, "kind": self.kind, "id": self.id, "made_at": made_at}
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            parts = {"fields": _texts(self.fields), "models": _texts(self.models)}
            _write(archive, "record.json", json.dumps({**record, **parts}))
            if b"tree" in self.fields:
                _write(archive, "tree.json", zlib.decompress(self.fields[b"tree"]))
            if self.events:
                _write(archive, "events.json", json.dumps([(text(i), _texts(f)) for i, f in self.events]))
            if self.trace:
                _write(archive, "trace.txt", b"\n".join(self.trace))
            if self.incumbents:
                found = {str(revision): _texts(fields) for revision, fields in self.incumbents.items()}
                _write(archive, "incumbents.json", json.dumps(found))
            for revision, fields in self.incumbents.items():
                if b"tree" in fields:
                    _write(archive, f"trees/{revision}.json", zlib.decompress(fields[b"tree"]))
        return out.getvalue()


def text(value: bytes) -> str:
    """Return bytes of the store as text, from which `data` makes the same bytes whatever they are."""
    return value.decode(errors="surrogateescape")


def data(value: str) -> bytes:
    return value.encode(errors="surrogateescape")


class ArchiveReader:
    """Read the parts of an archive. Trees are not compressed in what it returns."""

    def __init__(self, content: bytes) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(content))
        self._names = set(self._zip.namelist())
        if self._record["format"] > FORMAT:
            raise ValueError("a record was archived by a later version of Literati")

    @cached_property
    def _record(self) -> dict[str, Any]:
        return dict(json.loads(self._zip.read("record.json")))

    @cached_property
    def _incumbents(self) -> dict[str, dict[str, str]]:
        return dict(json.loads(self._read("incumbents.json") or b"{}"))

    def fields(self) -> Record:
        """Return the fields of the record, but not the tree of a model."""
        return _bytes(self._record["fields"])

    def tree(self) -> bytes | None:
        """Return the tree of a model."""
        return self._read("tree.json")

    def models(self) -> Record:
        return _bytes(self._record["models"])

    def events(self) -> list[EventEntry]:
        return [
            (data(name), _bytes(fields)) for name, fields in json.loads(self._read("events.json") or "[]")
        ]

    def trace(self) -> list[bytes]:
        lines = self._read("trace.txt")
        return [] if lines is None else lines.split(b"\n")

    def revisions(self) -> list[int]:
        return sorted(map(int, self._incumbents))

    def incumbent_fields(self, revision: int) -> Record:
        """Return the fields of a tree without the tree; an empty dict if it is not kept."""
        return _bytes(self._incumbents.get(str(revision), {}))

    def incumbent(self, revision: int) -> Record:
        """Return the fields of a tree with the tree."""
        fields, tree = self.incumbent_fields(revision), self._read(f"trees/{revision}.json")
        return fields if tree is None else fields | {b"tree": tree}

    def _read(self, name: str) -> bytes | None:
        return self._zip.read(name) if name in self._names else None


def _write(archive: zipfile.ZipFile, name: str, content: str | bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), content, compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)


def _texts(fields: Mapping[bytes, bytes]) -> dict[str, str]:
    return {text(name): text(value) for name, value in fields.items() if name != b"tree"}


def _bytes(fields: Mapping[str, str]) -> Record:
    return {data(name): data(value) for name, value in fields.items()}
