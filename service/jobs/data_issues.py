"""What only the data can tell about a job request: its class weights, its split, its memory limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from literati.engines import TableSize, least_memory
from literati.options import SolverOptions
from service.errors import FieldError, pointer
from service.near_names import did_you_mean, nearest
from service.remedies import Place, Remedy, in_body
from service.schemas.jobs import JobRequest
from worker.blobs import Blobs
from worker.messages import (
    Dataset,
    Limits,
    Parameters,
    Validation,
    ValidationColumn,
    ValidationFraction,
    label_text,
)
from worker.split_check import (
    ClassTotals,
    Rows,
    UselessWeightsError,
    check_classes,
    recorded_totals,
)
from worker.tables import SplitError
from worker.training_size import training_size

_SMALLEST = TableSize(rows=2, cardinalities=[2], classes=2, weighted=False)
_NEAR_COLUMNS = 3  # that are proposed for one that is not there


@dataclass(frozen=True)
class Complaint:
    """Something that is wrong, and what may be done about it. Whether that works is for the caller to try."""

    error: FieldError
    fixes: tuple[Remedy, ...] = ()


WITHOUT_VALIDATION = in_body("Train on all rows", "validation", value=None)
WITHOUT_CLASS_WEIGHTS = in_body("Weigh all classes alike", "parameters", "class_weight", value=None)
WITHOUT_MEMORY_LIMIT = in_body("Search without a limit of its own", "limits", "memory_limit", value=None)


class JobData:
    """A dataset with its rows, which are read when they are needed, and once."""

    def __init__(self, dataset: Dataset, blobs: Blobs) -> None:
        self.dataset = dataset
        self._blobs = blobs

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.dataset, self._blobs.path(self.dataset.blob))

    def totals(self, validation: Validation | None) -> ClassTotals:
        """What a split leaves of each class; SplitError if it leaves nothing on one of its sides."""
        if isinstance(validation, ValidationColumn):
            if validation.value is None and self.rows.needs_value(validation.column):
                raise _no_mark(validation.column)
            return self.rows.totals(validation)
        return (
            recorded_totals(self.dataset, validation)
            if self.dataset.weight is None
            else self.rows.totals(validation)
        )

    def least_memory(self, parameters: Parameters, validation: Validation | None) -> int | None:
        """Return the smallest memory limit of a job; None if there cannot be one with these parameters.

        Where the rows cannot be split in this way, it is what every search takes.
        """
        try:
            options = SolverOptions(**{**parameters.model_dump(), "class_weight": None})
        except (TypeError, ValueError):
            return None
        try:
            totals = self.totals(validation)
        except (SplitError, KeyError):  # KeyError: there is no such column
            return least_memory(_SMALLEST, options)
        return least_memory(training_size(self.dataset, totals, parameters, validation), options)


def _no_mark(column: str) -> SplitError:
    message = (
        f"column {column!r} holds numbers other than 0 and 1, which mark no row by themselves; say with "
        "`value` which of them does, or name a column of 0 and 1, true and false or words such as `test`"
    )
    return SplitError("NOT_A_MARK", message)


def data_complaints(request: JobRequest, limits: Limits, data: JobData) -> list[Complaint]:
    """Return everything about the data that would make the job fail. `limits` are those that it will have."""
    dataset = data.dataset
    found = [*_class_weight_complaints(request, dataset), *_column_complaints(request, data)]
    found = found or _split_complaints(request, data)
    if limits.memory_limit is None:
        return found
    least = data.least_memory(request.parameters, request.validation)
    given = "memory_limit" in request.limits.model_fields_set
    return [*found, *memory_complaints(limits.memory_limit, least, given=given)]


def _class_weight_complaints(request: JobRequest, dataset: Dataset) -> list[Complaint]:
    weights = request.parameters.class_weight
    if not isinstance(weights, dict):
        return []
    known = {label_text(entry.label): None for entry in dataset.classes}
    free = [label for label in known if label not in weights]
    found = []
    for label in weights:
        if label not in known:
            near = nearest(label, free)
            renamed = [
                in_body(
                    f"Give its weight to {meant!r}",
                    *("parameters", "class_weight"),
                    value={label: None, meant: weights[label]},
                )
                for meant in near
            ]
            message = f"Not a class of the dataset.{did_you_mean(map(repr, near))}"
            where = pointer("body", "parameters", "class_weight", label)
            left_out = in_body("Leave out its weight", "parameters", "class_weight", label, value=None)
            fixes = (*renamed, left_out, WITHOUT_CLASS_WEIGHTS)
            found.append(Complaint(FieldError(where, "NOT_A_CLASS", message), fixes))
    return found


def _column_complaints(request: JobRequest, data: JobData) -> list[Complaint]:
    """About the name of a validation column."""
    if not isinstance(request.validation, ValidationColumn):
        return []
    name = request.validation.column
    roles = {column.name: column.role for column in data.dataset.columns}
    where = pointer("body", "validation", "column")
    if name not in roles:
        features = [column for column in roles if roles[column] == "feature"]
        close = nearest(name, features, _NEAR_COLUMNS)
        fixes = [
            fix
            for other in close
            for fix in (
                in_body(f"Split by {other!r}", "validation", "column", value=other),
                *_value_fixes(data, other),
            )
        ]
        message = f"The dataset has no such column.{did_you_mean(map(repr, close))}"
        return [Complaint(FieldError(where, "NOT_FOUND", message), (*fixes, WITHOUT_VALIDATION))]
    if roles[name] != "feature":
        error = FieldError(where, "WRONG_ROLE", f"This column is the dataset's {roles[name]}.")
        return [Complaint(error, (WITHOUT_VALIDATION,))]
    return []


def _split_complaints(request: JobRequest, data: JobData) -> list[Complaint]:
    """About what the split and the class weights leave to learn from, counted on the rows themselves."""
    weights = request.parameters.class_weight
    if request.validation is None and not weights:
        return []
    try:
        check_classes(data.totals(request.validation), weights)
    except SplitError as error:
        return [_split_complaint(request, data, error)]
    except UselessWeightsError as error:
        where = pointer("body", "parameters", "class_weight")
        fixes = (WITHOUT_CLASS_WEIGHTS, WITHOUT_VALIDATION)
        return [Complaint(FieldError(where, "USELESS_WEIGHTS", str(error)), fixes)]
    return []


def _split_complaint(request: JobRequest, data: JobData, error: SplitError) -> Complaint:
    message = f"{error.message[:1].upper()}{error.message[1:]}."
    if error.code == "UNTRAINED_CLASS" and isinstance(request.parameters.class_weight, dict):
        where = pointer("body", "parameters", "class_weight")
        return Complaint(FieldError(where, error.code, message), (WITHOUT_CLASS_WEIGHTS, WITHOUT_VALIDATION))
    if isinstance(request.validation, ValidationFraction):
        where = pointer("body", "validation", "fraction")
        return Complaint(FieldError(where, error.code, message), (WITHOUT_VALIDATION,))
    assert request.validation is not None
    given = "column" if request.validation.value is None else "value"
    where = pointer("body", "validation", given)
    fixes = (*_value_fixes(data, request.validation.column), WITHOUT_VALIDATION)
    return Complaint(FieldError(where, error.code, message), fixes)


def _value_fixes(data: JobData, column: str) -> list[Remedy]:
    """One for each value of the column, if they are few."""
    return [
        in_body(
            f"Keep the rows with {column} = {str(value)[:80]} for validation",
            "validation",
            value={"column": column, "value": value},
        )
        for value in data.rows.values(column)
    ]


def memory_complaints(limit: int | None, least: int | None, *, given: bool = True) -> list[Complaint]:
    """About a memory limit with which the search would not even begin. `given`: the request names it."""
    if limit is None or least is None or limit >= least:
        return []
    message = f"A search on this data takes at least {least:,} bytes of memory to begin with."
    if not given:
        message += f" A job that names no limit gets {limit:,} here (LITERATI_DEFAULT_MEMORY_LIMIT)."
    error = FieldError(pointer("body", "limits", "memory_limit"), "TOO_SMALL", message)
    enough = in_body(f"Use {least:,} bytes", "limits", "memory_limit", value=least)
    return [Complaint(error, (WITHOUT_MEMORY_LIMIT, enough))]


def places(complaints: Sequence[Complaint]) -> set[Place]:
    return {complaint.error.pointer for complaint in complaints}
