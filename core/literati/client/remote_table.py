"""Training data as a table to upload, and the tree of the server as a tree of that data.

Text is uploaded as it is if the server reads it unchanged. Other categories and classes get names of their
own. The tree that comes back gets the original columns, categories and classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.client.requests import label_key
from literati.data import labels
from literati.data.schema import Column
from literati.data.table import Categories, TrainingTable, build
from literati.data.weights import checked_weights, times_class_weights
from literati.tree.model import ShapeTree

MAX_TEXT = 1000  # characters of a name or category that is uploaded as it is


@dataclass(frozen=True)
class RemoteTable:
    """A table to upload, and what its names mean."""

    columns: dict[str, npt.NDArray[Any]]  # with the target and the weights
    target: str
    weight: str | None
    class_weight: str | dict[str, float] | None  # as the server spells the classes
    table: TrainingTable
    names: dict[str, int]  # of the uploaded features, with the index of the column in the training data
    categories: dict[
        str, dict[str, Any]
    ]  # by uploaded feature: the uploaded categories and the original ones

    def local_tree(self, tree: ShapeTree) -> ShapeTree:
        """Return the server's tree with the columns, categories and classes of the training data."""
        columns = list(self.table.schema.columns)
        for column in tree.schema.columns:
            place = self.names[column.name]
            if column.kind == "category":
                meaning = self.categories[column.name]
                found = tuple(meaning[category] for category in column.categories)
                columns[place] = replace(columns[place], categories=found)
        places = [self.names[column.name] for column in tree.schema.columns]
        nodes = tuple(
            node
            if node.split is None
            else replace(node, split=replace(node.split, column=places[node.split.column]))
            for node in tree.nodes
        )
        schema = replace(self.table.schema, columns=tuple(columns))
        return replace(tree, schema=schema, classes=self.table.classes, nodes=nodes)


def remote_table(
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: str | Mapping[Any, float] | None,
    categories: Categories,
) -> RemoteTable:
    """Check the training data as LiteratiClassifier does, and return it as a table to upload.

    Rows of weight zero and constant columns are left out, because no tree depends on them.
    """
    table = build(X, y, sample_weight, class_weight, categories)
    rows = np.arange(table.n_rows)
    kept = {i: column for i, column in enumerate(table.schema.columns) if not column.constant}
    names = dict(zip(_names(list(kept.values())), kept, strict=True))
    columns: dict[str, npt.NDArray[Any]] = {}
    meanings: dict[str, dict[str, Any]] = {}
    for name, place in names.items():
        values, column = table.column_values(place, rows), kept[place]
        if column.kind == "category":
            spelled = _spelled(column.categories)
            meanings[name] = dict(zip(spelled, column.categories, strict=True))
            columns[name] = _chosen(spelled, values)
        else:
            columns[name] = _chosen([False, True], values) if column.kind == "boolean" else values
    spelled_classes = _spelled_classes(table.classes)
    target = _unused("target", columns)
    columns[target] = spelled_classes[table.y]
    weight = None
    weights = _weights(y, sample_weight, class_weight)
    if weights is not None:
        weight = _unused("weight", columns)
        columns[weight] = weights
    if isinstance(class_weight, Mapping):
        class_weight = _spelled_weights(class_weight, table.classes, spelled_classes)
    return RemoteTable(columns, target, weight, class_weight, table, names, meanings)


def _chosen(labels_: Sequence[Any], codes: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return the label of each code, and None where the code is NaN."""
    known = np.where(np.isnan(codes), -1, codes).astype(np.intp)
    chosen: npt.NDArray[Any] = labels.object_array([*labels_, None])[known]
    return chosen


def _weights(y: Any, sample_weight: Any, class_weight: Any) -> npt.NDArray[np.float64] | None:
    """Return the sample weights of the rows that count, without the class weights."""
    codes, classes = labels.encode(y)
    weights = checked_weights(sample_weight, len(codes))
    product = times_class_weights(weights, class_weight, codes, classes)
    if weights is None or product is None:
        return weights
    return weights[product > 0]


def _spelled_weights(
    class_weight: Mapping[Any, float], classes: npt.NDArray[Any], spelled: npt.NDArray[Any]
) -> dict[str, float]:
    """Return the weights by the names of the uploaded classes, without those of classes that have no rows."""
    keys = {labels.plain(label): label_key(name) for label, name in zip(classes, spelled, strict=True)}
    given = {labels.plain(label): float(weight) for label, weight in class_weight.items()}
    return {keys[label]: weight for label, weight in given.items() if label in keys}


def _spelled_classes(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the classes as they are uploaded, in the same order."""
    if classes.dtype.kind in "iu" and int(classes.max()) < 2**63:
        return classes.astype(np.int64)
    return labels.object_array(_spelled([labels.plain(label) for label in classes]))


def _spelled(found: Sequence[Any]) -> list[str]:
    """Return labels as text that the server keeps apart and sorts as the labels: their own or numbers."""
    order = labels.ordered(found)
    texts = [str(label) for label in order]
    if sorted(set(texts)) != texts or not all(map(_is_kept, texts)):
        width = len(str(len(order)))
        texts = [f"{place:0{width}d}" for place in range(len(order))]
    spelling = dict(zip(order, texts, strict=True))
    return [spelling[label] for label in found]


def _is_kept(text: str) -> bool:
    """Return whether the server stores a text unchanged."""
    return 0 < len(text) <= MAX_TEXT and text == text.strip() and text.isprintable()


def _names(columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns, or x0, x1, ... if the server would change or refuse them."""
    names = [column.name for column in columns]
    usable = all(map(_is_kept, names)) and len(set(names)) == len(names)
    return names if usable else [f"x{place}" for place in range(len(columns))]


def _unused(name: str, columns: Mapping[str, Any]) -> str:
    while name in columns:
        name += "_"
    return name
