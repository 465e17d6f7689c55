"""The server's side: a nursery, started anew if it dies, and what comes of the work given to its forks."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import structlog

from .frames import Task, Word, receive, receive_exactly, send

log = structlog.get_logger(__name__)
_ROOT = Path(__file__).resolve().parent.parent.parent
_START_SECONDS = 60.0
_TRIES = 2
_LEAST_SECONDS = 0.001
PLAIN_MEMORY = 1 << 30  # bytes that a process apart may have whatever it works on: its program, its threads


class ApartError(Exception):
    """The work was not done."""


class NoMemoryError(ApartError):
    """It takes more memory than it may."""


class NoTimeError(ApartError):
    """It takes longer than it may."""


class BrokenError(ApartError):
    """It broke every process that tried: a fault of the parser, or memory that the machine does not have."""


class NoProcessError(ApartError):
    """No process could be had."""


class Processes:
    """Threads may share it. Nothing runs before `start` or the first task."""

    def __init__(self, *, plain_memory: int = PLAIN_MEMORY) -> None:
        self._plain_memory = plain_memory
        self._lock = threading.Lock()
        self._nursery: subprocess.Popen[bytes] | None = None
        self._server: socket.socket | None = None

    def start(self) -> None:
        """Returns at once; the first task may wait for a second or two."""
        with self._lock:
            self._socket()

    def stop(self) -> None:
        with self._lock:
            self._end()

    def run(self, name: str, work: bytes, *, memory_bytes: int, seconds: float) -> bytes:
        """Blocks until it is done, or raises an ApartError.

        A process that breaks may have been killed by somebody else: only what breaks a second one, too, is
        the work's own fault. Tasks must bear to be begun twice.
        """
        until = time.monotonic() + seconds
        for _ in range(_TRIES - 1):
            with suppress(BrokenError):
                return self._try(name, work, memory_bytes, until)
        return self._try(name, work, memory_bytes, until)

    def _try(self, name: str, work: bytes, memory_bytes: int, until: float) -> bytes:
        with self._process() as connection:
            started = time.monotonic()
            seconds = max(_LEAST_SECONDS, until - started)
            task = Task(name=name, memory_bytes=self._plain_memory + memory_bytes, seconds=seconds)
            connection.settimeout(seconds)
            try:
                send(connection, task.model_dump_json().encode())
                send(connection, work)
                if receive_exactly(connection, 1) == Word.NO_MEMORY:
                    raise NoMemoryError
                return receive(connection)
            except TimeoutError:
                raise NoTimeError from None
            except (EOFError, OSError) as error:
                spent = time.monotonic() - started
                log.warning("a process apart broke", task=name, error=type(error).__name__, seconds=spent)
                raise BrokenError from None

    def _process(self) -> socket.socket:
        """The connection to a fresh one."""
        for _ in range(_TRIES):
            ours, theirs = socket.socketpair()
            try:
                with theirs, self._lock:
                    socket.send_fds(self._socket(), [b"?"], [theirs.fileno()])
                ours.settimeout(_START_SECONDS)
                receive_exactly(ours, len(Word.READY))
            except (EOFError, OSError) as error:  # it was killed; it is started again
                ours.close()
                log.warning("the nursery is gone", error=type(error).__name__)
                with self._lock:
                    self._end()
            else:
                return ours
        raise NoProcessError

    def _socket(self) -> socket.socket:
        if self._server is None:
            self._server, theirs = socket.socketpair()
            with theirs:
                command = [sys.executable, "-m", "service.apart.nursery", str(theirs.fileno())]
                paths = filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")])
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
                environment["OPENBLAS_NUM_THREADS"] = "1"  # threads would not survive the fork
                # Arrow's allocator reserves a gibibyte at once; this way only what it uses counts as used.
                environment["MIMALLOC_ARENA_EAGER_COMMIT"] = "0"
                self._nursery = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
        return self._server

    def _end(self) -> None:
        """Its forks end with it."""
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._nursery is not None:
            self._nursery.kill()
            self._nursery.wait()
            self._nursery = None
