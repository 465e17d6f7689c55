"""Raw HTTP over sockets, for requests that no client library would send."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

from tests.support.stack.stack import Stack


def connected(stack: Stack, *, timeout: float = 30.0) -> socket.socket:
    address = urlsplit(stack.url)
    assert address.hostname is not None
    return socket.create_connection((address.hostname, address.port or 80), timeout=timeout)


def talk(stack: Stack, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send the parts and return everything that the server sends until it closes the connection."""
    with connected(stack) as wire:
        with suppress(BrokenPipeError, ConnectionResetError):
            for part in parts:
                wire.sendall(part)
                time.sleep(pause)
        return rest(wire)


def rest(wire: socket.socket) -> bytes:
    answer = b""
    with suppress(ConnectionResetError):
        while more := wire.recv(65536):
            answer += more
    return answer


def status(answer: bytes) -> int:
    assert answer.startswith(b"HTTP/1.1 "), answer[:200]
    return int(answer.split(b" ", 2)[1])
