"""Measure the time from the request of a job to its first tree, with an idle worker."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.service.predict import FEATURES, NAMES

ROWS = 1_000
TRIALS = 30
Note = Callable[[str], None]


def write_rows(path: Path) -> None:
    """Write training rows with noisy labels, so that no search ends at once."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(ROWS, FEATURES)).round(3)
    classes = (x[:, 0] * x[:, 1] > 0) ^ (rng.random(ROWS) < 0.2)
    lines = [
        ",".join([*map(str, row), "ab"[c]]) for row, c in zip(x.tolist(), classes.astype(int), strict=True)
    ]
    path.write_text("\n".join([",".join([*NAMES, "label"]), *lines]) + "\n")


def overhead(client: httpx.Client, rows: Path, start_worker: Callable[[], Any], note: Note) -> dict[str, Any]:
    """Return the milliseconds that a client measures from the submission of a job to its incumbent."""
    upload = client.post(
        "/v1/datasets?target=label", content=rows.read_bytes(), headers={"Content-Type": "text/csv"}
    )
    upload.raise_for_status()
    stop_worker = start_worker()
    trials = [_trial(client, upload.json()["id"]) for _ in range(TRIALS + 1)]
    stop_worker()
    first, *others = trials  # the worker imports its modules during the first one
    note(f"submission to first incumbent: median {np.median(others):.0f} ms, worst {max(others):.0f} ms")
    return {
        "rows": ROWS,
        "trials": TRIALS,
        "first_ms": first,
        "p50_ms": float(np.median(others)),
        "p99_ms": float(np.percentile(others, 99)),
        "worst_ms": max(others),
    }


def _trial(client: httpx.Client, dataset: str) -> float:
    start = time.perf_counter()
    job = client.post("/v1/jobs", json={"dataset_id": dataset}).raise_for_status().json()
    while True:
        response = client.get(f"/v1/jobs/{job['id']}/incumbent", headers={"Prefer": "wait=30"})
        if response.raise_for_status().status_code == 200:
            break
    seconds = time.perf_counter() - start
    client.post(f"/v1/jobs/{job['id']}/cancel").raise_for_status()
    while client.get(f"/v1/jobs/{job['id']}").json()["state"] not in ("CANCELLED", "SUCCEEDED"):
        time.sleep(0.02)
    return 1000 * seconds
