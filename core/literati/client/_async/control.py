"""What can be done with a job and with a sweep."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Any, Self

from literati.client._async.events import follow
from literati.client._async.models import AsyncModel
from literati.client._async.runtime import Changed
from literati.client._async.transport import AsyncTransport
from literati.client._async.waiting import AsyncPoll, wait_until_ended, waiting
from literati.client.call import Call, api_path
from literati.client.events import Event
from literati.client.records import EndingRecord


class AsyncControlledRecord(EndingRecord):
    """A job or a sweep on the server, as it was when it was last read."""

    def __init__(self, transport: AsyncTransport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = api_path(f"{self.kind}s", self.id)

    async def refresh(self) -> Self:
        """Get the current state, and return the record."""
        self.data = await self._transport.json(Call("GET", self._path))
        return self

    async def events(self, *, after: str | None = None) -> AsyncIterator[Event]:
        """Iterate over the events from the first one, or after the event with this id, until the last one.

        Lost connections are opened again, and no event is missed or repeated. If the server no longer keeps
        some events, there is an event `resync` with the current record.
        """

        async def current() -> dict[str, Any]:
            return (await self.refresh()).data

        async for event in follow(self._transport, f"{self._path}/events", after, current):
            yield event

    def _waiting(self, timeout: float | None) -> AbstractContextManager[None]:
        return waiting(self, timeout, self._transport.connection.url)

    async def _wait_until_ended(self, timeout: float | None, changed: Changed) -> None:
        poll = AsyncPoll(self._transport, self, self._path)
        await wait_until_ended(poll, self, timeout, changed)

    async def model(self) -> AsyncModel:
        """Return the model. Raise an error that says why if there is none."""
        if self.model_id is None:
            await self.refresh()
        if self.model_id is None:
            raise self.without_model()
        data = await self._transport.json(Call("GET", api_path("models", self.model_id)))
        return AsyncModel(self._transport, data)

    async def cancel(self) -> Self:
        """End a search without a model, or a sweep without a choice."""
        return await self._control("cancel")

    async def pause(self) -> Self:
        """Save the search of a job and free its worker. A sweep starts no more jobs; those that run go on."""
        return await self._control("pause")

    async def resume(self) -> Self:
        """Continue after `pause`."""
        return await self._control("resume")

    async def delete(self) -> None:
        """Delete a job, or a sweep with its jobs; models stay.

        `restore` takes this back for a day, unless the server keeps it shorter.
        """
        await self._transport.send(Call("DELETE", self._path))

    async def restore(self) -> Self:
        """Take back `delete`."""
        return await self._control("restore")

    async def _control(
        self, action: str, body: dict[str, Any] | None = None, *, repeatable: bool = True
    ) -> Self:
        call = Call("POST", f"{self._path}/{action}", json=body, repeatable=repeatable)
        self.data = await self._transport.json(call)
        return self
