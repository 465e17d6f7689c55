"""The commands that talk to a server, on a real one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from literati import ShapeTree, __version__
from literati.cli.app import app
from literati.client import Client, ConflictError, Job, Sweep
from tests.cli.conftest import Run
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.domain.validation import ValidationColumn


@pytest.fixture
def client(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Provide a client of the server that commands find in LITERATI_URL. What still runs is cancelled."""
    monkeypatch.setenv("LITERATI_URL", stack.url)
    with Client() as client:
        yield client
        records: list[Job | Sweep] = [*client.sweeps.list(), *client.jobs.list()]
        for record in records:
            if not record.ended:
                with suppress(ConflictError):
                    record.cancel()


@pytest.fixture
def dataset(client: Client, run: Run) -> str:
    pd.DataFrame(jobs.easy()).to_csv("easy.csv", index=False)
    return str(run("datasets", "upload", "easy.csv", "-t", "label").stdout.strip())


@pytest.fixture
def endless(client: Client, run: Run) -> str:
    pd.DataFrame(jobs.noise()).to_csv("noise.csv", index=False)
    return str(run("datasets", "upload", "noise.csv", "-t", "label", "--name", "noise").stdout.strip())


def read_json(result: Any) -> Any:
    return json.loads(result.stdout)


def test_datasets(client: Client, run: Run, loans: Path) -> None:
    words = ("datasets", "upload", loans, "--target", "repaid", "--type", "age:category", "--name", "Loans")
    result = run(*words)
    found = result.stdout.strip()
    assert result.stderr.splitlines()[0] == "8 rows, 3 columns, 2 classes."
    assert "Warning: Column 'opened' holds dates or times" in result.stderr
    data = read_json(run("datasets", "show", found, "--json"))
    assert data["name"] == "Loans"
    assert {column["name"]: column["type"] for column in data["columns"]}["age"] == "category"
    assert read_json(run(*words, "--json"))["id"] == found
    listed = run("datasets", "list")
    assert listed.stdout.splitlines()[0].split() == ["ID", "NAME", "ROWS", "COLUMNS", "TARGET", "CREATED"]
    assert found in listed.stdout
    assert found in {data["id"] for data in read_json(run("datasets", "list", "--json"))}
    told = run("datasets", "show", found).stdout
    assert f"dataset   {found}" in told
    assert "target    repaid (2 classes)" in told
    assert run("datasets", "delete", found).stderr.endswith(f"literati datasets restore {found}\n")
    assert "(status 404" in run("datasets", "show", found, code=3).stderr
    assert run("datasets", "restore", found).stdout.strip() == found
    piped = CliRunner().invoke(app, ["datasets", "upload", "-", *words[3:]], input=loans.read_bytes())
    assert client.datasets.get(piped.stdout.strip())["columns"] == data["columns"]
    error = run("datasets", "upload", loans, "-t", "repayed", code=2).stderr
    assert "Did you mean 'repaid'?" in error


def test_another_encoding(client: Client, run: Run, loans: Path) -> None:
    loans.write_bytes(loans.read_text().replace("nurse", "Ärztin").encode("windows-1252"))
    told = run("datasets", "upload", loans, "-t", "repaid", code=2).stderr
    assert "or name its encoding, for example --encoding windows-1252." in told
    encoding = ("--encoding", "windows-1252")
    found = run("datasets", "upload", loans, "-t", "repaid", *encoding).stdout.strip()
    assert client.datasets.get(found).preview()[2]["job"] == "Ärztin"
    model = run("jobs", "create", found, "--depth=1", "--watch").stdout.strip()
    run("models", "predict", model, loans, code=2)
    assert run("models", "predict", model, loans, *encoding).stdout.startswith("prediction\n")


