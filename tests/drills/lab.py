"""A stack on small disks, with a Prometheus that has the real alerts, for drills."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import httpx

from service.auth import key_file
from service.auth.key_file import Scope
from service.auth.key_store import KeyStore
from service.listen_address import free_port
from tests.chaos import supervision
from tests.chaos.cluster import Cluster
from tests.drills.page import Page
from tests.support.paths import ROOT
from tests.support.stack.stack import poll
from worker.processes.parent_death import kill_with_parent
from worker.store import Store

OBSERVABILITY = ROOT / "service" / "observability"
DISK_BYTES = 48 << 20
RESERVED_BYTES = 4_000_000
WAIT_SECONDS = 240.0  # the machine may be busy
LONG = {"parameters": {"max_depth": 6}, "limits": {"time_limit": 3600}}
CSV = "x,y\n" + "".join(f"{row},{'ab'[row % 7 > 3]}\n" for row in range(60))
_DRAW = random.Random(0)
NOISE = "u,v,w,y\n" + "".join(
    f"{_DRAW.random():.4f},{_DRAW.random():.4f},{_DRAW.random():.4f},{_DRAW.choice('abc')}\n"
    for _ in range(600)
)


def wait(look: Callable[[], Any], what: str) -> Any:
    return poll(look, seconds=WAIT_SECONDS, what=what)


class Disk:
    """A small file system that can be filled."""

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", path], check=True)
        self.path = path
        self._ballast = path / "ballast"

    def fill(self, leave: int = 0) -> None:
        """Write until only `leave` bytes are free."""
        with open(self._ballast, "ab", buffering=0) as file:
            while (free := shutil.disk_usage(self.path).free - leave) > 0:
                try:
                    file.write(bytes(min(free, 1 << 20)))
                except OSError:
                    return

    def free(self) -> None:
        self._ballast.unlink()

    def unmount(self) -> None:
        subprocess.run(["umount", "--lazy", self.path], check=True)


class Lab:
    """The stack. Drills use `api`, `metric`, `alert` and `page`."""

    def __init__(self, folder: Path, *, check: bool) -> None:
        supervision.START_SECONDS = WAIT_SECONDS
        self.folder = folder
        self.store_disk, self.blob_disk = Disk(folder / "valkey"), Disk(folder / "state")
        self.cluster = Cluster(
            folder,
            workers=1,
            children=1,
            lease=5.0,
            reconcile=0.5,
            LITERATI_MIN_FREE_BYTES=str(RESERVED_BYTES),
        )
        self.page = Page(check=check)
        self._check = check
        self.prometheus: Prometheus | None = None

    def __enter__(self) -> Self:
        self.cluster.start()
        key, entry = key_file.new_key("drills", "default", frozenset({Scope.ADMIN, Scope.TRAIN, Scope.READ}))
        KeyStore(Store(self.cluster.connection)).add(entry)
        self.client = httpx.Client(
            base_url=self.cluster.url, timeout=60.0, headers={"Authorization": f"Bearer {key}"}
        )
        self.prometheus = Prometheus(self.folder / "prometheus", self.cluster.url, key)
        wait(self.prometheus.has_samples, "samples in Prometheus, of which increases are computed")
        return self

    def __exit__(self, *_: object) -> None:
        if self.prometheus is not None:
            self.prometheus.stop()
        self.client.close()
        self.cluster.stop()
        for disk in (self.store_disk, self.blob_disk):
            disk.unmount()

    def drill(self, name: str, perform: Callable[[Lab], None]) -> dict[str, object]:
        print(f"{name}:", flush=True)
        start, self.page = time.monotonic(), Page(check=self._check)
        self.cluster.await_ready()
        perform(self)
        self.cluster.await_ready()
        return {"seconds": round(time.monotonic() - start, 1), "seen": self.page.seen}

    # Requests

    def upload(self, csv: str = CSV) -> httpx.Response:
        return self.client.post("/v1/datasets?target=y", content=csv, headers={"content-type": "text/csv"})

    def dataset(self, csv: str = CSV) -> str:
        answer = self.upload(csv)
        assert answer.status_code in (200, 201), answer.text
        return str(answer.json()["id"])

    def submit(self, dataset: str, **fields: Any) -> str:
        answer = self.client.post("/v1/jobs", json={"dataset_id": dataset, **fields})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def job(self, job_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/v1/jobs/{job_id}").json()
        return found

    def running(self, dataset: str) -> str:
        """Submit a job whose search takes long, and wait for its first tree."""
        job_id = self.submit(dataset, **LONG)
        wait(lambda: self.job(job_id).get("progress", {}).get("incumbents"), "a tree")
        return job_id

    def goes_on(self, job_id: str) -> None:
        """Wait until a running job has made progress."""
        before = wait(lambda: self.job(job_id).get("progress"), "the job")["expansions"]
        wait(
            lambda: self.job(job_id).get("progress", {}).get("expansions", 0) > before, "progress of the job"
        )

    def succeeds(self, job_id: str) -> None:
        """Wait until a job has succeeded, also while the API does not answer."""
        wait(lambda: self.job(job_id).get("state") == "SUCCEEDED", f"success of {job_id}")

    def end(self, *job_ids: str) -> None:
        for job_id in job_ids:
            self.client.post(f"/v1/jobs/{job_id}/cancel")

    def refusal(self, answer: httpx.Response, status: int) -> None:
        """Check the status of a refusal, and that the page has its sentence."""
        assert answer.status_code == status, (answer.status_code, answer.text)
        self.page.sees(f"{status}: {answer.json()['detail']}")

    # What an operator sees

    def metric(self, name: str, expected: Callable[[float], bool]) -> float:
        """Wait until the API reports a value."""

        def look() -> tuple[float] | None:
            answer = self.client.get("/metrics")
            found = re.search(rf"^{re.escape(name)} (\S+)$", answer.text, re.MULTILINE)
            return (float(found[1]),) if found and expected(float(found[1])) else None

        value: float = wait(look, f"the metric {name}")[0]
        return value

    def alert(self, name: str) -> None:
        """Wait until Prometheus has the alert."""
        assert self.prometheus is not None
        firing = self.prometheus.firing
        wait(lambda: name in firing(), f"the alert {name}")
        self.page.sees(f"`{name}`")

    def log(self, part: str, text: str) -> None:
        """Wait for a text in the log of `api`, `worker-0` or `valkey`; `*` is any of them."""

        def look() -> bool:
            return any(text in log.read_text(errors="replace") for log in self.folder.glob(f"{part}.log"))

        wait(look, f"{text!r} in the log of {part}")
        self.page.sees(text)

    def backup(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.command("backup", *words)

    def command(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the service."""
        return subprocess.run(
            [sys.executable, "-m", f"service.{name}", *words],
            cwd=ROOT,
            env=self.cluster.environment,
            capture_output=True,
            text=True,
            check=False,
        )


