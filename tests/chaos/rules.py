"""Rules for what the API reports of a job: in one response, and from one response to the next.

Each rule is a generator of sentences, one for every promise that is broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

Json = dict[str, Any]

TERMINAL = frozenset({"SUCCEEDED", "CANCELLED", "FAILED"})
_RISING = ("lower_bound", "incumbents", "expansions", "elapsed_seconds")
_FALLING = ("upper_bound", "objective")


def ended(job: Json) -> bool:
    return job["state"] in TERMINAL


def contradictions(job: Json) -> Iterator[str]:
    """Yield the contradictions within one response."""
    progress = job["progress"]
    bounds = [progress[name] for name in ("objective", "lower_bound", "upper_bound")]
    if None in bounds:
        if bounds != [None, None, None] or progress["incumbents"]:
            yield f"bounds are known in part: {progress}"
    else:
        yield from _bounds(progress, job["proven_optimal"])
    if ended(job) != (job["finished_at"] is not None) or ended(job) != (job["stop_reason"] is not None):
        yield f"{job['state']} with finished_at {job['finished_at']}, stop_reason {job['stop_reason']}"
    if (job["state"] == "SUCCEEDED") != (job["model_id"] is not None):
        yield f"{job['state']} with model {job['model_id']}"
    if job["transitions"][-1]["state"] != job["state"]:
        yield f"{job['state']}, but the last transition is to {job['transitions'][-1]['state']}"


def _bounds(progress: Json, proven: bool) -> Iterator[str]:
    lower, upper, objective = progress["lower_bound"], progress["upper_bound"], progress["objective"]
    if lower > upper:
        yield f"lower {lower} is above upper {upper}"
    if objective > upper:
        yield f"upper {upper} is below the objective {objective}"
    if proven and lower < upper:
        yield f"proven optimal with lower {lower} and upper {upper}"
    if not progress["incumbents"]:
        yield "bounds without a tree"


def changes_taken_back(before: Json, after: Json) -> Iterator[str]:
    """Yield what an earlier response reported and a later one takes back."""
    yield from _progress(before["progress"], after["progress"])
    if after["revision"] < before["revision"]:
        yield f"revision fell from {before['revision']} to {after['revision']}"
    if ended(before) and after != before:
        yield f"an ended job changed: {_difference(before, after)}"
    elif after["revision"] == before["revision"] and _told(before) != _told(after):
        yield f"a change without a new revision: {_difference(before, after)}"
    if after["transitions"][: len(before["transitions"])] != before["transitions"]:
        yield "transitions of before are gone"


def _progress(before: Json, after: Json) -> Iterator[str]:
    for name in (*_RISING, *_FALLING):
        was, now = before[name], after[name]
        if was is None:
            continue
        if now is None:
            yield f"{name} was {was} and is not known any more"
        elif name in _RISING and now < was:
            yield f"{name} fell from {was} to {now}"
        elif name in _FALLING and now > was:
            yield f"{name} rose from {was} to {now}"


def _told(job: Json) -> Json:
    return {name: value for name, value in job.items() if name != "heartbeat_at"}


def _difference(before: Json, after: Json) -> str:
    changed = [name for name in before if before[name] != after.get(name)]
    return "; ".join(f"{name}: {before[name]} -> {after.get(name)}" for name in changed)


def faults_in_trees(trees: Sequence[Json]) -> Iterator[str]:
    """Yield faults of the trees of a job, in their order: each must be better than the one before."""
    for before, after in pairwise(trees):
        if after["objective"] >= before["objective"]:
            yield f"tree {after['revision']} costs {after['objective']}, the one before {before['objective']}"
    for tree in trees:
        if not tree["lower_bound"] <= tree["upper_bound"]:
            yield f"tree {tree['revision']}: lower {tree['lower_bound']}, upper {tree['upper_bound']}"


def faults_in_events(events: Sequence[Json], job: Json) -> Iterator[str]:
    """Yield faults of the events of a job that has ended."""
    order = [tuple(map(int, event["id"].split("-"))) for event in events]
    if any(before >= after for before, after in pairwise(order)):
        yield "event ids do not rise"
    done = [event for event in events if event["type"] == "done"]
    if len(done) != 1 or events[-1]["type"] != "done":
        yield f"{len(done)} done events, and the last event is {events[-1]['type'] if events else None}"
    elif (done[0]["data"]["state"], done[0]["data"]["model_id"]) != (job["state"], job["model_id"]):
        yield f"the done event says {done[0]['data']}, the job {job['state']} {job['model_id']}"
    if sum(event["type"] == "state" and event["data"]["state"] in TERMINAL for event in events) != 1:
        yield "not exactly one event of a final state"
    revisions = [event["data"]["revision"] for event in events if event["type"] == "incumbent"]
    if revisions != list(range(1, job["progress"]["incumbents"] + 1)):
        yield f"incumbent events {revisions} of {job['progress']['incumbents']} trees"
    bounds = [event["data"] for event in events if event["type"] == "bound"]
    yield from faults_in_bounds(bounds, "upper_bound", "lower_bound")


def faults_in_bounds(points: Sequence[Json], upper: str, lower: str) -> Iterator[str]:
    """Yield faults of bounds in the order of time, from events or a trace: they must close."""
    for before, after in pairwise(points):
        if after[upper] > before[upper] or after[lower] < before[lower]:
            yield f"bounds open: {before} then {after}"
    for point in points:
        if point[lower] > point[upper]:
            yield f"lower above upper: {point}"
