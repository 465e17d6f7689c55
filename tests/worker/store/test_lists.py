"""Test lists: their filters, and that large records do not make them large."""

from __future__ import annotations

import json
from typing import Any

import pytest
import redis

from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    add_dataset,
    look,
    progress_update,
    run,
    submit,
)
from worker.domain.jobs import JobState, Scores
from worker.domain.progress import NewIncumbent
from worker.store import Store
from worker.store import paging as pages
from worker.store.jobs import ALL_JOBS, JobFilter


def names(store: Store, **options: Any) -> list[str | None]:
    """Return the names of the jobs of all pages."""
    found: list[str | None] = []
    token = None
    while True:
        page = store.jobs.list(TENANT, page_token=token, **options)
        assert len(page.items) <= options.get("page_size", 50)
        found += [job.settings.name for job in page.items]
        token = page.next_page_token
        if token is None:
            return found


@pytest.fixture
def four(store: Store) -> dict[str, str]:
    """Return two datasets by letter, after submitting the jobs a1, b1, a2 and b2 in this order."""
    data = {letter: add_dataset(store) for letter in "ab"}
    for number in "12":
        for letter in "ab":
            tags = {"team": letter, "run": number, "a:b": "c:d"} if number == "2" else {"team": letter}
            submit(store, data[letter], name=letter + number, tags=tags)
    return {letter: found.id for letter, found in data.items()}


@pytest.mark.parametrize("page_size", [1, 2, 50])
def test_by_dataset_name_and_tags(store: Store, four: dict[str, str], page_size: int) -> None:
    def found(**wanted: Any) -> list[str | None]:
        return names(store, wanted=JobFilter(**wanted), page_size=page_size)

    assert found() == ["b2", "a2", "b1", "a1"]
    assert found(dataset_id=four["a"]) == ["a2", "a1"]
    assert found(name="b1") == ["b1"]
    assert found(name="b") == []
    assert found(tags=("team",)) == ["b2", "a2", "b1", "a1"]
    assert found(tags=("team:a",)) == ["a2", "a1"]
    assert found(tags=("team:a", "run")) == ["a2"]
    assert found(tags=("team:a", "run:1")) == []
    assert found(tags=("a:b",)) == found(tags=("a:b:c:d",)) == ["b2", "a2"]
    assert found(tags=("a:b:c",)) == []
    assert found(dataset_id=four["b"], name="b2", tags=("run:2",)) == ["b2"]


def test_with_states_and_after_changes(store: Store, four: dict[str, str]) -> None:
    (job,) = store.jobs.list(TENANT, wanted=JobFilter(name="a1")).items
    store.jobs.control(TENANT, job.spec.id, "cancel")
    assert names(store, wanted=JobFilter(four["a"]), states=[JobState.CANCELLED]) == ["a1"]
    assert names(store, wanted=JobFilter(four["a"]), states=[JobState.QUEUED]) == ["a2"]
    store.jobs.change(TENANT, job.spec.id, lambda now: now.model_copy(update={"tags": {}, "name": "new"}))
    assert names(store, wanted=JobFilter(tags=("team:a",))) == ["a2"]
    assert names(store, wanted=JobFilter(name="new")) == ["new"]
    store.jobs.delete(TENANT, job.spec.id, keep=True)
    assert names(store, wanted=JobFilter(name="new")) == []
    assert store.jobs.list("other", wanted=JobFilter(name="a2")).items == []


def test_one_call_looks_at_so_many_and_the_token_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SCAN_BATCH", 3)
    monkeypatch.setattr(pages, "MAX_SCANNED", 6)
    data = add_dataset(store)
    for number in range(20):
        submit(store, data, name="rare" if number in (0, 1, 9) else "common")
    first = store.jobs.list(TENANT, wanted=JobFilter(name="rare"))
    assert first.items == []
    assert first.next_page_token is not None
    assert names(store, wanted=JobFilter(name="rare")) == ["rare"] * 3
    for size in (1, 2, 3):
        assert names(store, wanted=JobFilter(name="common"), page_size=size) == ["common"] * 17


