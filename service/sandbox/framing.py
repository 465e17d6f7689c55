"""How the server and the processes apart talk: frames of bytes, their length before."""

from __future__ import annotations

import socket
import struct
from enum import Enum

from pydantic import BaseModel, ConfigDict

_LENGTH = struct.Struct(">Q")
_BLOCK = 1 << 20


class Word(bytes, Enum):
    """The first byte of what a process apart says."""

    READY = b"+"  # it has started
    DONE = b"="  # the result follows
    NO_MEMORY = b"-"  # it would have needed more than it may have


class Task(BaseModel):
    """The first frame to a process apart; what it is to work on comes in the second."""

    model_config = ConfigDict(frozen=True)

    name: str
    memory_bytes: int
    seconds: float


def send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(_LENGTH.pack(len(data)))
    connection.sendall(data)


def receive(connection: socket.socket) -> bytes:
    """EOFError if the other side is gone."""
    return receive_exactly(connection, _LENGTH.unpack(receive_exactly(connection, _LENGTH.size))[0])


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        block = connection.recv(min(size - len(data), _BLOCK))
        if not block:
            raise EOFError
        data += block
    return bytes(data)


def joined(head: bytes, rest: bytes) -> bytes:
    """Two parts in one frame."""
    return _LENGTH.pack(len(head)) + head + rest


def parted(data: bytes) -> tuple[bytes, bytes]:
    end = _LENGTH.size + int(_LENGTH.unpack_from(data)[0])
    return data[_LENGTH.size : end], data[end:]
