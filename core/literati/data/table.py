"""The training table: the columns of the training data as rank codes, which the search works on."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from literati.data import labels
from literati.data.columns import Floats, RawColumn, RawTable, open_table, shown_names
from literati.data.ranks import rank
from literati.data.schema import Column, Schema, check_finite
from literati.data.weights import check_total, checked_weights, times_class_weights
from literati.errors import DataWarning

MAX_CLASSES = 1024  # a limit of the search's kernels
Categories = Literal["ordered", "one_hot"]
Codes = npt.NDArray[np.int32]
Poll = Callable[[], None]  # called repeatedly during long work; it may raise an exception to stop the work


@dataclass(frozen=True)
class Feature:
    """A feature of the search: a column, or with one-hot encoding one category of a column."""

    column: int
    category: int | None = None


@dataclass(frozen=True)
class TrainingTable:
    """Encoded training data, without rows of zero weight and constant columns."""

    schema: Schema
    classes: npt.NDArray[Any]
    features: tuple[Feature, ...]
    codes: Codes  # (features, rows); rank codes, -1 for missing values
    values: list[Floats]  # distinct values of each feature, by code
    y: Codes
    weights: Floats | None  # None if every row weighs 1

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def nbytes(self) -> int:
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.codes.nbytes + self.y.nbytes + weights + sum(array.nbytes for array in self.values)

    @cached_property
    def fingerprint(self) -> str:
        """Return a SHA-256 digest of the data, by which a checkpoint recognises it."""
        digest = hashlib.sha256()
        digest.update(repr((self.schema, self.features, [labels.plain(c) for c in self.classes])).encode())
        for array, dtype in ((self.codes, "<i4"), (self.y, "<i4"), *((v, "<f8") for v in self.values)):
            digest.update(np.ascontiguousarray(array, dtype=dtype).data)
        if self.weights is not None:
            digest.update(np.ascontiguousarray(self.weights, dtype="<f8").data)
        return digest.hexdigest()

    def column_values(self, column: int, rows: npt.NDArray[np.intp]) -> Floats:
        """Return cells of a column as the predict kernel gets them, computed from the codes."""
        known = np.zeros(len(rows))
        missing = np.zeros(len(rows), dtype=bool)
        for j, feature in enumerate(self.features):
            if feature.column == column:
                codes = self.codes[j][rows]
                missing = codes < 0
                if feature.category is None:
                    known = self.values[j][np.maximum(codes, 0)]
                else:
                    known[codes == 1] = feature.category
        return np.where(missing, np.nan, known)

    def grid(self, quantiles: int) -> list[Codes]:
        """Return at most `quantiles` cut positions of each feature, at equal steps of the rows' weight."""
        return [self._cuts(j, quantiles) for j in range(len(self.features))]

    def _cuts(self, j: int, quantiles: int) -> Codes:
        cardinality = len(self.values[j])
        if cardinality - 1 <= quantiles:
            return np.arange(1, cardinality, dtype=np.int32)
        known = self.codes[j] >= 0
        weights = None if self.weights is None else self.weights[known]
        counts = np.bincount(self.codes[j][known], weights, minlength=cardinality)
        below = np.cumsum(counts)  # weight of the codes up to k
        targets = below[-1] * np.arange(1, quantiles + 1) / (quantiles + 1)
        cuts = np.searchsorted(below, targets) + 1  # first position with at least the target below it
        return np.unique(np.minimum(cuts, cardinality - 1)).astype(np.int32)


def build(
    data: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: str | Mapping[Any, float] | None = None,
    categories: Categories = "ordered",
    poll: Poll | None = None,
) -> TrainingTable:
    """Encode training data. `poll` is called before every column."""
    table = open_table(data)
    codes, classes = labels.encode(y)
    if len(codes) != table.n_rows:
        raise ValueError(f"X and y must have the same number of rows; got {table.n_rows} and {len(codes)}")
    weights = checked_weights(sample_weight, table.n_rows)
    weights = times_class_weights(weights, class_weight, codes, classes)
    keep: npt.NDArray[np.bool_] | None = None
    if weights is not None and not weights.all():  # rows of weight zero are dropped
        keep = weights > 0
        weights, codes = weights[keep], codes[keep]
        if not len(codes):
            raise ValueError("class_weight, sample_weight: together they give every row a weight of zero")
        used, inverse = np.unique(codes, return_inverse=True)
        classes, codes = classes[used], inverse.astype(np.int32)
    if len(classes) < 2:
        counted = "" if keep is None else " among the rows that weigh more than zero"
        raise ValueError(
            f"y: expected two or more classes, got 1 class{counted}: {labels.plain(classes[0])!r}"
        )
    if len(classes) > MAX_CLASSES:
        raise ValueError(f"y: expected at most {MAX_CLASSES} classes, got {len(classes)}")
    if weights is not None:
        check_total(weights)
        if (weights == 1).all():
            weights = None  # rows are counted, which is faster
    return _Builder(table, codes, classes, weights, keep).build(categories == "one_hot", poll)


