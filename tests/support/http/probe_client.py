"""`python probe_client.py PORT PATH < body`: measure the latency of a server during an attack.

The client requests /healthz and predicts a row, up to a hundred times a second, until its standard input
ends. It prints the latencies in seconds as JSON, and how long a second of CPU time takes on this loaded
machine. It needs only the standard library.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time

INTERVAL = 0.01  # seconds between two requests
MAX_SECONDS = 20.0  # for a response
WORK = 0.002  # seconds of CPU time between two requests, to measure the load of the machine


def main() -> None:
    port, path = int(sys.argv[1]), sys.argv[2]
    body = sys.stdin.readline().encode()
    ended = threading.Event()
    threading.Thread(target=_wait_for_end, args=[ended], daemon=True).start()
    latencies: dict[str, list[float]] = {"healthz": [], "predict": []}
    failures: list[str] = []
    worked = 0.0
    print("ready", flush=True)
    while not ended.is_set():
        for name in latencies:
            started = time.perf_counter()
            try:
                if name == "healthz":
                    _request(port, "GET", "/healthz", b"")
                else:
                    _request(port, "POST", path, body)
            except (OSError, http.client.HTTPException, AssertionError) as error:
                failures.append(f"{name}: {error!r}")
            latencies[name].append(time.perf_counter() - started)
            time.sleep(INTERVAL)
        worked += _work()
    slowdown = worked / (WORK * len(latencies["healthz"]))
    print(json.dumps({"latencies": latencies, "failures": failures, "slowdown": max(1.0, slowdown)}))


def _work() -> float:
    started, until = time.perf_counter(), time.process_time() + WORK
    while time.process_time() < until:
        pass
    return time.perf_counter() - started


def _wait_for_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


def _request(port: int, method: str, path: str, body: bytes) -> None:
    """Send a request on a new connection, because an attack may fill the listening socket."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=MAX_SECONDS)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        response = connection.getresponse()
        response.read()
        assert response.status == 200, response.status
    finally:
        connection.close()


if __name__ == "__main__":
    main()
