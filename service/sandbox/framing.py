"""The messages between the server and a sandboxed process.

They are bytes of a `multiprocessing` connection and are never unpickled. The process sends READY. The server
sends a task and the data to work on; the process answers with DONE and the result, or with OUT_OF_MEMORY.
"""

from __future__ import annotations

import struct
from enum import Enum

from pydantic import BaseModel, ConfigDict

_LENGTH = struct.Struct(">Q")


class Status(bytes, Enum):
    """The messages of a sandboxed process that are not results."""

    READY = b"+"
    DONE = b"="
    OUT_OF_MEMORY = b"-"


class Task(BaseModel):
    """The name and the limits of a task."""

    model_config = ConfigDict(frozen=True)

    name: str
    memory_bytes: int
    seconds: float


def join_parts(first: bytes, second: bytes) -> bytes:
    """Return one message of two parts."""
    return _LENGTH.pack(len(first)) + first + second


def split_parts(message: bytes) -> tuple[bytes, bytes]:
    """Return the two parts of a message that `join_parts` made."""
    end = _LENGTH.size + int(_LENGTH.unpack_from(message)[0])
    return message[_LENGTH.size : end], message[end:]
