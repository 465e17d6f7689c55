"""Save a search as bytes: a magic word, sizes, a JSON header, the state of the engine and a checksum."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from literati._version import __version__
from literati.data.table import Poll, TrainingTable
from literati.errors import CheckpointError, LiteratiError
from literati.search.options import SearchLimits, SolverOptions
from literati.search.parameters import Range
from literati.search.report import read_trace
from literati.search.stages import SavedStage
from literati.tree.model import ShapeTree

MAGIC = b"literati-search\n"
VERSION = 1
_SIZES = struct.Struct("<IIQ")  # version, bytes of the header, bytes of the payload
_CHECKSUM = 32
_NEW_FIELDS = {"explored", "scale", "stages"}  # that version 0.1.0 did not write
MAX_TRACE_POINTS = 512
_SECONDS = Range(float, ge=0)
_COUNT = Range(int, ge=0)
_SCALE = Range(float, ge=1, optional=True)
_SHARE = Range(float, ge=0, le=1)


@dataclass(frozen=True)
class SavedSearch:
    """The contents of a checkpoint besides the state of the engine."""

    fingerprint: str  # of the training table
    options: SolverOptions
    limits: SearchLimits
    tree: ShapeTree
    elapsed_seconds: float
    idle_seconds: float  # since the tree was found
    expansions: int
    improvements: int
    explored: float
    trace: npt.NDArray[Any]
    scale: float | None  # units in one row; None if version 0.1.0 would choose the same
    stages: SavedStage | None = None  # None if there is only one space

    def to_bytes(self, engine_state: bytes) -> bytes:
        """Return the checkpoint. Version 0.1.0 cannot read it."""
        tree = self.tree.to_dict()
        del tree["summary"], tree["proof"]["beyond_space"]  # they follow from the rest
        kept = np.unique(np.linspace(0, max(0, len(self.trace) - 1), MAX_TRACE_POINTS).astype(int))
        header: dict[str, Any] = {
            "engine_version": __version__,
            "fingerprint": self.fingerprint,
            "options": self.options.to_json(),
            "limits": self.limits.to_json(),
            "elapsed_seconds": self.elapsed_seconds,
            "idle_seconds": self.idle_seconds,
            "expansions": self.expansions,
            "improvements": self.improvements,
            "explored": self.explored,
            "tree": tree,
            "trace": [list(row) for row in self.trace[kept[: len(self.trace)]].tolist()],
        }
        if self.scale is not None:
            header["scale"] = self.scale
        if self.stages is not None:
            header["stages"] = self.stages.to_json()
        return pack(header, engine_state)

    @classmethod
    def from_bytes(cls, blob: Any) -> tuple[SavedSearch, bytes]:
        """Read a checkpoint of this version or an earlier one, and return it with the engine's state."""
        header, engine_state = unpack(blob)
        try:
            saved = cls(
                fingerprint=header["fingerprint"],
                options=SolverOptions.from_json(header["options"]),
                limits=SearchLimits.from_json(header["limits"]),
                tree=ShapeTree.from_dict(header["tree"]),
                elapsed_seconds=_SECONDS.check("elapsed_seconds", header["elapsed_seconds"]),
                idle_seconds=_SECONDS.check("idle_seconds", header["idle_seconds"]),
                expansions=_COUNT.check("expansions", header["expansions"]),
                improvements=_COUNT.check("improvements", header["improvements"]),
                explored=_SHARE.check("explored", header.get("explored", 0.0)),
                trace=read_trace(header["trace"]),
                scale=_SCALE.check("scale", header.get("scale")),
                stages=SavedStage.from_json(header["stages"]) if "stages" in header else None,
            )
        except (LiteratiError, TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the checkpoint's header cannot be read: {error}") from None
        if (saved.stages is None) is (saved.options.candidates == "widening"):
            raise CheckpointError("blob: expected stages in the checkpoint of candidates='widening' only")
        return saved, engine_state

    def check_data(self, table: TrainingTable, poll: Poll | None) -> None:
        """Raise CheckpointError if this is other data, or if the tree does not cost on it what it says."""
        tree = self.tree
        if table.fingerprint != self.fingerprint:
            raise CheckpointError(
                "blob: the checkpoint belongs to other data; expected the same X, y and sample_weight"
            )
        if tree.schema != table.schema or tree.classes.tolist() != table.classes.tolist():
            raise CheckpointError("blob: the checkpoint's tree belongs to other data")
        tolerance = 1e-9 * max(1.0, tree.nodes[0].weight)
        if abs(tree.evaluate_table(table, poll) - tree.objective) > tolerance:
            raise CheckpointError("blob: the checkpoint's tree does not cost what it says on this data")


_FIELDS = {"engine_version", *SavedSearch.__dataclass_fields__} - _NEW_FIELDS


def pack(header: dict[str, Any], payload: bytes) -> bytes:
    """Return the bytes of a checkpoint."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    body = MAGIC + _SIZES.pack(VERSION, len(text), len(payload)) + text + payload
    return body + hashlib.sha256(body).digest()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def unpack(blob: Any) -> tuple[dict[str, Any], bytes]:
    """Return the header and the payload. Raise CheckpointError if they are not what `pack` wrote."""
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise TypeError(f"blob: expected bytes, got {type(blob).__name__}")
    data = bytes(blob)
    start = len(MAGIC) + _SIZES.size
    if not data.startswith(MAGIC) or len(data) < start + _CHECKSUM:
        raise CheckpointError("blob: not a checkpoint of a search, or cut short")
    version, n_header, n_payload = _SIZES.unpack_from(data, len(MAGIC))
    if version != VERSION:
        raise CheckpointError(
            f"blob: this library reads checkpoints of version {VERSION}, this one has {version}"
        )
    if len(data) != start + n_header + n_payload + _CHECKSUM:
        raise CheckpointError("blob: the checkpoint is damaged: its length does not match its sizes")
    if hashlib.sha256(data[:-_CHECKSUM]).digest() != data[-_CHECKSUM:]:
        raise CheckpointError("blob: the checkpoint is damaged: its checksum does not match")
    try:
        header = json.loads(data[start : start + n_header], parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise CheckpointError("blob: the checkpoint is damaged: its header is not JSON") from None
    if not isinstance(header, dict) or not header.keys() >= _FIELDS:
        raise CheckpointError("blob: the checkpoint is damaged: its header lacks fields")
    if unknown := sorted(header.keys() - _FIELDS - _NEW_FIELDS):
        raise CheckpointError(
            f"blob: version {header['engine_version']} wrote the field {unknown[0]!r} of the checkpoint, "
            f"which version {__version__} does not know; use that version"
        )
    return header, data[start + n_header : start + n_header + n_payload]
