"""Every control verb of a sweep in every state: 202, a repeat 200, a wrong state 409; and what follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.service.sweeps.test_submission import start
from tests.support.http.service_client import problem
from tests.support.records import sweep_results as acting
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import Job
from worker.store import Store

SPACE = {"max_depth": [2, 3], "max_changepoints": [1]}
VERBS = ("finish", "cancel", "pause", "resume", "extend")


def send(client: httpx.Client, sweep: str, verb: str, body: dict[str, Any]) -> httpx.Response:
    """Send the request of a verb. Only `extend` has a body."""
    return client.post(f"{sweep}/{verb}", json=body if verb == "extend" else None)


def do(client: httpx.Client, sweep: str, verb: str, status: int = 202, **body: Any) -> dict[str, Any]:
    answer = send(client, sweep, verb, body)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def look(client: httpx.Client, sweep: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(sweep).json()
    return found


@pytest.fixture
def sweep(client: httpx.Client, dataset: Dataset) -> str:
    made = start(client, dataset, space=SPACE, validation={"folds": 2}, select="BEST")
    return str(made["links"]["self"])


# How a sweep of two settings and two folds comes to each state


def queued(store: Store, client: httpx.Client, sweep: str) -> None: ...


def running(store: Store, client: httpx.Client, sweep: str) -> Job:
    return acting.claim(store)


def running_with_trial(store: Store, client: httpx.Client, sweep: str) -> Job:
    acting.run_scores(store, [0.5, 0.5])
    return acting.claim(store)


def pausing(store: Store, client: httpx.Client, sweep: str) -> Job:
    job = running(store, client, sweep)
    do(client, sweep, "pause")
    return job


def paused(store: Store, client: httpx.Client, sweep: str) -> None:
    do(client, sweep, "pause")


def paused_with_trial(store: Store, client: httpx.Client, sweep: str) -> None:
    acting.run_scores(store, [0.5, 0.5])
    do(client, sweep, "pause")


def stopping(store: Store, client: httpx.Client, sweep: str) -> Job:
    job = running(store, client, sweep)
    do(client, sweep, "cancel")
    return job


def choosing(store: Store, client: httpx.Client, sweep: str) -> None:
    """The last job ends, but its worker dies before it chooses."""
    acting.run_scores(store, [0.5, 0.5])
    acting.run(store, acting.one_tree(0.5))
    job = acting.claim(store)
    store.jobs.finish(job.spec.id, job.epoch, acting.FOUND, result=acting.one_tree(0.5))


def refitting(store: Store, client: httpx.Client, sweep: str) -> None:
    acting.run_scores(store, [0.5, 0.5, 0.5, 0.5])


def succeeded(store: Store, client: httpx.Client, sweep: str) -> None:
    refitting(store, client, sweep)
    acting.end_with_tree(store, acting.claim(store))


def cancelled(store: Store, client: httpx.Client, sweep: str) -> None:
    do(client, sweep, "cancel")


def failed(store: Store, client: httpx.Client, sweep: str) -> None:
    while (job := store.jobs.claim("acting")) is not None:
        acting.end(store, job, acting.FAILED)


# 409: the state does not allow it; 200: it was requested before
@pytest.mark.parametrize(
    ("come", "state", "statuses", "links"),
    [
        (queued, "QUEUED", {"finish": 409, "cancel": 202, "pause": 202, "resume": 200}, {"cancel", "pause"}),
        (
            running,
            "RUNNING",
            {"finish": 409, "cancel": 202, "pause": 202, "resume": 200},
            {"cancel", "pause"},
        ),
        (
            running_with_trial,
            "RUNNING",
            {"finish": 202, "cancel": 202, "pause": 202, "resume": 200},
            {"finish", "cancel", "pause"},
        ),
        (
            pausing,
            "PAUSING",
            {"finish": 409, "cancel": 202, "pause": 200, "resume": 202},
            {"cancel", "resume"},
        ),
        (
            paused,
            "PAUSED",
            {"finish": 409, "cancel": 202, "pause": 200, "resume": 202},
            {"cancel", "resume"},
        ),
        (
            paused_with_trial,
            "PAUSED",
            {"finish": 202, "cancel": 202, "pause": 200, "resume": 202},
            {"finish", "cancel", "resume"},
        ),
        (stopping, "STOPPING", {"finish": 409, "cancel": 200, "pause": 409, "resume": 409}, set()),
        (choosing, "CHOOSING", {"finish": 200, "cancel": 202, "pause": 409, "resume": 409}, {"cancel"}),
        (
            refitting,
            "REFITTING",
            {"finish": 409, "cancel": 202, "pause": 409, "resume": 409},
            {"finish", "cancel"},
        ),
        (
            succeeded,
            "SUCCEEDED",
            {"finish": 409, "cancel": 409, "pause": 409, "resume": 409, "extend": 422},
            {"extend"},
        ),
        (
            cancelled,
            "CANCELLED",
            {"finish": 409, "cancel": 200, "pause": 409, "resume": 409, "extend": 202},
            {"extend"},
        ),
        (
            failed,
            "FAILED",
            {"finish": 409, "cancel": 409, "pause": 409, "resume": 409, "extend": 202},
            {"extend"},
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("verb", [*VERBS, "delete"])
def test_every_verb_in_every_state(
    api: Stack,
    client: httpx.Client,
    sweep: str,
    verb: str,
    come: Callable[[Store, httpx.Client, str], object],
    state: str,
    statuses: dict[str, int],
    links: set[str],
) -> None:
    come(api.store, client, sweep)
    before = look(client, sweep)
    assert before["state"] == state
    assert set(before["links"]) & set(VERBS) == links
    ended = state in ("SUCCEEDED", "CANCELLED", "FAILED")
    if verb == "delete":
        answer = client.delete(sweep)
        assert answer.status_code == (204 if ended else 409)
        return
    answer = send(client, sweep, verb, {})
    assert answer.status_code == statuses.get(verb, 409), answer.text
    if answer.status_code == 409:
        problem(answer, 409, "wrong-state")
        assert {**look(client, sweep), "seconds": 0} == {**before, "seconds": 0}
    elif answer.status_code < 300:
        assert answer.headers["etag"] == f'W/"{answer.json()["revision"]}"'
        assert answer.headers["location"] == sweep


def test_finishing_chooses_at_once(api: Stack, client: httpx.Client, sweep: str) -> None:
    acting.run_scores(api.store, [0.5, 0.75])
    api.connection.delete("literati")
    done = do(client, sweep, "finish")
    assert (done["state"], done["stop_reason"]) == ("REFITTING", "USER_FINISH")
    assert (done["choice"]["trial"], done["choice"]["mean"]) == (0, 0.625)
    assert api.connection.llen("literati") == 1, "a worker is woken for the last job"
    acting.end_with_tree(api.store, acting.claim(api.store))
    ended = look(client, sweep)
    assert (ended["state"], ended["stop_reason"]) == ("SUCCEEDED", "USER_FINISH")
    assert ended["model_id"]
    assert do(client, sweep, "finish", 200)["model_id"] == ended["model_id"]
    states = client.get(f"{sweep}/trials").json()["items"]
    assert [trial["state"] for trial in states] == ["SUCCEEDED", "CANCELLED"]


def test_finishing_without_a_refit(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    made = start(client, dataset, space=SPACE, validation={"folds": 2}, refit=False)
    acting.run_scores(api.store, [0.5, 0.75])
    done = do(client, made["links"]["self"], "finish")
    assert (done["state"], done["model_id"], done["refit_job_id"]) == ("SUCCEEDED", None, None)
    assert done["choice"]["trial"] == 0


def test_finishing_without_a_complete_trial_says_what_to_do(client: httpx.Client, sweep: str) -> None:
    told = problem(client.post(f"{sweep}/finish"), 409, "wrong-state")["detail"]
    assert told == (
        "The sweep is QUEUED, so it cannot be finished: no trial is complete yet, so there is nothing to "
        "choose from; wait, or cancel it instead."
    )


def test_finishing_while_the_choice_is_fitted(api: Stack, client: httpx.Client, sweep: str) -> None:
    acting.run_scores(api.store, [0.5, 0.5, 0.5, 0.5])
    job = acting.claim(api.store)
    acting.publish_tree(api.store, job)
    assert do(client, sweep, "finish")["state"] == "REFITTING"
    assert do(client, sweep, "finish", 200)["state"] == "REFITTING"
    acting.end_with_tree(api.store, job)
    ended = look(client, sweep)
    assert ended["state"] == "SUCCEEDED"
    assert ended["model_id"]


def test_a_cancelled_sweep_keeps_its_table(api: Stack, client: httpx.Client, sweep: str) -> None:
    job = running_with_trial(api.store, client, sweep)
    assert do(client, sweep, "cancel")["state"] == "STOPPING"
    acting.end(api.store, job, acting.CANCELLED)
    ended = look(client, sweep)
    assert (ended["state"], ended["stop_reason"], ended["choice"]) == ("CANCELLED", "USER_CANCEL", None)
    board = client.get(f"{sweep}/leaderboard").json()
    assert (board["total"], board["final"], board["chosen"]["number"]) == (1, False, 0)
    assert api.store.jobs.claim("acting") is None


def test_a_paused_sweep_goes_on(api: Stack, client: httpx.Client, sweep: str) -> None:
    job = pausing(api.store, client, sweep)
    assert api.store.jobs.claim("acting") is None
    acting.end(api.store, job)
    assert look(client, sweep)["state"] == "PAUSED"
    api.connection.delete("literati")
    assert do(client, sweep, "resume")["state"] == "RUNNING"
    assert api.connection.llen("literati") == 3, "a worker is woken for each queued job"
    acting.run_scores(api.store, [0.5, 0.5, 0.5])
    assert look(client, sweep)["state"] == "REFITTING"


def test_too_many_failures(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    limits = {"max_failed_trials": 1}
    made = start(client, dataset, space=SPACE, validation={"folds": 2}, limits=limits)["links"]["self"]
    for _ in range(2):
        assert look(client, made)["state"] in ("QUEUED", "RUNNING")
        acting.end(api.store, acting.claim(api.store), acting.FAILED)
        if job := api.store.jobs.claim("acting"):
            acting.end(api.store, job)
    ended = look(client, made)
    assert (ended["state"], ended["stop_reason"]) == ("FAILED", "FAILED_TRIALS")
    assert ended["error"]["message"] == "As told."
    assert set(ended["links"]) & set(VERBS) == {"extend"}


class TestExtend:
    def refuse(self, client: httpx.Client, sweep: str, **body: Any) -> dict[str, Any]:
        return problem(client.post(f"{sweep}/extend", json=body), 422)

    @pytest.fixture
    def ended(self, api: Stack, client: httpx.Client, dataset: Dataset) -> str:
        """Return a sweep that has tried one of four settings."""
        space = {"max_depth": [2, 3, 4, 5], "max_changepoints": [1]}
        limits = {"max_trials": 1}
        made = start(client, dataset, space=space, validation={"folds": 2}, limits=limits, refit=False)
        acting.run_scores(api.store, [0.5, 0.5])
        return str(made["links"]["self"])

    def test_more_trials(self, api: Stack, client: httpx.Client, ended: str) -> None:
        before = look(client, ended)
        assert (before["state"], before["choice"]["trial"]) == ("SUCCEEDED", 0)
        api.connection.delete("literati")
        again = do(client, ended, "extend", max_trials=3)
        assert (again["state"], again["choice"], again["stop_reason"]) == ("QUEUED", None, None)
        assert again["limits"]["max_trials"] == 3
        done = again["progress"]
        assert (done["settings"], done["jobs"], done["done"], done["queued"]) == (3, 6, 2, 4)
        assert again["best"]["number"] == 0, "what is done is kept"
        assert api.connection.llen("literati") == 4
        acting.run_scores(api.store, [0.25, 0.25, 1.0, 1.0])
        after = look(client, ended)
        assert (after["state"], after["choice"]["trial"], after["choice"]["mean"]) == ("SUCCEEDED", 2, 1.0)
        assert [step["reason"] for step in after["transitions"]].count("EXTENDED") == 1
        depths = [trial["parameters"]["max_depth"] for trial in client.get(f"{ended}/trials").json()["items"]]
        assert depths == [2, 3, 4]

    def test_nothing_to_do(self, api: Stack, client: httpx.Client, ended: str) -> None:
        told = self.refuse(client, ended)
        assert (told["errors"][0]["pointer"], told["errors"][0]["code"]) == (
            "/body/max_trials",
            "NOTHING_TO_DO",
        )
        assert "larger `max_trials`" in told["detail"]
        do(client, ended, "extend", max_trials=9)
        acting.run_scores(api.store, 6 * [0.5])
        assert "the space has 4 settings" in self.refuse(client, ended, max_trials=20)["detail"]

    def test_fewer_trials(self, api: Stack, client: httpx.Client, ended: str) -> None:
        do(client, ended, "extend", max_trials=3)
        acting.run_scores(api.store, 4 * [0.5])
        told = self.refuse(client, ended, max_trials=2)
        assert told["errors"][0]["code"] == "TOO_SMALL"

    def test_more_time(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        """The time limit counts from the first start, so the seconds so far are added to it."""
        running_with_trial(api.store, client, sweep)
        do(client, sweep, "cancel")
        sweep_id = sweep.rpartition("/")[2]
        for job in api.store.jobs.list("default", sweep_id=sweep_id).items:
            if not job.state.terminal:
                claim = api.store.jobs.get("default", job.spec.id)
                assert claim is not None
                acting.end(api.store, claim, acting.CANCELLED)
        api.connection.hset(f"literati:sweep:{sweep_id}", "used", 3_600_000)
        told = self.refuse(client, sweep)
        assert (told["errors"][0]["pointer"], told["errors"][0]["code"]) == ("/body/time_limit", "USED_UP")
        assert told["fixes"][0]["options"] == {"time_limit": 3600}
        again = do(client, sweep, "extend", time_limit=100)
        assert again["limits"]["time_limit"] == 3700.0
        acting.run_scores(api.store, [1.0, 1.0])
        assert look(client, sweep)["state"] == "REFITTING"

    def test_failed_jobs_are_tried_again(self, api: Stack, client: httpx.Client, dataset: Dataset) -> None:
        space, limits = {"max_depth": [2], "max_changepoints": [1]}, {"max_failed_trials": 0}
        made = start(client, dataset, space=space, validation={"folds": 2}, limits=limits, refit=False)
        here = made["links"]["self"]
        acting.run_scores(api.store, [0.5])
        acting.end(api.store, acting.claim(api.store), acting.FAILED)
        assert look(client, here)["state"] == "FAILED"
        again = do(client, here, "extend", max_failed_trials=None)
        assert again["limits"]["max_failed_trials"] is None
        assert (again["error"], again["progress"]["failed"], again["progress"]["queued"]) == (None, 0, 1)
        acting.run_scores(api.store, [0.75])
        assert look(client, here)["choice"]["mean"] == 0.625

    def test_patience_can_be_raised(self, api: Stack, client: httpx.Client, dataset: Dataset) -> None:
        space, limits = {"max_depth": [2, 3, 4], "max_changepoints": [1]}, {"patience_trials": 1}
        made = start(client, dataset, space=space, validation={"folds": 2}, limits=limits, refit=False)
        here = made["links"]["self"]
        acting.run_scores(api.store, [0.5, 0.5, 0.5, 0.5])
        assert look(client, here)["stop_reason"] == "NO_IMPROVEMENT"
        assert do(client, here, "extend", patience_trials=None)["limits"]["patience_trials"] is None
        acting.run_scores(api.store, [1.0, 1.0])
        assert look(client, here)["choice"]["mean"] == 1.0

    def test_patience_that_is_used_up(self, api: Stack, client: httpx.Client, dataset: Dataset) -> None:
        space, limits = {"max_depth": [2, 3, 4], "max_changepoints": [1]}, {"patience_trials": 1}
        made = start(client, dataset, space=space, validation={"folds": 2}, limits=limits, refit=False)
        here = made["links"]["self"]
        acting.run_scores(api.store, [0.5, 0.5, 0.5, 0.5])
        told = self.refuse(client, here, time_limit=60)
        assert (told["errors"][0]["pointer"], told["errors"][0]["code"]) == (
            "/body/patience_trials",
            "USED_UP",
        )

    def test_a_failed_last_fit_is_done_again(
        self, api: Stack, client: httpx.Client, dataset: Dataset
    ) -> None:
        space = {"max_depth": [2], "max_changepoints": [1]}
        made = start(client, dataset, space=space, validation={"folds": 2})
        here = made["links"]["self"]
        acting.run_scores(api.store, [0.5, 0.75])
        acting.end(api.store, acting.claim(api.store), acting.FAILED)
        assert look(client, here)["state"] == "FAILED"
        again = do(client, here, "extend")
        assert (again["state"], again["choice"]["mean"]) == ("REFITTING", 0.625)
        assert acting.claim(api.store).spec.id == again["refit_job_id"]

    def test_the_dataset_was_deleted(self, client: httpx.Client, ended: str, dataset: Dataset) -> None:
        assert client.delete(f"/v1/datasets/{dataset.id}").status_code == 204
        answer = client.post(f"{ended}/extend", json={"max_trials": 2})
        assert "restore it first" in problem(answer, 409, "dataset-deleted")["detail"]
        assert client.post(f"/v1/datasets/{dataset.id}/restore").status_code == 200
        do(client, ended, "extend", max_trials=2)

    @pytest.mark.parametrize(
        ("body", "place"),
        [
            ({"max_trials": 0}, "max_trials"),
            ({"max_trials": 1001}, "max_trials"),
            ({"time_limit": 0}, "time_limit"),
            ({"more": 1}, "more"),
        ],
    )
    def test_bodies(self, client: httpx.Client, ended: str, body: dict[str, Any], place: str) -> None:
        assert self.refuse(client, ended, **body)["errors"][0]["pointer"] == f"/body/{place}"


class TestDelete:
    def test_a_sweep_is_deleted_and_restored(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        succeeded(api.store, client, sweep)
        before = look(client, sweep)
        jobs = client.get(before["links"]["jobs"]).json()["items"]
        assert len(jobs) == 5
        assert client.delete(sweep).status_code == 204
        for part in ("", "/trials", "/leaderboard", "/paths", "/events"):
            told = problem(client.get(f"{sweep}{part}"), 404, "not-found")["detail"]
            assert f"`POST {sweep}/restore` restores it" in told
        for verb in ("finish", "cancel", "pause", "resume"):
            problem(client.post(f"{sweep}/{verb}"), 404, "not-found")
        problem(client.post(f"{sweep}/extend", json={}), 404, "not-found")
        problem(client.delete(sweep), 404, "not-found")
        assert client.get("/v1/sweeps").json()["items"] == []
        assert client.get(before["links"]["jobs"]).json()["items"] == []
        assert client.get(before["links"]["model"]).status_code == 200, "models are kept"
        restored = client.post(f"{sweep}/restore")
        assert restored.status_code == 200
        assert restored.json() == before == look(client, sweep)
        assert client.get(before["links"]["jobs"]).json()["items"] == jobs
        assert client.post(f"{sweep}/restore").json() == before

    def test_a_sweep_that_has_not_ended(self, client: httpx.Client, sweep: str) -> None:
        problem(client.delete(sweep), 409, "sweep-live")

    def test_its_dataset_is_in_use(self, client: httpx.Client, sweep: str, dataset: Dataset) -> None:
        problem(client.delete(f"/v1/datasets/{dataset.id}"), 409, "dataset-in-use")
        do(client, sweep, "cancel")
        assert client.delete(f"/v1/datasets/{dataset.id}").status_code == 204

    def test_a_sweep_that_never_was(self, client: httpx.Client) -> None:
        problem(client.post(f"/v1/sweeps/swp_{32 * '0'}/restore"), 404, "not-found")
        problem(client.delete(f"/v1/sweeps/swp_{32 * '0'}"), 404, "not-found")
