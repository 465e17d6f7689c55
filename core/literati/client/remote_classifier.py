"""RemoteClassifier: scikit-learn's interface, with the search on a server."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Self, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from literati.client._sync.client import Client
from literati.client._sync.datasets import Dataset
from literati.client._sync.jobs import Job
from literati.client.errors import ApiError, ClientError, ConflictError, EndedWithoutModelError
from literati.client.remote_table import RemoteTable, remote_table
from literati.client.retry import limit_calls
from literati.client.tables import require_pyarrow
from literati.estimator import LiteratiClassifier
from literati.search.options import ProgressOptions, SolverOptions
from literati.search.report import SearchReport, StopReason, read_trace
from literati.search.search import SearchLimits

DELETE_SECONDS = 30.0  # to end the job of a fit and to delete what it made
MAX_LISTED = 100  # of the newest datasets, among which the one of an interrupted upload is
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
        `model_id_` name them. Otherwise they are deleted, also if the fit fails or is interrupted.
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
        `keep=False`, it cancels the job.
        """
        ProgressOptions(**self._parameters_of(ProgressOptions))
        SearchLimits(**self._parameters_of(SearchLimits))
        options = SolverOptions(**self._parameters_of(SolverOptions))
        require_pyarrow("The table of a RemoteClassifier")
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
        until = cast("Callable[[Job], object] | None", self.callback)
        dataset: Dataset | None = None
        try:
            dataset = client.datasets.upload(data.columns, data.target, weight=data.weight, name=name)
            job = client.jobs.create(dataset, **self._job_parameters(data))
            model = job.wait(progress=bool(self.verbose), until=until)
            tree = data.local_tree(model.tree())
            trace = read_trace([[point[name] for name in TRACE] for point in job.trace()])
            report = _report(job.refresh(), trace)
        except ApiError as error:
            if dataset is None and error.status < 500:
                name = None  # the server has refused the upload
            raise
        except KeyboardInterrupt:
            if self.keep:
                raise
            message = (
                "The fit was interrupted. With keep=False, its job is cancelled and deleted with its dataset."
            )
            raise KeyboardInterrupt(message) from None
        finally:
            if name is not None:
                _delete(client, dataset, name)
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


def _delete(client: Client, dataset: Dataset | None, name: str) -> None:
    """Delete the dataset that a fit uploaded with this name, its jobs and their models.

    The dataset is None if the upload did not return; the server may have it nevertheless. So may a job that
    `create` did not return. Warn of what stays on the server.
    """
    try:
        with limit_calls(DELETE_SECONDS):
            if dataset is None:
                newest = islice(client.datasets.list(), MAX_LISTED)
                dataset = next((found for found in newest if found.name == name), None)
            if dataset is None:
                return
            for job in client.jobs.list(dataset=dataset):
                _delete_job(client, job)
            dataset.delete()
    except ClientError as error:
        what = f"dataset {name!r}" if dataset is None else f"dataset {dataset.id} with its jobs"
        warnings.warn(f"The {what} may still be on the server {client.url}: {error}", stacklevel=2)


def _delete_job(client: Client, job: Job) -> None:
    """Delete a job and its model. A job that has not ended is cancelled first, which takes a moment."""
    if not job.ended:
        with suppress(ConflictError):  # it has just ended
            job.cancel()
        with suppress(EndedWithoutModelError):
            job.wait()
    if job.model_id is not None:
        client.models.delete(job.model_id)
    job.delete()
