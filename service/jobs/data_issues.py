"""Check a job request against its dataset: class weights, validation split, rows and memory limit."""

from __future__ import annotations

from functools import cached_property

from literati.search.engine_factory import TableSize, min_memory
from literati.suggestions import did_you_mean, nearest
from service.checks.issues import Issue, issue, sentence
from service.checks.limits import memory_issues
from service.checks.parameters import class_weight_issues, solver_options
from service.http.remedies import Remedy, in_body
from service.jobs.schemas import JobRequest
from worker.blobs.local import Blobs
from worker.domain.datasets import Dataset
from worker.domain.parameters import Limits, Parameters
from worker.domain.validation import Validation, ValidationColumn
from worker.training import job_check
from worker.training.job_check import ClassTotals, ClassWeightError, SplitColumns
from worker.training.tables import SplitError

_SMALLEST = TableSize(rows=2, cardinalities=[2], classes=2, weighted=False)
_MAX_SUGGESTIONS = 3  # columns with a similar name


_CLASS_WEIGHT = ("parameters", "class_weight")
WITHOUT_VALIDATION = in_body("Train on all rows", "validation", value=None)
WITHOUT_CLASS_WEIGHTS = in_body("Train without class weights", *_CLASS_WEIGHT, value=None)


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
        if not isinstance(validation, ValidationColumn):
            if self.dataset.weight is None:
                return job_check.recorded_totals(self.dataset, validation)
        elif validation.value is None and self.rows.needs_value(validation.column):
            message = (
                f"column {validation.column!r} holds numbers other than 0 and 1; name the number of the "
                "validation rows with `value`, or choose a column of 0 and 1, of booleans or of words such "
                "as `test`"
            )
            raise SplitError("NOT_A_MARK", message)
        return self.rows.totals(validation)

    def min_memory(self, parameters: Parameters, validation: Validation | None) -> int | None:
        """Return the minimum memory limit of a job; None if the parameters are invalid.

        If the rows cannot be split in this way, it is the minimum of any search.
        """
        try:
            options = solver_options(parameters)
        except (TypeError, ValueError):
            return None
        try:
            totals = self.totals(validation)
        except (SplitError, KeyError):  # KeyError: the column does not exist
            return min_memory(_SMALLEST, options)
        return min_memory(job_check.training_size(self.dataset, totals, parameters, validation), options)


def data_issues(request: JobRequest, limits: Limits, data: JobData) -> list[Issue]:
    """Return the issues with which the job would fail on this data. `limits` are those that it will have."""
    weights = class_weight_issues(request.parameters.class_weight, data.dataset, *_CLASS_WEIGHT)
    found = [*weights, *_column_issues(request, data)]
    found = found or _split_issues(request, data) or _leaf_issues(request, data)
    if limits.memory_limit is None:
        return found
    min_bytes = data.min_memory(request.parameters, request.validation)
    given = "memory_limit" in request.limits.model_fields_set
    return [*found, *memory_issues(limits.memory_limit, min_bytes, given=given)]


def _column_issues(request: JobRequest, data: JobData) -> list[Issue]:
    """Return the issue of a validation column that does not exist or is not a feature."""
    if not isinstance(request.validation, ValidationColumn):
        return []
    name = request.validation.column
    roles = {column.name: column.role for column in data.dataset.columns}
    where = ("validation", "column")
    if name not in roles:
        features = [column for column in roles if roles[column] == "feature"]
        close = nearest(name, features, _MAX_SUGGESTIONS)
        fixes: list[Remedy] = []
        for other in close:
            fixes += [in_body(f"Split by {other!r}", *where, value=other), *_value_fixes(data, other)]
        message = f"The dataset has no such column.{did_you_mean(map(repr, close))}"
        return [issue(where, "NOT_FOUND", message, *fixes, WITHOUT_VALIDATION)]
    if roles[name] != "feature":
        message = f"This column is the dataset's {roles[name]}; choose another one."
        return [issue(where, "WRONG_ROLE", message, WITHOUT_VALIDATION)]
    return []


def _split_issues(request: JobRequest, data: JobData) -> list[Issue]:
    """Return the issue of a split or of class weights that leave too little to train on."""
    weights = request.parameters.class_weight
    if request.validation is None and not weights:
        return []
    try:
        job_check.check_classes(data.totals(request.validation), weights)
    except SplitError as error:
        return [_split_issue(request, data, error)]
    except ClassWeightError as error:
        fixes = (WITHOUT_CLASS_WEIGHTS, WITHOUT_VALIDATION)
        return [issue(_CLASS_WEIGHT, "USELESS_WEIGHTS", str(error), *fixes)]
    return []


def _leaf_issues(request: JobRequest, data: JobData) -> list[Issue]:
    """Return the issue of a `min_samples_leaf` with which no split is possible."""
    least, where = request.parameters.min_samples_leaf, ("parameters", "min_samples_leaf")
    if least == 1:
        return []
    totals = data.totals(request.validation)
    rows = job_check.training_size(data.dataset, totals, request.parameters, request.validation).rows
    if 2 * least <= rows:
        return []
    message = (
        f"No split is possible: the job trains on {rows} rows, and each side of a split needs "
        f"`min_samples_leaf` of them. Use {rows // 2} or less."
    )
    fixes = (
        in_body(f"Use {rows // 2}", *where, value=rows // 2),
        in_body("Use the default of `min_samples_leaf`", *where, value=None),
    )
    return [issue(where, "TOO_LARGE", message, *fixes)]


def _split_issue(request: JobRequest, data: JobData, error: SplitError) -> Issue:
    validation = request.validation
    message = sentence(error.message)
    if error.code == "UNTRAINED_CLASS" and isinstance(request.parameters.class_weight, dict):
        return issue(_CLASS_WEIGHT, error.code, message, WITHOUT_CLASS_WEIGHTS, WITHOUT_VALIDATION)
    if not isinstance(validation, ValidationColumn):
        return issue(("validation", "fraction"), error.code, message, WITHOUT_VALIDATION)
    given = ("validation", "column" if validation.value is None else "value")
    return issue(given, error.code, message, *_value_fixes(data, validation.column), WITHOUT_VALIDATION)


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
