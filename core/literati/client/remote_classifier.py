"""RemoteClassifier: scikit-learn's interface, with the search on a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from literati.client._sync.client import Client
from literati.client._sync.datasets import Dataset
from literati.client._sync.jobs import Job
from literati.client.errors import ClientError
from literati.client.remote_table import RemoteTable, remote_table
from literati.estimator import LiteratiClassifier
from literati.search.options import ProgressOptions, SolverOptions
from literati.search.report import SearchReport, StopReason, read_trace
from literati.search.search import SearchLimits

TRACE = ("seconds", "expansions", "upper", "lower", "explored", "stage")


class RemoteClassifier(LiteratiClassifier):
    """A LiteratiClassifier whose search runs on a server.

    `fit` uploads the data, starts a job, waits for it and gets its tree. The fitted classifier has the tree
    and predicts without the server.

    Parameters
    ----------
    client : Client, default=None
        The client to use; None means `Client()`.
    keep : bool, default=True
        Whether the dataset, the job and the model stay on the server, where `dataset_id_`, `job_id_` and
        `model_id_` name them.
    callback : None or a function, default=None
        A function that is called with the `Job` whenever it changes. The search ends when it returns a true
        value.

    The other parameters are those of LiteratiClassifier.
    """

    def __init__(
        self,
        client: Client | None = None,
        keep: bool = True,
        max_depth: int = 4,
        max_changepoints: int = 2,
        split_penalty: float = 0.0,
        changepoint_penalty: float = 0.0,
        candidates: str = "adaptive",
        candidate_leaves: int | Sequence[int] = 17,
        time_limit: float | None = 60.0,
        max_expansions: int | None = None,
        memory_limit: int | None = None,
        gap: float = 0.0,
        gap_absolute: float = 0.0,
        patience: float | None = None,
        or_selection: str = "mixed",
        and_selection: str = "round_robin",
        heuristic: str = "cart",
        criterion: str = "gini",
        polish: bool = True,
        class_weight: str | Mapping[Any, float] | None = None,
        n_threads: int = 1,
        verbose: int = 0,
        callback: Callable[[Any], object] | None = None,
        categories: str = "ordered",
        min_samples_leaf: int = 1,
        probability_smoothing: float = 0.5,
    ) -> None:
        given = dict(locals())
        for name in ("self", "client", "keep", "__class__"):
            del given[name]
        super().__init__(**given)
        self.client = client
        self.keep = keep

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Search on the server until a limit is reached or the optimum is proven.

        Ctrl-C ends the waiting, not the search; the message says how to come back to the job. With
        `keep=False`, it ends the search.
        """
        ProgressOptions(**self._parameters_of(ProgressOptions))
        SearchLimits(**self._parameters_of(SearchLimits))
        options = SolverOptions(**self._parameters_of(SolverOptions))
        data = remote_table(X, y, sample_weight, options.class_weight, options.categories)
        if self.client is not None:
            self._fit(self.client, data)
        else:
            with Client() as client:
                self._fit(client, data)
        return self

    def _fit(self, client: Client, data: RemoteTable) -> None:
        # A dataset with a name of its own is shared with nobody, so that it can be deleted.
        name = None if self.keep else f"RemoteClassifier {uuid4().hex}"
        dataset = client.datasets.upload(data.columns, data.target, weight=data.weight, name=name)
        until = cast("Callable[[Job], object] | None", self.callback)
        job: Job | None = None
        try:
            job = client.jobs.create(dataset, **self._job_parameters(data))
            model = job.wait(progress=bool(self.verbose), until=until)
            tree = data.local_tree(model.tree())
            trace = read_trace([[point[name] for name in TRACE] for point in job.trace()])
            report = _report(job.refresh(), trace)
        finally:
            if not self.keep:
                _delete(client, dataset, job)
        self._set_fitted(tree, report, trace)
        self.dataset_id_, self.job_id_, self.model_id_ = dataset.id, job.id, model.id

    def _job_parameters(self, data: RemoteTable) -> dict[str, Any]:
        parameters = self._parameters_of(SolverOptions) | self._parameters_of(SearchLimits)
        return parameters | {"class_weight": data.class_weight}

    # A pickle has the address of the server, but not the key.

    def __getstate__(self) -> dict[str, Any]:
        ids = {name: getattr(self, name) for name in _IDS if hasattr(self, name)}
        return super().__getstate__() | {"client": self.client, "keep": self.keep, "ids": ids}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.client, self.keep = state["client"], state["keep"]
        self.__dict__.update(state["ids"])


_IDS = ("dataset_id_", "job_id_", "model_id_")
RemoteClassifier.__module__ = "literati.client"  # the name in pickles, so that this module may move


def _report(job: Job, trace: npt.NDArray[Any]) -> SearchReport:
    """Return the end of the job's search as a report. What a job does not tell is 0."""
    progress = job.progress
    known = {str(reason) for reason in StopReason}
    reason = job["stop_reason"] if job["stop_reason"] in known else StopReason.USER_STOP
    at_best = trace["seconds"][trace["upper"] <= progress["upper_bound"]]
    return SearchReport(
        objective=progress["objective"],
        upper_bound=progress["upper_bound"],
        lower_bound=progress["lower_bound"],
        gap=progress["gap_relative"],
        gap_absolute=progress["gap_absolute"],
        stop_reason=StopReason(reason),
        proven_optimal=job.proven_optimal,
        proven_space=job["proven_space"],
        expansions=progress["expansions"],
        states_live=progress["states_live"],
        states_freed=0,
        cache_hits=0,
        memory_bytes=progress["memory_bytes"],
        elapsed_seconds=progress["elapsed_seconds"],
        improvements=progress["incumbents"],
        found_seconds=float(np.min(at_best, initial=progress["elapsed_seconds"])),
        explored=progress["explored"] or 0.0,
        seconds_left=progress["seconds_left"],
        stage=progress["stage"],
        space=progress["space"],
    )


def _delete(client: Client, dataset: Dataset, job: Job | None) -> None:
    """Delete what a fit made, as far as that is possible."""
    with suppress(ClientError):
        if job is not None:
            if not job.refresh().ended:
                job.cancel()
            if job.model_id is not None:
                client.models.delete(job.model_id)
            job.delete()
        dataset.delete()
