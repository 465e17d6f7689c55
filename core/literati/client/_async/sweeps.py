"""Sweeps: many jobs that try settings, and the choice of one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from literati.client._async.control import AsyncControlledRecord
from literati.client._async.datasets import AsyncDataset
from literati.client._async.models import AsyncModel
from literati.client._async.pages import pages
from literati.client._async.transport import AsyncTransport
from literati.client.call import Call, api_path, given, idempotency
from literati.client.progress import Progress, sweep_line
from literati.client.records import SweepRecord, id_of
from literati.client.requests import json_value
from literati.tree.model import ShapeTree


class AsyncSweep(AsyncControlledRecord, SweepRecord):
    """A sweep on the server, as it was when it was last read."""

    async def wait(self, *, progress: bool = False, timeout: float | None = None) -> AsyncModel:
        """Wait until the sweep ends and return its model.

        Ctrl-C ends the waiting, not the sweep. Raise WaitTimeoutError after `timeout` seconds, and
        EndedWithoutModelError or one of its subclasses if there is no model, for example with `refit=False`.
        """
        with self._waiting(timeout):
            await self._wait(progress, timeout)
            return await self.model()

    async def wait_for_choice(self, *, progress: bool = False, timeout: float | None = None) -> AsyncSweep:
        """Wait until the sweep ends, with or without a model, and return it."""
        with self._waiting(timeout):
            await self._wait(progress, timeout)
        return self

    async def _wait(self, progress: bool, timeout: float | None) -> None:
        with Progress(progress) as line:

            async def changed() -> None:
                line.show(sweep_line(self.data))

            await self._wait_until_ended(timeout, changed)

    async def leaderboard(self, limit: int | None = None) -> dict[str, Any]:
        """Return the best trials as `items`, the `chosen` one, and the `explanation` of the choice."""
        return await self._transport.json(Call("GET", f"{self._path}/leaderboard", {"limit": limit}))

    async def trials(
        self, *, sort: str | None = None, order: str | None = None, state: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Iterate over all trials with their scores by fold."""
        offset, total = 0, 1
        while offset < total:
            query = {"sort": sort, "order": order, "state": state, "limit": 100, "offset": offset}
            page = await self._transport.json(Call("GET", f"{self._path}/trials", query))
            for trial in page["items"]:
                yield trial
            total = page["total"] if page["items"] else 0
            offset += len(page["items"])

    async def paths(self) -> dict[str, Any]:
        """Return the scores and sizes by penalty, for charts."""
        return await self._transport.json(Call("GET", f"{self._path}/paths"))

    async def fold_tree(self, setting: int, fold: int, penalty: float | None = None) -> ShapeTree:
        """Return the tree of a setting on one fold, with a path the one at a penalty."""
        path = f"{self._path}/settings/{setting:d}/folds/{fold:d}/tree"
        answer = await self._transport.json(Call("GET", path, {"penalty": penalty}))
        return ShapeTree.from_dict(answer)

    async def finish(self) -> AsyncSweep:
        """Stop trying, and choose among the trials that are complete."""
        return await self._control("finish", repeatable=False)

    async def extend(self, **limits: Any) -> AsyncSweep:
        """Continue a sweep that has ended: with `max_trials`, `time_limit` in more seconds, and others.

        A lost answer is an error and not another attempt, because a second one would add the time twice.
        """
        return await self._control("extend", limits, repeatable=False)


class AsyncSweeps:
    """The sweeps of the server."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        dataset: AsyncDataset | str,
        *,
        space: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        trial_limits: Mapping[str, Any] | None = None,
        validation: Mapping[str, Any] | None = None,
        test: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> AsyncSweep:
        """Start a sweep. `fields` are the other fields of a sweep, such as `metric`, `select` and `name`.

        The call is safe to repeat: however often it is sent, it starts one sweep.
        """
        parameters = None if fixed is None else {name: json_value(value) for name, value in fixed.items()}
        parts = {
            "space": space,
            "fixed": parameters,
            "limits": limits,
            "trial_limits": trial_limits,
            "validation": validation,
            "test": test,
        }
        request = {"dataset_id": id_of(dataset), **given(parts), **fields}
        call = Call("POST", "/v1/sweeps", json=request, headers=idempotency(idempotency_key))
        return AsyncSweep(self._transport, await self._transport.json(call))

    async def get(self, sweep_id: str) -> AsyncSweep:
        data = await self._transport.json(Call("GET", api_path("sweeps", sweep_id)))
        return AsyncSweep(self._transport, data)

    async def list(
        self, *, state: Sequence[str] | str | None = None, page_size: int = 100
    ) -> AsyncIterator[AsyncSweep]:
        """Iterate over the sweeps, the newest first."""
        states = [state] if isinstance(state, str) else state
        async for data in pages(
            self._transport, "/v1/sweeps", given({"state": states, "page_size": page_size})
        ):
            yield AsyncSweep(self._transport, data)

    async def delete(self, sweep_id: str) -> None:
        await self._transport.send(Call("DELETE", api_path("sweeps", sweep_id)))

    async def restore(self, sweep_id: str) -> AsyncSweep:
        data = await self._transport.json(Call("POST", api_path("sweeps", sweep_id, "restore")))
        return AsyncSweep(self._transport, data)
