"""Write `state.tar.xz` and `state.json` with the service of another checkout, such as that of version 0.1.0.

    PYTHONPATH=CHECKOUT/core:CHECKOUT python make_state.py CHECKOUT

The archive is the state folder that the service leaves behind when it stops; the JSON file has the responses
that it gave before. `tests/service/supervisor/test_earlier_versions.py` compares them with those of today.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
READY = re.compile(r"ready at (http://\S+)")
KEPT = ("VERSION", "blobs", "valkey", "keys.json")
UNFINISHED = {  # both take some seconds to prove their tree
    "paused": {"max_depth": 3, "candidates": "all"},
    "interrupted": {"max_depth": 3, "candidates": "all", "split_penalty": 0.5},
}


def numbers(draw: random.Random) -> str:
    """Return noise, whose search takes some seconds."""
    rows = [[f"{draw.gauss(0, 1):.3f}" for _ in range(3)] + [draw.choice("ab")] for _ in range(120)]
    return _csv(["x0", "x1", "x2", "label"], rows)


def mixed(draw: random.Random) -> str:
    """Return numbers, categories and missing cells."""
    rows = []
    for _ in range(150):
        age, city = draw.randint(18, 80), draw.choice(["Bonn", "Köln", "Mainz"])
        label = "yes" if (age > 50) != (city == "Bonn") else "no"
        cells = [str(age), city, draw.choice(["true", "false"]), label]
        rows.append([cell if draw.random() > 0.1 or cell == label else "" for cell in cells])
    return _csv(["age", "city", "member", "label"], rows)


def weighted(draw: random.Random) -> str:
    """Return rows with weights and three classes."""
    rows = []
    for _ in range(100):
        x, y = draw.uniform(0, 10), draw.uniform(0, 10)
        label = "low" if x < 3 else "high" if y > 5 else "middle"
        rows.append([f"{x:.2f}", f"{y:.2f}", str(draw.randint(1, 5)), label])
    return _csv(["x", "y", "weight", "label"], rows)


def _csv(names: list[str], rows: list[list[str]]) -> str:
    return "\n".join(map(",".join, [names, *rows])) + "\n"


class Client:
    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key

    def __call__(self, method: str, path: str, body: str | dict[str, Any] | None = None) -> Any:
        kind = "application/json" if isinstance(body, dict) else "text/csv"
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        text = json.dumps(body) if isinstance(body, dict) else body
        data = None if text is None else text.encode()
        request = urllib.request.Request(f"{self.url}/v1{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read().decode()
        return json.loads(text) if "json" in response.headers["Content-Type"] else text

    def job_when(self, job_id: str, enough: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + 120
        while not enough(job := self("GET", f"/jobs/{job_id}")):
            assert time.monotonic() < deadline, job
            time.sleep(0.02)
        return dict(job)


def fill(call: Client) -> dict[str, Any]:
    """Make datasets, jobs and models; return the responses to compare with."""
    draw = random.Random(10)
    tables = {"numbers": numbers(draw), "mixed": mixed(draw), "weighted": weighted(draw)}
    datasets = {
        name: call("POST", f"/datasets?target=label{'&weight=weight' * (name == 'weighted')}", table)
        for name, table in tables.items()
    }
    wanted: dict[str, tuple[str, dict[str, Any]]] = {
        "mixed": ("mixed", {"parameters": {"max_depth": 2}, "validation": {"fraction": 0.2}}),
        "weighted": ("weighted", {"parameters": {"max_depth": 2, "split_penalty": 1}, "priority": 1}),
        "numbers": ("numbers", {"parameters": {"max_depth": 2, "candidates": "all"}}),
    }
    jobs: dict[str, Any] = {}
    for name, (table, fields) in wanted.items():
        job = call("POST", "/jobs", {"dataset_id": datasets[table]["id"], **fields})
        jobs[name] = call.job_when(job["id"], lambda job: job["state"] == "SUCCEEDED")
    models = {name: call("GET", f"/models/{job['model_id']}") for name, job in jobs.items()}
    call("PUT", "/models/aliases/production", {"model_id": models["mixed"]["id"]})
    rows = {name: _without_label(tables[name]) for name in models}
    state: dict[str, Any] = {
        "datasets": datasets,
        "jobs": jobs,
        "events": {
            name: call("GET", f"/jobs/{job['id']}/events?page_size=1000") for name, job in jobs.items()
        },
        "traces": {name: call("GET", f"/jobs/{job['id']}/trace") for name, job in jobs.items()},
        "models": models,
        "rules": {name: call("GET", f"/models/{model['id']}/rules") for name, model in models.items()},
        "rows": rows,
        "predictions": {
            name: call("POST", f"/models/{model['id']}/predict?explain=true", rows[name])
            for name, model in models.items()
        },
        "alias": {"production": models["mixed"]["id"]},
        "unfinished": {},
    }
    for name, parameters in UNFINISHED.items():
        body = {"dataset_id": datasets["numbers"]["id"], "parameters": parameters}
        job = call("POST", "/jobs", body)
        call.job_when(job["id"], lambda job: job["progress"]["elapsed_seconds"] > 1)
        if name == "paused":
            call("POST", f"/jobs/{job['id']}/pause")
            job = call.job_when(job["id"], lambda job: job["state"] == "PAUSED")
        state["unfinished"][name] = call("GET", f"/jobs/{job['id']}")
    return state


def _without_label(table: str) -> str:
    """Return the first rows of the table, as they are sent to predict."""
    return "".join(line.rpartition(",")[0] + "\n" for line in table.splitlines()[:13])


def main() -> None:
    checkout = sys.argv[1]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "state"
        folder.mkdir()
        environment = {
            **os.environ,
            "LITERATI_STATE_DIR": str(folder),
            "LITERATI_API_KEYS_FILE": str(folder / "keys.json"),
            "LITERATI_PORT": "0",
            "LITERATI_WORKER_CONCURRENCY": "1",
        }
        command = [sys.executable, "-m", "service.keys", "add", "tests", "--scopes", "read,train"]
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, check=True
        )
        key = done.stdout.strip()
        serving = subprocess.Popen(
            [sys.executable, "-m", "service.embedded"],
            cwd=checkout,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert serving.stdout is not None
            address = next(filter(None, map(READY.search, serving.stdout)))[1]
            state = {"key": key, **fill(Client(address, key))}
        finally:
            serving.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                serving.wait(60)
        (HERE / "state.json").write_text(json.dumps(state, ensure_ascii=False, indent=1) + "\n")
        with tarfile.open(HERE / "state.tar.xz", "w:xz") as archive:
            for name in KEPT:
                archive.add(folder / name, name, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out sockets, and the user that made the files."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member if member.isfile() or member.isdir() else None


if __name__ == "__main__":
    main()
