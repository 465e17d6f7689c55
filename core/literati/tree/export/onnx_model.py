"""Write a tree as an ONNX model.

Each split becomes a bit: 1 if the row goes right. Then each row takes as many steps as the tree is deep: a
step reads the bit of the row's node and goes to a child, and a leaf is its own child. The size of the model
grows with the number of nodes. Numbers are doubles, so predictions equal those of the library.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from literati.data.labels import plain
from literati.data.schema import Column
from literati.tree.export.code import cell_kind, used_columns
from literati.tree.export.conditions import MAX_EXACT, ExportError
from literati.tree.export.names import free_name, utf8
from literati.tree.export.provenance import provenance
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

OPSET, ML_OPSET, IR_VERSION = 18, 4, 9  # of 2023: the first LabelEncoder for doubles
LABEL_TYPES = {bool: np.bool_, int: np.int64, float: np.float64, str: np.object_}
DOUBLE, INT64, STRING = 11, 7, 8  # onnx.TensorProto


def to_onnx(tree: ShapeTree, model_id: str | None = None) -> bytes:
    """Return the bytes of the model.

    The inputs are the columns that splits use, each of shape (rows, 1): doubles, with NaN for a missing cell,
    and texts, for which the metadata entry `missing_text` has the text of a missing cell. A tree of one leaf
    has its first column as the only input, because a model of ONNX takes the number of rows from an input.
    """
    return _Graph(tree).model(model_id)


class _Graph:
    def __init__(self, tree: ShapeTree) -> None:
        try:
            from onnx import helper, numpy_helper
        except ImportError as error:
            raise ImportError(
                "Exporting to ONNX needs the package onnx; install it with pip install 'literati-trees[onnx]'"
            ) from error
        self.tree = tree
        self.helper, self.numpy_helper = helper, numpy_helper
        self.operators: list[Any] = []
        self.constants: list[Any] = []
        self.columns = used_columns(tree) or {0: tree.schema.columns[0]}
        self.prefix = "literati"  # of the names of values, which differ from those of columns
        while any(column.name.startswith(self.prefix) for column in self.columns.values()):
            self.prefix += "_"
        self.missing_text = _missing_text(self.columns.values())

    def model(self, model_id: str | None) -> bytes:
        tree = self.tree
        inputs = [self._input(column) for column in self.columns.values()]
        node = self._reached(*self._bits())
        outputs = {
            "label": _label_array(tree)[[node.label for node in tree.nodes]],
            "probabilities": tree.probabilities,
            "leaf_id": np.arange(len(tree.nodes)),
        }
        infos = []
        for name, of_node in outputs.items():
            name = free_name(tree, name)
            self._add("Gather", self._constant(of_node), node, output=name)
            kind = self.numpy_helper.from_array(of_node).data_type
            infos.append(self.helper.make_tensor_value_info(name, kind, ["rows", *of_node.shape[1:]]))
        graph = self.helper.make_graph(self.operators, "literati", inputs, infos, self.constants)
        facts = provenance(tree, model_id)
        domains = {"": OPSET, "ai.onnx.ml": ML_OPSET}
        model = self.helper.make_model(
            graph,
            opset_imports=[self.helper.make_opsetid(*domain) for domain in domains.items()],
            ir_version=IR_VERSION,
            producer_name="Literati",
            producer_version=facts["exporter"].removeprefix("Literati "),
            doc_string=facts["proof"],
        )
        classes = json.dumps([plain(label) for label in tree.classes])
        self.helper.set_model_props(model, {**facts, "missing_text": self.missing_text, "classes": classes})
        content: bytes = model.SerializeToString()
        return content

    def _input(self, column: Column) -> Any:
        if not utf8(column.name, "ONNX"):
            raise ExportError("A column without a name cannot be an input of ONNX; export to Python instead")
        kind = STRING if cell_kind(column) == "text" else DOUBLE
        return self.helper.make_tensor_value_info(column.name, kind, ["rows", 1])

    def _constant(self, values: Any) -> str:
        name = f"{self.prefix}_constant_{len(self.constants)}"
        self.constants.append(self.numpy_helper.from_array(np.asarray(values), name))
        return name

    def _add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"{self.prefix}_value_{len(self.operators)}"
        self.operators.append(self.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def _bits(self) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Add the bits of all splits; return a tensor for each column, and the place of each node's bit."""
        by_column: dict[int, dict[int, Split]] = {}
        for index, node in enumerate(self.tree.nodes):
            if node.split is not None:
                by_column.setdefault(node.split.column, {})[index] = node.split
        tensors, places = [], np.zeros(len(self.tree.nodes), np.int64)
        start = 0
        for index, splits in by_column.items():
            column = self.columns[index]
            write = self._category_bits if column.kind == "category" else self._number_bits
            tensors.append(write(column, list(splits.values())))
            places[list(splits)] = np.arange(start, start + len(splits))
            start += len(splits)
        return tensors, places

    def _number_bits(self, column: Column, splits: list[Split]) -> str:
        """Count the thresholds below each cell; no cell is above the infinity that fills the lists up."""
        most = max(1, *(len(split.thresholds) for split in splits))
        thresholds = [[*split.thresholds, *[np.inf] * (most - len(split.thresholds))] for split in splits]
        cell = self._add("Unsqueeze", column.name, self._constant([2]))
        above = self._add("Greater", cell, self._constant(np.array([thresholds], dtype=np.float64)))
        counts = self._add("ReduceSum", self._integers(above), self._constant([2]), keepdims=0)
        odd = self._add("Mod", counts, self._constant([2]))
        side = self._constant([[int(split.missing_right) for split in splits]])
        return self._add("Where", self._add("IsNaN", column.name), side, odd)

    def _category_bits(self, column: Column, splits: list[Split]) -> str:
        """Read the sides of each cell from a table: categories, then the missing cell, then unknown ones."""
        categories = _category_array(column, self.missing_text)
        missing, unknown = len(categories) - 1, len(categories)
        codes = self._add(
            "LabelEncoder",
            column.name,
            domain="ai.onnx.ml",
            keys_tensor=self.numpy_helper.from_array(categories),
            values_tensor=self.numpy_helper.from_array(np.arange(unknown)),
            default_tensor=self.numpy_helper.from_array(np.array([unknown])),
        )
        if cell_kind(column) != "text":  # not every runtime finds NaN among the keys
            codes = self._add("Where", self._add("IsNaN", column.name), self._constant([[missing]]), codes)
        sides = np.zeros((unknown + 1, len(splits)), dtype=np.bool_)
        for place, split in enumerate(splits):
            sides[list(split.right_categories), place] = True
            sides[-2:, place] = split.missing_right, split.unknown_right
        row = self._add("Squeeze", codes, self._constant([1]))
        return self._integers(self._add("Gather", self._constant(sides), row))

    def _integers(self, tensor: str) -> str:
        return self._add("Cast", tensor, to=INT64)

    def _reached(self, tensors: list[str], places: npt.NDArray[np.int64]) -> str:
        """Add the node that each row reaches."""
        shape = self._add("Shape", next(iter(self.columns.values())).name)
        root = self.numpy_helper.from_array(np.zeros(1, np.int64))
        at = self._add("ConstantOfShape", shape, value=root)
        if tensors:
            bits = self._add("Concat", *tensors, axis=1)
            nodes = enumerate(self.tree.nodes)
            pairs = [(n.split.left, n.split.right) if n.split is not None else (i, i) for i, n in nodes]
            place, child = self._constant(places), self._constant(np.array(pairs).reshape(-1))
            two = self._constant([[2]])
            for _ in range(self.tree.depth):
                bit = self._add("GatherElements", bits, self._add("Gather", place, at), axis=1)
                at = self._add("Gather", child, self._add("Add", self._add("Mul", at, two), bit))
        return self._add("Squeeze", at, self._constant([1]))


