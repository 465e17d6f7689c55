"""Compare predictions of one row and of 1,000 rows with MLServer: same rows, depth and load generator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt

from benchmarks.service import servers
from benchmarks.service.servers import CLIENT_CORE, ROOT, Server

FEATURES, TRAINING_ROWS, DEPTH = 10, 2_000, 4
NAMES = [f"feature_{i}" for i in range(FEATURES)]
SIZES = (1, 1_000)
CONNECTIONS = (1, 32)
Note = Callable[[str], None]


@dataclass(frozen=True)
class Measured:
    """The measurements of one case."""

    server: str
    rows: int
    connections: int
    requests_per_second: float
    p50_ms: float
    p99_ms: float
    server_cpu: float  # share of one core
    generator_cpu: float

    @property
    def requests_per_cpu_second(self) -> float:
        """Return the requests per second of CPU time, which do not depend on the load of the machine."""
        return self.requests_per_second / self.server_cpu


def sample(rows: int, seed: int = 0) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(rows, FEATURES)).round(3)


def write_rows(path: Path) -> None:
    """Write training rows as CSV, in which ranges of a few features determine the class."""
    x = sample(TRAINING_ROWS)
    classes = np.where(np.abs(x[:, 0]) < 0.7, x[:, 1] > 0, (x[:, 2] > 0.3) ^ (np.abs(x[:, 3]) < 1))
    lines = [
        ",".join([*map(str, row), "yes" if c else "no"]) for row, c in zip(x.tolist(), classes, strict=True)
    ]
    path.write_text("\n".join([",".join([*NAMES, "label"]), *lines]) + "\n")


def train(client: httpx.Client, rows: Path, start_worker: Callable[[], Any]) -> str:
    """Train a model with a job and return its id. The worker is stopped before anything is measured."""
    upload = client.post(
        "/v1/datasets?target=label", content=rows.read_bytes(), headers={"Content-Type": "text/csv"}
    )
    upload.raise_for_status()
    stop_worker = start_worker()
    body = {
        "dataset_id": upload.json()["id"],
        "parameters": {"max_depth": DEPTH},
        "limits": {"time_limit": 10},
    }
    job = client.post("/v1/jobs", json=body).raise_for_status().json()
    while job["state"] not in ("SUCCEEDED", "FAILED", "CANCELLED"):
        job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=30"}).raise_for_status().json()
    stop_worker()
    if job["model_id"] is None:
        raise RuntimeError(f"the job ended without a model: {job['error']}")
    return str(job["model_id"])


def our_bodies(rows: int) -> dict[str, bytes]:
    """Return the request bodies for Literati."""
    x = sample(rows, seed=1).tolist()
    records = {"records": [dict(zip(NAMES, row, strict=True)) for row in x]}
    return {
        "records": json.dumps(records).encode(),
        "columns": json.dumps({"columns": NAMES, "data": x}).encode(),
    }


def v2_bodies(rows: int) -> dict[str, bytes]:
    """Return the request bodies for MLServer: one tensor in two forms. Inputs by column take it longer."""
    x = sample(rows, seed=1)
    tensor = {"name": "x", "shape": [rows, FEATURES], "datatype": "FP64"}
    return {
        "flat": json.dumps({"inputs": [{**tensor, "data": x.ravel().tolist()}]}).encode(),
        "nested": json.dumps({"inputs": [{**tensor, "data": x.tolist()}]}).encode(),
    }


@dataclass(frozen=True)
class Case:
    """A request to measure on a running server."""

    name: str
    server: Server
    path: str
    body: bytes
    rows: int
    connections: int


def compare(
    python: Path, server: Server, model: str, rows: Path, seconds: float, rounds: int, note: Note
) -> list[Measured]:
    """Measure every case in every round, so that other load affects all cases. The best round counts."""
    with ExitStack() as stack:
        cases = _cases("Literati", server, f"/v1/models/{model}/predict", our_bodies)
        for workers in (0, 1):
            other = stack.enter_context(servers.mlserver(python, rows, DEPTH, workers))
            name = f"MLServer, {workers} parallel workers"
            cases += _cases(name, other, "/v2/models/tree/infer", v2_bodies)
        best: dict[int, Measured] = {}
        for turn in range(rounds):
            for number, case in enumerate(cases):
                found = measure(case, seconds)
                done = f"{turn * len(cases) + number + 1}/{rounds * len(cases)}"
                note(f"{done} {_summary(found)}")
                if number not in best or found.requests_per_second > best[number].requests_per_second:
                    best[number] = found
    return list(best.values())


def _cases(name: str, server: Server, path: str, bodies: Callable[[int], dict[str, bytes]]) -> list[Case]:
    return [
        Case(f"{name}, {form}", server, path, body, rows, connections)
        for rows in SIZES
        for form, body in bodies(rows).items()
        for connections in CONNECTIONS
    ]


def measure(case: Case, seconds: float) -> Measured:
    """Measure one case with the load generator."""
    head = (
        f"POST {case.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(case.body)}\r\n\r\n"
    )
    command = [sys.executable, "-m", "benchmarks.service.load"]
    command += map(str, (case.server.port, case.connections, seconds, CLIENT_CORE))
    cpu_start = case.server.cpu_seconds()
    run = subprocess.run(command, input=head.encode() + case.body, capture_output=True, cwd=ROOT, check=False)
    cpu_seconds = case.server.cpu_seconds() - cpu_start
    if run.returncode:
        raise RuntimeError(run.stderr.decode()[-2000:])
    found = json.loads(run.stdout)
    if found["failures"] or not found["requests"]:
        raise RuntimeError(f"{case.name}: {found['failures']} failures; {found['first_response'][:500]}")
    latencies = np.array(found["seconds"]) * 1000
    return Measured(
        case.name,
        case.rows,
        case.connections,
        found["requests"] / found["elapsed"],
        float(np.percentile(latencies, 50)),
        float(np.percentile(latencies, 99)),
        cpu_seconds / found["all_seconds"],
        found["generator_cpu"],
    )


def _summary(entry: Measured) -> str:
    return (
        f"{entry.server}, {entry.rows} rows, {entry.connections} connections: "
        f"{entry.requests_per_second:.0f} requests/s, p50 {entry.p50_ms:.2f} ms, p99 {entry.p99_ms:.2f} ms"
    )


def best(measured: list[Measured], server: str, rows: int) -> Measured:
    """Return the highest throughput of a server over its settings, encodings and numbers of connections."""
    own = [entry for entry in measured if entry.server.startswith(server) and entry.rows == rows]
    return max(own, key=lambda entry: entry.requests_per_second)


def most_efficient(measured: list[Measured], server: str, rows: int) -> Measured:
    """Return the case with the most requests per second of the server's CPU time."""
    own = [entry for entry in measured if entry.server.startswith(server) and entry.rows == rows]
    return max(own, key=lambda entry: entry.requests_per_cpu_second)


def lowest_latency(measured: list[Measured], server: str, rows: int) -> Measured:
    """Return the case with the lowest median latency for one request at a time."""
    own = [e for e in measured if e.server.startswith(server) and e.rows == rows and e.connections == 1]
    return min(own, key=lambda entry: entry.p50_ms)