class Prometheus:
    """A Prometheus that scrapes twice a second and does not wait before it fires."""

    def __init__(self, folder: Path, target: str, key: str) -> None:
        folder.mkdir()
        rules = re.sub(r"\n +for: \w+", "", (OBSERVABILITY / "rules.yml").read_text())
        (folder / "rules.yml").write_text(rules)
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
            "rule_files: [rules.yml]\n"
            "scrape_configs:\n"
            f"  - {{job_name: literati, authorization: {{credentials: {key}}}, "
            f"static_configs: [{{targets: ['{httpx.URL(target).netloc.decode()}']}}]}}\n"
        )
        address = f"127.0.0.1:{free_port('127.0.0.1', 0)}"
        words = [
            "prometheus",
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
        ]
        with open(folder / "log", "wb") as log:
            self._process = subprocess.Popen(
                kill_with_parent([*words, f"--web.listen-address={address}"]), stdout=log, stderr=log
            )
        self._client = httpx.Client(base_url=f"http://{address}/api/v1", timeout=30.0)

    def firing(self) -> set[str]:
        try:
            found = self._client.get("alerts").json()["data"]["alerts"]
        except (httpx.TransportError, ValueError, KeyError):
            return set()
        return {alert["labels"]["alertname"] for alert in found if alert["state"] == "firing"}

    def has_samples(self, series: str = "literati_store_up") -> bool:
        """Return whether there are enough samples for an increase."""
        try:
            query = {"query": f"count_over_time({series}[1m]) > 2"}
            return bool(self._client.get("query", params=query).json()["data"]["result"])
        except (httpx.TransportError, ValueError, KeyError):
            return False

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._client.close()
