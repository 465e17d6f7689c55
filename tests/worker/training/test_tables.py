"""Test loading the table of a dataset and splitting it for validation."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from literati import Search
from worker.domain.datasets import ColumnInfo, Dataset
from worker.domain.validation import ValidationColumn, ValidationFraction
from worker.training.tables import DatasetRows, label_array, load, split


def dataset(table: Any, target: str, weight: str | None = None) -> Dataset:
    def role(name: str) -> Any:
        return {target: "target", weight: "weight"}.get(name, "feature")

    return Dataset(
        id="ds_1",
        tenant="default",
        sha256="0" * 64,
        blob="0" * 64,
        bytes=1,
        rows=table.num_rows,
        target=target,
        weight=weight,
        columns=[ColumnInfo(name=n, type="number", role=role(n), missing=0) for n in table.column_names],
        classes=[],
        created_at=datetime.now(UTC),
    )


def written(table: Any, path: Path) -> Path:
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return path


def rows(y: list[Any], weights: list[float] | None = None, **features: Any) -> DatasetRows:
    X = pa.table({"row": list(range(len(y))), **features})
    return DatasetRows(X, np.asarray(y), None if weights is None else np.asarray(weights))


def test_load_parts_features_labels_and_weights(tmp_path: Path) -> None:
    table = pa.table(
        {
            "age": [30, 40, None, 50],
            "colour": pa.array(["red", "blue", None, "red"]).dictionary_encode(),
            "w": [1, 2, 0, 3],
            "label": pa.array(["no", "yes", "no", "yes"]).dictionary_encode(),
        }
    )
    loaded = load(written(table, tmp_path / "t.arrow"), dataset(table, "label", "w"))
    assert loaded.X.column_names == ["age", "colour"]
    assert loaded.y.tolist() == ["no", "yes", "no", "yes"]
    assert loaded.weights is not None
    assert loaded.weights.dtype == np.float64
    assert loaded.weights.tolist() == [1.0, 2.0, 0.0, 3.0]
    search = Search(loaded.X, loaded.y, sample_weight=loaded.weights, max_depth=1)
    search.run()
    tree = search.incumbent()
    assert tree.predict(loaded.X)[[0, 1, 3]].tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize(
    "labels",
    [
        pa.array([3, 7, 3]),
        pa.array([3, 7, 3]).dictionary_encode(),
        pa.array([True, False, True]),
        pa.array([1.0, 2.0, 1.0]),
        pa.array(["007", "7", "007"]).dictionary_encode(),
    ],
)
def test_labels_come_back_as_the_data_spells_them(labels: Any) -> None:
    plain = labels.to_pylist()
    array = label_array(pa.chunked_array([labels, labels]))
    assert array.tolist() == plain * 2
    assert {type(label) for label in array.tolist()} == {type(plain[0])}


def test_no_validation_is_no_split() -> None:
    loaded = rows([0, 1])
    assert split(loaded, None) == (loaded, None)


def test_a_fraction_is_drawn_by_class_and_always_the_same() -> None:
    y = ["a"] * 70 + ["b"] * 28 + ["c"] * 2
    loaded = rows(y)
    train, held = split(loaded, ValidationFraction(fraction=0.25, seed=3))
    assert held is not None
    assert held.n_rows == 25
    assert {label: int((held.y == label).sum()) for label in "abc"} == {"a": 17, "b": 7, "c": 1}
    chosen = set(held.X["row"].to_pylist())
    assert chosen.isdisjoint(train.X["row"].to_pylist())
    assert chosen | set(train.X["row"].to_pylist()) == set(range(100))
    again = split(loaded, ValidationFraction(fraction=0.25, seed=3))[1]
    assert again is not None
    assert again.X.equals(held.X)
    other = split(loaded, ValidationFraction(fraction=0.25, seed=4))[1]
    assert other is not None
    assert not other.X.equals(held.X)


def test_the_draw_is_the_same_in_every_version() -> None:
    held = split(rows([0, 1] * 5), ValidationFraction(fraction=0.4, seed=1))[1]
    assert held is not None
    assert held.X["row"].to_pylist() == [2, 4, 7, 9]


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.9, 0.999])
def test_every_class_keeps_a_row_to_learn_from(fraction: float) -> None:
    loaded = rows([0] * 40 + [1] * 60 + [2])
    train, held = split(loaded, ValidationFraction(fraction=fraction))
    assert held is not None
    assert held.n_rows >= 1
    assert set(train.y.tolist()) == {0, 1, 2}


def test_rows_without_weight_are_not_drawn() -> None:
    loaded = rows([0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 1, 1])
    train, held = split(loaded, ValidationFraction(fraction=0.5))
    assert held is not None
    assert held.weights is not None
    assert train.weights is not None
    assert held.weights.tolist() == [1, 1]
    assert sorted(train.weights.tolist()) == [0, 0, 1, 1]


def test_a_fraction_of_too_few_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves no row for validation"):
        split(rows([0, 1]), ValidationFraction(fraction=0.5))


@pytest.mark.parametrize(
    "fold",
    [
        [False, True, False, True, None],
        [0, 1, 0, -2, None],
        [0.0, 0.5, 0.0, 3.0, None],
        pa.array(["train", "Validation", "training", " TEST ", None]).dictionary_encode(),
        pa.array(["", "holdout", "a", "valid", "b"]).dictionary_encode(),
        pa.array([0, 1, 0, 2, None]).dictionary_encode(),
    ],
)
def test_a_column_marks_the_rows_and_is_no_feature(fold: Any) -> None:
    train, held = split(rows([0, 1, 0, 1, 1], fold=fold), ValidationColumn(column="fold"))
    assert held is not None
    assert held.X.column_names == train.X.column_names == ["row"]
    assert held.X["row"].to_pylist() == [1, 3]
    assert train.X["row"].to_pylist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("fold", "message"),
    [
        (pa.array(["train", "a"]).dictionary_encode(), "no row of column 'fold'.*`validation`"),
        ([0, None], "no row of column 'fold'.*use true or 1"),
        ([True, True], "marks every row"),
        (pa.array([None, None], pa.dictionary(pa.int32(), pa.string())), "no row of column 'fold'"),
    ],
)
def test_a_column_that_chooses_nothing_or_everything_is_refused(fold: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split(rows([0, 1], fold=fold), ValidationColumn(column="fold"))


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(ValueError, match="'fold' is not one of the dataset's feature columns"):
        split(rows([0, 1]), ValidationColumn(column="fold"))


LARGE = 2**53


@pytest.mark.parametrize("value", [LARGE + 1, str(LARGE + 1)])
def test_integers_beyond_doubles_are_compared_exactly(value: Any) -> None:
    loaded = rows([0, 1, 0, 1], fold=[LARGE, LARGE + 1, None, 2**63 - 1])
    held = split(loaded, ValidationColumn(column="fold", value=value))[1]
    assert held is not None
    assert held.X["row"].to_pylist() == [1]
    held = split(rows([0, 1, 0], fold=[0, LARGE + 1, None]), ValidationColumn(column="fold"))[1]
    assert held is not None
    assert held.X["row"].to_pylist() == [1]


@pytest.mark.parametrize("value", [float(LARGE), 10**400, "1e999", "many", 0.5])
@pytest.mark.parametrize("fold", [[0, LARGE + 1], [0.0, 1.5]])
def test_values_that_no_cell_has(fold: list[Any], value: Any) -> None:
    with pytest.raises(ValueError, match="no row of column 'fold' has this value"):
        split(rows([0, 1], fold=fold), ValidationColumn(column="fold", value=value))
