"""Check a sweep request against its dataset: folds, test rows, metric, class weights and memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from literati.search.engine_factory import min_memory
from literati.suggestions import did_you_mean, nearest
from service.checks.issues import Issue, issue, sentence
from service.checks.parameters import class_weight_issues, solver_options
from service.http.remedies import in_body
from service.sweeps.schemas import SweepRequest
from worker.blobs.local import Blobs
from worker.domain.datasets import Dataset
from worker.domain.parameters import Parameters
from worker.domain.sweeps import Metric
from worker.domain.validation import ColumnFolds, RandomFolds, ValidationFraction
from worker.training import folds, job_check, tables
from worker.training.tables import DatasetRows, SplitError

MIN_FOLDS, MAX_FOLDS = 2, 50
_MAX_SUGGESTIONS = 3  # columns with a similar name
# The null removes the column that was given.
_DRAWN = in_body(
    "Draw the folds", "validation", value={"column": None, **RandomFolds().model_dump(mode="json")}
)
_COLUMN = ("validation", "column")


@dataclass(frozen=True)
class FoldCounts:
    """The rows of each fold and class whose weight is above 0, without test rows."""

    by_fold: npt.NDArray[np.int64]  # folds x classes
    by_class: npt.NDArray[np.int64]  # with the rows that are in no fold


class SweepData:
    """A dataset and its rows, which are read once, when they are needed."""

    def __init__(self, dataset: Dataset, blobs: Blobs) -> None:
        self.dataset = dataset
        self._blobs = blobs

    @cached_property
    def rows(self) -> DatasetRows:
        return tables.load(self._blobs.path(self.dataset.blob), self.dataset)

    @cached_property
    def class_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each class whose weight is above 0."""
        if self.dataset.weight is None:
            return np.array([entry.count for entry in self.dataset.classes])
        assert self.rows.weights is not None
        return np.unique(self.rows.y[self.rows.weights > 0], return_counts=True)[1]

    def fold_counts(self, validation: ColumnFolds, test: ValidationFraction | None) -> FoldCounts:
        tested = folds.draw_test_rows(self.rows, test)
        numbers = folds.fold_numbers(self.rows, validation, 0, tested)
        counted = ~tested if self.rows.weights is None else ~tested & (self.rows.weights > 0)
        labels, codes = np.unique(self.rows.y, return_inverse=True)
        n_folds, n_classes = self.n_folds(validation), len(labels)
        held = counted & (numbers >= 0)
        pairs = np.bincount(numbers[held] * n_classes + codes[held], minlength=n_folds * n_classes)
        by_class = np.bincount(codes[counted], minlength=n_classes)
        return FoldCounts(pairs.reshape(n_folds, n_classes), by_class)

    def n_folds(self, validation: RandomFolds | ColumnFolds) -> int:
        """Return how many folds there are, with repetitions."""
        if isinstance(validation, RandomFolds):
            return validation.folds * validation.repeats
        return len(folds.fold_values(self.rows.X.column(validation.column)))

    def min_memory(self, settings: Iterable[Parameters]) -> int:
        """Return the memory that the last job, which fits one of the settings to all rows, needs to start."""
        totals = job_check.recorded_totals(self.dataset, None)
        return max(
            min_memory(
                job_check.training_size(self.dataset, totals, parameters, None), solver_options(parameters)
            )
            for parameters in settings
        )


def data_issues(request: SweepRequest, data: SweepData) -> list[Issue]:
    """Return the issues with which the jobs of the sweep would fail on this data."""
    return [
        *class_weight_issues(request.fixed.class_weight, data.dataset, "fixed", "class_weight"),
        *_metric_issues(request, data),
        *_test_issues(request, data),
        *fold_issues(request, data),
    ]


def _metric_issues(request: SweepRequest, data: SweepData) -> list[Issue]:
    if request.metric is not Metric.ROC_AUC:
        return []
    classes = len(data.dataset.classes)
    if classes != 2:
        message = f"`roc_auc` needs two classes, and the dataset has {classes}."
    elif not _folds_have_both_classes(request, data):
        message = "`roc_auc` needs rows of both classes in every fold, and some folds would have one only."
    else:
        return []
    fixes = [
        in_body(f"Use `{metric}`", "metric", value=metric.value)
        for metric in (Metric.BALANCED_ACCURACY, Metric.LOG_LOSS)
    ]
    return [issue(("metric",), "NOT_DEFINED", message, *fixes)]


def _folds_have_both_classes(request: SweepRequest, data: SweepData) -> bool:
    """Return whether every fold holds out rows of both classes."""
    validation = request.validation
    if isinstance(validation, RandomFolds):
        held = (
            0 if request.test is None else tables.validation_counts(data.class_sizes, request.test.fraction)
        )
        return validation.stratified and bool((data.class_sizes - held).min() >= validation.folds)
    if validation.column not in data.rows.X.column_names:
        return True  # another issue says so
    return bool((data.fold_counts(validation, request.test).by_fold > 0).all())


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
        return _column_issues(request.validation, request.test, data)
    sizes = data.class_sizes
    if request.test is not None:
        sizes = sizes - tables.validation_counts(sizes, request.test.fraction)
    rows = int(sizes[sizes > 1].sum())
    if request.validation.folds <= rows:
        return []
    message = f"There are more folds than rows: {rows} rows can be held out."
    fixes = [in_body(f"Use {rows} folds", "validation", "folds", value=rows)] if rows >= MIN_FOLDS else []
    return [issue(("validation", "folds"), "TOO_MANY", message, *fixes)]


def _column_issues(validation: ColumnFolds, test: ValidationFraction | None, data: SweepData) -> list[Issue]:
    name = validation.column
    roles = {column.name: column.role for column in data.dataset.columns}
    if name not in roles:
        features = [column for column in roles if roles[column] == "feature"]
        close = nearest(name, features, _MAX_SUGGESTIONS)
        fixes = [in_body(f"Use the folds of {other!r}", *_COLUMN, value=other) for other in close]
        message = f"The dataset has no such column.{did_you_mean(map(repr, close))}"
        return [issue(_COLUMN, "NOT_FOUND", message, *fixes, _DRAWN)]
    if roles[name] != "feature":
        message = f"This column is the dataset's {roles[name]}; choose another one."
        return [issue(_COLUMN, "WRONG_ROLE", message, _DRAWN)]
    if list(roles.values()).count("feature") == 1:
        message = "This is the only feature, and the column of the folds is not used for training."
        return [issue(_COLUMN, "NO_FEATURES", message, _DRAWN)]
    n_folds = data.n_folds(validation)
    if not MIN_FOLDS <= n_folds <= MAX_FOLDS:
        message = (
            f"The column has {n_folds:,} distinct values, each of which would be a fold; {MIN_FOLDS} to "
            f"{MAX_FOLDS} are possible."
        )
        return [issue(_COLUMN, "NUMBER_OF_FOLDS", message, _DRAWN)]
    counts = data.fold_counts(validation, test)
    training = counts.by_class - counts.by_fold
    if not counts.by_fold.any(axis=1).all():
        message = "A value of the column has no rows to score a tree on."
        return [issue(_COLUMN, "NO_ROWS", message, _DRAWN)]
    if ((training > 0).sum(axis=1) < 2).any():
        message = "If one of the values is held out, only one class is left to train on; two are needed."
        return [issue(_COLUMN, "ONE_CLASS", message, _DRAWN)]
    if ((counts.by_fold > 0) & (training == 0)).any():
        message = "A class occurs in one fold only, so it cannot be learned while that fold is held out."
        return [issue(_COLUMN, "UNTRAINED_CLASS", message, _DRAWN)]
    return []
