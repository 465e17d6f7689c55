"""The results as JSON and as a page."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.report import machine, markdown_table
from benchmarks.service import predict
from benchmarks.service.predict import FEATURES, SIZES, Measured

GOAL, JOB_GOAL_MS = 2.0, 300.0
UNDISTURBED = 0.85  # of a core
HOW = """\
Each side has one server process (ours with its Valkey beside it) on one core, the load generator another.
Both serve a tree of depth {depth} over {features} numbers: ours a shape tree, MLServer scikit-learn's
DecisionTreeClassifier. The generator is the same for both: connections that send the next request when the
last is answered. MLServer answers the class of each row; ours also its probabilities, its leaf and warnings,
and it asks its store with every request whether the model is still there. Compared are the best of each side
over its encodings (MLServer: V2 tensors, flat or nested), its settings (MLServer: `parallel_workers` 0 and 1)
and the number of connections. All servers are up all the time and take turns; the best of three rounds counts
for everybody.
"""


def verdicts(
    measured: list[Measured], job: dict[str, Any], upload: dict[str, Any]
) -> list[tuple[str, str, str, bool]]:
    """What was promised, the goal, what was measured, and whether it holds."""
    found = []
    for rows in SIZES:
        us, them = (predict.best(measured, name, rows) for name in ("Literati", "MLServer"))
        ratio = us.requests_per_second / them.requests_per_second
        ours, theirs = (predict.thriftiest(measured, name, rows) for name in ("Literati", "MLServer"))
        thrift = ours.requests_per_cpu_second / theirs.requests_per_cpu_second
        said = (
            f"{us.requests_per_second:.0f} / {them.requests_per_second:.0f} = {ratio:.1f} times "
            f"({thrift:.1f} times by processor time)"
        )
        what = f"predict, {_rows(rows)} a request: requests a second, ours / MLServer's"
        found.append((what, f"{GOAL:g} times", said, ratio >= GOAL))
    what = f"submit to first incumbent, {job['rows']:,} rows, idle worker: median of {job['trials']}"
    said = f"{job['p50_ms']:.0f} ms (worst {job['worst_ms']:.0f} ms)"
    found.append((what, f"{JOB_GOAL_MS:g} ms", said, job["p50_ms"] < JOB_GOAL_MS))
    what = f"upload of {upload['bytes'] / 1e6:.0f} MB of CSV / what pyarrow needs to parse it"
    said = f"{upload['upload_seconds']:.2f} s / {upload['parse_seconds']:.2f} s = {upload['ratio']:.1f} times"
    found.append((what, f"{upload['ratio_limit']:g} times", said, upload["ratio"] < upload["ratio_limit"]))
    beyond, limit = upload["memory_beyond_table_bytes"], upload["memory_beyond_table_limit"]
    what = "memory that the upload takes beside its table"
    found.append((what, f"{limit >> 20} MiB", f"{max(0, beyond) >> 20} MiB", beyond < limit))
    return found


def _rows(count: int) -> str:
    return "one row" if count == 1 else f"{count:,} rows"


def page(measured: list[Measured], job: dict[str, Any], upload: dict[str, Any]) -> str:
    judged = [
        (what, goal, said, "holds" if holds else "does not hold")
        for what, goal, said, holds in verdicts(measured, job, upload)
    ]
    return "\n".join(
        [
            "# The service, measured",
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
                    for entry in (predict.alone(measured, name, rows) for name in ("Literati", "MLServer"))
                ],
            ),
            "## Everything",
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
                    "requests/s of its time",
                ),
                [_line(entry) for entry in sorted(measured, key=lambda e: (e.rows, e.server, e.connections))],
            ),
        ]
    )


def _caution(measured: list[Measured]) -> str:
    """A server under full load that does not have its core is held up by something else."""
    loaded = [predict.best(measured, name, rows) for name in ("Literati", "MLServer") for rows in SIZES]
    share = min(entry.server_cpu for entry in loaded)
    if share >= UNDISTURBED:
        return ""
    return (
        f"The machine was not free: under full load a server had {100 * share:.0f} % of its core. Both sides "
        "took turns; ratios mean more than numbers here, and those by processor time more than the others.\n"
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
