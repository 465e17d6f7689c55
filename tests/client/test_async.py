"""The asynchronous client takes the same ways as the synchronous one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pandas as pd
import pytest

from literati.client import (
    AsyncClient,
    AsyncJob,
    CancelledError,
    ConnectionFailedError,
    InvalidRequestError,
    RetryPolicy,
    WaitTimeoutError,
)
from tests.client.conftest import FAST, Api
from tests.support.http.scripted_server import Answer, ScriptedServer
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker, costs, trees
from tests.support.stack.stack import Stack


def run(url: str, steps: Callable[[AsyncClient], Awaitable[None]]) -> None:
    async def main() -> None:
        async with AsyncClient(url, retry=FAST) as client:
            await steps(client)

    asyncio.run(main())


@pytest.mark.usefixtures("client")
def test_from_the_table_to_predictions(stack: Stack, easy: pd.DataFrame, tmp_path: Path) -> None:
    easy.to_csv(tmp_path / "easy.csv", index=False)
    rows = easy.drop(columns="label")

    async def steps(client: AsyncClient) -> None:
        frame, file = await asyncio.gather(
            client.datasets.upload(easy, target="label"),
            client.datasets.upload(tmp_path / "easy.csv", target="label"),
        )
        assert frame.rows == file.rows == 300
        job = await client.jobs.create(frame, max_depth=2)
        types = [event.type async for event in job.events()]
        assert (types[0], types[-1]) == ("state", "done")
        model = await job.wait()
        tree = await model.tree()
        assert (await model.predict(rows)).tolist() == tree.predict(rows).tolist()
        assert (await model.score(easy))["scores"]["accuracy"] > 0.9
        assert job.id in [found.id async for found in client.jobs.list(page_size=2)]
        assert "data:image/svg+xml" in model._repr_html_()
        assert "SUCCEEDED" in job._repr_html_()
        await client.models.aliases.set("a", model)
        assert (await client.models.get("a")).id == model.id
        await client.models.aliases.delete("a")
        with pytest.raises(InvalidRequestError):
            await client.jobs.create(frame, max_depth=0)

    run(stack.url, steps)


@pytest.mark.usefixtures("client")
def test_waiting(stack: Stack, noise: pd.DataFrame) -> None:
    async def steps(client: AsyncClient) -> None:
        dataset = await client.datasets.upload(noise, target="label")
        first, second = [await client.jobs.create(dataset, max_depth=6, time_limit=600) for _ in range(2)]
        with pytest.raises(WaitTimeoutError):
            await second.wait(timeout=0.3)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        assert (await first.wait(until="trees>=2"))["incumbent_revision"] >= 2
        ticking.cancel()
        assert ticks > 10, "the event loop was not blocked"
        await second.cancel()
        with pytest.raises(CancelledError):
            await second.wait()

    run(stack.url, steps)


@pytest.mark.usefixtures("client")
def test_a_cancelled_wait_leaves_the_job_alone(stack: Stack, noise: pd.DataFrame) -> None:
    async def steps(client: AsyncClient) -> None:
        dataset = await client.datasets.upload(noise, target="label")
        job = await client.jobs.create(dataset, max_depth=6, time_limit=600)
        waiting = asyncio.create_task(job.wait())
        await asyncio.sleep(0.5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await waiting
        assert "Come back with" in caught.value.__notes__[0]
        assert not (await job.refresh()).ended
        await job.cancel()

    run(stack.url, steps)


@pytest.mark.usefixtures("client")
def test_a_sweep(stack: Stack, easy: pd.DataFrame) -> None:
    async def steps(client: AsyncClient) -> None:
        dataset = await client.datasets.upload(easy, target="label")
        sweep = await client.sweeps.create(dataset, space={"max_depth": [1]}, validation={"folds": 2})
        model = await sweep.wait()
        assert sweep.model_id == model.id
        assert [trial["number"] async for trial in sweep.trials()]
        assert (await sweep.leaderboard())["final"]

    run(stack.url, steps)


def test_the_api_is_killed_while_events_are_streamed(api: Api) -> None:
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy())
    trees()

    async def steps(client: AsyncClient) -> None:
        job: AsyncJob = await client.jobs.create(dataset.id)
        worker = ActingWorker(api.stack.store)
        worker.checkpoint(1, tree=0)
        seen = []
        async for event in job.events():
            seen.append(event)
            if event.type == "bound" and event.data["lower_bound"] == 1:
                api.kill()
                worker.checkpoint(2, tree=1)
                api.start(delay=0.2)
                worker.finish(3, tree=2)
        assert [event.data["objective"] for event in seen if event.type == "incumbent"] == costs()[:3]
        assert seen == [event async for event in job.events()]

    run(api.stack.url, steps)


def test_retries() -> None:
    job = {"id": "job_1", "state": "QUEUED", "model_id": None}
    busy = Answer(503, {}, {"Retry-After": "1"})
    with ScriptedServer(busy, Answer(None), Answer(202, job)) as server:

        async def steps(client: AsyncClient) -> None:
            await client.jobs.create("ds_1")

        run(server.url, steps)
        assert len({asked.headers["Idempotency-Key"] for asked in server.asked}) == 1
        assert server.asked[1].at - server.asked[0].at >= 1


def test_nobody_there() -> None:
    with ScriptedServer() as server:
        url = server.url

    async def main() -> None:
        async with AsyncClient(url, retry=RetryPolicy(retries=1, first_delay=0.01)) as client:
            with pytest.raises(ConnectionFailedError):
                await client.version()

    started = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - started < 5