def test_a_job_from_its_start_to_predictions(client: Client, run: Run, dataset: str) -> None:
    created = run("jobs", "create", dataset, "--depth=2", "--name", "first", "--tag", "a=b")
    job = created.stdout.strip()
    assert created.stderr == f"Watch it with: literati jobs watch {job}\n"
    watched = run("jobs", "watch", job, "--require-proof")
    model = watched.stdout.strip()
    objective = client.models.get(model).objective
    assert watched.stderr.splitlines()[1] == f"Objective {objective:g}, proven optimal."
    data = read_json(run("jobs", "show", job, "--json"))
    assert (data["state"], data["tags"], data["model_id"]) == ("SUCCEEDED", {"a": "b"}, model)
    assert data["parameters"]["max_depth"] == 2
    assert "gap          proven optimal" in run("jobs", "show", job).stdout
    assert job in {data["id"] for data in read_json(run("jobs", "list", "--state", "succeeded", "--json"))}
    tree = client.models.get(model).tree()
    assert run("jobs", "tree", job).stdout == run("models", "tree", model).stdout == tree.to_text()
    Path("model.json").write_text(run("models", "tree", model, "--json").stdout)
    assert ShapeTree.from_json(Path("model.json").read_text()) == tree
    here = run("predict", "model.json", "easy.csv", "--probabilities").stdout
    assert here == run("models", "predict", model, "easy.csv", "--probabilities").stdout
    assert model in run("models", "list").stdout
    assert "gap          proven optimal" in run("models", "show", model).stdout
    exported = run("models", "export", model, "--format", "python").stdout
    assert model in exported
    namespace: dict[str, Any] = {}
    exec(exported, namespace)
    run("models", "export", model, "--format", "onnx", "-o", "tree.onnx")
    assert Path("tree.onnx").stat().st_size > 100


def test_aliases(client: Client, run: Run, dataset: str) -> None:
    model = run("jobs", "create", dataset, "--depth=1", "--watch").stdout.strip()
    told = run("models", "alias", "production", model).stderr
    assert told == f"The alias production refers to {model}.\n"
    assert read_json(run("models", "alias", "--json"))["production"] == model
    assert f"production  {model}" in run("models", "alias").stdout
    assert run("models", "predict", "production", "easy.csv").stdout.startswith("prediction\n")
    run("models", "alias", "production", "--delete")
    assert "production" not in run("models", "alias").stdout
    run("models", "alias", "production", code=2)
    run("models", "alias", "--delete", code=2)
    run("models", "alias", "production", "mdl_none", code=3)
    assert "There is no such model" in run("models", "show", "production?a b#c", code=3).stderr
    told = run("models", "delete", "aliases/production", code=2).stderr
    assert told.startswith("Error: 'aliases/production' cannot be the id of a record or an alias")


def test_how_jobs_end(client: Client, run: Run, endless: str) -> None:
    job = run("jobs", "create", endless, "--depth=6", "--time-limit=600").stdout.strip()
    poll(lambda: client.jobs.get(job).progress["incumbents"], what="a tree")
    assert run("jobs", "list", "--limit", "1").stdout.count("job_") == 1
    late = run("jobs", "watch", job, "--timeout", "0.3", code=1)
    assert "has not ended in 0.3 s; it continues." in late.stderr
    assert run("jobs", "cancel", job).stdout.split()[0] == job
    assert f"The job {job} was cancelled." in run("jobs", "watch", job, code=7).stderr
    assert "status 409" in run("jobs", "finish", job, code=5).stderr
    watched = run(
        "jobs",
        "create",
        endless,
        "--depth=6",
        "--time-limit=600",
        "--until",
        "trees>=1",
        "--require-proof",
        code=9,
    )
    assert watched.stdout.startswith("mdl_")
    assert "Error: The tree is not proven optimal: the gap is" in watched.stderr
    assert "expected conditions such as" in run("jobs", "watch", job, "--until", "gap", code=2).stderr
    before = run("jobs", "list").stdout
    assert "expected conditions such as" in run("jobs", "create", endless, "--until", "gap", code=2).stderr
    assert run("jobs", "list").stdout == before
    problem = run("jobs", "create", endless, "--depth=3", "--validation", "2", code=2).stderr
    assert "status 422" in problem
    run("jobs", "create", "ds_none", code=3)


