"""The supervisor with its real children."""

from __future__ import annotations

import re
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.records import jobs
from tests.support.stack.embedded import PARTS, Embedded
from tests.support.stack.stack import poll
from worker.blobs.local import Blobs
from worker.domain.jobs import JobState
from worker.store import Store

LONG = {"max_depth": 6, "max_changepoints": 3}


def gone(processes: list[psutil.Process]) -> bool:
    return not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    embedded = Embedded(tmp_path_factory.mktemp("embedded"))
    try:
        embedded.wait_until_ready()
        yield embedded
    finally:
        embedded.stop()


def test_one_line_when_everything_answers(embedded: Embedded) -> None:
    url = embedded.wait_until_ready()
    assert httpx.get(f"{url}/readyz").status_code == 200
    assert embedded.err.read_text() == ""
    assert stat.S_IMODE(embedded.state.stat().st_mode) == 0o700
    assert {file.name for file in (embedded.state / "logs").iterdir()} == {
        "store.log",
        "worker.log",
        "api.log",
    }


@pytest.mark.parametrize("part", PARTS)
def test_a_killed_part_comes_back(embedded: Embedded, part: str) -> None:
    url = embedded.wait_until_ready()
    before = poll(lambda: embedded.leader(part))
    of_before = [before, *before.children(recursive=True)]
    before.kill()
    after = poll(lambda: (now := embedded.leader(part)) and now != before and now, seconds=60)
    assert after
    assert gone(of_before)
    assert f"The {part} was killed by SIGKILL" in embedded.err.read_text()

    def answers() -> bool:
        try:
            return httpx.get(f"{url}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    poll(answers, seconds=60)


def test_jobs_are_run(embedded: Embedded) -> None:
    store = embedded.store()
    dataset = jobs.add_dataset(store, Blobs(embedded.state / "blobs"), jobs.easy())
    job = store.jobs.submit(jobs.spec(dataset)).job

    def ended() -> bool:
        now = store.jobs.get(jobs.TENANT, job.spec.id)
        assert now is not None
        assert now.state is not JobState.FAILED, now.error
        return now.state is JobState.SUCCEEDED

    poll(ended, seconds=90, what="the job")


def test_a_second_one_on_the_same_folder_is_refused(embedded: Embedded, tmp_path: Path) -> None:
    second = Embedded(tmp_path, LITERATI_STATE_DIR=str(embedded.state))
    assert re.fullmatch(
        rf"Another Literati \(process {embedded.process.pid}\) uses the state folder .*\n", second.refusal()
    )
    assert embedded.process.poll() is None


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refusal = Embedded(tmp_path, LITERATI_PORT=str(port)).refusal()
    assert refusal == f"Port {port} on 127.0.0.1 is in use; set LITERATI_PORT to another one.\n"


def test_an_open_host_without_keys_is_refused(tmp_path: Path) -> None:
    embedded = Embedded(tmp_path, LITERATI_HOST="0.0.0.0")
    assert "python -m service.keys add NAME" in embedded.refusal()
    assert not embedded.state.exists()


def test_bad_settings_are_named(tmp_path: Path) -> None:
    refusal = Embedded(tmp_path, LITERATI_PORT="x", LITERATI_LEASE_SECONDS="-1").refusal()
    assert re.search(r"^LITERATI_PORT: .*\.$", refusal, re.MULTILINE)
    assert re.search(r"^LITERATI_LEASE_SECONDS: .*\.$", refusal, re.MULTILINE)


def test_a_store_elsewhere_that_does_not_answer_is_refused(tmp_path: Path) -> None:
    refusal = Embedded(tmp_path, REDIS_URL="redis://user:hidden@127.0.0.1:1/0").refusal()
    assert "REDIS_URL" in refusal
    assert "hidden" not in refusal


def test_a_store_that_cannot_start_shows_its_log(tmp_path: Path) -> None:
    files = tmp_path / "state" / "valkey" / "appendonlydir"
    files.mkdir(parents=True)
    (files / "appendonly.aof.manifest").write_text("nonsense\n")
    embedded = Embedded(tmp_path)
    refusal = embedded.refusal()
    assert "manifest" in refusal
    assert str(embedded.state / "logs" / "store.log") in refusal


def test_stopped_cleanly_started_again_and_killed(tmp_path: Path) -> None:
    first = Embedded(tmp_path)
    try:
        first.wait_until_ready()
        store = first.store()
        dataset = jobs.add_dataset(store, Blobs(first.state / "blobs"), jobs.noise())
        job_id = store.jobs.submit(jobs.spec(dataset, LONG, limits={"time_limit": None})).job.spec.id

        def seen(of: Store) -> int:
            job = of.jobs.get(jobs.TENANT, job_id)
            assert job is not None
            return job.progress.expansions if job.state is JobState.RUNNING else 0

        poll(lambda: seen(store) > 0, seconds=60, what="the search")
        family = first.family()
        assert len(family) >= 4
        first.process.terminate()
        assert first.process.wait(60) == 0
        assert gone(family)
        assert not (first.state / "valkey.sock").exists()
        assert first.err.read_text() == ""
    finally:
        first.stop()

    second = Embedded(tmp_path)
    try:
        second.wait_until_ready()
        store = second.store()
        job = store.jobs.get(jobs.TENANT, job_id)
        assert job is not None
        assert "WORKER_STOPPED" in [step.reason for step in job.transitions], "handed back, not lost"
        assert store.datasets.get(jobs.TENANT, dataset.id) == dataset
        before = job.progress.expansions
        poll(lambda: seen(store) >= before, seconds=60, what="the search again")
        family = second.family()
        if sys.platform == "linux":
            second.process.send_signal(signal.SIGKILL)
            second.process.wait()
            poll(lambda: gone(family), what="the end of all")
    finally:
        second.stop()
