"""Every route with every kind of key. A new route must be added to the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest

from service.app import create_app
from service.auth import key_file
from service.auth.key_file import Scope
from service.settings import Settings
from tests.support.http.service_client import problem
from tests.support.http.wire import talk
from tests.support.records import jobs, sweeps
from tests.support.records.model_maker import mixed_tree, training_table
from tests.support.records.store_records import SUCCESS, progress_update
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import Job
from worker.domain.progress import NewIncumbent

OURS, THEIRS = "ours", "theirs"
ROW = {"size": 0.5, "age": 30, "colour": "red", "member": True, "zone": 1}
CSV = "x,label\n1,a\n2,b\n3,a\n"


@dataclass(frozen=True)
class World:
    """The records of a tenant, new for each route."""

    dataset: str
    job: str
    model: str
    sweep: str
    alias: str = "best"

    @property
    def names(self) -> tuple[str, ...]:
        return self.dataset, self.job, self.model, self.sweep, self.alias


@dataclass(frozen=True)
class Route:
    method: str
    path: str  # the app's own, with the names of its parameters
    scope: Scope | None  # None: open to anyone
    success: int  # with the right key
    other: Literal["absent", "invalid", "empty", "own"] = "absent"  # what another tenant finds
    more: Callable[[World], dict[str, Any]] = lambda world: {}


def predict(world: World) -> dict[str, Any]:
    return {"json": {"records": [ROW]}}


def score(world: World) -> dict[str, Any]:
    return {"json": {"records": [{**ROW, "label": "yes"}]}}


def infer(world: World) -> dict[str, Any]:
    datatypes = {"size": "FP64", "age": "INT64", "colour": "BYTES", "member": "BOOL", "zone": "INT64"}
    inputs = [
        {"name": name, "shape": [1], "datatype": datatype, "data": [ROW[name]]}
        for name, datatype in datatypes.items()
    ]
    return {"json": {"inputs": inputs}}


def invoke(world: World) -> dict[str, Any]:
    return {"json": {"dataframe_records": [ROW]}}


def upload(world: World) -> dict[str, Any]:
    return {"content": CSV, "params": {"target": "label"}, "headers": {"Content-Type": "text/csv"}}


READ, TRAIN, ADMIN = Scope.READ, Scope.TRAIN, Scope.ADMIN
TABLE = [
    Route("POST", "/v1/models/{model}/predict", READ, 200, more=predict),
    Route("POST", "/v1/jobs/{job_id}/predict", READ, 200, more=predict),
    Route("POST", "/v1/models/{model}/score", READ, 200, more=score),
    Route("POST", "/v1/jobs/{job_id}/score", READ, 200, more=score),
    Route("POST", "/v2/models/{model}/infer", READ, 200, more=infer),
    Route("POST", "/v2/models/{model}/versions/{version}/infer", READ, 200, more=infer),
    Route("GET", "/v2/models/{model}", READ, 200),
    Route("GET", "/v2/models/{model}/ready", READ, 200),
    Route("GET", "/v2/models/{model}/versions/{version}", READ, 200),
    Route("GET", "/v2/models/{model}/versions/{version}/ready", READ, 200),
    Route("POST", "/mlflow/{model}/invocations", READ, 200, more=invoke),
    Route("GET", "/mlflow/{model}/ping", READ, 200),
    Route("GET", "/mlflow/{model}/health", READ, 200),
    Route("GET", "/mlflow/{model}/version", READ, 200),
    Route("POST", "/v1/jobs", TRAIN, 202, "invalid", lambda world: {"json": {"dataset_id": world.dataset}}),
    Route("GET", "/v1/jobs", READ, 200, "empty"),
    Route("GET", "/v1/jobs/{job_id}", READ, 200),
    Route("PATCH", "/v1/jobs/{job_id}", TRAIN, 200, more=lambda world: {"json": {"name": "renamed"}}),
    Route("GET", "/v1/jobs/{job_id}/trace", READ, 200),
    Route("DELETE", "/v1/jobs/{job_id}", TRAIN, 409),
    Route("POST", "/v1/jobs/{job_id}/restore", TRAIN, 200),
    Route("GET", "/v1/jobs/{job_id}/incumbent", READ, 200),
    Route("GET", "/v1/jobs/{job_id}/scores", READ, 200),
    Route("GET", "/v1/jobs/{job_id}/incumbent/nodes/{node}/rows", READ, 200),
    Route("GET", "/v1/jobs/{job_id}/events", READ, 200),
    Route("POST", "/v1/jobs/{job_id}/finish", TRAIN, 202),
    Route("POST", "/v1/jobs/{job_id}/models", TRAIN, 201, more=lambda world: {"json": {"revision": 1}}),
    Route("POST", "/v1/jobs/{job_id}/cancel", TRAIN, 202),
    Route("POST", "/v1/jobs/{job_id}/pause", TRAIN, 202),
    Route("POST", "/v1/jobs/{job_id}/resume", TRAIN, 409),
    Route("POST", "/v1/sweeps", TRAIN, 202, "invalid", lambda world: {"json": {"dataset_id": world.dataset}}),
    Route("GET", "/v1/sweeps", READ, 200, "empty"),
    Route("GET", "/v1/sweeps/{sweep_id}", READ, 200),
    Route("PATCH", "/v1/sweeps/{sweep_id}", TRAIN, 200, more=lambda world: {"json": {"name": "renamed"}}),
    Route("GET", "/v1/sweeps/{sweep_id}/trials", READ, 200),
    Route("GET", "/v1/sweeps/{sweep_id}/leaderboard", READ, 200),
    Route("GET", "/v1/sweeps/{sweep_id}/paths", READ, 200),
    Route("GET", "/v1/sweeps/{sweep_id}/events", READ, 200),
    Route("GET", "/v1/sweeps/{sweep_id}/settings/{setting}/folds/{fold}/tree", READ, 404),
    Route("GET", "/v1/sweeps/{sweep_id}/oof", READ, 409),
    Route("POST", "/v1/sweeps/{sweep_id}/finish", TRAIN, 409),
    Route("POST", "/v1/sweeps/{sweep_id}/cancel", TRAIN, 202),
    Route("POST", "/v1/sweeps/{sweep_id}/pause", TRAIN, 202),
    Route("POST", "/v1/sweeps/{sweep_id}/resume", TRAIN, 200),
    Route("POST", "/v1/sweeps/{sweep_id}/extend", TRAIN, 409, more=lambda world: {"json": {}}),
    Route("DELETE", "/v1/sweeps/{sweep_id}", TRAIN, 409),
    Route("POST", "/v1/sweeps/{sweep_id}/restore", TRAIN, 200),
    Route("POST", "/v1/datasets", TRAIN, 201, "own", upload),
    Route("GET", "/v1/datasets", READ, 200, "empty"),
    Route("GET", "/v1/datasets/{dataset_id}", READ, 200),
    Route("PATCH", "/v1/datasets/{dataset_id}", TRAIN, 200, more=lambda world: {"json": {"notes": "n"}}),
    Route("GET", "/v1/datasets/{dataset_id}/preview", READ, 200),
    Route("DELETE", "/v1/datasets/{dataset_id}", TRAIN, 409),
    Route("POST", "/v1/datasets/{dataset_id}/restore", TRAIN, 200),
    Route("GET", "/v1/models/aliases", READ, 200, "empty"),
    *(Route(word, "/v1/models/aliases", TRAIN, 405, "own") for word in ("DELETE", "PATCH", "POST", "PUT")),
    Route("OPTIONS", "/v1/models/aliases", READ, 405, "own"),
    Route("GET", "/v1/models/aliases/{alias}", READ, 200),
    Route(
        "PUT",
        "/v1/models/aliases/{alias}",
        TRAIN,
        200,
        "invalid",
        lambda world: {"json": {"model_id": world.model}},
    ),
    Route("DELETE", "/v1/models/aliases/{alias}", TRAIN, 204),
    Route("GET", "/v1/models", READ, 200, "empty"),
    Route("GET", "/v1/models/{model}", READ, 200),
    Route("PATCH", "/v1/models/{model}", TRAIN, 200, more=lambda world: {"json": {"notes": "n"}}),
    Route("GET", "/v1/models/{model}/tree.svg", READ, 200),
    Route("GET", "/v1/models/{model}/rules", READ, 200),
    Route("GET", "/v1/models/{model}/export", READ, 200, more=lambda world: {"params": {"format": "c"}}),
    Route("GET", "/v1/models/{model}/nodes/{node}/rows", READ, 200),
    Route("DELETE", "/v1/models/{model}", TRAIN, 409),
    Route("POST", "/v1/models/{model}/restore", TRAIN, 200),
    Route("GET", "/v1/tenants", ADMIN, 200),
    Route("GET", "/v1/tenants/{tenant}", ADMIN, 200),
    Route("PUT", "/v1/tenants/{tenant}", ADMIN, 200, more=lambda world: {"json": {"weight": 200}}),
    Route("GET", "/metrics", ADMIN, 200, "own"),
    Route("GET", "/healthz", None, 200),
    Route("GET", "/readyz", None, 200),
    Route("GET", "/version", None, 200),
    Route("GET", "/v2", None, 200),
    Route("GET", "/v2/health/live", None, 200),
    Route("GET", "/v2/health/ready", None, 200),
    Route("GET", "/", None, 200),
    Route("GET", "/docs", None, 200),
    Route("GET", "/openapi.json", None, 200),
    Route("GET", "/assets/{name:path}", None, 200),
]
CLOSED = [route for route in TABLE if route.scope is not None]


@pytest.fixture(scope="module")
def keys_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys") / "keys.json"


@pytest.fixture(scope="module")
def keys(keys_path: Path) -> dict[str, dict[str, str]]:
    """Return headers with invalid keys, by what is wrong with them."""

    def header(tenant: str, *scopes: Scope) -> dict[str, str]:
        key, _ = key_file.add(keys_path, "test", tenant, frozenset(scopes))
        return {"Authorization": f"Bearer {key}"}

    right = header(OURS, READ, TRAIN)
    text = right["Authorization"]
    revoked = header(OURS, *Scope)
    key_file.revoke(keys_path, revoked["Authorization"].split("_")[1])
    return {
        "right": right,
        "admin": header(OURS, ADMIN),
        "theirs": header(THEIRS, READ, TRAIN),
        "only read": header(OURS, READ),
        "only train": header(OURS, TRAIN),
        "none": {},
        "empty": {"Authorization": "Bearer"},
        "unknown": {"Authorization": "Bearer lit_00000000_" + 43 * "a"},
        "other secret": {"Authorization": text[:-1] + ("a" if text[-1] != "a" else "b")},
        "other scheme": {"Authorization": text.replace("Bearer", "Basic")},
        "in the address": {"X-Api-Key": text.removeprefix("Bearer ")},
        "revoked": revoked,
    }


REFUSED = ("none", "empty", "unknown", "other secret", "other scheme", "in the address", "revoked")


@pytest.fixture(scope="module")
def closed(
    tmp_path_factory: pytest.TempPathFactory, keys_path: Path, keys: dict[str, Any]
) -> Iterator[Stack]:
    with Stack.with_api(tmp_path_factory.mktemp("closed"), LITERATI_API_KEYS_FILE=str(keys_path)) as stack:
        yield stack


def world(stack: Stack) -> World:
    """Add a running job with a tree, a model with an alias, and a sweep, of the same dataset."""
    stack.connection.flushall()
    table = training_table()
    cells = {
        **dict(zip(table.column_names, table.columns, strict=True)),
        "label": mixed_tree().predict(table),
    }
    dataset = jobs.add_dataset(stack.store, stack.blobs, cells, tenant=OURS)
    done = start(stack, dataset)
    stack.store.jobs.finish(done.spec.id, done.epoch, SUCCESS)
    job = start(stack, dataset).spec.id
    (model,) = stack.store.models.list(OURS).items
    stack.store.models.set_alias(OURS, "best", model.id)
    sweep = sweeps.submit(stack.store, sweeps.spec(dataset, tenant=OURS)).spec.id
    return World(dataset.id, job, model.id, sweep)


def start(stack: Stack, dataset: Dataset) -> Job:
    stack.store.jobs.submit(jobs.spec(dataset))
    claim = stack.store.jobs.claim("tests")
    assert claim is not None
    tree = mixed_tree()
    found = NewIncumbent(objective=tree.objective, tree=tree.to_dict(), metrics={"train_accuracy": 0.9})
    word = progress_update(upper=100.0).model_copy(update={"incumbent": found})
    stack.store.jobs.publish_progress(claim.spec.id, claim.epoch, word)
    return claim


def ask(client: httpx.Client, route: Route, here: World, headers: dict[str, str]) -> httpx.Response:
    path = route.path.format_map(
        {
            "model": here.model,
            "version": here.model,
            "job_id": here.job,
            "sweep_id": here.sweep,
            "setting": 0,
            "fold": 0,
            "dataset_id": here.dataset,
            "alias": here.alias,
            "tenant": OURS,
            "node": 0,
        }
    )
    more = route.more(here)
    return client.request(route.method, path, **{**more, "headers": {**more.get("headers", {}), **headers}})


def test_every_route_is_in_the_table() -> None:
    routes: list[Any] = create_app(Settings()).routes
    found = {(method, route.path) for route in routes for method in route.methods}
    assert found == {(route.method, route.path) for route in TABLE}


def test_the_number_of_routes() -> None:
    print(
        f"{len(CLOSED)} closed routes x {len(REFUSED) + 5} kinds of key, {len(TABLE) - len(CLOSED)} open ones"
    )
    assert len(CLOSED) * (len(REFUSED) + 5) >= 350


@pytest.mark.parametrize("route", CLOSED, ids=lambda route: f"{route.method} {route.path}")
def test_a_protected_route(closed: Stack, keys: dict[str, dict[str, str]], route: Route) -> None:
    here = world(closed)
    before = snapshot(closed)
    with closed.client() as client:
        for name in REFUSED:
            answer = ask(client, route, here, keys[name])
            body = problem(answer, 401, "not-signed-in")
            assert answer.headers["www-authenticate"].startswith("Bearer"), name
            assert not any(word in str(body) for word in here.names)
        for name, scope in (("only read", READ), ("only train", TRAIN)):
            if route.scope is not scope:
                problem(ask(client, route, here, keys[name]), 403, "scope-needed")
        assert snapshot(closed) == before
        _check_other_tenant(client, route, here, keys["theirs"])
        allowed = "admin" if route.scope is ADMIN else f"only {route.scope}"
        assert ask(client, route, here, keys[allowed]).status_code == route.success
        if route.scope is not ADMIN:
            assert ask(client, route, world(closed), keys["right"]).status_code == route.success
            assert ask(client, route, world(closed), keys["admin"]).status_code == route.success


def _check_other_tenant(client: httpx.Client, route: Route, here: World, headers: dict[str, str]) -> None:
    """Another tenant cannot see or change the records, nor learn whether they exist."""
    answer = ask(client, route, here, headers)
    if route.scope is ADMIN:
        problem(answer, 403, "scope-needed")
        return
    if route.other in ("absent", "invalid"):
        dataset, job, model, sweep = (name[:-32] + name[-32:][::-1] for name in here.names[:4])
        absent = ask(client, route, World(dataset, job, model, sweep, "none"), headers)
        assert answer.status_code == (404 if route.other == "absent" else 422)
        assert {**answer.json(), "instance": ""} == {**absent.json(), "instance": ""}
    elif route.other == "empty":
        assert answer.json()["items"] == []
    assert not any(word in answer.text for word in here.names[:4])


def snapshot(stack: Stack) -> dict[str, object]:
    """Return what the tenant sees of its records, which refused calls must not change."""
    store = stack.store
    return {
        "jobs": [(job.spec.id, job.state, job.revision) for job in store.jobs.list(OURS).items],
        "sweeps": [(sweep.spec.id, sweep.state, sweep.revision) for sweep in store.sweeps.list(OURS).items],
        "datasets": [dataset.id for dataset in store.datasets.list(OURS).items],
        "models": [model.id for model in store.models.list(OURS).items],
        "aliases": store.models.aliases(OURS),
        "tenant": store.tenants.get(OURS),
    }


@pytest.mark.parametrize(
    "route", [route for route in TABLE if route.scope is None], ids=lambda route: str(route.path)
)
def test_a_public_route(closed: Stack, keys: dict[str, dict[str, str]], route: Route) -> None:
    path = route.path.replace("{name:path}", "docs.js")
    with closed.client(follow_redirects=True) as client:
        for name in ("none", "unknown", "revoked", "right"):
            assert client.request(route.method, path, headers=keys[name]).status_code == route.success


ELSEWHERE = """
    /no/such/place /v1 /V1/jobs //v1/jobs /v1/jobs/ /v1//jobs /healthz/ /metrics/ /assets /docs/
    /v2/ /v2/models /v2/health /mlflow /mlflow/best /healthz/../v1/jobs /%2e/v1/jobs /readyz;/v1/jobs
"""


@pytest.mark.parametrize("path", ELSEWHERE.split())
def test_unknown_addresses_need_a_key(closed: Stack, path: str) -> None:
    for method in ("GET", "POST", "DELETE", "TRACE"):
        answer = _raw(closed, method, path)
        assert answer.startswith(b"HTTP/1.1 401"), answer[:100]


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../v1/jobs",
        "/assets%2f..%2fv1/jobs",
        "/assets/..%2f..%2fkeys.json",
        "/assets/%2e%2e/%2e%2e/settings.py",
        "/assets/....//....//etc/passwd",
        "/assets//etc/passwd",
        "/assets/%00",
        "/assets/docs.js%00.html",
    ],
)
def test_path_traversal_in_assets(closed: Stack, path: str) -> None:
    answer = _raw(closed, "GET", path)
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400", b"HTTP/1.1 401")), answer[:100]
    assert b"root:" not in answer


def _raw(stack: Stack, method: str, path: str) -> bytes:
    """Send the path unchanged; a client library would normalize it."""
    return talk(stack, f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
