"""`python -m service.sandbox.fork_server SOCKET MODULE...`: fork a process for every task.

Each module has the `NAME` of a task and a function `work` that performs it.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa

from service.sandbox.framing import Status, Task
from worker.processes.parent_death import set_parent_death_signal

TASKS: dict[str, Callable[[bytes], bytes]] = {}
_ALARM_MARGIN_SECONDS = 2  # from the time limit, which the server checks, to the alarm that ends the process


def main(descriptor: int, modules: list[str]) -> None:
    for name in modules:
        module = importlib.import_module(name)
        TASKS[module.NAME] = module.work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the server
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the forks
    # If pandas is installed, pyarrow imports it on the first conversion to NumPy, which takes half a second.
    pa.array([0]).to_numpy()
    own_pid = os.getpid()
    with socket.socket(fileno=descriptor) as server:
        while True:
            data, descriptors, _, _ = socket.recv_fds(server, 1, 1)
            if not data:
                return
            with Connection(descriptors[0]) as connection:
                if os.fork() == 0:
                    _run(connection, own_pid)


def _run(connection: Connection, parent: int) -> None:
    status = 1
    try:
        set_parent_death_signal(parent)
        connection.send_bytes(Status.READY)
        task = Task.model_validate_json(connection.recv_bytes())
        _set_limits(task)
        try:
            result = TASKS[task.name](connection.recv_bytes())
        except MemoryError:
            connection.send_bytes(Status.OUT_OF_MEMORY)
        else:
            connection.send_bytes(Status.DONE)
            connection.send_bytes(result)
        status = 0
    finally:
        os._exit(status)  # the exit handlers belong to the fork server


def _set_limits(task: Task) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # RLIMIT_DATA counts writable memory, unlike RLIMIT_AS, which also counts reserved and mapped memory.
    resource.setrlimit(resource.RLIMIT_DATA, (task.memory_bytes, task.memory_bytes))
    signal.alarm(int(task.seconds) + _ALARM_MARGIN_SECONDS)
    with suppress(OSError):  # the kernel's out-of-memory killer selects this process first
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
