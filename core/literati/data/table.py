"""Raw columns to rank codes for the search, and to a matrix of floats for prediction.

The schema is what a model remembers of its training columns; the training table is what a search works on.
"""

from __future__ import annotations

import hashlib
import math
import numbers
import warnings
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import labels
from .columns import Kind, RawColumn, RawTable, open_table
from .errors import DataWarning

UNKNOWN = -1.0  # in an encoded category column: a category that training did not see
MAX_CLASSES = 1024  # as many as the search's kernels have room for
MAX_WEIGHT = 2.0**50  # costs are exact integers in the search, and must stay exact as floats
MIN_WEIGHT = 2.0**-500  # of all rows together: with less the search's unit would be no float
CATEGORY_MODES = ("ordered", "one_hot")
CategoryMode = Literal["ordered", "one_hot"]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Column:
    """What a model remembers of one training column."""

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()  # kind "category": in the order of the search's codes
    minimum: float | None = None  # kind "number": range of the training rows
    maximum: float | None = None
    constant: bool = False  # set aside: no split can use it


@dataclass(frozen=True)
class EncodedRows:
    """Rows ready for the predict kernel: NaN is missing, categories are codes, `UNKNOWN` is one not seen."""

    matrix: Floats  # C order, one column per column of the schema
    unknown: Mapping[str, tuple[Hashable, ...]]  # by column: the categories that training did not see
    ignored: tuple[str, ...]  # columns of the frame that the model does not know


