"""Check a job request against its dataset: class weights, validation split and memory limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from literati.search.engine_factory import TableSize, min_memory
from literati.search.options import SolverOptions
from service.http.near_names import did_you_mean, nearest
from service.http.problems import FieldError, pointer
from service.http.remedies import Place, Remedy, in_body
from service.jobs.schemas import JobRequest
from worker.blobs.local import Blobs
from worker.domain.datasets import Dataset, label_text
from worker.domain.parameters import Limits, Parameters
from worker.domain.validation import Validation, ValidationColumn, ValidationFraction
from worker.training.split_check import (
    ClassTotals,
    ClassWeightError,
    SplitColumns,
    check_classes,
    recorded_totals,
)
from worker.training.table_size import training_size
from worker.training.tables import SplitError

_SMALLEST = TableSize(rows=2, cardinalities=[2], classes=2, weighted=False)
_MAX_SUGGESTIONS = 3  # columns with a similar name


@dataclass(frozen=True)
class Issue:
    """An error of a request and possible fixes, which the caller must try."""

    error: FieldError
    fixes: tuple[Remedy, ...] = ()


WITHOUT_VALIDATION = in_body("Train on all rows", "validation", value=None)
WITHOUT_CLASS_WEIGHTS = in_body("Train without class weights", "parameters", "class_weight", value=None)
WITHOUT_MEMORY_LIMIT = in_body("Remove the memory limit", "limits", "memory_limit", value=None)


class JobData:
    """A dataset and its rows, which are read once, when they are needed."""

    def __init__(self, dataset: Dataset, blobs: Blobs) -> None:
        self.dataset = dataset
        self._blobs = blobs

    @cached_property
    def rows(self) -> SplitColumns:
        return SplitColumns(self.dataset, self._blobs.path(self.dataset.blob))

    def totals(self, validation: Validation | None) -> ClassTotals:
        """Return the totals of each class after the split. Raise SplitError if one side has no rows."""
        if isinstance(validation, ValidationColumn):
            if validation.value is None and self.rows.needs_value(validation.column):
                raise _value_needed(validation.column)
            return self.rows.totals(validation)
        return (
            recorded_totals(self.dataset, validation)
            if self.dataset.weight is None
            else self.rows.totals(validation)
        )

    def min_memory(self, parameters: Parameters, validation: Validation | None) -> int | None:
        """Return the minimum memory limit of a job; None if the parameters are invalid.

        If the rows cannot be split in this way, it is the minimum of any search.
        """
        try:
            options = SolverOptions(**{**parameters.model_dump(), "class_weight": None})
        except (TypeError, ValueError):
            return None
        try:
            totals = self.totals(validation)
        except (SplitError, KeyError):  # KeyError: the column does not exist
            return min_memory(_SMALLEST, options)
        return min_memory(training_size(self.dataset, totals, parameters, validation), options)


def _value_needed(column: str) -> SplitError:
    message = (
        f"column {column!r} holds numbers other than 0 and 1; name the number of the validation rows with "
        "`value`, or choose a column of 0 and 1, of booleans or of words such as `test`"
    )
    return SplitError("NOT_A_MARK", message)


def data_issues(request: JobRequest, limits: Limits, data: JobData) -> list[Issue]:
    """Return the issues with which the job would fail on this data. `limits` are those that it will have."""
    dataset = data.dataset
    found = [*_class_weight_issues(request, dataset), *_column_issues(request, data)]
    found = found or _split_issues(request, data)
    if limits.memory_limit is None:
        return found
    min_bytes = data.min_memory(request.parameters, request.validation)
    given = "memory_limit" in request.limits.model_fields_set
    return [*found, *memory_issues(limits.memory_limit, min_bytes, given=given)]


def _class_weight_issues(request: JobRequest, dataset: Dataset) -> list[Issue]:
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
                    f"Use the weight for {meant!r}",
                    *("parameters", "class_weight"),
                    value={label: None, meant: weights[label]},
                )
                for meant in near
            ]
            message = f"The dataset has no such class.{did_you_mean(map(repr, near))}"
            where = pointer("body", "parameters", "class_weight", label)
            removed = in_body("Remove this weight", "parameters", "class_weight", label, value=None)
            fixes = (*renamed, removed, WITHOUT_CLASS_WEIGHTS)
            found.append(Issue(FieldError(where, "NOT_A_CLASS", message), fixes))
    return found


def _column_issues(request: JobRequest, data: JobData) -> list[Issue]:
    """Return the issue of a validation column that does not exist or is not a feature."""
    if not isinstance(request.validation, ValidationColumn):
        return []
    name = request.validation.column
    roles = {column.name: column.role for column in data.dataset.columns}
    where = pointer("body", "validation", "column")
    if name not in roles:
        features = [column for column in roles if roles[column] == "feature"]
        close = nearest(name, features, _MAX_SUGGESTIONS)
        fixes = [
            fix
            for other in close
            for fix in (
                in_body(f"Split by {other!r}", "validation", "column", value=other),
                *_value_fixes(data, other),
            )
        ]
        message = f"The dataset has no such column.{did_you_mean(map(repr, close))}"
        return [Issue(FieldError(where, "NOT_FOUND", message), (*fixes, WITHOUT_VALIDATION))]
    if roles[name] != "feature":
        message = f"This column is the dataset's {roles[name]}; choose another one."
        error = FieldError(where, "WRONG_ROLE", message)
        return [Issue(error, (WITHOUT_VALIDATION,))]
    return []


def _split_issues(request: JobRequest, data: JobData) -> list[Issue]:
    """Return the issue of a split or of class weights that leave too little to train on."""
    weights = request.parameters.class_weight
    if request.validation is None and not weights:
        return []
    try:
        check_classes(data.totals(request.validation), weights)
    except SplitError as error:
        return [_split_issue(request, data, error)]
    except ClassWeightError as error:
        where = pointer("body", "parameters", "class_weight")
        fixes = (WITHOUT_CLASS_WEIGHTS, WITHOUT_VALIDATION)
        return [Issue(FieldError(where, "USELESS_WEIGHTS", str(error)), fixes)]
    return []


def _split_issue(request: JobRequest, data: JobData, error: SplitError) -> Issue:
    message = f"{error.message[:1].upper()}{error.message[1:]}."
    if error.code == "UNTRAINED_CLASS" and isinstance(request.parameters.class_weight, dict):
        where = pointer("body", "parameters", "class_weight")
        return Issue(FieldError(where, error.code, message), (WITHOUT_CLASS_WEIGHTS, WITHOUT_VALIDATION))
    if isinstance(request.validation, ValidationFraction):
        where = pointer("body", "validation", "fraction")
        return Issue(FieldError(where, error.code, message), (WITHOUT_VALIDATION,))
    assert request.validation is not None
    given = "column" if request.validation.value is None else "value"
    where = pointer("body", "validation", given)
    fixes = (*_value_fixes(data, request.validation.column), WITHOUT_VALIDATION)
    return Issue(FieldError(where, error.code, message), fixes)


def _value_fixes(data: JobData, column: str) -> list[Remedy]:
    """Return one fix for each value of the column, if there are few."""
    return [
        in_body(
            f"Validate on the rows with {column} = {str(value)[:80]}",
            "validation",
            value={"column": column, "value": value},
        )
        for value in data.rows.values(column)
    ]


def memory_issues(limit: int | None, min_bytes: int | None, *, given: bool = True) -> list[Issue]:
    """Return the issue of a memory limit that is too small to start. `given`: the request contains it."""
    if limit is None or min_bytes is None or limit >= min_bytes:
        return []
    message = f"A search on this data needs at least {min_bytes:,} bytes of memory to start."
    if not given:
        message += f" The default limit of this server is {limit:,} (LITERATI_DEFAULT_MEMORY_LIMIT)."
    error = FieldError(pointer("body", "limits", "memory_limit"), "TOO_SMALL", message)
    enough = in_body(f"Use {min_bytes:,} bytes", "limits", "memory_limit", value=min_bytes)
    return [Issue(error, (WITHOUT_MEMORY_LIMIT, enough))]


def locations(issues: Sequence[Issue]) -> set[Place]:
    return {issue.error.pointer for issue in issues}
