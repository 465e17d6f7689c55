"""Many rows, many requests, many models."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from literati import LiteratiClassifier
from service.app import create_app
from service.predict.model_cache import Predictors
from service.settings import Settings
from tests.support.http.predict_bodies import GOOD, as_arrays, as_arrow, as_csv, as_records, as_table
from tests.support.records.jobs import TENANT
from tests.support.records.model_maker import COLOURS, ZONES, add_model, mixed_tree
from tests.support.stack.stack import Stack
from worker.domain.errors import ModelNotFoundError
from worker.store.model_names import ModelResolver

ROWS = 100_000
KINDS = {
    "application/json": as_records,
    "application/json; arrays": as_arrays,
    "text/csv": as_csv,
    "application/vnd.apache.arrow.stream": as_arrow,
}


@pytest.fixture(scope="module")
def many() -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    cells = {
        "size": rng.normal(size=ROWS).round(3).tolist(),
        "age": rng.integers(0, 100, ROWS).tolist(),
        "colour": rng.choice([*COLOURS, "pink"], ROWS).tolist(),
        "member": (rng.random(ROWS) < 0.5).tolist(),
        "zone": rng.choice([*ZONES, 77], ROWS).tolist(),
    }
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand_rows(
    api: Stack, client: httpx.Client, many: list[dict[str, Any]], kind: str
) -> None:
    model = add_model(api, mixed_tree())
    content_type = kind.partition(";")[0]
    answer = client.post(
        f"/v1/models/{model}/predict", content=KINDS[kind](many), headers={"Content-Type": content_type}
    )
    assert answer.status_code == 200, answer.text[:1000]
    found = answer.json()
    table = as_table(many)
    table = table.set_column(4, "zone", table.column("zone").dictionary_encode())
    table = table.append_column("planet", pa.array([None] * ROWS, pa.string()))
    tree = mixed_tree()
    assert np.array_equal(found["leaf_ids"], tree.apply(table))
    assert np.array_equal(found["predictions"], tree.predict(table))
    assert {w["code"] for w in found["warnings"]} == {"UNSEEN_CATEGORY", "OUT_OF_RANGE"}
    assert {w["column"]: w["count"] for w in found["warnings"]}["zone"] == sum(r["zone"] == 77 for r in many)


def test_more_rows_than_allowed(tmp_path_factory: pytest.TempPathFactory, api: Stack) -> None:
    with Stack.with_api(
        tmp_path_factory.mktemp("strict"), server=api.server, LITERATI_MAX_PREDICT_ROWS="10"
    ) as strict:
        model = add_model(api, mixed_tree())
        with strict.client() as client:
            for rows, status in ((10, 200), (11, 422)):
                answer = client.post(f"/v1/models/{model}/predict", json={"records": [GOOD] * rows})
                assert answer.status_code == status
            assert "the limit is 10 per request" in answer.json()["errors"][0]["message"]
            assert "LITERATI_MAX_PREDICT_ROWS" in answer.json()["errors"][0]["message"]


def test_requests_at_the_same_time_each_get_their_own_answer(api: Stack) -> None:
    models = [add_model(api, mixed_tree((i, i + 1000))) for i in range(4)]

    def ask(turn: int) -> None:
        model, age = turn % 4, turn % 90
        row = {**GOOD, "age": age, "member": False}
        answer = client.post(f"/v1/models/{models[model]}/predict", json={"records": [row]}).json()
        assert answer["model_id"] == models[model]
        assert answer["predictions"][0] % 1000 == model
        assert answer["leaf_ids"] == [mixed_tree().explain({**row, "planet": None}).leaf]

    with api.client() as client, ThreadPoolExecutor(16) as pool:
        list(pool.map(ask, range(600)))


def test_a_moved_alias_is_never_served_stale(api: Stack) -> None:
    """Whoever asks after the alias was moved gets the new model, however many ask meanwhile."""
    models = [add_model(api, mixed_tree()), add_model(api, mixed_tree((1, 2)))]
    api.store.models.set_alias(TENANT, "live", models[0])
    done = threading.Event()

    def crowd() -> None:
        with api.client() as client:
            while not done.is_set():
                client.post("/v1/models/live/predict", json={"records": [GOOD]}).raise_for_status()

    with ThreadPoolExecutor(6) as pool, api.client() as client:
        for _ in range(6):
            pool.submit(crowd)
        try:
            for turn in range(60):
                api.store.models.set_alias(TENANT, "live", models[turn % 2])
                answer = client.post("/v1/models/live/predict", json={"records": [GOOD]})
                assert answer.json()["model_id"] == models[turn % 2]
        finally:
            done.set()


def test_connections_and_scripts_that_the_server_dropped_are_no_trouble(
    api: Stack, client: httpx.Client
) -> None:
    path = f"/v1/models/{add_model(api, mixed_tree())}/predict"
    assert client.post(path, json={"records": [GOOD]}).status_code == 200
    api.connection.script_flush()
    assert client.post(path, json={"records": [GOOD]}).status_code == 200
    api.connection.client_kill_filter(_type="normal", skipme=True)
    assert client.post(path, json={"records": [GOOD]}).status_code == 200


# What is kept in the process


def with_predictors(api: Stack, use: Callable[[Predictors], Awaitable[None]], **limits: int) -> None:
    async def run() -> None:
        predictors = Predictors(api.store, ModelResolver(api.server.url), **limits)
        try:
            await use(predictors)
        finally:
            await predictors.close()

    asyncio.run(run())


def test_a_model_is_read_once(api: Stack) -> None:
    model = add_model(api, mixed_tree())

    async def use(predictors: Predictors) -> None:
        found = await asyncio.gather(*(predictors.of_model(TENANT, model) for _ in range(20)))
        assert len(set(map(id, found))) == 1
        assert await predictors.of_model(TENANT, model) is found[0]

    with_predictors(api, use)


@pytest.mark.parametrize("limits", [{"max_entries": 2}, {"max_bytes": 1}])
def test_few_models_are_kept(api: Stack, limits: dict[str, int]) -> None:
    models = [add_model(api, mixed_tree()) for _ in range(3)]
    max_entries = limits.get("max_entries", 1)

    async def use(predictors: Predictors) -> None:
        first = [await predictors.of_model(TENANT, model) for model in models]
        for age, (model, predictor) in enumerate(zip(reversed(models), reversed(first), strict=True), 1):
            again = await predictors.of_model(TENANT, model)
            assert (again is predictor) == (age <= max_entries)

    with_predictors(api, use, **limits)


def test_tenants_do_not_share_models(api: Stack) -> None:
    model = add_model(api, mixed_tree())

    async def use(predictors: Predictors) -> None:
        await predictors.of_model(TENANT, model)
        with pytest.raises(ModelNotFoundError):
            await predictors.of_model("other", model)

    with_predictors(api, use)


def test_a_request_that_goes_away_takes_no_other_with_it(api: Stack) -> None:
    model = add_model(api, mixed_tree())

    async def use(predictors: Predictors) -> None:
        asking = [asyncio.create_task(predictors.of_model(TENANT, model)) for _ in range(4)]
        await asyncio.sleep(0)
        asking[0].cancel()
        found = await asyncio.gather(*asking, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert found[1] is found[2] is found[3]

    with_predictors(api, use)


def test_an_answer_of_absurd_size_is_refused(api: Stack, client: httpx.Client) -> None:
    """A row of few bytes and an answer of many: a class for every thousandth of the data."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    tree = LiteratiClassifier(max_depth=1, max_expansions=1).fit(x, np.arange(2000) % 1000).tree_
    model = add_model(api, tree)
    body = json.dumps({"columns": ["x0"], "data": [[0]] * 60_000}).encode()
    answer = client.post(
        f"/v1/models/{model}/predict", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["code"] == "TOO_MANY_ROWS"


def test_rows_that_are_slow_to_read_do_not_hold_up_others(api: Stack, tmp_path: Path) -> None:
    """A first row of nothing but commas: 50 times as slow as the same bytes of numbers."""
    path = f"/v1/models/{add_model(api, mixed_tree())}/predict"
    body = b"size" + b"," * ((1 << 18) - 10) + b"\n1\n"
    app = create_app(Settings.model_validate({"REDIS_URL": api.server.url, "state_dir": tmp_path}))

    async def share_of_the_longest_break(client: httpx.AsyncClient) -> float:
        """Of the time that the answer takes: how long nothing else was done."""
        asking = asyncio.create_task(client.post(path, content=body, headers={"Content-Type": "text/csv"}))
        started = last = time.perf_counter()
        longest = 0.0
        while not asking.done():
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
        assert (await asking).status_code == 400
        return longest / (last - started)

    async def best() -> float:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            found = [await share_of_the_longest_break(client) for _ in range(4)]
        await app.state.services.predictors.close()
        return min(found)

    assert asyncio.run(best()) < 0.6
    app.state.services.store.client.close()
