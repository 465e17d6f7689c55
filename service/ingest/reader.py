"""`python -m service.ingest.reader SOCKET`: reads uploads, each in a process of its own that is thrown away.

A few thousand bytes of Parquet can unpack to any number of gigabytes, and the parsers are large programs in
C++: what a hostile file does to one must not happen to the server. This process has imported them and waits;
for every upload it forks, which takes milliseconds, and the fork has limits on its memory and time.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

from worker.blobs import Blobs
from worker.tether import die_with_parent

from .build import make_dataset
from .errand import ERRAND, READY, TOLD, Errand, Told, receive, send
from .errors import IngestError, too_much_memory

_SECONDS_MORE = 2  # before the system ends a reader that its server has already given up


def main(descriptor: int) -> None:
    """Fork for every socket that comes, until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the server
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
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
        connection.sendall(READY)
        errand = ERRAND.validate_json(receive(connection))
        _limit(errand)
        send(connection, TOLD.dump_json(_told(errand)))
        status = 0
    finally:
        os._exit(status)  # without what the parent would do at its end


def _limit(errand: Errand) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # What is written to, not what is reserved or mapped from a file.
    resource.setrlimit(resource.RLIMIT_DATA, (errand.memory_bytes, errand.memory_bytes))
    signal.alarm(int(errand.seconds) + _SECONDS_MORE)
    with suppress(OSError):  # where the machine itself runs out of memory, this one goes first
        Path("/proc/self/oom_score_adj").write_text("1000")


def _told(errand: Errand) -> Told:
    blobs = Blobs(errand.blobs)
    try:
        dataset = make_dataset(
            errand.upload,
            errand.options,
            errand.limits,
            blobs,
            dataset_id=errand.dataset_id,
            tenant=errand.tenant,
            spare_disk_bytes=errand.spare_disk_bytes,
        )
    except IngestError as error:
        return Told(faults=error.faults)
    except MemoryError:
        return Told(faults=(too_much_memory(errand.limits.max_table_bytes),))
    except OSError as error:
        return Told(disk_error=error.errno or errno.EIO)
    return Told(dataset=dataset)


if __name__ == "__main__":
    main(int(sys.argv[1]))
