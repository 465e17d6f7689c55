"""Events: none is lost or repeated, whatever happens to the API."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from literati.client import Client, Event, InvalidRequestError, Job, NotFoundError
from tests.client.conftest import FAST, Api
from tests.support.http.cutting_proxy import CuttingProxy
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker, costs, trees


@pytest.fixture
def local(api: Api) -> Iterator[Client]:
    with Client(api.stack.url, retry=FAST) as client:
        yield client


@pytest.fixture
def job(api: Api, local: Client) -> Job:
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy())
    return local.jobs.create(dataset.id)


def work(worker: ActingWorker, pause: float = 0.0) -> None:
    for tree in range(len(trees())):
        worker.checkpoint(10 * tree, tree=tree, log=f"tree {tree}")
        time.sleep(pause)
        worker.checkpoint(10 * tree + 5)
        time.sleep(pause)
    worker.prove()


def test_the_events_of_a_job_that_has_ended(api: Api, job: Job) -> None:
    work(ActingWorker(api.stack.store))
    events = list(job.events())
    assert [event.data["objective"] for event in events if event.type == "incumbent"] == costs()
    assert {event.type for event in events} == {"state", "incumbent", "bound", "log", "done"}
    assert events[-1].type == "done"
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert "at" not in events[0].data
    assert list(job.events(after=events[4].id)) == events[5:]
    assert list(job.events(after=events[-1].id)) == []


def test_the_api_is_killed_while_events_are_streamed(api: Api, job: Job) -> None:
    """The worker goes on while the API is gone twice. The client gets every event once, in order."""
    trees()  # computed before the clock matters
    working = threading.Thread(target=work, args=[ActingWorker(api.stack.store), 1.2])
    seen: list[Event] = []
    kills = 0
    working.start()
    for event in job.events():
        seen.append(event)
        if event.type == "incumbent" and event.data["revision"] in (1, 3):
            kills += 1
            api.kill()
            api.start(delay=0.5)
    working.join()
    assert kills == 2
    assert seen == list(job.events())
    assert [event.data["objective"] for event in seen if event.type == "incumbent"] == costs()


def test_connections_that_break(api: Api, job: Job) -> None:
    """Several connections break, and lose the events that they were about to send."""
    work(ActingWorker(api.stack.store))
    expected = list(job.events())
    parts: list[bytes] = []  # of streams, with events

    def cut(data: bytes) -> bool:
        if b"event: " not in data:
            return False
        parts.append(data)
        return len(parts) in (1, 3, 4)

    with (
        CuttingProxy(lambda: api.stack.url, on_answer=cut) as proxy,
        Client(proxy.url, retry=FAST) as client,
    ):
        assert list(client.jobs.get(job.id).events()) == expected
    assert len(parts) >= 2


def test_dropped_events_are_told_with_the_current_state(api: Api, job: Job) -> None:
    first = next(iter(job.events()))
    worker = ActingWorker(api.stack.store)
    work(worker)
    assert job.state == "QUEUED"
    api.stack.connection.xtrim(f"literati:job:{job.id}:events", maxlen=2, approximate=False)
    events = list(job.events(after=first.id))
    assert [event.type for event in events] == ["resync", "state", "done"]
    assert events[0].id is None
    assert events[0].data["state"] == "SUCCEEDED"
    assert events[0].data["progress"]["objective"] == costs()[-1]
    assert job.state == "SUCCEEDED"


def test_dropped_events_during_a_stream(api: Api, job: Job) -> None:
    """Events are dropped while the API is gone, between two connections of one iteration."""
    worker = ActingWorker(api.stack.store)
    events = job.events()
    seen = [next(events)]
    api.kill()
    work(worker)
    api.stack.connection.xtrim(f"literati:job:{job.id}:events", maxlen=1, approximate=False)
    api.start()
    seen += events
    assert [event.type for event in seen if event.type in ("resync", "done")] == ["resync", "done"]
    assert len({event.id for event in seen}) == len(seen)


def test_a_job_that_is_deleted_meanwhile(api: Api, job: Job, local: Client) -> None:
    events = job.events()
    assert next(events).type == "state"
    local.jobs.get(job.id).cancel()
    local.jobs.delete(job.id)
    with pytest.raises(NotFoundError):
        list(events)


def test_an_id_that_is_none(job: Job) -> None:
    with pytest.raises(InvalidRequestError, match="not the id of an event"):
        next(iter(job.events(after="x")))
    job.cancel()


def test_wait_survives_a_killed_api(api: Api, job: Job) -> None:
    worker = ActingWorker(api.stack.store)
    worker.checkpoint(1, tree=0)

    def fail_and_return() -> None:
        time.sleep(0.5)
        api.kill()
        worker.checkpoint(2, tree=1)
        api.start(delay=0.5).result()
        worker.finish(3, tree=2)

    other = threading.Thread(target=fail_and_return)
    other.start()
    model = job.wait()
    other.join()
    assert model.objective == costs()[2]