def _missing_text(columns: Iterable[Column]) -> str:
    """Return a text that is no category: the empty one if possible."""
    known = {category for column in columns for category in column.categories}
    return next(text for k in range(len(known) + 2) if (text := "<missing>" * k) not in known)


def _category_array(column: Column, missing_text: str) -> npt.NDArray[Any]:
    """Return the categories and the missing cell."""
    categories = [plain(category) for category in column.categories]
    if cell_kind(column) == "text":
        for category in categories:
            utf8(category, "ONNX")
        return np.array([*categories, missing_text], dtype=object)
    for category in categories:
        if isinstance(category, str) or (isinstance(category, int) and abs(category) > MAX_EXACT):
            raise ExportError(
                f"ONNX compares numbers as doubles, so it cannot express the category {category!r} of "
                f"{column.name!r} exactly; export to Python instead"
            )
    return np.array([*categories, np.nan], dtype=np.float64)


def _label_array(tree: ShapeTree) -> npt.NDArray[Any]:
    labels = [plain(label) for label in tree.classes]
    kinds = {type(label) for label in labels}
    if len(kinds) != 1 or not kinds <= LABEL_TYPES.keys():
        raise ExportError(
            "An output of ONNX has one type, but the classes have several; export to Python instead"
        )
    for label in labels:
        if isinstance(label, str):
            utf8(label, "ONNX")
    try:
        return np.array(labels, dtype=LABEL_TYPES[kinds.pop()])
    except OverflowError as error:
        raise ExportError("ONNX cannot hold a class in 64 bits; export to Python instead") from error
