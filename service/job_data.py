"""What only the data can tell about a job request: its class weights, its split, its memory limit."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from service.errors import FieldError, pointer
from service.remedies import Remedy, in_body
from service.schemas.jobs import JobRequest
from worker.blobs import Blobs
from worker.messages import Dataset, ValidationColumn, ValidationFraction, label_text
from worker.split_check import (
    Rows,
    UselessWeightsError,
    check_classes,
    recorded_totals,
)
from worker.tables import SplitError

MAX_VALUES = 5  # of a column, that are proposed
LEAST_MEMORY = 1 << 19  # what the smallest search takes; a search of any size takes more
_CELL_BYTES = 4  # of the table; as much again for polishing


@dataclass(frozen=True)
class Complaint:
    """Something that is wrong, and what can be done about it."""

    error: FieldError
    fixes: tuple[Remedy, ...] = ()


WITHOUT_VALIDATION = in_body("Train on all rows", "validation", value=None)
WITHOUT_CLASS_WEIGHTS = in_body("Weigh all classes alike", "parameters", "class_weight", value=None)


def data_complaints(request: JobRequest, dataset: Dataset, blobs: Blobs) -> list[Complaint]:
    """Everything about the data that would make the job fail."""
    found = [*_class_weight_complaints(request, dataset), *_column_complaints(request, dataset)]
    return [*(found or _split_complaints(request, dataset, blobs)), *_memory_complaints(request, dataset)]


def _class_weight_complaints(request: JobRequest, dataset: Dataset) -> list[Complaint]:
    weights = request.parameters.class_weight
    if not isinstance(weights, dict):
        return []
    known = {label_text(entry.label) for entry in dataset.classes}
    return [
        Complaint(
            FieldError(
                pointer("body", "parameters", "class_weight", label),
                "NOT_A_CLASS",
                "Not a class of the dataset.",
            ),
            (in_body("Leave out its weight", "parameters", "class_weight", label, value=None),),
        )
        for label in weights
        if label not in known
    ]


def _column_complaints(request: JobRequest, dataset: Dataset) -> list[Complaint]:
    """About the name of a validation column."""
    if not isinstance(request.validation, ValidationColumn):
        return []
    name = request.validation.column
    roles = {column.name: column.role for column in dataset.columns}
    where = pointer("body", "validation", "column")
    if name not in roles:
        features = [column for column in roles if roles[column] == "feature"]
        close = difflib.get_close_matches(name[:200], features[:1000], n=3)
        fixes = [in_body(f"Split by {other!r}", "validation", "column", value=other) for other in close]
        error = FieldError(where, "NOT_FOUND", "The dataset has no such column.")
        return [Complaint(error, (*fixes, WITHOUT_VALIDATION))]
    if roles[name] != "feature":
        error = FieldError(where, "WRONG_ROLE", f"This column is the dataset's {roles[name]}.")
        return [Complaint(error, (WITHOUT_VALIDATION,))]
    return []


def _split_complaints(request: JobRequest, dataset: Dataset, blobs: Blobs) -> list[Complaint]:
    """About what the split and the class weights leave to learn from, counted on the rows themselves."""
    validation, weights = request.validation, request.parameters.class_weight
    rows: Rows | None = None
    try:
        if isinstance(validation, ValidationColumn) or (
            dataset.weight is not None and (validation or weights)
        ):
            rows = Rows(dataset, blobs.path(dataset.blob))
            if isinstance(validation, ValidationColumn):
                _refuse_measurement(rows, validation)
            totals = rows.totals(validation)
        elif isinstance(validation, ValidationFraction) or weights:
            totals = recorded_totals(dataset, validation)
        else:
            return []
        check_classes(totals, weights)
    except SplitError as error:
        return [_split_complaint(request, rows, error)]
    except UselessWeightsError as error:
        where = pointer("body", "parameters", "class_weight")
        return [Complaint(FieldError(where, "USELESS_WEIGHTS", str(error)), (WITHOUT_CLASS_WEIGHTS,))]
    return []


def _refuse_measurement(rows: Rows, validation: ValidationColumn) -> None:
    if validation.value is None and rows.is_measurement(validation.column):
        message = (
            f"column {validation.column!r} holds measurements, which mark no row; name a column of 0 and 1, "
            "true and false or words such as `test`, or a value with `value`"
        )
        raise SplitError("NOT_A_MARK", message)


def _split_complaint(request: JobRequest, rows: Rows | None, error: SplitError) -> Complaint:
    message = f"{error.message[:1].upper()}{error.message[1:]}."
    if error.code == "UNTRAINED_CLASS" and isinstance(request.parameters.class_weight, dict):
        where = pointer("body", "parameters", "class_weight")
        return Complaint(FieldError(where, error.code, message), (WITHOUT_CLASS_WEIGHTS,))
    if not isinstance(request.validation, ValidationColumn):
        where = pointer("body", "validation", "fraction")
        return Complaint(FieldError(where, error.code, message), (WITHOUT_VALIDATION,))
    given = "column" if request.validation.value is None else "value"
    where = pointer("body", "validation", given)
    fixes = [] if rows is None else _value_fixes(request, rows, request.validation.column)
    return Complaint(FieldError(where, error.code, message), (*fixes, WITHOUT_VALIDATION))


def _value_fixes(request: JobRequest, rows: Rows, column: str) -> list[Remedy]:
    """The values of the column that part the rows in a useful way."""
    found = []
    for value in rows.values(column):
        try:
            check_classes(
                rows.totals(ValidationColumn(column=column, value=value)), request.parameters.class_weight
            )
        except ValueError:
            continue
        label = f"Keep the rows with {column} = {str(value)[:80]} for validation"
        found.append(in_body(label, "validation", "value", value=value))
    return found[:MAX_VALUES]


def _memory_complaints(request: JobRequest, dataset: Dataset) -> list[Complaint]:
    """A limit below what the table itself takes. A little above it a search may still not begin."""
    limit = request.limits.memory_limit
    if limit is None:
        return []
    features = sum(
        column.role == "feature" and (column.distinct is None or column.distinct > 1)
        for column in dataset.columns
    )
    share = 1.0
    if isinstance(request.validation, ValidationFraction):
        share = 1.0 - request.validation.fraction
    elif request.validation is not None:
        share = 0.0  # it is not worth counting
    cells = int(share * dataset.rows) * features
    least = LEAST_MEMORY + cells * _CELL_BYTES * (2 if request.parameters.polish else 1)
    if limit >= least:
        return []
    message = f"A search on this data takes at least {least:,} bytes of memory."
    error = FieldError(pointer("body", "limits", "memory_limit"), "TOO_SMALL", message)
    fix = in_body("Search without a limit of its own", "limits", "memory_limit", value=None)
    return [Complaint(error, (fix,))]
