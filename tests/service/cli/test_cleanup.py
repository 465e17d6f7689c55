"""`python -m service.cleanup`."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from service.cli.cleanup import age_seconds
from tests.support.paths import ROOT
from tests.support.records.jobs import TENANT, add_dataset, easy
from tests.support.records.model_maker import add_job, add_model, finish, mixed_tree
from tests.support.records.store_records import look, progress_update
from tests.support.stack.stack import Stack


def cleanup(stack: Stack, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "service.cleanup", *words]
    return subprocess.run(
        command, cwd=ROOT, env=stack.environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("text", "seconds"), [("30d", 2_592_000), ("1.5h", 5400), ("0s", 0), ("2w", 1_209_600)]
)
def test_ages(text: str, seconds: float) -> None:
    assert age_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1 d", "1y", "1e3d"])
def test_invalid_ages(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="30d"):
        age_seconds(text)


def test_jobs_and_datasets(api: Stack) -> None:
    add_model(api, mixed_tree())
    unused = add_dataset(api.store, api.blobs, easy(seed=1))
    live = add_job(api, mixed_tree())
    search = api.blobs.put(b"a saved search")
    done = add_job(api, mixed_tree())
    api.store.jobs.publish_progress(done.spec.id, done.epoch, progress_update(snapshot=search))
    finish(api, done)
    words = ["--ended-before", "0s", "--datasets-unused-for", "0s"]

    looked = cleanup(api, *words, "--dry-run")
    assert looked.stdout == "2 ended jobs would be deleted.\n3 unused datasets would be deleted.\n"
    assert len(api.store.jobs.list(TENANT).items) == 3

    assert cleanup(api, "--ended-before", "1d").stdout == "0 ended jobs deleted.\n"
    assert cleanup(api, *words).stdout == "2 ended jobs deleted.\n3 unused datasets deleted.\n"
    assert [job.spec.id for job in api.store.jobs.list(TENANT).items] == [live.spec.id]
    assert [found.id for found in api.store.datasets.list(TENANT).items] == [live.spec.dataset_id]
    assert len(api.store.models.list(TENANT).items) == 2
    assert not (api.blobs.folder / search[:2] / search).exists()
    assert not (api.blobs.folder / unused.blob[:2] / unused.blob).exists()


def test_searches(api: Stack) -> None:
    job = add_job(api, mixed_tree())
    api.store.jobs.publish_progress(
        job.spec.id, job.epoch, progress_update(snapshot=api.blobs.put(b"a saved search"))
    )
    finish(api, job)
    assert cleanup(api, "--searches-ended-before", "0s").stdout == "1 saved search deleted.\n"
    (kept,) = api.store.jobs.list(TENANT).items
    assert look(api.store, kept.spec.id).snapshot is None
    assert not api.store.blobs.unreferenced()


@pytest.mark.parametrize("words", [[], ["--dry-run"], ["--ended-before"], ["--ended-before", "soon"]])
def test_invalid_arguments(api: Stack, words: list[str]) -> None:
    assert cleanup(api, *words).returncode == 2


def test_no_store(api: Stack) -> None:
    command = [sys.executable, "-m", "service.cleanup", "--ended-before", "1d"]
    environment = {**api.environment, "REDIS_URL": "redis://:secret@127.0.0.1:1/0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "store does not answer" in done.stderr
    assert "secret" not in done.stderr
