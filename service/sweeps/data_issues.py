"""Check a sweep request against its dataset: folds, test rows, metric, class weights and memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from literati.search.engine_factory import min_memory
from service.checks.issues import Issue, issue, sentence
from service.checks.parameters import class_weight_issues, solver_options
from service.http.remedies import Remedy, did_you_mean, in_body, nearest
from service.sweeps.schemas import SweepRequest
from worker.blobs.local import Blobs
from worker.domain.datasets import Dataset
from worker.domain.parameters import Parameters
from worker.domain.sweeps import Metric
from worker.domain.validation import ColumnFolds, RandomFolds
from worker.training import job_check, tables
from worker.training.job_check import SplitColumns
from worker.training.tables import SplitError

MIN_FOLDS, MAX_FOLDS = 2, 50
_MAX_SUGGESTIONS = 3  # columns with a similar name
_DRAWN_FOLDS = RandomFolds().model_dump(mode="json")
_COLUMN = ("validation", "column")


@dataclass(frozen=True)
class FoldCounts:
    """The rows of each fold and class. Rows in which the column is missing are in no fold."""

    by_fold: npt.NDArray[np.int64]  # folds x classes
    by_class: npt.NDArray[np.int64]  # all rows


class SweepData:
    """A dataset and its rows, which are read once, when they are needed."""

    def __init__(self, dataset: Dataset, blobs: Blobs) -> None:
        self.dataset = dataset
        self._blobs = blobs
        self._fold_counts: dict[str, FoldCounts] = {}

    @cached_property
    def rows(self) -> SplitColumns:
        return SplitColumns(self.dataset, self._blobs.path(self.dataset.blob))

    @cached_property
    def class_sizes(self) -> npt.NDArray[np.intp]:
        """The number of rows of each class whose weight is above 0."""
        if self.dataset.weight is None:
            return job_check.recorded_totals(self.dataset, None).training_rows
        return self.rows.totals(None).training_rows

    def fold_counts(self, column: str) -> FoldCounts:
        """Count the rows of each value of a column. It may have many values."""
        if column not in self._fold_counts:
            cells = self.rows.table.column(column)
            coded = cells if pa.types.is_dictionary(cells.type) else _encoded(cells)
            values = tables.coded_column(coded)[0]
            codes, classes = self.rows.codes, len(self.rows.labels)
            if self.rows.weights is not None:
                counted = self.rows.weights > 0
                values, codes = values[counted], codes[counted]
            known = values >= 0
            present, folds = np.unique(values[known], return_inverse=True)
            pairs = np.bincount(folds * classes + codes[known], minlength=len(present) * classes)
            self._fold_counts[column] = FoldCounts(
                pairs.reshape(len(present), classes), np.bincount(codes, minlength=classes)
            )
        return self._fold_counts[column]

    def n_folds(self, validation: RandomFolds | ColumnFolds) -> int:
        """Return how many folds there are, with repetitions."""
        if isinstance(validation, RandomFolds):
            return validation.folds * validation.repeats
        return len(self.fold_counts(validation.column).by_fold)

    def min_memory(self, settings: Iterable[Parameters]) -> int:
        """Return the memory that the last job, which fits one of the settings to all rows, needs to start."""
        totals = job_check.recorded_totals(self.dataset, None)
        return max(
            min_memory(
                job_check.training_size(self.dataset, totals, parameters, None), solver_options(parameters)
            )
            for parameters in settings
        )


def _encoded(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers or booleans as categories, with NaN as a missing cell."""
    if pa.types.is_floating(cells.type):
        cells = pa.chunked_array(
            [pa.array(chunk.to_numpy(zero_copy_only=False), from_pandas=True) for chunk in cells.chunks],
            type=cells.type,
        )
    return cells.dictionary_encode()


