"""`python -m service.apart.nursery SOCKET`: forks for every piece of work, until the server is gone."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from service.ingest import errand as dataset
from service.prediction import errand as predict
from worker.tether import die_with_parent

from .frames import Task, Word, receive, send

TASKS: dict[str, Callable[[bytes], bytes]] = {dataset.NAME: dataset.work, predict.NAME: predict.work}
_SECONDS_MORE = 2  # before the system ends a process that the server has already given up


def main(descriptor: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the server
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
    # Where pandas is installed, pyarrow imports it with the first array that it hands over: half a second,
    # better spent once here than in every process.
    pa.array([0]).to_numpy()
    here = os.getpid()
    with socket.socket(fileno=descriptor) as server:
        while True:
            word, descriptors, _, _ = socket.recv_fds(server, 1, 1)
            if not word:
                return
            with socket.socket(fileno=descriptors[0]) as connection:
                if os.fork() == 0:
                    _run(connection, here)


def _run(connection: socket.socket, parent: int) -> None:
    status = 1
    try:
        die_with_parent(parent)
        connection.sendall(Word.READY)
        task = Task.model_validate_json(receive(connection))
        _limit(task)
        try:
            done = TASKS[task.name](receive(connection))
        except MemoryError:
            connection.sendall(Word.NO_MEMORY)
        else:
            connection.sendall(Word.DONE)
            send(connection, done)
        status = 0
    finally:
        os._exit(status)  # without what the parent would do at its end


def _limit(task: Task) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What is written to, not what is reserved or mapped from a file.
    resource.setrlimit(resource.RLIMIT_DATA, (task.memory_bytes, task.memory_bytes))
    signal.alarm(int(task.seconds) + _SECONDS_MORE)
    with suppress(OSError):  # where the machine itself runs out of memory, this one goes first
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main(int(sys.argv[1]))
