"""Test the event stream of jobs."""

from __future__ import annotations

import pytest
import redis

from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    expire,
    look,
    progress_update,
    run,
    start,
    submit,
)
from worker.domain.errors import InvalidTokenError, JobNotFoundError
from worker.domain.jobs import Event, JobState, Outcome, StopReason
from worker.store import Store


def shown(events: list[Event]) -> list[str]:
    return [event.data["state"] if event.type == "state" else event.type for event in events]


def test_the_life_of_a_job_in_events(store: Store) -> None:
    job_id = start(store).spec.id
    store.jobs.publish_progress(
        job_id, 1, progress_update(upper=8, lower=1, objective=7.5, log='A "quoted" sentence, né')
    )
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=1, expansions=9))
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=2, expansions=10, seconds=1.5))
    store.jobs.control(TENANT, job_id, "finish")
    store.jobs.finish(job_id, 1, Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH))
    page = store.jobs.events(TENANT, job_id)
    assert (page.resync, page.ended) == (False, True)
    assert shown(page.events) == [
        "QUEUED",
        "STARTING",
        "RUNNING",
        "incumbent",
        "bound",
        "log",
        "bound",
        "STOPPING",
        "SUCCEEDED",
        "done",
    ]
    assert page.events[0].data == {"state": "QUEUED", "stop_reason": None, "reason": None}
    assert page.events[3].data == {
        "revision": 1,
        "objective": 7.5,
        "upper_bound": 8.0,
        "lower_bound": 1.0,
        "explored": 0.0,
        "seconds_left": None,
        "stage": 0,
        "space": "",
        "found_seconds": 0.5,
        "beyond_space": True,
    }
    assert page.events[5].data == {"message": 'A "quoted" sentence, né'}
    assert page.events[6].data == {
        "objective": 7.5,
        "upper_bound": 8.0,
        "lower_bound": 2.0,
        "gap_absolute": 6.0,
        "gap_relative": 0.75,
        "explored": 0.0,
        "seconds_left": None,
        "stage": 0,
        "space": "",
        "beyond_space": True,
        "expansions": 10,
        "elapsed_seconds": 1.5,
    }
    assert page.events[8].data == {
        "state": "SUCCEEDED",
        "stop_reason": "USER_FINISH",
        "reason": "USER_FINISH",
    }
    assert page.events[9].data == {
        "state": "SUCCEEDED",
        "stop_reason": "USER_FINISH",
        "model_id": look(store, job_id).model_id,
    }
    times = [event.at for event in page.events]
    assert times == sorted(times)


def test_pages_go_on_after_the_last_one_seen(store: Store) -> None:
    job_id = run(store).spec.id
    store.jobs.finish(job_id, 1, SUCCESS)
    whole = store.jobs.events(TENANT, job_id).events
    after, got = None, []
    while True:
        page = store.jobs.events(TENANT, job_id, after, count=2)
        got += page.events
        assert page.ended == (len(got) == len(whole))
        if page.ended:
            break
        after = page.events[-1].id
    assert got == whole
    nothing = store.jobs.events(TENANT, job_id, whole[-1].id)
    assert (nothing.events, nothing.ended, nothing.resync) == ([], True, False)


def test_a_live_job_has_not_ended(store: Store) -> None:
    job_id = submit(store).spec.id
    page = store.jobs.events(TENANT, job_id)
    assert not page.ended
    assert not store.jobs.events(TENANT, job_id, page.events[-1].id).ended


@pytest.mark.parametrize("how", ["cancel", "poison", "lost"])
def test_done_is_the_last_whoever_ends_it(store: Store, how: str) -> None:
    job_id = submit(store).spec.id
    if how == "cancel":
        store.jobs.control(TENANT, job_id, "cancel")
    elif how == "poison":
        while store.jobs.claim("worker"):
            expire(store, job_id)
            store.jobs.reconcile()
    else:
        store.jobs.claim("worker")
        store.jobs.control(TENANT, job_id, "cancel")
        expire(store, job_id)
        store.jobs.reconcile()
    page = store.jobs.events(TENANT, job_id)
    assert [event.type for event in page.events].index("done") == len(page.events) - 1
    assert page.ended


def test_a_lost_worker_is_told_in_the_reason(store: Store) -> None:
    job_id = run(store).spec.id
    expire(store, job_id)
    store.jobs.reconcile()
    last = store.jobs.events(TENANT, job_id).events[-1]
    assert last.data == {"state": "QUEUED", "stop_reason": None, "reason": "WORKER_LOST"}


def test_trimmed_history_is_said_once_and_then_goes_on(store: Store, client: redis.Redis) -> None:
    job_id = run(store).spec.id
    for i in range(30):
        store.jobs.publish_progress(job_id, 1, progress_update(lower=i / 10))
    whole = store.jobs.events(TENANT, job_id).events
    client.xtrim(f"literati:job:{job_id}:events", maxlen=10, approximate=False)
    assert store.jobs.events(TENANT, job_id).resync
    page = store.jobs.events(TENANT, job_id, whole[2].id)
    assert page.resync
    assert page.events == whole[-10:]
    for event in whole[-10:]:
        assert not store.jobs.events(TENANT, job_id, event.id).resync


def test_streams_stay_bounded(store: Store, client: redis.Redis) -> None:
    job_id = start(store).spec.id
    pipeline = client.pipeline()
    for i in range(10_500):
        pipeline.xadd(f"literati:job:{job_id}:events", {"type": "log", "data": f'{{"message":"{i}"}}'})
    pipeline.execute()
    store.jobs.publish_progress(job_id, 1, progress_update(objective=8.0))
    assert client.xlen(f"literati:job:{job_id}:events") < 10_200


@pytest.mark.parametrize("after", ["", "x", "1-", "-1", "1-2-3", "1" * 20, "(1", "+", "٣"])
def test_strange_event_ids_are_refused(store: Store, after: str) -> None:
    job_id = submit(store).spec.id
    with pytest.raises(InvalidTokenError):
        store.jobs.events(TENANT, job_id, after)


@pytest.mark.parametrize("after", ["0", "0-0", "9999999999999999999-9999999999999999999"])
def test_ids_from_elsewhere_do_no_harm(store: Store, after: str) -> None:
    job_id = submit(store).spec.id
    page = store.jobs.events(TENANT, job_id, after)
    assert len(page.events) == (1 if after.startswith("0") else 0)


def test_events_of_an_absent_job(store: Store) -> None:
    with pytest.raises(JobNotFoundError):
        store.jobs.events(TENANT, "job_0")
