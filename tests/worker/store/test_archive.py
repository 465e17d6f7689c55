"""Ended jobs and models move from Redis to the blobs, and every read and change still finds them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.support.records import jobs, sweeps
from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    add_dataset,
    look,
    progress_update,
    run,
    spec,
    submit,
    wait_until,
)
from worker.blobs.local import Blobs
from worker.blobs.s3 import BucketBlobs, BucketUnavailableError
from worker.domain.errors import ArchiveMissingError, JobNotFoundError, RevisionNotFoundError, WrongStateError
from worker.domain.jobs import Job, JobState
from worker.processes.valkey import ValkeyServer
from worker.reconciler import Reconciler
from worker.store import Store
from worker.store.client import connect
from worker.store.jobs import JobFilter
from worker.store.packed_records import long_form, short_form
from worker.sweeps.fold_trees import fold_tree, held_out_predictions

MODEL_FIELDS = {"name", "notes", "tags"}


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


@pytest.fixture
def store(client: redis.Redis, blobs: Blobs) -> Store:
    return Store(client, blobs=blobs)


def end(store: Store, trees: int = 3, **fields: Any) -> Job:
    """Return an ended job with some trees and a model."""
    claim = run(store, **fields)
    for objective in range(9, 9 - trees + 1, -1):
        update = progress_update(upper=objective, objective=float(objective), expansions=20 - objective)
        store.jobs.publish_progress(claim.spec.id, claim.epoch, update)
    last = progress_update(upper=1.0, lower=0.5, expansions=30, log="the end — né", snapshot="c" * 64)
    store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS, last)
    return look(store, claim.spec.id)


def archive(store: Store, blobs: Blobs, age: float = 0.0) -> int:
    return store.archiver.archive(blobs, age, max_seconds=60.0)


def everything(store: Store, job: Job) -> dict[str, Any]:
    """Return what every reading method of the store says about a job and its model."""
    tenant, job_id, found = job.spec.tenant, job.spec.id, look(store, job.spec.id)
    answers: dict[str, Any] = {"job": found, "list": store.jobs.list(tenant)}
    for state in (JobState.SUCCEEDED, JobState.FAILED):
        answers[f"list {state}"] = store.jobs.list(tenant, states=[state])
    for wanted in (JobFilter(dataset_id=job.spec.dataset_id), JobFilter(name="n"), JobFilter(tags=("a:b",))):
        answers[repr(wanted)] = store.jobs.list(tenant, wanted=wanted)
    answers["best"] = store.jobs.incumbent(tenant, job_id)
    for revision in range(found.progress.incumbents + 2):
        answers[f"tree {revision}"] = store.jobs.incumbent(tenant, job_id, revision)
    answers["scores"] = [store.jobs.incumbent_scores(tenant, job_id, most) for most in (2, 1000)]
    answers["trace"] = store.jobs.trace(tenant, job_id)
    events = store.jobs.events(tenant, job_id, None, 1000)
    answers["events"] = events
    for event in events.events:
        answers[f"after {event.id}"] = store.jobs.events(tenant, job_id, event.id, 2)
    answers["long ago"] = store.jobs.events(tenant, job_id, "5", 2)
    if found.model_id is not None:
        answers["model"] = store.models.get(tenant, found.model_id)
        answers["model tree"] = store.models.tree(tenant, found.model_id)
        answers["models"] = store.models.list(tenant)
        answers["models of"] = store.models.list(tenant, dataset_id=job.spec.dataset_id)
    return answers


def make_due(client: redis.Redis, index: str) -> None:
    """Give the members of an index a time long ago."""
    members: Any = client.zrange(index, 0, -1)
    for member in members:
        client.zadd(index, {member: 1})


def all_keys(client: redis.Redis, job_id: str) -> list[bytes]:
    return sorted(client.scan_iter(f"literati:job:{job_id}*"))


def test_every_answer_stays_the_same(store: Store, client: redis.Redis, blobs: Blobs) -> None:
    job = end(store, name="n", tags={"a": "b"}, notes="α " * 100)
    before = everything(store, job)
    assert len(all_keys(client, job.spec.id)) == 7
    assert archive(store, blobs) == 2
    assert all_keys(client, job.spec.id) == [f"literati:job:{job.spec.id}".encode()]
    assert everything(store, job) == before
    for key in (f"literati:job:{job.spec.id}", f"literati:model:{job.model_id}"):
        assert client.object("encoding", key) == b"listpack"
    assert archive(store, blobs) == 0


def test_jobs_without_a_tree(store: Store, client: redis.Redis, blobs: Blobs) -> None:
    cancelled = submit(store)
    store.jobs.control(TENANT, cancelled.spec.id, "cancel")
    before = everything(store, cancelled)
    assert archive(store, blobs) == 1
    assert everything(store, cancelled) == before
    assert store.jobs.control(TENANT, cancelled.spec.id, "cancel").repeated
    with pytest.raises(WrongStateError):
        store.jobs.control(TENANT, cancelled.spec.id, "resume")


def test_only_what_has_ended_for_long_enough(store: Store, client: redis.Redis, blobs: Blobs) -> None:
    claim = run(store)
    made = store.models.make(TENANT, claim.spec.id, 1).model
    assert archive(store, blobs, age=3600) == 0
    assert archive(store, blobs) == 1, "the model"
    assert store.models.get(TENANT, made.id) == made
    store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS)
    assert archive(store, blobs, age=3600) == 0
    assert archive(store, blobs, age=float("inf")) == 0
    assert archive(store, blobs) == 2


def test_a_store_of_an_earlier_version_waits(store: Store, client: redis.Redis, blobs: Blobs) -> None:
    """An earlier version that still runs beside this one cannot read archives, nor does it index jobs."""
    job = end(store)
    client.delete("literati:archivable")
    assert archive(store, blobs, age=0.5) == 0
    wait_until(lambda: archive(store, blobs, age=0.5) == 2)
    assert look(store, job.spec.id) == job


def test_a_new_store_need_not_wait(store: Store, client: redis.Redis, blobs: Blobs) -> None:
    assert archive(store, blobs, age=3600) == 0
    assert client.get("literati:archive-since") == b"0"


class TestChanges:
    """What changes an archived job moves it back to Redis first."""

    def test_settings(self, store: Store, blobs: Blobs) -> None:
        job = end(store)
        archive(store, blobs)
        same = store.jobs.change(TENANT, job.spec.id, lambda settings: settings)
        assert same == job
        changed = store.jobs.change(
            TENANT,
            job.spec.id,
            lambda settings: settings.model_copy(update={"name": "new"}),
            revision=lambda revision: revision == job.revision,
        )
        assert (changed.settings.name, changed.revision) == ("new", job.revision + 1)
        before = everything(store, changed)
        assert archive(store, blobs) == 1
        assert everything(store, changed) == before

    def test_a_model_of_an_earlier_tree(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        job = end(store)
        archive(store, blobs)
        made = store.models.make(TENANT, job.spec.id, 2)
        assert made.created
        assert not store.models.make(TENANT, job.spec.id, 2).created
        assert look(store, job.spec.id) == job
        with pytest.raises(RevisionNotFoundError):
            store.models.make(TENANT, job.spec.id, 9)
        before = everything(store, job), store.models.tree(TENANT, made.model.id)
        assert archive(store, blobs) == 2
        assert (everything(store, job), store.models.tree(TENANT, made.model.id)) == before
        assert not store.models.make(TENANT, job.spec.id, 2).created
        finished = store.jobs.control(TENANT, job.spec.id, "finish", revision=1)
        assert finished.model_created
        archive(store, blobs)
        assert look(store, job.spec.id) == finished.job
        assert store.jobs.control(TENANT, job.spec.id, "finish", revision=1).repeated

    def test_what_comes_back_is_what_was_there(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        job = end(store)
        key = f"literati:job:{job.spec.id}"
        parts = {
            name: client.dump(name) if b"incumbent" not in name and name != key.encode() else None
            for name in all_keys(client, job.spec.id)
        }
        fields = client.hgetall(key)
        archive(store, blobs)
        with pytest.raises(RevisionNotFoundError):
            store.models.make(TENANT, job.spec.id, 9)
        assert client.hgetall(key) == fields
        assert sorted(parts) == all_keys(client, job.spec.id)
        for part in (b":trace", b":models"):
            assert client.dump(key.encode() + part) == parts[key.encode() + part]

    def test_labels_of_a_model(self, store: Store, blobs: Blobs) -> None:
        job = end(store)
        assert job.model_id is not None
        archive(store, blobs)
        tree = store.models.tree(TENANT, job.model_id)
        changes = {"name": "né " * 60, "notes": "x", "tags": {"a": "b"}}
        changed = store.models.change(TENANT, job.model_id, lambda _: changes)
        assert {name: getattr(changed, name) for name in MODEL_FIELDS} == changes
        assert store.models.list(TENANT).items[0].notes == "x"
        assert store.models.tree(TENANT, job.model_id) == tree

    def test_a_submission_that_is_repeated(self, store: Store, blobs: Blobs) -> None:
        data = add_dataset(store)
        new = spec(data)
        store.jobs.submit(new, idempotency_key="k", body_digest="1")
        claim = store.jobs.claim("worker")
        assert claim is not None
        store.jobs.finish(new.id, claim.epoch, SUCCESS, progress_update(objective=3.0))
        job = look(store, new.id)
        archive(store, blobs)
        repeated = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1")
        assert (repeated.job, repeated.created) == (job, False)
        assert store.jobs.submitted_before(TENANT, "k", "1") == job


class TestDeletion:
    def blob_of(self, client: redis.Redis, key: str) -> str:
        name = client.hget(key, "archive")
        assert isinstance(name, bytes)
        return name.hex()

    def collect(self, store: Store, blobs: Blobs) -> None:
        Reconciler(store, lambda _: None, blobs).run_once()

    def test_for_good(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        job = end(store)
        archive(store, blobs)
        of_job = self.blob_of(client, f"literati:job:{job.spec.id}")
        of_model = self.blob_of(client, f"literati:model:{job.model_id}")
        store.jobs.delete(TENANT, job.spec.id)
        self.collect(store, blobs)
        assert not (blobs.folder / of_job[:2] / of_job).exists()
        assert job.model_id is not None
        assert store.models.tree(TENANT, job.model_id) is not None, "models stay"
        store.models.delete(TENANT, job.model_id)
        self.collect(store, blobs)
        assert not (blobs.folder / of_model[:2] / of_model).exists()
        assert client.hlen("literati:blob-references") == 1, "the dataset"
        assert not client.exists("literati:archives")
        with pytest.raises(JobNotFoundError):
            store.jobs.trace(TENANT, job.spec.id)

    @pytest.mark.parametrize("first", ["archive", "delete"])
    def test_and_restored(self, store: Store, client: redis.Redis, blobs: Blobs, first: str) -> None:
        job = end(store)
        assert job.model_id is not None
        before = everything(store, job)
        if first == "archive":
            archive(store, blobs)
        store.jobs.delete(TENANT, job.spec.id, keep=True)
        store.models.delete(TENANT, job.model_id, keep=True)
        assert archive(store, blobs) == 0
        self.collect(store, blobs)
        assert store.jobs.get(TENANT, job.spec.id) is None
        store.models.restore(TENANT, job.model_id)
        store.jobs.restore(TENANT, job.spec.id)
        assert everything(store, job) == before
        archive(store, blobs)
        assert everything(store, job) == before
        store.jobs.delete(TENANT, job.spec.id, keep=True)
        assert store.retention.expire("deleted", 0.0, 10) == 1
        self.collect(store, blobs)
        assert len([*blobs.folder.glob("??/*")]) == 1, "the model"

    def test_by_age(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        job = end(store)
        archive(store, blobs)
        assert store.retention.expire("searches", 0.0, 10) == 1
        assert look(store, job.spec.id) == job.model_copy(update={"snapshot": None})
        changed = store.jobs.change(
            TENANT, job.spec.id, lambda settings: settings.model_copy(update={"name": "n"})
        )
        assert changed.snapshot is None, "it does not come back from the archive"
        archive(store, blobs)
        assert store.retention.expire("jobs", 0.0, 10) == 1
        self.collect(store, blobs)
        assert len([*blobs.folder.glob("??/*")]) == 2, "the model, and the first archive for some minutes"
        time.sleep(0.01)
        store.scripts.run("begin_archive", "e" * 64, 1)
        self.collect(store, blobs)
        assert len([*blobs.folder.glob("??/*")]) == 1, "the model"


class TestFaults:
    """A process may be killed between any two steps, and several may archive at the same time."""

    def interrupt(self, store: Store, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
        """Let the process end, as if it were killed, when it is about to run this script."""
        runs = store.archiver._scripts.run

        def run(name: str, *arguments: Any) -> Any:
            if name == script:
                raise KeyboardInterrupt
            return runs(name, *arguments)

        monkeypatch.setattr(store.archiver._scripts, "run", run)

    @pytest.mark.parametrize("step", ["begin_archive", "archive"])
    def test_a_killed_process(
        self, client: redis.Redis, store: Store, blobs: Blobs, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        job = end(store)
        before = everything(store, job)
        with monkeypatch.context() as patch:
            self.interrupt(store, patch, step)
            with pytest.raises(KeyboardInterrupt):
                archive(store, blobs)
        left = [*blobs.folder.glob("??/*")]
        assert len(left) == (step == "archive")
        assert everything(store, job) == before
        assert archive(store, blobs) == 0, "what was given to the killed process is not due yet"
        for index in ("literati:archivable", "literati:archives-pending"):  # ten minutes later
            make_due(client, index)
        assert archive(store, blobs) == 2
        assert everything(store, job) == before
        Reconciler(store, lambda _: None, blobs).run_once()
        assert len([*blobs.folder.glob("??/*")]) == 2, "what the killed process wrote is deleted"
        assert client.hlen("literati:blob-references") == 2, "the dataset and the search"
        assert client.scard("literati:archives") == 2

    @pytest.mark.parametrize("change", ["delete", "rename", "model", "archive"])
    def test_a_change_meanwhile(
        self, server: ValkeyServer, client: redis.Redis, store: Store, blobs: Blobs, change: str
    ) -> None:
        job = end(store)
        other = Store(connect(server.url), blobs=blobs)

        def interfere() -> None:
            if change == "delete":
                other.jobs.delete(TENANT, job.spec.id, keep=True)
            elif change == "rename":
                other.jobs.change(TENANT, job.spec.id, lambda s: s.model_copy(update={"name": "n"}))
            elif change == "model":
                other.models.make(TENANT, job.spec.id, 1)
            else:
                other.archiver.archive_record(blobs, job.spec.id)

        class Interfering(Blobs):
            def put(self, content: bytes) -> str:
                interfere()
                return super().put(content)

        assert not store.archiver.archive_record(Interfering(blobs.folder), job.spec.id)
        if change == "delete":
            store.jobs.restore(TENANT, job.spec.id)
        now = everything(store, job)
        archive(store, blobs)
        assert everything(store, job) == now
        assert now["job"].settings.name == ("n" if change == "rename" else None)
        Reconciler(store, lambda _: None, blobs).run_once()
        records = [*client.scan_iter("literati:job:*"), *client.scan_iter("literati:model:*")]
        assert len([*blobs.folder.glob("??/*")]) == len(records)
        assert client.zcard("literati:archives-pending") == 0

    def test_a_slow_process_is_refused(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        job = end(store)

        class Slow(Blobs):
            def put(self, content: bytes) -> str:
                name = hashlib.sha256(content).hexdigest()
                client.zadd("literati:archives-pending", {name: 1})  # it has taken more than ten minutes
                store.archiver._scripts.run("begin_archive", "d" * 64, 600_000)
                return super().put(content)

        assert not store.archiver.archive_record(Slow(blobs.folder), job.spec.id)
        assert look(store, job.spec.id) == job

    def test_a_script_that_is_repeated(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        job = end(store)
        run = store.archiver._scripts.run

        def twice(name: str, *arguments: Any) -> Any:
            run(name, *arguments)
            return run(name, *arguments)

        store.archiver._scripts.run = twice  # type: ignore[method-assign]
        assert store.archiver.archive_record(blobs, job.spec.id)
        assert client.hvals("literati:blob-references") == [b"1"] * 2
        assert client.scard("literati:archives") == 1

    def test_a_repetition_that_comes_late(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        """The server may receive the first copy of a repeated command after everything else."""
        job = end(store)
        archive(store, blobs)
        before = everything(store, job)
        members: Any = client.smembers("literati:archives")
        name = members.pop().hex()
        begin = partial(store.archiver._scripts.run, "begin_archive")
        begin(name, 600_000)
        assert client.zcard("literati:archives-pending") == 0
        begin("d" * 64, 0)
        begin("e" * 64, 0)
        Reconciler(store, lambda _: None, blobs).run_once()
        assert everything(store, job) == before

    def test_archives_that_a_program_of_format_3_counted(
        self, store: Store, client: redis.Redis, blobs: Blobs
    ) -> None:
        job = end(store)
        archive(store, blobs)
        members: Any = client.smembers("literati:archives")
        for raw in members:
            client.hset("literati:blob-references", raw.hex(), 1)
        client.delete("literati:archives")
        Reconciler(store, lambda _: None, blobs).run_once()
        assert len(store.blobs.referenced()) == 4, "the dataset, the search and two archives"
        assert look(store, job.spec.id) == job
        store.jobs.delete(TENANT, job.spec.id)
        Reconciler(store, lambda _: None, blobs).run_once()
        assert len([*blobs.folder.glob("??/*")]) == 1, "the archive of the model"
        assert client.hlen("literati:blob-references") == 2, "the dataset and the archive of the model"

    def test_a_read_while_a_job_comes_back(self, server: ValkeyServer, store: Store, blobs: Blobs) -> None:
        """The archive is gone when it is to be read, because the job was changed meanwhile."""
        job = end(store)
        archive(store, blobs)
        before = everything(store, job)
        other = Store(connect(server.url), blobs=Blobs(blobs.folder))
        moves: list[str] = []

        class Moving(Blobs):
            def path(self, name: str) -> Path:
                if not moves:
                    moves.append(name)
                    with pytest.raises(RevisionNotFoundError):
                        other.models.make(TENANT, job.spec.id, 9)
                    time.sleep(0.01)
                    other.scripts.run("begin_archive", "e" * 64, 1)  # ten minutes later
                    Reconciler(other, lambda _: None, blobs).run_once()
                return super().path(name)

        reader = Store(connect(server.url), blobs=Moving(blobs.folder))
        for read in (
            lambda: reader.jobs.trace(TENANT, job.spec.id) == before["trace"],
            lambda: reader.jobs.incumbent(TENANT, job.spec.id) == before["best"],
            lambda: reader.jobs.events(TENANT, job.spec.id, None, 1000) == before["events"],
            lambda: reader.jobs.incumbent_scores(TENANT, job.spec.id, 1000) == before["scores"][1],
            lambda: reader.jobs.get(TENANT, job.spec.id) == job,
        ):
            assert read()
            assert moves, "the job was moved back while it was read"
            moves.clear()
            assert archive(store, blobs) == 1

    @pytest.mark.parametrize(
        "change", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1] + b"?")]
    )
    def test_a_lost_or_damaged_blob(
        self, store: Store, client: redis.Redis, blobs: Blobs, change: Callable[[Path], object]
    ) -> None:
        job = end(store)
        archive(store, blobs)
        for path in blobs.folder.glob("??/*"):
            change(path)
        assert len(store.jobs.list(TENANT).items) == len(store.models.list(TENANT).items) == 1
        for read in (store.jobs.get, store.jobs.incumbent, store.jobs.trace, store.jobs.events):
            with pytest.raises(ArchiveMissingError):
                read(TENANT, job.spec.id)
        store.jobs.delete(TENANT, job.spec.id)
        assert not all_keys(client, job.spec.id)

    def test_a_damaged_record_stays(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        job, other = end(store), end(store)
        client.hset(f"literati:job:{job.spec.id}:incumbent:1", "tree", "damaged")
        assert archive(store, blobs) == 3
        assert look(store, job.spec.id) == job
        assert all_keys(client, other.spec.id) == [f"literati:job:{other.spec.id}".encode()]

    def test_a_server_without_memory(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        """Archiving makes room, so it must not need room."""
        archive(store, blobs)  # of a new store, so that there is nothing to index
        job = end(store)
        client.config_set("maxmemory", 1)
        try:
            with pytest.raises(redis.ResponseError, match="maxmemory"):
                submit(store)
            assert archive(store, blobs) == 2
        finally:
            client.config_set("maxmemory", 0)
        assert look(store, job.spec.id) == job

    def test_a_change_without_memory(self, store: Store, client: redis.Redis, blobs: Blobs) -> None:
        """A job does not come back to a server that has no room for it, and stays as it was."""
        job = end(store)
        before = everything(store, job)
        archive(store, blobs)
        client.config_set("maxmemory", 1)
        try:
            with pytest.raises(redis.ResponseError, match="maxmemory"):
                store.models.make(TENANT, job.spec.id, 2)
            assert everything(store, job) == before
        finally:
            client.config_set("maxmemory", 0)
        assert all_keys(client, job.spec.id) == [f"literati:job:{job.spec.id}".encode()]
        assert store.models.make(TENANT, job.spec.id, 2).created


class TestSweeps:
    """The jobs of a sweep are archived too, and the sweep still finds their trees."""

    @pytest.mark.parametrize("penalties", [None, [0.0, 3.0]])
    def test_trees_of_folds(
        self, store: Store, client: redis.Redis, blobs: Blobs, penalties: list[float] | None
    ) -> None:
        dataset = jobs.add_dataset(store, blobs, jobs.easy(100))
        space: dict[str, Any] = {"max_depth": [1], "max_changepoints": [1]}
        if penalties is not None:
            space["split_penalty"] = penalties
        new = sweeps.spec(dataset, space=space, validation={"folds": 2})
        sweeps.submit(store, new)
        sweeps.run_all(store, blobs)
        sweep, results = sweeps.look(store, new.id), store.sweeps.results(new.id)
        assert sweep.choice is not None

        def read() -> list[Any]:
            found = [fold_tree(store, blobs, sweep, results, 0, fold) for fold in range(2)]
            listed = store.jobs.list(TENANT, sweep_id=new.id)
            events = store.sweeps.events(TENANT, new.id)
            return [*found, listed, held_out_predictions(store, blobs, sweep, dataset), events]

        before = read()
        children = [job.spec.id for job in store.jobs.list(TENANT, sweep_id=new.id).items]
        assert archive(store, blobs) == len(children) + 1
        assert read() == before
        store.sweeps.delete(TENANT, new.id)
        Reconciler(store, lambda _: None, blobs).run_once()
        assert len([*blobs.folder.glob("??/*")]) == 2, "the dataset and the model"
        assert not list(client.scan_iter("literati:job:*"))

    def test_a_job_whose_end_its_sweep_has_not_seen(
        self, store: Store, client: redis.Redis, blobs: Blobs
    ) -> None:
        dataset = jobs.add_dataset(store, blobs, jobs.easy(100))
        new = sweeps.spec(dataset, space={"max_depth": [1], "max_changepoints": [1]}, refit=False)
        sweeps.submit(store, new)
        job = sweeps.run_next(store, blobs)
        assert job is not None
        client.sadd(f"literati:sweep:{new.id}:live", job.spec.id)  # as if the script had failed before
        assert archive(store, blobs) == 0
        store.sweeps.reconcile()
        client.zadd("literati:archivable", {job.spec.id: 1})
        archive(store, blobs)
        assert client.hexists(f"literati:job:{job.spec.id}", "archive")


def test_blobs_in_a_bucket(client: redis.Redis, bucket: BucketBlobs) -> None:
    store = Store(client, blobs=bucket)
    job = end(store)
    before = everything(store, job)
    assert archive(store, bucket) == 2
    assert everything(store, job) == before
    store.jobs.delete(TENANT, job.spec.id)
    Reconciler(store, lambda _: None, bucket).run_once()
    assert len([*bucket.names()]) == 1, "the model"


def test_the_reconciler_archives(store: Store, client: redis.Redis, blobs: Blobs) -> None:
    job = end(store)

    class Unavailable(Blobs):
        def put(self, content: bytes) -> str:
            raise BucketUnavailableError("no answer")

    Reconciler(store, lambda _: None, Unavailable(blobs.folder), archive_after_hours=0.0).archive()
    assert look(store, job.spec.id) == job
    make_due(client, "literati:archivable")
    Reconciler(store, lambda _: None, blobs, archive_after_hours=0.0).archive()
    assert client.hexists(f"literati:job:{job.spec.id}", "archive")
    assert store.measure().totals["archived_jobs"] == 1


def test_short_forms_keep_every_byte() -> None:
    record = {b"tenant": b"t", b"spec": b'{"a":"=b="}', b"error": bytes(range(32, 256)), b"scores": b"{}"}
    for notes in (b"", b"x" * 100, json.dumps("né" * 9000).encode()):
        record[b"settings"] = notes
        short = short_form("job", record)
        assert long_form(short) == record
        assert max(map(len, short.values())) <= 64 or len(notes) > 1000
