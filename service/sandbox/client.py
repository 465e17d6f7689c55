"""Run tasks in processes of the fork server, and restart the fork server if it dies."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import structlog

from service.sandbox.framing import Status, Task

log = structlog.get_logger(__name__)
# Imported by the fork server before it forks. They are named, not imported, because they import this package.
TASK_MODULES = ("service.ingest.sandbox_task", "service.predict.sandbox_task")
_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 60.0
_TRIES = 2
_MIN_SECONDS = 0.001
_EXIT_SECONDS = 0.1  # in which a killed fork server is seen to have exited
BASE_MEMORY = 1 << 30  # bytes that a process may use for its program and threads, in addition to the task's


class SandboxError(Exception):
    """The task was not completed."""


class MemoryLimitError(SandboxError):
    """The task exceeded its memory limit."""


class TimeLimitError(SandboxError):
    """The task exceeded its time limit."""


class CrashError(SandboxError):
    """The task ended every process that ran it, by a fault of a parser or for lack of memory."""


class SandboxUnavailableError(SandboxError):
    """No process could be started."""


class Sandbox:
    """A client of a fork server, which is started by `start` or by the first task. It is thread-safe."""

    def __init__(self, *, base_memory: int = BASE_MEMORY) -> None:
        self._base_memory = base_memory
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def start(self) -> socket.socket:
        """Start the fork server if it does not run, and return its socket. The first task may wait for it."""
        with self._lock:
            if self._socket is None:
                self._socket, theirs = socket.socketpair()
                with theirs:
                    module = "service.sandbox.fork_server"
                    command = [sys.executable, "-m", module, str(theirs.fileno()), *TASK_MODULES]
                    paths = filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")])
                    environment = {
                        **os.environ,
                        "PYTHONPATH": os.pathsep.join(paths),
                        "PYTHONSAFEPATH": "1",  # the current folder may have a `service` of its own
                        "OPENBLAS_NUM_THREADS": "1",  # threads do not survive a fork
                        # Arrow's allocator reserves a gibibyte; this makes it commit only what it uses.
                        "MIMALLOC_ARENA_EAGER_COMMIT": "0",
                    }
                    self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
            return self._socket

    def stop(self) -> None:
        """End the fork server and with it all tasks."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process = None

    def run(self, name: str, work: bytes, *, memory_bytes: int, seconds: float) -> bytes:
        """Run a task and return its result, or raise a SandboxError.

        A task whose process dies is run once more, because something else may have killed the process. Tasks
        must allow that.
        """
        deadline = time.monotonic() + seconds
        for _ in range(_TRIES - 1):
            with suppress(CrashError):
                return self._try(name, work, memory_bytes, deadline)
        return self._try(name, work, memory_bytes, deadline)

    def _try(self, name: str, work: bytes, memory_bytes: int, deadline: float) -> bytes:
        with self._fork() as connection:
            started = time.monotonic()
            seconds = max(_MIN_SECONDS, deadline - started)
            task = Task(name=name, memory_bytes=self._base_memory + memory_bytes, seconds=seconds)
            try:
                connection.send_bytes(task.model_dump_json().encode())
                connection.send_bytes(work)
                if not connection.poll(seconds):
                    raise TimeLimitError
                if connection.recv_bytes() == Status.OUT_OF_MEMORY:
                    raise MemoryLimitError
                return connection.recv_bytes()
            except (EOFError, OSError) as error:
                spent = time.monotonic() - started
                log.warning("sandboxed process died", task=name, error=type(error).__name__, seconds=spent)
                raise CrashError from None

    def _fork(self) -> Connection:
        """Return a connection to a new process, which has sent READY."""
        for _ in range(_TRIES):
            ours, theirs = Pipe()
            with theirs, self._lock:
                server = self.start()
                with suppress(OSError):  # the fork server has died, and nothing will be received
                    socket.send_fds(server, [b"?"], [theirs.fileno()])
            try:
                if ours.poll(_START_SECONDS) and ours.recv_bytes() == Status.READY:
                    return ours
            except (EOFError, OSError):
                ours.close()
                if self._is_running(server):
                    raise CrashError from None  # only the new process has died
            ours.close()
            log.warning("fork server does not respond")
            with self._lock:
                if self._socket is server:
                    self.stop()
        raise SandboxUnavailableError

    def _is_running(self, server: socket.socket) -> bool:
        with self._lock:
            if self._socket is server and self._process is not None:
                try:
                    self._process.wait(_EXIT_SECONDS)
                except subprocess.TimeoutExpired:
                    return True
        return False
