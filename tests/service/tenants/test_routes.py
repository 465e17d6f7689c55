"""Several tenants on one real stack: whose job is started next, and the weights that an admin key sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from service.auth.key_store import KeyStore
from tests.support.http.service_client import problem, submit
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.domain.datasets import Dataset
from worker.domain.errors import WrongStateError

CROWD = 1000
QUICK = {"max_expansions": 1}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, dict[str, str]]]:
    """A store, an API and a worker of one core; a key of the tenants a and b and of an administrator."""
    folder = tmp_path_factory.mktemp("tenants")
    path = folder / "keys.json"
    scopes = {"a": {Scope.READ, Scope.TRAIN}, "b": {Scope.READ, Scope.TRAIN}, "admin": {Scope.ADMIN}}
    keys = {
        tenant: key_file.add(path, tenant, tenant, frozenset(given))[0] for tenant, given in scopes.items()
    }
    with Stack.with_api(
        folder / "stack", LITERATI_API_KEYS_FILE=str(path), LITERATI_RATE_LIMITS="off"
    ) as stack:
        stack.start_worker()
        yield stack, keys


@pytest.fixture
def users(shared: tuple[Stack, dict[str, str]]) -> Iterator[dict[str, httpx.Client]]:
    stack, keys = shared
    clients = {name: stack.client(headers={"Authorization": f"Bearer {key}"}) for name, key in keys.items()}
    yield clients
    for client in clients.values():
        client.close()


def started_at(client: httpx.Client, job_id: str) -> str | None:
    found: str | None = client.get(f"/v1/jobs/{job_id}").json()["started_at"]
    return found


def crowd(stack: Stack, dataset: Dataset, count: int, **fields: Any) -> list[str]:
    specs = [jobs.spec(dataset, {"max_depth": 1}, limits=QUICK, **fields) for _ in range(count)]
    for spec in specs:
        stack.store.jobs.submit(spec)
    return [spec.id for spec in specs]


def test_a_single_job_starts_as_soon_as_a_slot_is_free(
    shared: tuple[Stack, dict[str, str]], users: dict[str, httpx.Client]
) -> None:
    stack, _ = shared
    ours, theirs = (
        jobs.add_dataset(stack.store, stack.blobs, jobs.easy(), tenant=tenant) for tenant in ("a", "b")
    )
    others = crowd(stack, ours, CROWD, priority=100)
    poll(lambda: started_at(users["a"], others[0]), what="the first job's start")
    single = submit(users["b"], theirs, limits=QUICK)
    start = poll(lambda: started_at(users["b"], single["id"]), what="the single job's start")
    left = users["admin"].get("/v1/tenants/a").json()["queued_jobs"]
    assert left > CROWD / 2, "the others still wait"
    between = [
        job_id
        for job_id in others[: CROWD - left]
        if single["created_at"] < (started_at(users["a"], job_id) or "") < start
    ]
    assert len(between) <= 1, "no more than the one that was claimed in that moment"
    for job_id in queued(stack):
        with suppress(WrongStateError):  # it was started and has ended meanwhile
            stack.store.jobs.control("a", job_id, "cancel")


def queued(stack: Stack) -> set[str]:
    members: Any = stack.connection.zrange("literati:waiting", 0, -1)
    return {member.decode() for member in members}


def test_weights(shared: tuple[Stack, dict[str, str]], users: dict[str, httpx.Client]) -> None:
    stack, _ = shared
    poll(lambda: not queued(stack), what="an empty queue")
    assert users["admin"].put("/v1/tenants/a", json={"weight": 300}).json()["weight"] == 300
    assert users["admin"].get("/v1/tenants/a").json()["links"] == {"self": "/v1/tenants/a"}
    listed = users["admin"].get("/v1/tenants").json()["items"]
    assert {tenant["name"]: tenant["weight"] for tenant in listed} == {"a": 300, "admin": 100, "b": 100}
    ids = {}
    for tenant in ("a", "b"):
        data = jobs.add_dataset(stack.store, stack.blobs, jobs.easy(), tenant=tenant)
        ids[tenant] = crowd(stack, data, 40)
    poll(lambda: not queued(stack), what="an empty queue", seconds=120)
    starts = sorted(
        (str(started_at(users[tenant], job_id)), tenant) for tenant, mine in ids.items() for job_id in mine
    )
    order = [tenant for _, tenant in starts]
    beside = order[order.index("b") :]  # the first of a start before b has any
    assert beside[:24].count("a") == pytest.approx(18, abs=2), order
    users["admin"].put("/v1/tenants/a", json={"weight": 100})


@pytest.mark.parametrize("body", [{"weight": 0}, {"weight": 10_001}, {"weight": "2"}, {"weight": 1.5}, {}])
def test_weights_that_are_refused(users: dict[str, httpx.Client], body: dict[str, Any]) -> None:
    found = problem(users["admin"].put("/v1/tenants/a", json=body), 422)["errors"]
    assert [error["pointer"] for error in found] == ["/body/weight"]


def test_who_may_not(users: dict[str, httpx.Client]) -> None:
    problem(users["a"].put("/v1/tenants/a", json={"weight": 10}), 403, "scope-needed")
    problem(users["a"].get("/v1/tenants"), 403, "scope-needed")
    problem(users["admin"].get("/v1/tenants/No%20Name"), 404, "not-found")


def test_a_tenant_that_does_not_exist(
    shared: tuple[Stack, dict[str, str]], users: dict[str, httpx.Client]
) -> None:
    stack, _ = shared
    for answer in (
        users["admin"].put("/v1/tenants/nobody", json={"weight": 7}),
        users["admin"].get("/v1/tenants/nobody"),
    ):
        detail = problem(answer, 404, "not-found")["detail"]
        assert "The tenants are: a, admin, b." in detail
        assert "service.keys add" in detail
    assert stack.connection.hgetall("literati:weights") == {}
    jobs.add_dataset(stack.store, stack.blobs, jobs.easy(), tenant="former")
    former = users["admin"].put("/v1/tenants/former", json={"weight": 100})
    assert former.status_code == 200, "no key has its name any more, but it has a dataset"
    _, entry = key_file.new_key("new", "beginner", frozenset({Scope.READ}))
    KeyStore(stack.store).add(entry)
    assert users["admin"].put("/v1/tenants/beginner", json={"weight": 100}).status_code == 200


def test_it_is_noted(shared: tuple[Stack, dict[str, str]], users: dict[str, httpx.Client]) -> None:
    stack, _ = shared
    users["admin"].put("/v1/tenants/admin", json={"weight": 7})
    path = stack.folder / "state" / "logs" / "audit.log"
    line = json.loads(poll(lambda: _line(path.read_text()), what="a line of the audit log"))
    assert (line["action"], line["object"], line["outcome"]) == ("set_tenant", "admin", "done")
    assert line["tenant"] == "admin"


def _line(text: str) -> str | None:
    return next((line for line in text.splitlines() if "/v1/tenants/admin" in line), None)