def test_records_of_an_older_version(store: Store, client: redis.Redis, four: dict[str, str]) -> None:
    claim = run(store, name="old", tags={"x": "y"}, priority=5)
    store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS)
    key = f"literati:job:{claim.spec.id}"
    spec, settings = client.hmget(key, ["spec", "settings"])
    client.hset(key, "spec", json.dumps({**json.loads(spec or ""), **json.loads(settings or "")}))
    client.hset(key, "metrics", '{"train_accuracy": 0.5}')
    client.hdel(key, "settings", "scores")
    (job,) = store.jobs.list(TENANT, wanted=JobFilter(tags=("x:y",))).items
    assert (job.settings.name, job.scores) == ("old", Scores(train_accuracy=0.5))
    assert names(store, wanted=JobFilter(tags=("team",))) == ["b2", "a2", "b1", "a1"]
    model = f"literati:model:{job.model_id}"
    client.hset(model, "metrics", '{"train_accuracy": 0.25}')
    client.hdel(model, "settings", "scores")
    (found,) = store.models.list(TENANT).items
    assert found.scores == Scores(train_accuracy=0.25)


def test_a_summary_has_the_scores_of_the_best_tree(store: Store) -> None:
    claim = run(store)
    job_id = claim.spec.id
    assert store.jobs.list(TENANT).items[0].scores == Scores(leaves=1, changepoints=0)
    metrics = {"train_accuracy": 0.75, "validation_accuracy": 0.5, "train": {"log_loss": 0.5}}
    tree = progress_update(8.0, 1.0, 8.0).incumbent
    assert tree is not None
    better = NewIncumbent(objective=8.0, tree=tree.tree, metrics=metrics)
    store.jobs.publish_progress(
        job_id, claim.epoch, progress_update(8.0, 1.0).model_copy(update={"incumbent": better})
    )
    scores = Scores(
        train_accuracy=0.75, validation_accuracy=0.5, train_log_loss=0.5, leaves=1, changepoints=0
    )
    assert store.jobs.list(TENANT).items[0].scores == look(store, job_id).scores == scores
    last = better.model_copy(update={"metrics": {**metrics, "validation_accuracy": 0.25}})
    said = progress_update(8.0, 1.0).model_copy(update={"incumbent": last})
    store.jobs.finish(job_id, claim.epoch, SUCCESS, said)
    now = Scores(train_accuracy=0.75, validation_accuracy=0.25, train_log_loss=0.5, leaves=1, changepoints=0)
    assert store.jobs.list(TENANT).items[0].scores == store.models.list(TENANT).items[0].scores == now


def test_no_condition_is_every_job() -> None:
    assert JobFilter() == ALL_JOBS


def test_datasets_are_listed_without_their_columns(store: Store, client: redis.Redis) -> None:
    data = add_dataset(store, name="wide")
    (listed,) = store.datasets.list(TENANT).items
    assert listed == data.summary
    assert (listed.n_columns, listed.n_classes) == (2, 2)
    store.datasets.change(TENANT, data.id, {"notes": "né"})
    client.hset(f"literati:dataset:{data.id}", "record", "only the summary is read")
    assert store.datasets.list(TENANT).items == [listed.model_copy(update={"notes": "né"})]


def test_datasets_of_an_older_version(store: Store, client: redis.Redis) -> None:
    data = add_dataset(store)
    key = f"literati:dataset:{data.id}"
    client.hset(key, "record", data.model_dump_json(exclude={"notes"}))
    client.hdel(key, "summary")
    assert store.datasets.get(TENANT, data.id) == data
    assert store.datasets.list(TENANT).items == [data.summary]
    store.datasets.change(TENANT, data.id, {"name": "new"})
    assert store.datasets.list(TENANT).items[0].name == "new"


def test_two_notes_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    data = add_dataset(store)
    run_script = store.datasets._scripts.run
    first = True

    def meanwhile(name: str, *arguments: Any) -> Any:
        nonlocal first
        if first:
            first = False
            store.datasets.change(TENANT, data.id, {"name": "another's"})
        return run_script(name, *arguments)

    monkeypatch.setattr(store.datasets._scripts, "run", meanwhile)
    changed = store.datasets.change(TENANT, data.id, {"notes": "mine"})
    assert (changed.name, changed.notes) == ("another's", "mine")
