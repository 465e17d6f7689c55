"""`python victim.py PORT PATH < body`: a client that goes on with its work while others attack the server.

Asks for /healthz and predicts a row, in turn, a hundred times a second, until its standard input ends.
Prints what it waited, in seconds, as JSON, and how many seconds a second of work takes here, which is more
than one where other programs want the processors too. It needs nothing but the standard library.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time

EVERY = 0.01
LONGEST = 20.0
WORK = 0.002  # seconds of it between two questions, to see how long they take


def main() -> None:
    port, path = int(sys.argv[1]), sys.argv[2]
    body = sys.stdin.readline().encode()
    over = threading.Event()
    threading.Thread(target=_wait_for_the_end, args=[over], daemon=True).start()
    waited: dict[str, list[float]] = {"healthz": [], "predict": []}
    failures: list[str] = []
    worked = 0.0
    print("ready", flush=True)
    while not over.is_set():
        for name in waited:
            started = time.perf_counter()
            try:
                if name == "healthz":
                    _ask(port, "GET", "/healthz", b"")
                else:
                    _ask(port, "POST", path, body)
            except (OSError, http.client.HTTPException, AssertionError) as error:
                failures.append(f"{name}: {error!r}")
            waited[name].append(time.perf_counter() - started)
            time.sleep(EVERY)
        worked += _work()
    pace = worked / (WORK * len(waited["healthz"]))
    print(json.dumps({"waited": waited, "failures": failures, "pace": max(1.0, pace)}))


def _work() -> float:
    started, until = time.perf_counter(), time.process_time() + WORK
    while time.process_time() < until:
        pass
    return time.perf_counter() - started


def _wait_for_the_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _ask(port: int, method: str, path: str, body: bytes) -> None:
    """On a new connection each time: what attackers do to the listening socket counts too."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
    finally:
        connection.close()


if __name__ == "__main__":
    main()
