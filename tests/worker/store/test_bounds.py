"""Test that published progress never goes back: bounds, trees, trace and effort only improve."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.records.store_records import TENANT, expire, look, progress_update, run, start
from worker.domain.progress import TracePoint
from worker.store import Store


def test_worse_bounds_change_nothing(store: Store) -> None:
    job_id = start(store).spec.id
    store.jobs.publish_progress(
        job_id, 1, progress_update(upper=8, lower=3, objective=8, expansions=10, seconds=2.0)
    )
    store.jobs.publish_progress(
        job_id, 1, progress_update(upper=9, lower=2, objective=9, expansions=5, seconds=1.0)
    )
    progress = look(store, job_id).progress
    assert (progress.upper_bound, progress.lower_bound, progress.objective) == (8, 3, 8)
    assert (progress.expansions, progress.elapsed_seconds, progress.incumbents) == (10, 2.0, 1)


def test_each_bound_moves_on_its_own(store: Store) -> None:
    job_id = start(store).spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=3, objective=8))
    store.jobs.publish_progress(job_id, 1, progress_update(upper=7, lower=2))
    store.jobs.publish_progress(job_id, 1, progress_update(upper=9, lower=4, objective=6))
    progress = look(store, job_id).progress
    assert (progress.upper_bound, progress.lower_bound, progress.objective) == (8, 4, 6), (
        "upper stays at the objective that stood when it was said"
    )


def test_bounds_that_cross_stop_at_each_other(store: Store) -> None:
    job_id = start(store).spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=5, objective=3))
    store.jobs.publish_progress(job_id, 1, progress_update(upper=4, lower=5))
    progress = look(store, job_id).progress
    assert (progress.upper_bound, progress.lower_bound) == (5, 5)
    store.jobs.publish_progress(job_id, 1, progress_update(upper=5, lower=7))
    progress = look(store, job_id).progress
    assert (progress.upper_bound, progress.lower_bound) == (5, 5)
    assert (progress.gap_absolute, progress.gap_relative) == (0, 0)


def test_bounds_are_known_together_with_the_tree(store: Store) -> None:
    job_id = start(store).spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=5, expansions=4))
    job = look(store, job_id)
    progress = job.progress
    assert (progress.objective, progress.upper_bound, progress.lower_bound, progress.gap_absolute) == (
        None,
    ) * 4
    assert progress.expansions == 4
    assert job.first_incumbent_at is None
    assert store.jobs.trace(TENANT, job_id) == []
    assert store.jobs.incumbent(TENANT, job_id) is None
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=5, objective=8))
    job = look(store, job_id)
    assert job.progress.lower_bound == 5
    assert job.first_incumbent_at is not None


def test_gaps_are_of_the_merged_numbers(store: Store) -> None:
    job_id = start(store).spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=2, objective=8))
    progress = look(store, job_id).progress
    assert (progress.gap_absolute, progress.gap_relative) == (6, 0.75)
    store.jobs.publish_progress(job_id, 1, progress_update(upper=0, lower=0, objective=0))
    progress = look(store, job_id).progress
    assert (progress.upper_bound, progress.gap_absolute, progress.gap_relative) == (2, 0, 0)
    other = start(store).spec.id
    store.jobs.publish_progress(other, 1, progress_update(upper=0, lower=0, objective=0))
    progress = look(store, other).progress
    assert (progress.gap_absolute, progress.gap_relative) == (0, 0)


def test_incumbents_are_numbered_and_frozen(store: Store) -> None:
    job_id = start(store).spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=1, objective=8))
    store.jobs.publish_progress(job_id, 1, progress_update(upper=8, lower=2, objective=8))  # not better
    store.jobs.publish_progress(job_id, 1, progress_update(upper=6, lower=3, objective=5))
    store.jobs.publish_progress(job_id, 1, progress_update(upper=6, lower=4))
    first, second = (store.jobs.incumbent(TENANT, job_id, revision) for revision in (1, 2))
    assert first is not None
    assert second is not None
    assert (first.objective, first.upper_bound, first.lower_bound) == (8, 8, 1)
    assert (second.objective, second.upper_bound, second.lower_bound) == (5, 6, 3)
    assert second.tree["nodes"][0]["cost"] == 5
    assert second.tree["classes"]["labels"] == ["ja", "né"]
    assert second.metrics == {"accuracy": 0.05}
    assert store.jobs.incumbent(TENANT, job_id) == second
    for revision in (0, 3, -1):
        assert store.jobs.incumbent(TENANT, job_id, revision) is None


def test_the_trace_of_a_search_that_started_over_goes_on_where_it_was(store: Store) -> None:
    job_id = start(store).spec.id
    for i in range(5):
        store.jobs.publish_progress(
            job_id,
            1,
            progress_update(upper=9 - i, lower=i / 2, objective=9 - i, expansions=i, seconds=float(i)),
        )
    expire(store, job_id)
    store.jobs.reconcile()
    claim = store.jobs.claim("next")
    assert claim is not None
    for i in range(2, 7):  # from an older progress_update, with looser bounds
        store.jobs.publish_progress(
            job_id, 2, progress_update(upper=12 - i, lower=i / 3, expansions=i, seconds=float(i))
        )
    points = store.jobs.trace(TENANT, job_id)
    assert [point.seconds for point in points] == [0, 1, 2, 3, 4, 5, 6]
    assert [point.upper for point in points] == [9, 8, 7, 6, 5, 5, 5]
    assert [point.lower for point in points] == sorted(point.lower for point in points)


def test_a_repeated_checkpoint_adds_nothing(store: Store) -> None:
    job_id = start(store).spec.id
    said = progress_update(upper=8, lower=1, objective=8, snapshot="f" * 64)
    store.jobs.publish_progress(job_id, 1, said)
    before = look(store, job_id), store.jobs.trace(TENANT, job_id), store.jobs.events(TENANT, job_id)
    ack = store.jobs.publish_progress(job_id, 1, said)
    now = look(store, job_id)
    assert ack.replaced_snapshot is None
    assert before[0].model_copy(update={"heartbeat_at": now.heartbeat_at}) == now
    assert before[1:] == (store.jobs.trace(TENANT, job_id), store.jobs.events(TENANT, job_id))


def test_a_long_trace_is_thinned_and_keeps_its_ends(store: Store) -> None:
    job_id = start(store).spec.id
    total = 20_011
    points = [TracePoint(seconds=i / 100, expansions=i, upper=8, lower=i / total) for i in range(total)]
    last = points[-1]
    store.jobs.publish_progress(
        job_id,
        1,
        progress_update(objective=8, upper=8, lower=1, expansions=total, seconds=201.0).model_copy(
            update={"trace": points}
        ),
    )
    kept = store.jobs.trace(TENANT, job_id)
    assert 10_000 <= len(kept) <= 10_007
    assert (kept[0], kept[-1]) == (points[0], last)
    assert kept == sorted(kept, key=lambda point: point.seconds)
    store.jobs.publish_progress(job_id, 1, progress_update(lower=1.5, expansions=total + 1, seconds=300.0))
    assert len(store.jobs.trace(TENANT, job_id)) == len(kept) + 1


def test_a_new_blob_replaces_the_old(store: Store) -> None:
    job_id = start(store).spec.id
    first, second = "1" * 64, "2" * 64
    assert store.jobs.publish_progress(job_id, 1, progress_update(snapshot=first)).replaced_snapshot is None
    assert store.jobs.publish_progress(job_id, 1, progress_update()).replaced_snapshot is None
    assert look(store, job_id).snapshot == first
    assert store.jobs.publish_progress(job_id, 1, progress_update(snapshot=second)).replaced_snapshot == first
    assert store.blobs.unreferenced() == [first]
    assert not store.blobs.is_referenced(first)
    assert store.blobs.is_referenced(second)


@pytest.mark.parametrize("word", ["state", "progress", "beat", "read"])
def test_the_revision_rises_with_what_is_seen_and_waiters_are_woken(
    store: Store, client: redis.Redis, word: str
) -> None:
    job_id = run(store).spec.id
    before = look(store, job_id).revision
    listening: Any = client.pubsub  # it has no types
    with listening(ignore_subscribe_messages=True) as listener:
        listener.subscribe("literati:changed")
        listener.get_message(timeout=1)
        if word == "state":
            store.jobs.control(TENANT, job_id, "pause")
        elif word == "progress":
            store.jobs.publish_progress(job_id, 1, progress_update(expansions=50))
        elif word == "beat":
            store.jobs.renew_lease(job_id, 1)
        else:
            store.jobs.events(TENANT, job_id)
        seen = word in ("state", "progress")
        message = listener.get_message(timeout=2 if seen else 0.1)
        assert (message is not None) == seen
        if message is not None:
            assert message["data"] == job_id.encode()
    assert (look(store, job_id).revision > before) == seen


numbers = st.floats(0, 1e15, allow_nan=False).map(lambda x: round(x, 3)) | st.sampled_from(
    [0.0, 1.0, 2.0, 0.1]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(
        st.tuples(numbers, numbers, st.none() | numbers, st.integers(0, 1 << 53), numbers),
        min_size=1,
        max_size=12,
    )
)
def test_whatever_is_said_nothing_gets_worse(
    store: Store, said: list[tuple[float, float, float | None, int, float]]
) -> None:
    job_id = start(store).spec.id
    before = look(store, job_id).progress
    for upper, lower, objective, expansions, seconds in said:
        store.jobs.publish_progress(
            job_id, 1, progress_update(upper, lower, objective, expansions=expansions, seconds=seconds)
        )
        now = look(store, job_id).progress
        known = (now.objective, now.upper_bound, now.lower_bound)
        if now.objective is None or now.upper_bound is None or now.lower_bound is None:
            assert known == (None, None, None)
        else:
            assert now.lower_bound <= now.upper_bound
            assert now.objective <= now.upper_bound
            if before.objective is not None:
                assert before.upper_bound is not None
                assert before.lower_bound is not None
                assert now.objective <= before.objective
                assert now.upper_bound <= before.upper_bound
                assert now.lower_bound >= before.lower_bound
                assert (now.incumbents > before.incumbents) == (now.objective < before.objective)
        assert now.expansions >= before.expansions
        assert now.elapsed_seconds >= before.elapsed_seconds
        before = now
    points = store.jobs.trace(TENANT, job_id)
    for earlier, later in pairwise(points):
        assert later.seconds >= earlier.seconds
        assert later.upper <= earlier.upper
        assert later.lower >= earlier.lower
        assert later.lower <= later.upper
