# Written by `make client` from "_async/sweeps.py". Change that file instead.
"""Sweeps: many jobs that try settings, and the choice of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from literati.client._sync.datasets import Dataset
from literati.client._sync.events import follow
from literati.client._sync.models import Model
from literati.client._sync.pages import pages
from literati.client._sync.runtime import detached, interruptions
from literati.client._sync.transport import Transport
from literati.client._sync.waiting import Poll, how_to_come_back, wait_until_ended
from literati.client.call import Call, given, idempotency
from literati.client.events import Event
from literati.client.progress import Progress, sweep_line
from literati.client.records import SweepRecord, id_of
from literati.client.requests import json_value
from literati.tree.model import ShapeTree


class Sweep(SweepRecord):
    """A sweep on the server, as it was when it was last read."""

    def __init__(self, transport: Transport, data: dict[str, Any]) -> None:
        super().__init__(data)
        self._transport = transport
        self._path = f"/v1/sweeps/{self.id}"

    def refresh(self) -> Sweep:
        """Get the current state, and return the sweep."""
        self.data = self._transport.json(Call("GET", self._path))
        return self

    def events(self, *, after: str | None = None) -> Iterator[Event]:
        """Iterate over the events as `Job.events` does, until the sweep ends."""

        def current() -> dict[str, Any]:
            return self.refresh().data

        yield from follow(self._transport, f"{self._path}/events", after, current)

    def wait(self, *, progress: bool = False, timeout: float | None = None) -> Model:
        """Wait until the sweep ends and return its model.

        Ctrl-C ends the waiting, not the sweep. Raise WaitTimeoutError after `timeout` seconds, and
        EndedWithoutModelError or one of its subclasses if there is no model, for example with `refit=False`.
        """
        self.wait_for_choice(progress=progress, timeout=timeout)
        return self.model()

    def wait_for_choice(self, *, progress: bool = False, timeout: float | None = None) -> Sweep:
        """Wait until the sweep ends, with or without a model, and return it."""
        poll = Poll(self._transport, self, self._path)
        with Progress(progress) as line:

            def changed() -> None:
                line.show(sweep_line(self.data))

            try:
                wait_until_ended(poll, self, timeout, changed)
            except interruptions() as error:
                raise detached(error, how_to_come_back(self, self._transport.connection.url)) from None
        return self

    def model(self) -> Model:
        """Return the model. Raise an error that says why if the sweep has none."""
        if self.model_id is None:
            self.refresh()
        if self.model_id is None:
            raise self.without_model()
        data = self._transport.json(Call("GET", f"/v1/models/{self.model_id}"))
        return Model(self._transport, data)

    def leaderboard(self, limit: int | None = None) -> dict[str, Any]:
        """Return the best trials as `items`, the `chosen` one, and the `explanation` of the choice."""
        return self._transport.json(Call("GET", f"{self._path}/leaderboard", {"limit": limit}))

    def trials(
        self, *, sort: str | None = None, order: str | None = None, state: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Iterate over all trials with their scores by fold."""
        offset, total = 0, 1
        while offset < total:
            query = {"sort": sort, "order": order, "state": state, "limit": 100, "offset": offset}
            page = self._transport.json(Call("GET", f"{self._path}/trials", query))
            yield from page["items"]
            total = page["total"] if page["items"] else 0
            offset += len(page["items"])

    def paths(self) -> dict[str, Any]:
        """Return the scores and sizes by penalty, for charts."""
        return self._transport.json(Call("GET", f"{self._path}/paths"))

    def fold_tree(self, setting: int, fold: int, penalty: float | None = None) -> ShapeTree:
        """Return the tree of a setting on one fold, with a path the one at a penalty."""
        path = f"{self._path}/settings/{setting}/folds/{fold}/tree"
        answer = self._transport.json(Call("GET", path, {"penalty": penalty}))
        return ShapeTree.from_dict(answer)

    def finish(self) -> Sweep:
        """Stop trying, and choose among the trials that are complete."""
        return self._control("finish", repeatable=False)

    def cancel(self) -> Sweep:
        """Stop the sweep without a choice."""
        return self._control("cancel")

    def pause(self) -> Sweep:
        """Start no more jobs; those that are running continue to their end."""
        return self._control("pause")

    def resume(self) -> Sweep:
        return self._control("resume")

    def restore(self) -> Sweep:
        return self._control("restore")

    def _control(self, action: str, *, repeatable: bool = True) -> Sweep:
        call = Call("POST", f"{self._path}/{action}", repeatable=repeatable)
        self.data = self._transport.json(call)
        return self

    def extend(self, **limits: Any) -> Sweep:
        """Continue a sweep that has ended: with `max_trials`, `time_limit` in more seconds, and others.

        A lost answer is an error and not another attempt, because a second one would add the time twice.
        """
        call = Call("POST", f"{self._path}/extend", json=limits, repeatable=False)
        self.data = self._transport.json(call)
        return self

    def delete(self) -> None:
        """Delete the sweep with its jobs; its models stay. `restore` takes this back for a day."""
        self._transport.send(Call("DELETE", self._path))


class Sweeps:
    """The sweeps of the server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        dataset: Dataset | str,
        *,
        space: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        trial_limits: Mapping[str, Any] | None = None,
        validation: Mapping[str, Any] | None = None,
        test: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Sweep:
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
        return Sweep(self._transport, self._transport.json(call))

    def get(self, sweep_id: str) -> Sweep:
        data = self._transport.json(Call("GET", f"/v1/sweeps/{sweep_id}"))
        return Sweep(self._transport, data)

    def list(self, *, state: Sequence[str] | str | None = None, page_size: int = 100) -> Iterator[Sweep]:
        """Iterate over the sweeps, the newest first."""
        states = [state] if isinstance(state, str) else state
        for data in pages(self._transport, "/v1/sweeps", given({"state": states, "page_size": page_size})):
            yield Sweep(self._transport, data)

    def delete(self, sweep_id: str) -> None:
        self._transport.send(Call("DELETE", f"/v1/sweeps/{sweep_id}"))

    def restore(self, sweep_id: str) -> Sweep:
        data = self._transport.json(Call("POST", f"/v1/sweeps/{sweep_id}/restore"))
        return Sweep(self._transport, data)
