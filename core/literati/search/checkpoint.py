"""A search on disk: magic, sizes, a JSON header, the engine's own bytes, a checksum. Portable, versioned."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any, NoReturn

from .errors import CheckpointError

MAGIC = b"literati-search\n"
VERSION = 1
_SIZES = struct.Struct("<IIQ")  # version, bytes of the header, bytes of the payload
_CHECKSUM = 32
_FIELDS = {
    *("engine_version", "fingerprint", "options", "limits", "elapsed_seconds", "idle_seconds"),
    *("expansions", "improvements", "tree", "trace"),
}
_NEW_FIELDS = {"scale"}  # that version 0.1.0 did not write


def pack(header: dict[str, Any], payload: bytes) -> bytes:
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    body = MAGIC + _SIZES.pack(VERSION, len(text), len(payload)) + text + payload
    return body + hashlib.sha256(body).digest()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def unpack(blob: Any) -> tuple[dict[str, Any], bytes]:
    """The header and the payload; CheckpointError if they are not what `pack` wrote."""
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
        raise CheckpointError("blob: the checkpoint is damaged: its length is not what it says")
    if hashlib.sha256(data[:-_CHECKSUM]).digest() != data[-_CHECKSUM:]:
        raise CheckpointError("blob: the checkpoint is damaged: its checksum does not match")
    try:
        header = json.loads(data[start : start + n_header], parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise CheckpointError("blob: the checkpoint is damaged: its header is not JSON") from None
    if not isinstance(header, dict) or set(header) - _NEW_FIELDS != _FIELDS:
        raise CheckpointError("blob: the checkpoint is damaged: its header has other fields than expected")
    return header, data[start + n_header : start + n_header + n_payload]