@dataclass
class _Builder:
    """Encode the columns of a table one after the other."""

    table: RawTable
    y: Codes
    classes: npt.NDArray[Any]
    weights: Floats | None
    keep: npt.NDArray[np.bool_] | None  # the rows of positive weight; None for all rows

    def build(self, one_hot: bool, poll: Poll | None) -> TrainingTable:
        names = self.table.names or tuple(f"x{i}" for i in range(self.table.n_columns))
        columns: list[Column] = []
        features: list[Feature] = []
        parts: list[Codes] = []
        values: list[Floats] = []
        for index, name in enumerate(names):
            if poll is not None:
                poll()
            column, codes, distinct = self._column(self.table.read(index, name), name)
            columns.append(column)
            if column.constant:
                continue
            if one_hot and len(column.categories) > 1:
                for category in range(len(column.categories)):
                    features.append(Feature(index, category))
                    parts.append(np.where(codes < 0, -1, codes == category).astype(np.int32))
                    values.append(np.array([0.0, 1.0]))
            else:
                features.append(Feature(index))
                parts.append(codes)
                values.append(distinct)
        _report_constants(columns)
        stacked = np.empty((len(parts), len(self.y)), dtype=np.int32)
        for j in range(len(parts)):
            stacked[j] = parts.pop(0)  # each part is freed when it is copied
        schema = Schema(tuple(columns), self.table.names is not None)
        return TrainingTable(schema, self.classes, tuple(features), stacked, values, self.y, self.weights)

    def _column(self, raw: RawColumn, name: str) -> tuple[Column, Codes, Floats]:
        if raw.values is None:
            return self._category(raw, name)
        numbers = raw.values if self.keep is None else raw.values[self.keep]
        check_finite(numbers, name)
        codes, distinct = rank(numbers)
        column = Column(name, raw.kind, constant=_is_constant(codes, distinct))
        if raw.kind == "number" and len(distinct):
            column = replace(column, minimum=float(distinct[0]), maximum=float(distinct[-1]))
        return column, codes, distinct

    def _category(self, raw: RawColumn, name: str) -> tuple[Column, Codes, Floats]:
        """Encode categories in the order of their share of the most frequent class.

        In this order a good split consists of a few intervals.
        """
        assert raw.codes is not None
        codes = raw.codes if self.keep is None else raw.codes[self.keep]
        shifted = np.add(codes, 1, dtype=np.intp)  # 0 is missing
        total = np.bincount(shifted, self.weights, len(raw.labels) + 1)[1:]
        hits = np.bincount(shifted, self._top_class_weights, len(raw.labels) + 1)[1:]
        place = {label: position for position, label in enumerate(labels.ordered(raw.labels))}
        places = np.array([place[label] for label in raw.labels])
        used = np.flatnonzero(total)
        order = used[np.lexsort((places[used], hits[used] / total[used]))]
        recode = np.full(len(raw.labels) + 1, -1, dtype=np.int32)
        recode[order] = np.arange(len(order), dtype=np.int32)
        ranked, distinct = recode[codes], np.arange(len(order), dtype=np.float64)
        categories = tuple(raw.labels[index] for index in order.tolist())
        return Column(name, "category", categories, constant=_is_constant(ranked, distinct)), ranked, distinct

    @cached_property
    def _top_class_weights(self) -> Floats:
        """Return the weights of the rows, with 0 for rows that are not of the most frequent class."""
        top = np.argmax(np.bincount(self.y, self.weights, len(self.classes)))
        chosen = self.y == top
        weights: Floats = chosen.astype(np.float64) if self.weights is None else self.weights * chosen
        return weights


def _is_constant(codes: Codes, distinct: Floats) -> bool:
    return len(distinct) == 0 or (len(distinct) == 1 and bool(codes.min() == 0))


def _report_constants(columns: list[Column]) -> None:
    constant = [column.name for column in columns if column.constant]
    if len(constant) == len(columns):
        raise ValueError("X: every column is constant or has no value at all; expected one that varies")
    if constant:
        message = f"X: constant columns are ignored: {shown_names(constant)}"
        warnings.warn(message, DataWarning, stacklevel=5)
