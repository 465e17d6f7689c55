"""Sweeps: many jobs that try settings, and the choice of one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from literati.client._async.datasets import AsyncDataset
from literati.client._async.events import follow
from literati.client._async.models import AsyncModel
from literati.client._async.pages import pages
from literati.client._async.runtime import detached, interruptions
from literati.client._async.transport import AsyncTransport
from literati.client._async.waiting import AsyncPoll, how_to_come_back, wait_until_ended
from literati.client.call import Call, given, idempotency
from literati.client.events import Event
from literati.client.progress import Progress, sweep_line
from literati.client.records import SweepRecord, id_of
from literati.client.requests import json_value
from literati.tree.model import ShapeTree


class AsyncSweep(SweepRecord):
    """A sweep on the server, as it was when it was last read."""

    def __init__(self, transport: AsyncTransport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = f"/v1/sweeps/{self.id}"

    async def refresh(self) -> AsyncSweep:
        """Get the current state, and return the sweep."""
        self.data = await self._transport.json(Call("GET", self._path))
        return self

    async def events(self, *, after: str | None = None) -> AsyncIterator[Event]:
        """Iterate over the events as `Job.events` does, until the sweep ends."""

        async def current() -> dict[str, Any]:
            return (await self.refresh()).data

        async for event in follow(self._transport, f"{self._path}/events", after, current):
            yield event

    async def wait(self, *, progress: bool = False, timeout: float | None = None) -> AsyncModel:
        """Wait until the sweep ends and return its model.

        Ctrl-C ends the waiting, not the sweep. Raise WaitTimeoutError after `timeout` seconds, and
        EndedWithoutModelError or one of its subclasses if there is no model, for example with `refit=False`.
        """
        await self.wait_for_choice(progress=progress, timeout=timeout)
        return await self.model()

    async def wait_for_choice(self, *, progress: bool = False, timeout: float | None = None) -> AsyncSweep:
        """Wait until the sweep ends, with or without a model, and return it."""
        poll = AsyncPoll(self._transport, self, self._path)
        with Progress(progress) as line:

            async def changed() -> None:
                line.show(sweep_line(self.data))

            try:
                await wait_until_ended(poll, self, timeout, changed)
            except interruptions() as error:
                raise detached(error, how_to_come_back(self, self._transport.connection.url)) from None
        return self

    async def model(self) -> AsyncModel:
        """Return the model. Raise an error that says why if the sweep has none."""
        if self.model_id is None:
            await self.refresh()
        if self.model_id is None:
            raise self.without_model()
        data = await self._transport.json(Call("GET", f"/v1/models/{self.model_id}"))
        return AsyncModel(self._transport, data)

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
        path = f"{self._path}/settings/{setting}/folds/{fold}/tree"
        answer = await self._transport.json(Call("GET", path, {"penalty": penalty}))
        return ShapeTree.from_dict(answer)

    async def finish(self) -> AsyncSweep:
        """Stop trying, and choose among the trials that are complete."""
        return await self._control("finish", repeatable=False)

    async def cancel(self) -> AsyncSweep:
        """Stop the sweep without a choice."""
        return await self._control("cancel")

    async def pause(self) -> AsyncSweep:
        """Start no more jobs; those that are running continue to their end."""
        return await self._control("pause")

    async def resume(self) -> AsyncSweep:
        return await self._control("resume")

    async def restore(self) -> AsyncSweep:
        return await self._control("restore")

    async def _control(self, action: str, *, repeatable: bool = True) -> AsyncSweep:
        call = Call("POST", f"{self._path}/{action}", repeatable=repeatable)
        self.data = await self._transport.json(call)
        return self

    async def extend(self, **limits: Any) -> AsyncSweep:
        """Continue a sweep that has ended: with `max_trials`, `time_limit` in more seconds, and others.

        A lost answer is an error and not another attempt, because a second one would add the time twice.
        """
        call = Call("POST", f"{self._path}/extend", json=limits, repeatable=False)
        self.data = await self._transport.json(call)
        return self

    async def delete(self) -> None:
        """Delete the sweep with its jobs; its models stay. `restore` takes this back for a day."""
        await self._transport.send(Call("DELETE", self._path))


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
        data = await self._transport.json(Call("GET", f"/v1/sweeps/{sweep_id}"))
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
        await self._transport.send(Call("DELETE", f"/v1/sweeps/{sweep_id}"))

    async def restore(self, sweep_id: str) -> AsyncSweep:
        data = await self._transport.json(Call("POST", f"/v1/sweeps/{sweep_id}/restore"))
        return AsyncSweep(self._transport, data)
