"""The rules of a campaign find the faults that they are for."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.chaos import rows, rules

Json = dict[str, Any]


def job(**changes: Any) -> Json:
    """Return a running job; `progress__x` changes a field of its progress."""
    made: Json = {
        "state": "RUNNING",
        "revision": 4,
        "stop_reason": None,
        "finished_at": None,
        "model_id": None,
        "proven_optimal": False,
        "heartbeat_at": "12:00",
        "transitions": [{"state": "QUEUED"}, {"state": "RUNNING"}],
        "progress": {
            "objective": 10.0,
            "lower_bound": 3.0,
            "upper_bound": 12.0,
            "incumbents": 2,
            "expansions": 100,
            "elapsed_seconds": 1.5,
        },
    }
    for name, value in changes.items():
        part, _, field = name.partition("__")
        if field:
            made[part][field] = value
        else:
            made[part] = value
    return made


def over(**changes: Any) -> Json:
    end = {"state": "SUCCEEDED", "stop_reason": "TIME_LIMIT", "finished_at": "12:01", "model_id": "mdl_1"}
    moves = [*job()["transitions"], {"state": end["state"]}]
    return job(**{**end, "transitions": moves, "revision": 5, **changes})


def test_a_sound_job_is_no_fault() -> None:
    unknown = {f"progress__{name}": None for name in ("objective", "lower_bound", "upper_bound")}
    for sound in (job(), over(), job(**unknown, progress__incumbents=0)):
        assert list(rules.contradictions(sound)) == []
        assert list(rules.changes_taken_back(sound, deepcopy(sound))) == []
    assert list(rules.changes_taken_back(job(), over(progress__lower_bound=12.0))) == []


@pytest.mark.parametrize(
    ("seen", "word"),
    [
        (job(progress__lower_bound=13.0), "above upper"),
        (job(progress__objective=13.0), "below the objective"),
        (job(progress__objective=None), "in part"),
        (job(progress__incumbents=0), "without a tree"),
        (over(proven_optimal=True), "proven optimal"),
        (job(stop_reason="ERROR"), "stop_reason"),
        (over(finished_at=None), "finished_at"),
        (over(model_id=None), "model None"),
        (job(model_id="mdl_1"), "model mdl_1"),
        (over(transitions=job()["transitions"]), "last transition"),
    ],
)
def test_a_job_that_contradicts_itself(seen: Json, word: str) -> None:
    assert word in " ".join(rules.contradictions(seen))


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (job(), job(progress__lower_bound=2.0, revision=5), "lower_bound fell"),
        (job(), job(progress__upper_bound=12.5, revision=5), "upper_bound rose"),
        (job(), job(progress__objective=11.0, revision=5), "objective rose"),
        (job(), job(progress__objective=None, revision=5), "not known any more"),
        (job(), job(progress__incumbents=1, revision=5), "incumbents fell"),
        (job(), job(progress__expansions=99, revision=5), "expansions fell"),
        (job(), job(progress__elapsed_seconds=1.0, revision=5), "elapsed_seconds fell"),
        (job(), job(revision=3), "revision fell"),
        (job(), job(progress__lower_bound=4.0), "without a new revision"),
        (job(), job(transitions=[{"state": "RUNNING"}], revision=5), "transitions"),
        (over(), over(model_id="mdl_2"), "an ended job changed"),
        (over(), job(revision=6), "an ended job changed"),
        (over(), over(heartbeat_at="12:02"), "an ended job changed"),
    ],
)
def test_what_is_taken_back(before: Json, after: Json, word: str) -> None:
    assert word in " ".join(rules.changes_taken_back(before, after))


def test_a_heartbeat_needs_no_revision() -> None:
    assert list(rules.changes_taken_back(job(), job(heartbeat_at="12:01"))) == []


def event(number: int, kind: str, **data: Any) -> Json:
    return {"id": f"{number}-0", "type": kind, "data": data}


def events() -> list[Json]:
    return [
        event(1, "state", state="RUNNING"),
        event(2, "incumbent", revision=1),
        event(3, "incumbent", revision=2),
        event(4, "bound", upper_bound=12.0, lower_bound=1.0),
        event(5, "bound", upper_bound=12.0, lower_bound=3.0),
        event(6, "state", state="SUCCEEDED"),
        event(7, "done", state="SUCCEEDED", model_id="mdl_1"),
    ]


def test_events() -> None:
    streamed = events()
    assert list(rules.faults_in_events(streamed, over())) == []
    for broken, word in (
        (streamed[:-1], "0 done"),
        ([*streamed, event(8, "done", state="SUCCEEDED", model_id="mdl_1")], "2 done"),
        ([*streamed[:-1], event(7, "done", state="SUCCEEDED", model_id="mdl_2")], "the done event says"),
        ([streamed[1], streamed[0], *streamed[2:]], "do not rise"),
        ([*streamed[:2], *streamed[3:]], "incumbent events"),
        (
            [*streamed[:3], streamed[4], event(6, "bound", upper_bound=12.0, lower_bound=1.0), *streamed[6:]],
            "bounds open",
        ),
        ([*streamed[:5], streamed[6]], "final state"),
    ):
        assert word in " ".join(rules.faults_in_events(broken, over()))


def test_trees_in_order() -> None:
    found = [{"revision": n, "objective": 10.0 - n, "lower_bound": 1.0, "upper_bound": 9.0} for n in (1, 2)]
    assert list(rules.faults_in_trees(found)) == []
    assert "the one before" in " ".join(rules.faults_in_trees(found[::-1]))
    assert "lower" in " ".join(rules.faults_in_trees([{**found[0], "lower_bound": 9.5}]))


def test_a_tree_that_lies_about_its_cost() -> None:
    table = rows.easy()
    search = table.search(max_depth=2)
    tree = search.incumbent()
    assert table.faults(tree.to_dict(), tree.objective) == []
    assert table.faults(tree.to_dict(), tree.objective - 1) != []
    other = rows.easy(1)
    assert other.faults(tree.to_dict(), tree.objective) != []
