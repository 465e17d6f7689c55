"""A file as the training data of a search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.cli.errors import InputError
from literati.cli.tables.sources import Source
from literati.cli.tables.word_columns import fractions_in_target
from literati.data.columns import ColumnTable, Kind, shown_names
from literati.data.labels import object_array
from literati.suggestions import did_you_mean, nearest


@dataclass(frozen=True)
class TrainingFile:
    """The columns, classes and weights of the rows of a file."""

    X: ColumnTable
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None


def read_training(
    source: Source, target: str, weight: str | None, drop: Sequence[str], types: Mapping[str, Kind]
) -> TrainingFile:
    """Read the training data. Raise InputError if an option names no column, or a column cannot be used."""
    named = {"--target": [target], "--weight": [weight] if weight else [], "--drop": drop, "--type": types}
    for option, names in named.items():
        _check_names(option, names, source.names)
    if target == weight:
        raise InputError(f"Column {target!r} cannot be both --target and --weight.")
    for option, name in (("--target", target), ("--weight", weight)):
        if name in drop:
            raise InputError(f"Column {name!r} is given as {option} and as --drop.")
    features = [name for name in source.names if name not in (target, weight, *drop)]
    y = _labels(source, target, types.get(target))
    read = {name: source.feature(name, types.get(name)) for name in features}
    columns = {name: column for name, column in read.items() if column is not None}
    if not columns:
        raise InputError(f"No column besides the target is left; the file has {shown_names(source.names)}.")
    return TrainingFile(ColumnTable(source.n_rows, columns), y, _weights(source, weight))


def _check_names(option: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            guess = did_you_mean(map(repr, nearest(name, known, 3)))
            raise InputError(
                f"{option}: there is no column {name!r}.{guess} The columns are {_listed(known)}."
            )


def _listed(names: Sequence[str], longest: int = 20) -> str:
    more = len(names) - longest
    return ", ".join(map(repr, names[:longest])) + (f" and {more} more" if more > 0 else "")


def _labels(source: Source, target: str, kind: Kind | None) -> npt.NDArray[Any]:
    found = source.labels(target, text=kind == "category")
    if None in found:
        others = found.count(None) - 1
        more = f", and {others:,} more rows have none" if others else ""
        raise InputError(
            f"Row {found.index(None) + 1:,} has no class in the target {target!r}{more}; remove such rows. "
            "If a word such as NA is a class, name the words for missing cells with --null-value."
        )
    distinct = set(found)
    if strange := [label for label in distinct if not isinstance(label, str | bool | int | float)]:
        raise InputError(
            f"The target {target!r} holds values of the type {type(strange[0]).__name__}; pass --type "
            f"{target!r}:category to use each value as a class."
        )
    if any(isinstance(label, float) and label % 1 for label in distinct):
        raise fractions_in_target(target)
    if len(distinct) < 2:
        raise InputError(
            f"The target {target!r} has only one class, {next(iter(distinct))!r}; at least two are needed."
        )
    return object_array(found)


def _weights(source: Source, weight: str | None) -> npt.NDArray[np.float64] | None:
    if weight is None:
        return None
    column = source.feature(weight, "number")
    assert column is not None
    assert column.values is not None
    for wrong, what in ((np.isnan(column.values), "missing"), (column.values < 0, "negative")):
        if wrong.any():
            row = int(np.argmax(wrong)) + 1
            raise InputError(f"The weight in row {row:,} of {weight!r} is {what}; expected 0 or more.")
    return column.values
