"""The server's side of reading uploads: a process that forks a reader for each, started anew if it dies."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import structlog

from worker.messages import Dataset

from .errand import ERRAND, READY, TOLD, Errand, Told, receive, receive_exactly, send
from .errors import IngestError, broke_reader, too_much_time

log = structlog.get_logger(__name__)
_ROOT = Path(__file__).resolve().parent.parent.parent
_START_SECONDS = 60.0
_TRIES = 2


class NoReaderError(Exception):
    """No process could be had to read the upload."""


class Readers:
    """Threads may share it. Nothing runs before `start` or the first errand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._server: socket.socket | None = None

    def start(self) -> None:
        """Returns at once; the first errand may wait for a second."""
        with self._lock:
            self._socket()

    def stop(self) -> None:
        with self._lock:
            self._end()

    def read(self, errand: Errand) -> Dataset:
        """Blocks until the table is stored. IngestError if the upload is no good, OSError if the disk is."""
        told = self._told(errand)
        if told.dataset is not None:
            return told.dataset
        if told.disk_error is not None:
            raise OSError(told.disk_error, os.strerror(told.disk_error))
        raise IngestError(*told.faults)

    def _told(self, errand: Errand) -> Told:
        with self._reader() as connection:
            connection.settimeout(errand.seconds)
            started = time.monotonic()
            try:
                send(connection, ERRAND.dump_json(errand))
                return TOLD.validate_json(receive(connection))
            except TimeoutError:
                raise IngestError(too_much_time(errand.seconds)) from None
            except (EOFError, OSError):
                log.warning("a reader broke", form=errand.upload.form, seconds=time.monotonic() - started)
                raise IngestError(broke_reader()) from None

    def _reader(self) -> socket.socket:
        """The connection to a fresh process."""
        for _ in range(_TRIES):
            ours, theirs = socket.socketpair()
            try:
                with theirs, self._lock:
                    socket.send_fds(self._socket(), [b"?"], [theirs.fileno()])
                ours.settimeout(_START_SECONDS)
                receive_exactly(ours, len(READY))
            except (EOFError, OSError) as error:  # it was killed; it is started again
                ours.close()
                log.warning("the readers' process is gone", error=type(error).__name__)
                with self._lock:
                    self._end()
            else:
                return ours
        raise NoReaderError

    def _socket(self) -> socket.socket:
        if self._server is None:
            self._server, theirs = socket.socketpair()
            with theirs:
                command = [sys.executable, "-m", "service.ingest.reader", str(theirs.fileno())]
                paths = filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")])
                environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
                environment["OPENBLAS_NUM_THREADS"] = "1"  # threads would not survive the fork
                self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
        return self._server

    def _end(self) -> None:
        """Its readers end with it."""
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
