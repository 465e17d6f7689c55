"""Compare the upload of a CSV of 100 MB over HTTP with the time that pyarrow needs to parse the file."""

from __future__ import annotations

import http.client
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.csv

from benchmarks.service.servers import start, stop, wait_for_log
from worker.processes.valkey import ValkeyServer

BYTES = 100_000_000
ROUNDS = 5
MAX_RATIO = 5.0
MAX_EXTRA_BYTES = 128 << 20  # memory beyond its table that an upload of any size may use
_LISTENING = re.compile(r"running on (http://[0-9.]+:[0-9]+)")
_BLOCK_ROWS = 50_000

Note = Callable[[str], None]


def write_csv(path: Path, size: int = BYTES) -> None:
    """Write a table of real numbers, counts, words and some missing cells."""
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "violet", "orange"], dtype=object)
    with path.open("wb") as file:
        header = True
        while file.tell() < size:
            rows = _BLOCK_ROWS
            cells: dict[str, Any] = {f"x{i}": rng.normal(0, 10, rows).round(4) for i in range(12)}
            cells["x11"] = pa.array(cells["x11"], mask=rng.random(rows) < 0.05)
            cells |= {f"n{i}": rng.integers(0, 1000, rows) for i in range(4)}
            cells |= {f"c{i}": rng.choice(words, rows) for i in range(3)}
            cells["label"] = np.where(np.abs(cells["x0"]) < 7, "in", "out").astype(object)
            options = pyarrow.csv.WriteOptions(include_header=header, quoting_style="none")
            pyarrow.csv.write_csv(pa.table(cells), file, options)
            header = False


def parse_seconds(path: Path) -> float:
    """Return the time that pyarrow needs to parse the file."""
    started = time.perf_counter()
    table = pyarrow.csv.read_csv(path)
    seconds = time.perf_counter() - started
    del table
    pa.default_memory_pool().release_unused()
    return seconds


def upload_seconds(port: int, path: Path, name: str) -> tuple[float, dict[str, Any]]:
    """Return the time from the first byte sent to the last byte of the response, and the response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300, blocksize=1 << 20)
    try:
        with path.open("rb") as file:
            headers = {"Content-Type": "text/csv", "Content-Length": str(path.stat().st_size)}
            started = time.perf_counter()
            connection.request("POST", f"/v1/datasets?target=label&name={name}", file, headers)
            response = connection.getresponse()
            body = response.read()
            seconds = time.perf_counter() - started
    finally:
        connection.close()
    if response.status != 201:
        raise RuntimeError(f"the upload failed with status {response.status}: {body[:500]!r}")
    return seconds, json.loads(body)


@contextmanager
def _api(folder: Path) -> Iterator[tuple[int, int]]:
    """Start an API on all cores without a worker, and return its port and process id."""
    valkey = ValkeyServer(folder / "valkey")
    environment = {
        **os.environ,
        "REDIS_URL": valkey.url,
        "LITERATI_STATE_DIR": str(folder / "state"),
        "LITERATI_PORT": "0",
    }
    started: list[Any] = []
    try:
        log = folder / "api.log"
        api = start([sys.executable, "-m", "service.server"], environment, log, started, core=None)
        yield int(wait_for_log(log, _LISTENING, api)[1].rpartition(":")[2]), api.pid
    finally:
        for process in started:
            stop(process)
        valkey.stop()


def _peak_bytes(pid: int) -> int:
    """Return the highest resident memory of the process, or the current one if that is unknown."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (FileNotFoundError, IndexError):
        return int(psutil.Process(pid).memory_info().rss)


def run(note: Note = lambda _: None, *, size: int = BYTES, rounds: int = ROUNDS) -> dict[str, Any]:
    """Return the medians over alternating rounds, and the growth of the API's memory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, small = folder / "table.csv", folder / "small.csv"
        write_csv(path, size)
        write_csv(small, 1)
        with _api(folder) as (port, pid):
            upload_seconds(port, small, "warm")
            parse_seconds(path)
            before = _peak_bytes(pid)
            parsing, uploading = [], []
            dataset: dict[str, Any] = {}
            for number in range(rounds):
                parsing.append(parse_seconds(path))
                seconds, dataset = upload_seconds(port, path, f"round-{number}")
                uploading.append(seconds)
                note(f"round {number + 1}: parse {parsing[-1]:.3f} s, upload {uploading[-1]:.3f} s")
            growth = _peak_bytes(pid) - before
        table = pyarrow.csv.read_csv(path).nbytes
    parse, upload = statistics.median(parsing), statistics.median(uploading)
    return {
        "bytes": int(dataset["bytes"]),
        "rows": int(dataset["rows"]),
        "columns": len(dataset["columns"]),
        "parse_seconds": round(parse, 4),
        "upload_seconds": round(upload, 4),
        "ratio": round(upload / parse, 3),
        "ratio_limit": MAX_RATIO,
        "table_bytes": int(table),
        "memory_growth_bytes": growth,
        "memory_beyond_table_bytes": growth - int(table),
        "memory_beyond_table_limit": MAX_EXTRA_BYTES,
        "holds": upload < MAX_RATIO * parse and growth - int(table) < MAX_EXTRA_BYTES,
    }


if __name__ == "__main__":
    print(json.dumps(run(lambda line: print(line, file=sys.stderr)), indent=2))
