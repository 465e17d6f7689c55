"""Records of the service: the JSON object of a response, with its most used fields as attributes."""

from __future__ import annotations

from typing import Any

from literati.client import html
from literati.client.errors import CancelledError, EndedWithoutModelError, FailedError

ENDED = frozenset({"SUCCEEDED", "CANCELLED", "FAILED"})


class Record:
    """A record as the server sent it last. `data` has all fields, and `record["name"]` is one of them."""

    kind = "record"

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def name(self) -> str | None:
        return self.data.get("name")

    def __getitem__(self, field: str) -> Any:
        return self.data[field]

    def __repr__(self) -> str:
        return f"<{self.kind} {self.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and (self.kind, self.data) == (other.kind, other.data)

    __hash__ = None  # type: ignore[assignment]


class DatasetRecord(Record):
    """A dataset."""

    kind = "dataset"

    @property
    def rows(self) -> int:
        return int(self.data["rows"])

    @property
    def target(self) -> str:
        return str(self.data["target"])

    @property
    def warnings(self) -> list[str]:
        """Return what the server noticed about the data; empty for a dataset of a list."""
        return list(self.data.get("warnings") or ())

    def __repr__(self) -> str:
        return f"<dataset {self.id}: {self.rows:,} rows, target {self.target!r}>"

    def _repr_html_(self) -> str:
        return html.dataset(self.data)


class EndingRecord(Record):
    """A job or a sweep, which ends."""

    @property
    def state(self) -> str:
        return str(self.data["state"])

    @property
    def ended(self) -> bool:
        """Return whether the state is SUCCEEDED, CANCELLED or FAILED."""
        return self.state in ENDED

    @property
    def model_id(self) -> str | None:
        found: str | None = self.data["model_id"]
        return found

    @property
    def dataset_id(self) -> str:
        return str(self.data["dataset_id"])

    def without_model(self) -> EndedWithoutModelError:
        """Return the error of a job or sweep that has ended and has no model."""
        reason = (self.data.get("error") or {}).get("message") or f"stop reason {self.data['stop_reason']}"
        if self.state == "FAILED":
            return FailedError(f"The {self.kind} {self.id} failed: {reason}", self.data)
        if self.state == "CANCELLED":
            return CancelledError(f"The {self.kind} {self.id} was cancelled.", self.data)
        return EndedWithoutModelError(f"The {self.kind} {self.id} has no model.", self.data)


class JobRecord(EndingRecord):
    """A job."""

    kind = "job"

    @property
    def progress(self) -> dict[str, Any]:
        """Return the bounds, the gap, the explored share and the counters of the search."""
        return dict(self.data["progress"])

    def _number(self, name: str) -> float | None:
        found: float | None = self.data["progress"][name]
        return found

    @property
    def objective(self) -> float | None:
        """Return the cost of the best tree; None before the first."""
        return self._number("objective")

    @property
    def upper_bound(self) -> float | None:
        return self._number("upper_bound")

    @property
    def lower_bound(self) -> float | None:
        return self._number("lower_bound")

    @property
    def gap(self) -> float | None:
        """Return (upper - lower) / upper; None before the first tree."""
        return self._number("gap_relative")

    @property
    def proven_optimal(self) -> bool:
        return bool(self.data["proven_optimal"])

    def __repr__(self) -> str:
        bounds = "" if self.objective is None else f", objective {self.objective:g}, gap {self.gap:.2%}"
        return f"<job {self.id}: {self.state}{bounds}>"


class SweepRecord(EndingRecord):
    """A sweep."""

    kind = "sweep"

    @property
    def progress(self) -> dict[str, int]:
        """Return how many jobs there are, and how many are done, running, queued and failed."""
        return dict(self.data["progress"])

    @property
    def choice(self) -> dict[str, Any] | None:
        """Return what was chosen and why; None before."""
        found: dict[str, Any] | None = self.data["choice"]
        return found

    def __repr__(self) -> str:
        return f"<sweep {self.id}: {self.state}, {self.progress['done']} of {self.progress['jobs']} jobs>"

    def _repr_html_(self) -> str:
        return html.sweep(self.data)


class ModelRecord(Record):
    """A model."""

    kind = "model"

    @property
    def job_id(self) -> str:
        return str(self.data["job_id"])

    @property
    def objective(self) -> float:
        return float(self.data["objective"])

    @property
    def lower_bound(self) -> float:
        return float(self.data["lower_bound"])

    @property
    def gap(self) -> float:
        return float(self.data["gap_relative"])

    @property
    def proven_optimal(self) -> bool:
        return bool(self.data["proven_optimal"])

    @property
    def metrics(self) -> dict[str, Any]:
        return dict(self.data["metrics"])

    def __repr__(self) -> str:
        proof = "proven optimal" if self.proven_optimal else f"gap {self.gap:.2%}"
        return f"<model {self.id}: objective {self.objective:g}, {proof}>"


def id_of(record: Record | str) -> str:
    """Return the id of a record, or the id itself."""
    return record.id if isinstance(record, Record) else record
