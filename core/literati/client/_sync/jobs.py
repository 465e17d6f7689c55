# Written by `make client` from "_async/jobs.py". Change that file instead.
"""Jobs: searches for a tree in one dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from literati.client import html
from literati.client._sync.control import ControlledRecord
from literati.client._sync.datasets import Dataset
from literati.client._sync.models import Model, predictions, score
from literati.client._sync.pages import pages
from literati.client._sync.runtime import before_display
from literati.client._sync.transport import Transport
from literati.client.call import Call, api_path, given, idempotency, json_of
from literati.client.conditions import parse_condition
from literati.client.errors import ConflictError
from literati.client.predictions import Predictions
from literati.client.progress import Progress, job_line
from literati.client.records import JobRecord, id_of
from literati.client.requests import job_request
from literati.tree.model import ShapeTree


class Job(ControlledRecord, JobRecord):
    """A job on the server, as it was when it was last read."""

    def __init__(self, transport: Transport, data: dict[str, Any]) -> None:
        super().__init__(transport, data)
        self._tree: tuple[int, ShapeTree] | None = None  # the best tree that was read, and its revision

    def wait(
        self,
        *,
        progress: bool = False,
        until: str | Callable[[Job], object] | None = None,
        timeout: float | None = None,
    ) -> Model:
        """Wait until the job ends and return its model.

        `until` is a condition such as "gap<=0.01", or a function of the job. As soon as it holds, the job is
        finished with its best tree. `progress` shows a line on standard error. Ctrl-C ends the waiting, not
        the job. Raise WaitTimeoutError after `timeout` seconds, and FailedError or CancelledError if there is
        no model.
        """
        holds = self._condition(until)
        with self._waiting(timeout):
            with Progress(progress) as line:

                def changed() -> None:
                    line.show(job_line(self.data))
                    if holds() and self.state in ("QUEUED", "STARTING", "RUNNING", "PAUSED"):
                        self._finish_if_possible()

                changed()
                self._wait_until_ended(timeout, changed)
            return self.model()

    def _condition(self, until: str | Callable[[Job], object] | None) -> Callable[[], bool]:
        if until is None:
            return lambda: False
        if isinstance(until, str):
            condition = parse_condition(until)
            return lambda: condition(self.data)
        function = until
        return lambda: not self.ended and bool(function(self))

    def _finish_if_possible(self) -> None:
        """Finish the job. A job that has no tree yet, or has just ended, cannot be finished."""
        try:
            self.finish()
        except ConflictError:
            self.refresh()

    def tree(self, revision: int | None = None) -> ShapeTree | None:
        """Return the best tree so far, or the tree of a revision; None before the first tree."""
        query = {"revision": revision}
        response = self._transport.send(Call("GET", f"{self._path}/incumbent", query))
        if response.status_code == 202:
            return None
        answer = json_of(response)
        tree = ShapeTree.from_dict(answer["tree"])
        if revision is None:
            self._tree = answer["revision"], tree
        return tree

    def trace(self) -> list[dict[str, Any]]:
        """Return the bounds over time, the oldest first."""
        return list(self._transport.json(Call("GET", f"{self._path}/trace"))["points"])

    def scores(self) -> dict[str, Any]:
        """Return the scores of all trees on training rows and held-out rows."""
        return self._transport.json(Call("GET", f"{self._path}/scores"))

    def predictions(self, rows: Any, *, revision: int | None = None, explain: bool = False) -> Predictions:
        """Predict with the best tree so far, or with the tree of a revision. Rows need column names."""
        query = {"revision": revision, "explain": "true" if explain else None}
        return predictions(self._transport, self._path, rows, (), query)

    def predict(self, rows: Any) -> npt.NDArray[Any]:
        """Return the class of each row from the best tree so far. Rows need column names."""
        return self.predictions(rows).labels

    def score(
        self, rows: Any, *, target: str | None = None, weight: str | None = None, revision: int | None = None
    ) -> dict[str, Any]:
        """Return the scores of the best tree so far on rows with their true classes."""
        query = {"target": target, "weight": weight, "revision": revision}
        return score(self._transport, self._path, rows, (), query)

    def finish(self, revision: int | None = None) -> Job:
        """End the search and make a model of its best tree, or of the tree of a revision."""
        body = None if revision is None else {"revision": revision}
        return self._control("finish", body)

    def update(self, **changes: Any) -> Job:
        """Change `name`, `tags`, `priority` or `limits`, and return the job. None removes a value."""
        self.data = self._transport.json(Call("PATCH", self._path, json=changes))
        return self

    def _update_for_display(self) -> None:
        self.data = self._transport.json(Call("GET", self._path, timeout=5.0, once=True))
        if self.data["progress"]["incumbents"] > (self._tree[0] if self._tree else 0):
            self.tree()

    def _repr_html_(self) -> str:
        before_display(self._update_for_display)
        return html.job(self.data, self._tree[1] if self._tree else None)


class Jobs:
    """The jobs of the server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        dataset: Dataset | str,
        *,
        name: str | None = None,
        tags: Mapping[str, str] | None = None,
        priority: int | None = None,
        validation: Mapping[str, Any] | None = None,
        parent: Job | str | None = None,
        idempotency_key: str | None = None,
        **parameters: Any,
    ) -> Job:
        """Start a job. `parameters` are those of LiteratiClassifier, with its limits.

        The call is safe to repeat: however often it is sent, it starts one job. With an `idempotency_key` of
        your own, that also holds for two calls, for example in a script that is started again.
        """
        request = job_request(
            id_of(dataset),
            parameters,
            name=name,
            tags=tags,
            priority=priority,
            validation=validation,
            parent_job_id=None if parent is None else id_of(parent),
        )
        call = Call("POST", "/v1/jobs", json=request, headers=idempotency(idempotency_key))
        return Job(self._transport, self._transport.json(call))

    def get(self, job_id: str) -> Job:
        return Job(self._transport, self._transport.json(Call("GET", api_path("jobs", job_id))))

    def list(
        self,
        *,
        state: Sequence[str] | str | None = None,
        dataset: Dataset | str | None = None,
        name: str | None = None,
        tag: Sequence[str] | str | None = None,
        sweep_id: str | None = None,
        page_size: int = 100,
    ) -> Iterator[Job]:
        """Iterate over the jobs that meet all conditions, the newest first."""
        query = given(
            {
                "state": [state] if isinstance(state, str) else state,
                "dataset_id": None if dataset is None else id_of(dataset),
                "name": name,
                "tag": [tag] if isinstance(tag, str) else tag,
                "sweep_id": sweep_id,
                "page_size": page_size,
            }
        )
        for data in pages(self._transport, "/v1/jobs", query):
            yield Job(self._transport, data)

    def delete(self, job_id: str) -> None:
        self._transport.send(Call("DELETE", api_path("jobs", job_id)))

    def restore(self, job_id: str) -> Job:
        data = self._transport.json(Call("POST", api_path("jobs", job_id, "restore")))
        return Job(self._transport, data)
