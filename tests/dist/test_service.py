"""The service in a clean environment: from `literati serve` to a prediction, and the other commands."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

from literati.client import Client
from tests.support.clean_environment import VERSION, CleanEnvironment
from tests.support.paths import ROOT
from tests.support.stack.stack import poll

READY = re.compile(r"Literati is ready at (http://127\.0\.0\.1:\d+)\n")
LOANS = ROOT / "examples" / "loans.csv"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with modules of the names that the service uses."""
    folder = tmp_path_factory.mktemp("user")
    for name in ("service", "worker", "cli"):
        (folder / f"{name}.py").write_text("raise SystemExit('The wrong module was imported.')\n")
    return folder


@pytest.fixture(scope="module")
def url(service: CleanEnvironment, folder: Path) -> Iterator[str]:
    """Run `literati serve` and return its address. At the end, Ctrl-C must stop it."""
    out = folder / "out"
    with out.open("w") as file:
        process = subprocess.Popen(
            [service.bin / "literati", "serve", "--port", "0", "--state-dir", "state"],
            cwd=folder,
            env=service.variables,
            stdout=file,
            stderr=subprocess.STDOUT,
        )

    def look() -> re.Match[str] | None:
        assert process.poll() is None, out.read_text()
        return READY.search(out.read_text())

    try:
        yield poll(look, seconds=120, what="the ready line")[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def test_the_page_and_the_description_are_served(url: str) -> None:
    page = httpx.get(url).text
    assets = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page)
    assert "Literati" in page
    assert len(assets) >= 3
    assert [httpx.get(f"{url}{name}").status_code for name in assets] == [200] * len(assets)
    assert httpx.get(f"{url}/docs").status_code == 200
    assert httpx.get(f"{url}/openapi.json").json()["info"]["version"] == VERSION


def test_from_an_upload_to_a_prediction(url: str) -> None:
    with Client(url) as client:
        dataset = client.datasets.upload(LOANS, target="repaid")
        job = client.jobs.create(dataset, max_depth=2, time_limit=120)
        model = job.wait(timeout=150)
        assert job.state == "SUCCEEDED"
        assert model is not None
        assert model.proven_optimal
        rows = pd.read_csv(LOANS)
        truth = rows.pop("repaid")
        labels = model.predict(rows)
        assert (labels == truth).mean() > 0.6
        assert np.array_equal(labels, model.tree().predict(rows))


def test_single_processes_join_the_service(url: str, service: CleanEnvironment, folder: Path) -> None:
    shared = {"REDIS_URL": f"unix://{folder}/state/valkey.sock", "LITERATI_STATE_DIR": str(folder / "state")}
    for words, line in ((["worker"], " ready."), (["api"], "running on")):
        log = folder / f"{words[0]}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                [service.bin / "literati-server", *words],
                cwd=folder,
                env=service.variables | shared | {"LITERATI_PORT": "0"},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        try:
            poll(lambda line=line, log=log: line in log.read_text(), seconds=60, what=line)  # type: ignore[misc]
        finally:
            process.terminate()
            process.wait(60)


def test_the_commands_of_an_administrator(service: CleanEnvironment, folder: Path) -> None:
    keys = ("literati-server", "keys", "--file", "keys.json")
    added = service.run(*keys, "add", "laptop", folder=folder)
    assert re.fullmatch(r"lit_[\w-]+\n", added.stdout), added.stderr
    assert "laptop" in service.run(*keys, "list", folder=folder).stdout
    assert service.run("literati-server", "keys", "--help").stdout.startswith("usage: literati-server keys ")
    nothing = service.run("literati-server", "cleanup", folder=folder)
    assert (nothing.returncode, nothing.stderr.startswith("Choose what to delete")) == (2, True)
    assert service.run("literati-server", "--version").stdout.rstrip().endswith(VERSION)
    listed = service.run("python", "-m", "literati_server", "--help", folder=folder).stdout
    assert all(f"\n  {name} " in listed for name in ("api", "cleanup", "keys", "serve", "worker"))


def test_mistakes_are_explained(service: CleanEnvironment, folder: Path) -> None:
    port = service.run("literati", "serve", "--port", "99999", folder=folder)
    assert port.returncode == 2
    assert "99999 is not in the range" in port.stderr
    host = service.run("literati", "serve", "--host", "0.0.0.0", "--state-dir", "other", folder=folder)
    assert host.returncode == 1
    assert "`literati-server keys add NAME`" in host.stderr
