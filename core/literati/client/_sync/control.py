# Written by `make client` from "_async/control.py". Change that file instead.
"""What can be done with a job and with a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Self

from literati.client._sync.events import follow
from literati.client._sync.models import Model
from literati.client._sync.runtime import Changed
from literati.client._sync.transport import Transport
from literati.client._sync.waiting import Poll, wait_until_ended, waiting
from literati.client.call import Call, api_path
from literati.client.events import Event
from literati.client.records import EndingRecord


class ControlledRecord(EndingRecord):
    """A job or a sweep on the server, as it was when it was last read."""

    def __init__(self, transport: Transport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = api_path(f"{self.kind}s", self.id)

    def refresh(self) -> Self:
        """Get the current state, and return the record."""
        self.data = self._transport.json(Call("GET", self._path))
        return self

    def events(self, *, after: str | None = None) -> Iterator[Event]:
        """Iterate over the events from the first one, or after the event with this id, until the last one.

        Lost connections are opened again, and no event is missed or repeated. If the server no longer keeps
        some events, there is an event `resync` with the current record.
        """

        def current() -> dict[str, Any]:
            return self.refresh().data

        yield from follow(self._transport, f"{self._path}/events", after, current)

    def _waiting(self, timeout: float | None) -> AbstractContextManager[None]:
        return waiting(self, timeout, self._transport.connection.url)

    def _wait_until_ended(self, timeout: float | None, changed: Changed) -> None:
        poll = Poll(self._transport, self, self._path)
        wait_until_ended(poll, self, timeout, changed)

    def model(self) -> Model:
        """Return the model. Raise an error that says why if there is none."""
        if self.model_id is None:
            self.refresh()
        if self.model_id is None:
            raise self.without_model()
        data = self._transport.json(Call("GET", api_path("models", self.model_id)))
        return Model(self._transport, data)

    def cancel(self) -> Self:
        """End a search without a model, or a sweep without a choice."""
        return self._control("cancel")

    def pause(self) -> Self:
        """Save the search of a job and free its worker. A sweep starts no more jobs; those that run go on."""
        return self._control("pause")

    def resume(self) -> Self:
        """Continue after `pause`."""
        return self._control("resume")

    def delete(self) -> None:
        """Delete a job, or a sweep with its jobs; models stay.

        `restore` takes this back for a day, unless the server keeps it shorter.
        """
        self._transport.send(Call("DELETE", self._path))

    def restore(self) -> Self:
        """Take back `delete`."""
        return self._control("restore")

    def _control(self, action: str, body: dict[str, Any] | None = None, *, repeatable: bool = True) -> Self:
        call = Call("POST", f"{self._path}/{action}", json=body, repeatable=repeatable)
        self.data = self._transport.json(call)
        return self
