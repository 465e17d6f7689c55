"""`python -m service.backup`: a backup of a stack under load, restored while the load goes on."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

from service.cli import backup
from tests.support.paths import ROOT
from tests.support.records.jobs import add_dataset, noise
from tests.support.stack.stack import Stack, poll
from worker.blobs.local import Blobs
from worker.processes.valkey import ValkeyServer

EASY = {"parameters": {"max_depth": 2}, "limits": {"time_limit": 60}}
LONG = {"parameters": {"max_depth": 6}, "limits": {"time_limit": 600}}
ROWS = {"records": [{"x": value} for value in (-2, 0.5, 3, None)]}


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "service.cli.backup", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def table(seed: int) -> str:
    """Return a table that differs from those of other seeds."""
    lines = (f"{row % 23 + seed / 1000},{'ab'[row % 23 > 11]}\n" for row in range(60))
    return f"x,y\n{''.join(lines)}"


@dataclass
class Told:
    """What the API acknowledged and nobody deletes."""

    datasets: set[str] = field(default_factory=set)
    jobs: set[str] = field(default_factory=set)
    models: dict[str, Any] = field(default_factory=dict)  # predictions by model

    def copy(self) -> Told:
        return Told(set(self.datasets), set(self.jobs), dict(self.models))


class Load(threading.Thread):
    """Upload, train, predict and delete, as fast as the API answers."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(daemon=True)
        self.told = Told()
        self.lock = threading.Lock()  # held while `told` changes
        self.rounds = 0
        self.failure: BaseException | None = None
        self._client = stack.client()
        self._stopping = threading.Event()

    def wait_for(self, rounds: int) -> None:
        poll(lambda: self.rounds >= rounds or self.failure, seconds=120, what=f"round {rounds} of the load")
        assert self.failure is None, self.failure

    def snapshot(self) -> Told:
        with self.lock:
            return self.told.copy()

    def run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._round(self.rounds)
                self.rounds += 1
        except BaseException as error:
            self.failure = error

    def _round(self, number: int) -> None:
        dataset, short_lived = (self._upload(2 * number + part) for part in (1, 2))
        job = self._post("/v1/jobs", {"dataset_id": dataset, **EASY})["id"]
        with self.lock:
            self.told.datasets |= {dataset}
            self.told.jobs |= {job}
        assert self._client.delete(f"/v1/datasets/{short_lived}").status_code == 204
        if number % 5 == 0:
            ended = poll(lambda: self._ended(job), seconds=90, what="the end of a job")
            answer = self._post(f"/v1/models/{ended['model_id']}/predict", ROWS)["predictions"]
            with self.lock:
                self.told.models[ended["model_id"]] = answer

    def _ended(self, job: str) -> dict[str, Any] | None:
        found: dict[str, Any] = self._client.get(f"/v1/jobs/{job}").json()
        return found if found["state"] == "SUCCEEDED" else None

    def _upload(self, seed: int) -> str:
        answer = self._client.post(
            "/v1/datasets?target=y", content=table(seed), headers={"content-type": "text/csv"}
        )
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._client.post(path, json=body)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self.join()
        self._client.close()
        assert self.failure is None, self.failure


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Provide a stack that deletes what is deleted at once."""
    settings = {"LITERATI_RECONCILE_SECONDS": "0.1", "LITERATI_KEEP_DELETED_HOURS": "0"}
    more = {"LITERATI_LEASE_SECONDS": "5", "LITERATI_WORKER_CONCURRENCY": "2"}
    with Stack.with_worker_and_api(tmp_path_factory.mktemp("old"), server=None, **settings, **more) as stack:
        yield stack


def test_refusals(
    loaded: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refusal(*words: str) -> str:
        assert backup.main(list(words)) == 1
        return capsys.readouterr().err

    def done(*words: str) -> str:
        assert backup.main(list(words)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    for name in ("REDIS_URL", "LITERATI_STATE_DIR"):
        monkeypatch.setenv(name, loaded.environment[name])
    add_dataset(loaded.store, loaded.blobs, noise())
    folder, new = str(tmp_path / "backups"), str(tmp_path / "new")
    done("create", folder)
    assert "is intact: 1 blobs and the records" in done("verify", folder)

    assert "Say --store-dir" in refusal("restore", folder)
    monkeypatch.delenv("REDIS_URL")
    assert "--existing-blobs" in refusal("restore", folder)
    assert "is not empty" in refusal("restore", folder, "--store-dir", str(loaded.server.folder))

    (blob,) = Blobs(tmp_path / "backups" / "blobs").names()
    (tmp_path / "backups" / "blobs" / blob[:2] / blob).write_bytes(b"damaged")
    sentence = f"1 blob is missing or damaged: {blob}. Nothing was restored."
    assert sentence in refusal("restore", folder, "--state-dir", new)
    assert not Path(new).exists()
    assert "1 blob is missing" in refusal("verify", folder)
    done("restore", folder, "--state-dir", new, "--without-damaged")

    (only,) = (path for path in (tmp_path / "backups").iterdir() if path.name != "blobs")
    (only / "manifest.json").unlink()
    interrupted = refusal("restore", folder, "--state-dir", str(tmp_path / "newer"))
    assert "has no manifest: it was interrupted" in interrupted
    assert done("list", folder) == f"{only.name}  incomplete\n"
    monkeypatch.setenv("REDIS_URL", "unix:///nowhere")
    assert "The store cannot be used" in refusal("create", folder)


def test_under_load(loaded: Stack, tmp_path: Path) -> None:
    long = add_dataset(loaded.store, loaded.blobs, noise())
    folder, new = str(tmp_path / "backups"), tmp_path / "new"
    with loaded.client() as client, Load(loaded) as load:
        long_job = client.post("/v1/jobs", json={"dataset_id": long.id, **LONG}).json()["id"]
        load.wait_for(3)
        before, rounds = load.snapshot(), load.rounds
        bounds = client.get(f"/v1/jobs/{long_job}").json()["progress"]
        made = run(loaded.environment, "create", folder)
        assert made.returncode == 0, made.stderr
        assert "is complete after" in made.stdout
        deleted_during = load.rounds - rounds
        first_blobs = set(Blobs(Path(folder) / "blobs").names())
        load.wait_for(rounds + deleted_during + 2)
        environment = {name: value for name, value in loaded.environment.items() if name != "REDIS_URL"}
        restored = run(environment, "restore", folder, "--state-dir", str(new))
        assert restored.returncode == 0, restored.stderr
        again = run(loaded.environment, "create", folder, "--keep", "2")
        assert again.returncode == 0, again.stderr
        assert f"{len(first_blobs)} are new" not in again.stdout
    # The old stack goes on with its own state; the new one starts beside it.
    with (
        ValkeyServer(new / "valkey") as server,
        Stack.with_worker_and_api(
            tmp_path / "run",
            server=server,
            LITERATI_STATE_DIR=str(new),
            LITERATI_LEASE_SECONDS="5",
        ) as stack,
        stack.client() as client,
    ):
        check(stack, client, before, Blobs(new / "blobs"))
        job = poll(lambda: continued(client, long_job, bounds), seconds=60, what="the job goes on")
        assert job["progress"]["upper_bound"] <= bounds["upper_bound"]
        assert client.post(f"/v1/jobs/{long_job}/cancel").is_success


def continued(client: httpx.Client, job_id: str, before: dict[str, Any]) -> dict[str, Any] | None:
    job: dict[str, Any] = client.get(f"/v1/jobs/{job_id}").json()
    further = job["progress"]["expansions"] > before["expansions"]
    return job if job["state"] == "RUNNING" and further else None


def check(stack: Stack, client: httpx.Client, before: Told, blobs: Blobs) -> None:
    """Check that everything that was acknowledged before the backup is there."""
    for kind, identities in (("datasets", before.datasets), ("jobs", before.jobs), ("models", before.models)):
        for identity in identities:
            assert client.get(f"/v1/{kind}/{identity}").status_code == 200, (kind, identity)
    assert len(before.models) > 0
    for model, predictions in before.models.items():
        answer = client.post(f"/v1/models/{model}/predict", json=ROWS)
        assert answer.json()["predictions"] == predictions
    names = stack.store.blobs.referenced()
    assert len(names) >= len(before.datasets)
    for name in names:
        assert hashlib.sha256(blobs.get(name)).hexdigest() == name
