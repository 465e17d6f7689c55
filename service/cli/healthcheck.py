"""`python -m service.healthcheck [api|worker]`: exit with 0 if the container's process is healthy."""

from __future__ import annotations

import os
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path

TIMEOUT_SECONDS = 5.0


def main(words: list[str]) -> int:
    """Print the result of the check and return the exit status."""
    role = words[0] if words else _role()
    error = _worker_error() if role == "worker" else _api_error()
    print(error or "ok")
    return 1 if error else 0


def _role() -> str:
    """Return the role of the container by the command that it runs."""
    return "worker" if b"worker" in Path("/proc/1/cmdline").read_bytes() else "api"


def _api_error() -> str | None:
    address = f"http://127.0.0.1:{os.environ.get('LITERATI_PORT') or 8000}/readyz"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(address, timeout=TIMEOUT_SECONDS):
            return None
    except urllib.error.HTTPError as error:
        return error.read(1000).decode(errors="replace")
    except OSError as error:
        return str(error)


def _worker_error() -> str | None:
    """Check that the store has a recent heartbeat of a worker on this host."""
    import redis  # importing it takes a tenth of a second, which the check of the API does not need

    from worker.settings import WorkerSettings
    from worker.store import Store
    from worker.store.client import connect

    host = socket.gethostname()
    try:
        with connect(WorkerSettings().store_url) as client:
            workers = Store(client).measure().workers
    except (redis.RedisError, OSError) as error:
        return f"The store does not answer ({type(error).__name__})."
    if any(worker.name.rpartition(":")[0] == host for worker in workers):
        return None
    return f"The store has no recent heartbeat of a worker on {host}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