def data_issues(request: SweepRequest, data: SweepData) -> list[Issue]:
    """Return the issues with which the jobs of the sweep would fail on this data."""
    return [
        *class_weight_issues(request.fixed.class_weight, data.dataset, "fixed", "class_weight"),
        *_metric_issues(request, data.dataset),
        *_test_issues(request, data),
        *fold_issues(request, data),
    ]


def _metric_issues(request: SweepRequest, dataset: Dataset) -> list[Issue]:
    if request.metric is not Metric.ROC_AUC or len(dataset.classes) == 2:
        return []
    message = f"`roc_auc` needs two classes, and the dataset has {len(dataset.classes)}."
    fixes = [
        in_body(f"Use `{metric}`", "metric", value=metric.value)
        for metric in (Metric.BALANCED_ACCURACY, Metric.LOG_LOSS)
    ]
    return [issue(("metric",), "NOT_DEFINED", message, *fixes)]


def _test_issues(request: SweepRequest, data: SweepData) -> list[Issue]:
    if request.test is None:
        return []
    try:
        job_check.drawn_counts(data.class_sizes, request.test)
    except SplitError as error:
        message = sentence(error.message.replace("validation", "the test"))
        return [
            issue(("test", "fraction"), error.code, message, in_body("Use no test rows", "test", value=None))
        ]
    return []


def fold_issues(request: SweepRequest, data: SweepData) -> list[Issue]:
    """Return the issue of folds that cannot be made of the rows."""
    if isinstance(request.validation, ColumnFolds):
        return _column_issues(request.validation.column, data)
    sizes = data.class_sizes
    if request.test is not None:
        sizes = sizes - tables.validation_counts(sizes, request.test.fraction)
    rows, folds = int(sizes.sum()), request.validation.folds
    if folds <= rows:
        return []
    message = f"There are more folds than rows: the trials have {rows} rows."
    fixes = [in_body(f"Use {rows} folds", "validation", "folds", value=rows)] if rows >= MIN_FOLDS else []
    return [issue(("validation", "folds"), "TOO_MANY", message, *fixes)]


def _drawn() -> Remedy:
    """Return the fix that draws folds instead; its nulls remove what was given."""
    return in_body("Draw the folds", "validation", value={"column": None, **_DRAWN_FOLDS})


def _column_issues(name: str, data: SweepData) -> list[Issue]:
    roles = {column.name: column.role for column in data.dataset.columns}
    if name not in roles:
        features = [column for column in roles if roles[column] == "feature"]
        close = nearest(name, features, _MAX_SUGGESTIONS)
        fixes = [in_body(f"Use the folds of {other!r}", *_COLUMN, value=other) for other in close]
        message = f"The dataset has no such column.{did_you_mean(map(repr, close))}"
        return [issue(_COLUMN, "NOT_FOUND", message, *fixes, _drawn())]
    if roles[name] != "feature":
        message = f"This column is the dataset's {roles[name]}; choose another one."
        return [issue(_COLUMN, "WRONG_ROLE", message, _drawn())]
    counts = data.fold_counts(name)
    folds = len(counts.by_fold)
    if not MIN_FOLDS <= folds <= MAX_FOLDS:
        message = (
            f"The column has {folds:,} distinct values, each of which would be a fold; {MIN_FOLDS} to "
            f"{MAX_FOLDS} are possible."
        )
        return [issue(_COLUMN, "NUMBER_OF_FOLDS", message, _drawn())]
    if len(data.dataset.columns) == 2:
        message = "The column is the only feature, and the column of the folds is not used for training."
        return [issue(_COLUMN, "NO_FEATURES", message, _drawn())]
    training = counts.by_class - counts.by_fold
    if ((training > 0).sum(axis=1) < 2).any():
        message = "If one of the values is held out, only one class is left to train on; two are needed."
        return [issue(_COLUMN, "ONE_CLASS", message, _drawn())]
    if ((counts.by_fold > 0) & (training == 0)).any():
        message = "A class occurs in one fold only, so it cannot be learned while that fold is held out."
        return [issue(_COLUMN, "UNTRAINED_CLASS", message, _drawn())]
    return []
