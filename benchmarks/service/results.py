"""Write the results as JSON and as a Markdown page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.report import machine, markdown_table
from benchmarks.service import predict
from benchmarks.service.predict import FEATURES, SIZES, Measured

GOAL, JOB_GOAL_MS = 2.0, 300.0
MIN_SERVER_CPU = 0.85  # share of a core that an undisturbed server uses under full load
HOW = """\
Each server process has one core (Literati's shares it with its Valkey), and the load generator has another.
Both servers predict with a tree of depth {depth} over {features} numbers: Literati with a shape tree,
MLServer with scikit-learn's DecisionTreeClassifier. The load generator is the same for both: each connection
sends the next request when the last response is complete. MLServer returns the class of each row. Literati
also returns its probabilities, its leaf and warnings, and checks with every request whether the model still
exists. The table compares the best result of each server over its encodings (MLServer: V2 tensors, flat or
nested), its settings (MLServer: `parallel_workers` 0 and 1) and the number of connections. All servers run
all the time and are measured in turn. The best of three rounds counts for each of them.
"""


def verdicts(
    measured: list[Measured], job: dict[str, Any], upload: dict[str, Any]
) -> list[tuple[str, str, str, bool]]:
    """Return each claim with its goal, what was measured, and whether it holds."""
    found = []
    for rows in SIZES:
        us, them = (predict.best(measured, name, rows) for name in ("Literati", "MLServer"))
        ratio = us.requests_per_second / them.requests_per_second
        ours, theirs = (predict.most_efficient(measured, name, rows) for name in ("Literati", "MLServer"))
        cpu_ratio = ours.requests_per_cpu_second / theirs.requests_per_cpu_second
        text = (
            f"{us.requests_per_second:.0f} / {them.requests_per_second:.0f} = {ratio:.1f} times "
            f"({cpu_ratio:.1f} times by CPU time)"
        )
        what = f"predict, {_rows(rows)} per request: requests per second, Literati / MLServer"
        found.append((what, f"{GOAL:g} times", text, ratio >= GOAL))
    what = f"submission to first incumbent, {job['rows']:,} rows, idle worker: median of {job['trials']}"
    text = f"{job['p50_ms']:.0f} ms (worst {job['worst_ms']:.0f} ms)"
    found.append((what, f"{JOB_GOAL_MS:g} ms", text, job["p50_ms"] < JOB_GOAL_MS))
    what = f"time to upload {upload['bytes'] / 1e6:.0f} MB of CSV / time of pyarrow to parse it"
    text = f"{upload['upload_seconds']:.2f} s / {upload['parse_seconds']:.2f} s = {upload['ratio']:.1f} times"
    found.append((what, f"{upload['ratio_limit']:g} times", text, upload["ratio"] < upload["ratio_limit"]))
    beyond, limit = upload["memory_beyond_table_bytes"], upload["memory_beyond_table_limit"]
    what = "memory of the upload beyond its table"
    found.append((what, f"{limit >> 20} MiB", f"{max(0, beyond) >> 20} MiB", beyond < limit))
    return found


def _rows(count: int) -> str:
    return "one row" if count == 1 else f"{count:,} rows"


def page(measured: list[Measured], job: dict[str, Any], upload: dict[str, Any]) -> str:
    judged = [
        (what, goal, text, "holds" if holds else "does not hold")
        for what, goal, text, holds in verdicts(measured, job, upload)
    ]
    return "\n".join(
        [
            "# Benchmark of the service",
            "",
            "{processor}, {cores} cores, Python {python}; one run of `make bench-service`.".format(
                **machine()
            ),
            "",
            markdown_table(("what", "goal", "measured", ""), judged),
            HOW.format(depth=predict.DEPTH, features=FEATURES),
            _caution(measured),
            "## Latency of one request at a time",
            "",
            markdown_table(
                ("rows", "server", "p50 ms", "p99 ms"),
                [
                    (f"{rows:,}", entry.server, f"{entry.p50_ms:.2f}", f"{entry.p99_ms:.2f}")
                    for rows in SIZES
                    for entry in (
                        predict.lowest_latency(measured, name, rows) for name in ("Literati", "MLServer")
                    )
                ],
            ),
            "## All measurements",
            "",
            markdown_table(
                (
                    "rows",
                    "server",
                    "connections",
                    "requests/s",
                    "rows/s",
                    "p50 ms",
                    "p99 ms",
                    "server's core",
                    "requests/s of CPU time",
                ),
                [_line(entry) for entry in sorted(measured, key=lambda e: (e.rows, e.server, e.connections))],
            ),
        ]
    )


def _caution(measured: list[Measured]) -> str:
    """Return a warning if a server under full load did not get its core."""
    loaded = [predict.best(measured, name, rows) for name in ("Literati", "MLServer") for rows in SIZES]
    share = min(entry.server_cpu for entry in loaded)
    if share >= MIN_SERVER_CPU:
        return ""
    return (
        f"The machine was not idle: under full load, a server got {100 * share:.0f} % of its core. "
        "The servers were measured in turn, so ratios are more reliable than numbers, "
        "and ratios by CPU time are the most reliable.\n"
    )


def _line(entry: Measured) -> tuple[str, ...]:
    return (
        f"{entry.rows:,}",
        entry.server,
        str(entry.connections),
        f"{entry.requests_per_second:.0f}",
        f"{entry.rows * entry.requests_per_second:,.0f}",
        f"{entry.p50_ms:.2f}",
        f"{entry.p99_ms:.2f}",
        f"{100 * entry.server_cpu:.0f} % busy",
        f"{entry.requests_per_cpu_second:.0f}",
    )


def write(folder: Path, measured: list[Measured], job: dict[str, Any], upload: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "machine": machine(),
        "predict": [asdict(entry) for entry in measured],
        "job": job,
        "upload": upload,
    }
    (folder / "service.json").write_text(json.dumps(document, indent=1) + "\n")
    (folder / "service.md").write_text(page(measured, job, upload))
