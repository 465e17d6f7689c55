"""`python -m service.healthcheck [api|worker]`: exit status 0 if what runs in this container can work."""

from __future__ import annotations

import os
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path

SECONDS = 5.0


def main(words: list[str]) -> int:
    role = words[0] if words else _role()
    fault = _fault_of_worker() if role == "worker" else _fault_of_api()
    print(fault or "ok")
    return 1 if fault else 0


def _role() -> str:
    """By the command that the container was started with."""
    return "worker" if b"celery" in Path("/proc/1/cmdline").read_bytes() else "api"


def _fault_of_api() -> str | None:
    address = f"http://127.0.0.1:{os.environ.get('LITERATI_PORT') or 8000}/readyz"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(address, timeout=SECONDS):
            return None
    except urllib.error.HTTPError as error:
        return error.read(1000).decode(errors="replace")
    except OSError as error:
        return str(error)


def _fault_of_worker() -> str | None:
    """It says every few seconds that it lives, for the metrics of all workers."""
    import redis  # for a tenth of a second that the API's check need not wait

    from worker.settings import WorkerSettings
    from worker.store import Store, connect

    here = socket.gethostname()
    try:
        with connect(WorkerSettings().store_url) as client:
            seats = Store(client).measure().workers
    except (redis.RedisError, OSError) as error:
        return f"The store does not answer ({type(error).__name__})."
    if any(seat.name.rpartition(":")[0] == here for seat in seats):
        return None
    return f"No worker of {here} has said that it lives."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