@dataclass(frozen=True)
class Schema:
    """The columns of a model, in training order."""

    columns: tuple[Column, ...]
    named: bool  # the training data had column names; otherwise position is all there is

    def encode(self, data: Any) -> EncodedRows:
        """By name for a frame where training had names, by position otherwise."""
        table = open_table(data)
        if self.named and table.names is not None:
            places, ignored = self._places(table.names)
        else:
            if table.n_columns != len(self.columns):
                raise ValueError(
                    f"X has {table.n_columns} features, but LiteratiClassifier is expecting "
                    f"{len(self.columns)} features as input"
                )
            places, ignored = list(range(table.n_columns)), ()
        if table.matrix is not None and all(c.kind == "number" or c.constant for c in self.columns):
            return EncodedRows(self._numbers(table.matrix), {}, ignored)
        matrix = np.empty((table.n_rows, len(self.columns)))
        unknown: dict[str, tuple[Hashable, ...]] = {}
        for index, (column, place) in enumerate(zip(self.columns, places, strict=True)):
            if column.constant:
                matrix[:, index] = np.nan
                continue
            matrix[:, index], unseen = encode_column(column, table.read(place, column.name))
            if unseen:
                unknown[column.name] = unseen
        return EncodedRows(matrix, unknown, ignored)

    def _places(self, names: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
        at = {name: place for place, name in enumerate(names)}
        absent = [column.name for column in self.columns if column.name not in at]
        if absent:
            shown = ", ".join(repr(name) for name in absent[:5]) + (", ..." if len(absent) > 5 else "")
            raise ValueError(
                "X: The feature names should match those that were passed during fit.\n"
                f"Feature names seen at fit time, yet now missing: {shown}"
            )
        known = {column.name for column in self.columns}
        return [at[column.name] for column in self.columns], tuple(
            name for name in names if name not in known
        )

    def _numbers(self, array: npt.NDArray[Any]) -> Floats:
        matrix = np.ascontiguousarray(array, dtype=np.float64)
        if array.dtype.kind == "f" and np.isinf(matrix).any():
            for index, column in enumerate(self.columns):
                if not column.constant:
                    _check_finite(matrix[:, index], column.name)
        return matrix


def _check_finite(values: Floats, name: str) -> None:
    if np.isinf(values).any():
        raise ValueError(f"X: column {name!r} contains infinity; expected finite numbers (NaN where missing)")


def encode_column(column: Column, raw: RawColumn) -> tuple[Floats, tuple[Hashable, ...]]:
    if column.kind == "category":
        return _encode_category(column, raw)
    if raw.values is None:
        if raw.n_known():
            raise TypeError(
                f"X: column {column.name!r} holds text or categories such as {raw.labels[0]!r}; "
                f"expected {'booleans' if column.kind == 'boolean' else 'numbers'} as in training"
            )
        assert raw.codes is not None
        return np.full(len(raw.codes), np.nan), ()
    if column.kind == "boolean" and not np.isin(raw.values[~np.isnan(raw.values)], (0.0, 1.0)).all():
        raise ValueError(f"X: column {column.name!r} was boolean in training; expected booleans, 0 or 1")
    _check_finite(raw.values, column.name)
    return raw.values, ()


def _encode_category(column: Column, raw: RawColumn) -> tuple[Floats, tuple[Hashable, ...]]:
    if raw.values is not None:
        known = ~np.isnan(raw.values)
        if known.any() and all(isinstance(category, str) for category in column.categories):
            raise TypeError(
                f"X: column {column.name!r} holds {raw.kind}s; expected categories such as "
                f"{column.categories[0]!r} as in training"
            )
        distinct, inverse = np.unique(raw.values[known], return_inverse=True)
        codes = np.full(len(raw.values), -1, dtype=np.int32)
        codes[known] = inverse
        raw = RawColumn("category", codes=codes, labels=distinct.tolist())
    assert raw.codes is not None
    index = {category: float(code) for code, category in enumerate(column.categories)}
    lookup = np.array([*(index.get(label, UNKNOWN) for label in raw.labels), np.nan])
    unseen = tuple(label for label in raw.labels if label not in index)
    return lookup[raw.codes], unseen  # code -1 reads the last entry: missing


@dataclass(frozen=True)
class Feature:
    """What the search sees as one column: a column, or under one-hot coding one category of a column."""

    column: int
    category: int | None = None


@dataclass(frozen=True)
class TrainingTable:
    """Encoded training data. Rows of zero weight and constant columns are not in it."""

    schema: Schema
    classes: npt.NDArray[Any]
    features: tuple[Feature, ...]
    codes: Codes  # (features, rows), rank codes; -1 is missing
    values: list[Floats]  # per feature the distinct values that the codes stand for
    y: Codes
    weights: Floats | None  # None: every row weighs 1

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def nbytes(self) -> int:
        weights = 0 if self.weights is None else self.weights.nbytes
        return self.codes.nbytes + self.y.nbytes + weights + sum(array.nbytes for array in self.values)

    @cached_property
    def fingerprint(self) -> str:
        """Equal for equal training data and only then (SHA-256): a checkpoint says whose it is."""
        digest = hashlib.sha256()
        digest.update(repr((self.schema, self.features, [labels.plain(c) for c in self.classes])).encode())
        for array, dtype in ((self.codes, "<i4"), (self.y, "<i4"), *((v, "<f8") for v in self.values)):
            digest.update(np.ascontiguousarray(array, dtype=dtype).data)
        if self.weights is not None:
            digest.update(np.ascontiguousarray(self.weights, dtype="<f8").data)
        return digest.hexdigest()

    def column_values(self, column: int, rows: npt.NDArray[np.intp]) -> Floats:
        """Cells of a column as the predict kernel would get them, rebuilt from the codes."""
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
        """Per feature at most `quantiles` cut positions, at equal steps of the known rows' weight."""
        return [self._cuts(j, quantiles) for j in range(len(self.features))]

    def _cuts(self, j: int, quantiles: int) -> Codes:
        cardinality = len(self.values[j])
        if cardinality - 1 <= quantiles:
            return np.arange(1, cardinality, dtype=np.int32)
        known = self.codes[j] >= 0
        weights = None if self.weights is None else self.weights[known]
        below = np.cumsum(
            np.bincount(self.codes[j][known], weights, minlength=cardinality)
        )  # weight of codes <= k
        targets = below[-1] * np.arange(1, quantiles + 1) / (quantiles + 1)
        cuts = np.searchsorted(below, targets) + 1  # the first position with at least the target below it
        return np.unique(np.minimum(cuts, cardinality - 1)).astype(np.int32)


def build(
    data: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    class_weight: str | Mapping[Any, float] | None = None,
    categories: CategoryMode = "ordered",
    poll: Callable[[], None] | None = None,
) -> TrainingTable:
    """Encode training data; every complaint names the argument or the column.

    `poll` is called before every column, and may raise to break it off.
    """
    table = open_table(data)
    codes, classes = labels.encode(y)
    if len(codes) != table.n_rows:
        raise ValueError(f"X and y must have the same number of rows; got {table.n_rows} and {len(codes)}")
    weights = checked_weights(sample_weight, table.n_rows)
    weights = _times_class_weights(weights, class_weight, codes, classes)
    keep: npt.NDArray[np.bool_] | None = None
    if weights is not None and not weights.all():  # a row of weight zero is no row
        keep = weights > 0
        weights, codes = weights[keep], codes[keep]
        if not len(codes):
            raise ValueError("class_weight, sample_weight: together they leave every row a weight of zero")
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
        _check_total(weights)
        if (weights == 1).all():
            weights = None  # the integer path
    builder = _Builder(table, codes, len(classes), weights, keep, categories)
    return builder.build(classes, poll)


def checked_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    if sample_weight is None:
        return None
    try:
        weights = np.array(labels.as_vector(sample_weight, "sample_weight"), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight: expected a 1d array of {n_rows} numbers ({error})") from None
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight: expected {n_rows} numbers, one a row, got {len(weights)}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight: expected finite numbers that are not negative")
    if not weights.any():
        raise ValueError("sample_weight: Sample weights must contain at least one non-zero number.")
    return weights


def _check_total(weights: Floats) -> None:
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not total <= MAX_WEIGHT:
        raise ValueError(
            f"sample_weight, class_weight: expected a sum of at most {MAX_WEIGHT:g}, got {total:g}"
        )
    if total < MIN_WEIGHT:
        raise ValueError(
            f"sample_weight, class_weight: expected a sum of at least {MIN_WEIGHT:g}, got {total:g}"
        )


def _times_class_weights(
    weights: Floats | None, class_weight: Any, y: Codes, classes: npt.NDArray[Any]
) -> Floats | None:
    if class_weight is None:
        return weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(y, weights, minlength=len(classes))
        used = totals > 0
        factors = np.ones(len(classes))
        factors[used] = totals.sum() / (np.count_nonzero(used) * totals[used])
    elif isinstance(class_weight, Mapping):
        index = {labels.plain(label): code for code, label in enumerate(classes)}
        factors = np.ones(len(classes))
        for label, factor in class_weight.items():
            if labels.plain(label) not in index:
                raise ValueError(f"class_weight: {label!r} is not one of the classes {list(index)[:10]}")
            if not isinstance(factor, numbers.Real) or not math.isfinite(factor) or factor < 0:
                raise ValueError(
                    f"class_weight: the weight of {label!r} must be a finite number >= 0, got {factor!r}"
                )
            factors[index[labels.plain(label)]] = factor
    else:
        raise ValueError("class_weight: expected None, 'balanced' or a mapping from label to weight")
    with np.errstate(over="ignore"):  # what overflows is refused with the sum
        return factors[y] if weights is None else weights * factors[y]


@dataclass
class _Builder:
    table: RawTable
    y: Codes
    n_classes: int
    weights: Floats | None
    keep: npt.NDArray[np.bool_] | None
    mode: CategoryMode

    def build(self, classes: npt.NDArray[Any], poll: Callable[[], None] | None) -> TrainingTable:
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
            if column.kind == "category" and self.mode == "one_hot" and len(column.categories) > 1:
                for category in range(len(column.categories)):
                    features.append(Feature(index, category))
                    parts.append(np.where(codes < 0, -1, codes == category).astype(np.int32))
                    values.append(np.array([0.0, 1.0]))
            else:
                features.append(Feature(index))
                parts.append(codes)
                values.append(distinct)
        self._report_constants(columns)
        stacked = np.empty((len(parts), len(self.y)), dtype=np.int32)
        for j in range(len(parts)):
            stacked[j] = parts.pop(0)  # freed as it is copied: the codes never exist twice
        schema = Schema(tuple(columns), self.table.names is not None)
        return TrainingTable(schema, classes, tuple(features), stacked, values, self.y, self.weights)

    def _report_constants(self, columns: list[Column]) -> None:
        constant = [column.name for column in columns if column.constant]
        if len(constant) == len(columns):
            raise ValueError("X: every column is constant or has no value at all; expected one that varies")
        if constant:
            shown = ", ".join(repr(name) for name in constant[:5]) + (", ..." if len(constant) > 5 else "")
            warnings.warn(f"X: constant columns are ignored: {shown}", DataWarning, stacklevel=5)

    def _column(self, raw: RawColumn, name: str) -> tuple[Column, Codes, Floats]:
        if raw.values is None:
            return self._category(raw, name)
        numbers = raw.values if self.keep is None else raw.values[self.keep]
        _check_finite(numbers, name)
        codes, distinct = rank(numbers)
        constant = len(distinct) == 0 or (len(distinct) == 1 and bool(codes.min() == 0))
        column = Column(name, raw.kind, constant=constant)
        if raw.kind == "number" and len(distinct):
            column = Column(name, raw.kind, (), float(distinct[0]), float(distinct[-1]), constant)
        return column, codes, distinct

    def _category(self, raw: RawColumn, name: str) -> tuple[Column, Codes, Floats]:
        """Codes by rising share of the most frequent class: then a good set is a few intervals."""
        assert raw.codes is not None
        codes = raw.codes if self.keep is None else raw.codes[self.keep]
        known = codes >= 0
        weights = np.ones(len(self.y)) if self.weights is None else self.weights
        top = int(np.argmax(np.bincount(self.y, weights, minlength=self.n_classes)))
        total = np.bincount(codes[known], weights[known], minlength=len(raw.labels))
        hits = np.bincount(codes[known], weights[known] * (self.y[known] == top), minlength=len(raw.labels))
        used = {index for index in range(len(raw.labels)) if total[index] > 0}
        place = {label: position for position, label in enumerate(labels.ordered(raw.labels))}
        order = sorted(used, key=lambda index: (hits[index] / total[index], place[raw.labels[index]]))
        recode = np.full(len(raw.labels) + 1, -1, dtype=np.int32)
        recode[order] = np.arange(len(order), dtype=np.int32)
        ranked = recode[codes]
        constant = len(order) == 0 or (len(order) == 1 and bool(known.all()))
        column = Column(name, "category", tuple(raw.labels[index] for index in order), constant=constant)
        return column, ranked, np.arange(len(order), dtype=np.float64)


def rank(numbers: Floats) -> tuple[Codes, Floats]:
    """Rank codes (-1 for NaN) and the distinct values in order. One sort; np.unique takes twice as long."""
    order = np.argsort(numbers)  # NaN sorts last
    arranged = numbers[order]
    n_known = int(np.searchsorted(arranged, np.nan))
    arranged = arranged[:n_known]
    first = np.empty(n_known, dtype=bool)
    first[:1] = True
    np.not_equal(arranged[1:], arranged[:-1], out=first[1:])
    codes = np.full(len(numbers), -1, dtype=np.int32)
    codes[order[:n_known]] = np.cumsum(first, dtype=np.int32) - 1
    return codes, arranged[first] + 0.0  # + 0.0: a zero has one sign
