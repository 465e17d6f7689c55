"""What a reader is asked to do, what it says of it, and how both travel: as JSON, their length before."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from worker.messages import Dataset

from .build import Upload
from .errors import Fault
from .options import Options, TableLimits

_LENGTH = struct.Struct(">Q")
READY = b"+"  # the first byte of a reader: it has started and will say something of its errand


@dataclass(frozen=True)
class Errand:
    upload: Upload
    options: Options
    limits: TableLimits
    blobs: Path  # the folder for the table
    dataset_id: str
    tenant: str
    memory_bytes: int
    seconds: float
    spare_disk_bytes: int


@dataclass(frozen=True)
class Told:
    """One of the three."""

    dataset: Dataset | None = None
    faults: tuple[Fault, ...] = ()
    disk_error: int | None = None  # errno


ERRAND = TypeAdapter(Errand)
TOLD = TypeAdapter(Told)


def send(connection: socket.socket, data: bytes) -> None:
    connection.sendall(_LENGTH.pack(len(data)) + data)


def receive(connection: socket.socket) -> bytes:
    """EOFError if the other side is gone."""
    return receive_exactly(connection, _LENGTH.unpack(receive_exactly(connection, _LENGTH.size))[0])


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        block = connection.recv(min(size - len(data), 1 << 20))
        if not block:
            raise EOFError
        data += block
    return bytes(data)