def test_a_job_that_fails(client: Client, run: Run, stack: Stack) -> None:
    """Its split keeps no row back, which the API refuses, so that it is put into the store."""
    cells = jobs.easy()
    cells["fold"] = [0] * len(cells["x"])
    stored = jobs.add_dataset(stack.store, stack.blobs, cells)
    spec = jobs.spec(stored, validation=ValidationColumn(column="fold"))
    job = stack.store.jobs.submit(spec).job.spec.id
    assert f"Error: The job {job} failed: " in run("jobs", "watch", job, code=6).stderr
    assert "FAILED" in run("jobs", "show", job).stdout


def test_finish(client: Client, run: Run, endless: str) -> None:
    job = run("jobs", "create", endless, "--depth=6", "--time-limit=600").stdout.strip()
    poll(lambda: client.jobs.get(job).progress["incumbents"], what="a tree")
    run("jobs", "finish", job)
    model = run("jobs", "watch", job).stdout.strip()
    assert client.models.get(model).job_id == job
    for kind, record in (("models", model), ("jobs", job)):
        run(kind, "delete", record)
        run(kind, "show", record, code=3)
        assert run(kind, "restore", record).stdout == f"{record}\n"
        run(kind, "show", record)


def test_interrupted_watching(stack: Stack, client: Client, run: Run, endless: str) -> None:
    job = run("jobs", "create", endless, "--depth=6", "--time-limit=600").stdout.strip()
    poll(lambda: client.jobs.get(job).state == "RUNNING", what="a running job")
    words = [sys.executable, "-m", "literati", "jobs", "watch", job]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"Watching job {job}. Ctrl-C ends the watching, not the job.\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        told = process.stderr.read()
    assert (
        f"Come back with:  literati jobs watch {job}\nStop it with:    literati jobs cancel {job}\n" in told
    )
    assert client.jobs.get(job).state == "RUNNING"


def test_sweeps(client: Client, run: Run, dataset: str) -> None:
    Path("request.json").write_text('{"validation": {"folds": 5, "seed": 1}, "refit": true}')
    words = ("--space", "max_depth=1,2", "--space", "split_penalty=[1, 2]", "--fixed", "max_changepoints=1")
    more = ("--folds", "2", "--time-limit", "60", "--name", "small", "--request", "request.json")
    created = run("sweeps", "create", dataset, *words, *more)
    sweep = created.stdout.strip()
    data = client.sweeps.get(sweep)
    assert data["space"]["max_depth"] == [1, 2]
    assert data["space"]["split_penalty"] == [1, 2]
    assert data["fixed"]["max_changepoints"] == 1
    assert (data["validation"]["folds"], data["validation"]["seed"]) == (2, 1)
    model = run("sweeps", "watch", sweep).stdout.strip()
    assert client.models.get(model).id == model
    assert "choice" in run("sweeps", "show", sweep).stdout
    board = run("sweeps", "leaderboard", sweep, "--limit", "2")
    assert board.stdout.splitlines()[0].split()[0] == "MEAN"
    assert len(board.stdout.splitlines()) == 3
    assert board.stderr.strip() == read_json(run("sweeps", "leaderboard", sweep, "--json"))["explanation"]
    assert sweep in run("sweeps", "list").stdout
    run("sweeps", "create", dataset, "--space", "max_depth", code=2)
    run("sweeps", "delete", sweep)
    run("sweeps", "show", sweep, code=3)
    assert run("sweeps", "restore", sweep).stdout == f"{sweep}\n"


def test_versions(client: Client, run: Run, stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_json(run("version", "--json"))
    assert found == {"client": __version__, "server": __version__, "api": "v1", "url": stack.url}
    with monkeypatch.context() as patch:
        patch.setattr("literati.client._sync.transport.__version__", "9.9.0")
        told = run("datasets", "list").stderr
    assert told.startswith(f"Warning: The server has version {__version__} and this client 9.9.0: ")


def test_ids_are_completed(client: Client, dataset: str) -> None:
    environment = {
        "_LITERATI_COMPLETE": "bash_complete",
        "COMP_WORDS": "literati datasets show ds",
        "COMP_CWORD": "3",
    }
    words = [sys.executable, "-m", "literati"]
    done = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert f"plain,{dataset}" in done.stdout.splitlines()
