"""Write a tree as an ONNX model of standard operators.

Each split becomes a bit: 1 if the row goes right. A leaf is reached if all bits on its path are as the path
says. A matrix product counts for every leaf how many are not, and the row's leaf is the one with none.
All numbers are doubles, so predictions equal those of the library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from literati.data.labels import plain
from literati.data.schema import Column
from literati.tree.export.code import leaves
from literati.tree.export.conditions import ExportError
from literati.tree.export.provenance import provenance
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

OPSET = 19  # the first in which `Equal` compares texts
IR_VERSION = 9
MAX_EXACT = 1 << 53
LABEL_TYPES = {bool: np.bool_, int: np.int64, float: np.float64, str: np.object_}


def to_onnx(tree: ShapeTree, model_id: str | None = None) -> bytes:
    """Return the bytes of the model.

    The inputs are the columns that splits use, each of shape (rows, 1): doubles, with NaN for a missing cell,
    and texts, for which the metadata entry `missing_text` has the text of a missing cell.
    """
    return _Graph(tree).model(model_id)


class _Graph:
    def __init__(self, tree: ShapeTree) -> None:
        try:
            from onnx import helper, numpy_helper
        except ImportError as error:
            raise ImportError(
                "Exporting to ONNX needs the package onnx; install it with pip install literati[onnx]"
            ) from error
        self.tree = tree
        self.helper, self.numpy_helper = helper, numpy_helper
        self.operators: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.missing_text = _missing_text(tree)

    def model(self, model_id: str | None) -> bytes:
        from onnx import TensorProto

        tree = self.tree
        bits, order = self._bits()
        ends = leaves(tree)
        leaf = self._leaf(bits, order, ends)
        labels = _label_array(tree)[[tree.nodes[index].label for index in ends]]
        outputs = {
            "label": labels,
            "probabilities": tree.probabilities[ends],
            "leaf_id": np.array(ends, dtype=np.int64),
        }
        infos = []
        for name, values in outputs.items():
            self._add("Gather", [self._constant(values), leaf], output=name, axis=0)
            type_ = self.numpy_helper.from_array(values).data_type
            infos.append(self.helper.make_tensor_value_info(name, type_, ["rows", *values.shape[1:]]))
        assert infos[0].type.tensor_type.elem_type != TensorProto.UNDEFINED
        graph = self.helper.make_graph(self.operators, "literati", self.inputs, infos, self.constants)
        facts = provenance(tree, model_id)
        model = self.helper.make_model(
            graph,
            opset_imports=[self.helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="Literati",
            producer_version=facts["exporter"].removeprefix("Literati "),
            doc_string=facts["proof"],
        )
        extra = {"missing_text": self.missing_text, "classes": ", ".join(map(str, tree.classes))}
        self.helper.set_model_props(model, {**facts, **extra})
        content: bytes = model.SerializeToString()
        return content

    def _constant(self, values: npt.NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.numpy_helper.from_array(np.asarray(values), name))
        return name

    def _add(self, operator: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        name = output or f"value_{len(self.operators)}"
        self.operators.append(self.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def _bits(self) -> tuple[str, list[int]]:
        """Add the bits of all splits; return their tensor and the nodes in its order."""
        by_column: dict[int, list[int]] = {}
        for index, node in enumerate(self.tree.nodes):
            if node.split is not None:
                by_column.setdefault(node.split.column, []).append(index)
        parts, order = [], []
        for column, nodes in by_column.items():
            splits = [split for index in nodes if (split := self.tree.nodes[index].split) is not None]
            parts.append(self._column_bits(self.tree.schema.columns[column], splits))
            order += nodes
        if not parts:  # a tree without splits still needs the number of rows
            self._input(self.tree.schema.columns[0])
            return "", []
        return self._add("Concat", parts, axis=1), order

    def _input(self, column: Column) -> str:
        from onnx import TensorProto

        text = _is_text(column)
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        self.inputs.append(self.helper.make_tensor_value_info(column.name, kind, ["rows", 1]))
        return column.name

    def _column_bits(self, column: Column, splits: list[Split]) -> str:
        cell = self._input(column)
        if column.kind == "category":
            return self._category_bits(cell, column, splits)
        thresholds = sorted({t for split in splits for t in split.thresholds})
        member = np.array([[t in split.thresholds for split in splits] for t in thresholds], dtype=np.float64)
        above = self._add("Greater", [cell, self._constant(np.array([thresholds], dtype=np.float64))])
        counts = self._add("MatMul", [self._double(above), self._constant(member.reshape(-1, len(splits)))])
        whole = self._add("Cast", [counts], to=7)  # 64-bit integers
        odd = self._add("Mod", [whole, self._constant(np.array([2], dtype=np.int64))])
        missing = self._add("IsNaN", [cell])
        side = self._constant(np.array([[split.missing_right for split in splits]], dtype=np.int64))
        return self._double(self._add("Where", [missing, side, odd]))

    def _category_bits(self, cell: str, column: Column, splits: list[Split]) -> str:
        """Compare with every category; what equals none is unknown or missing."""
        categories = _category_array(column)
        equal = self._double(self._add("Equal", [cell, self._constant(categories[None, :])]))
        sides = [[k in split.right_categories for split in splits] for k in range(len(categories))]
        known_right = self._add("MatMul", [equal, self._constant(np.array(sides, dtype=np.float64))])
        known = self._add("MatMul", [equal, self._constant(np.ones((len(categories), 1)))])
        unknown = self._add("Sub", [self._constant(np.ones((1, 1))), known])
        if _is_text(column):
            missing = self._add(
                "Equal", [cell, self._constant(np.array([[self.missing_text]], dtype=object))]
            )
        else:
            missing = self._add("IsNaN", [cell])
        unknown_side = self._constant(np.array([[split.unknown_right for split in splits]], dtype=np.float64))
        missing_side = self._constant(np.array([[split.missing_right for split in splits]], dtype=np.float64))
        seen = self._add("Add", [known_right, self._add("Mul", [unknown, unknown_side])])
        return self._add("Where", [missing, missing_side, seen])

    def _double(self, tensor: str) -> str:
        return self._add("Cast", [tensor], to=11)

    def _leaf(self, bits: str, order: list[int], ends: list[int]) -> str:
        """Add the place of each row's leaf among the leaves."""
        if not order:
            rows = self._add("Shape", [self.inputs[0].name], start=0, end=1)
            return self._add(
                "ConstantOfShape", [rows], value=self.numpy_helper.from_array(np.zeros(1, np.int64))
            )
        place = {index: at for at, index in enumerate(order)}
        weights = np.zeros((len(order), len(ends)))
        offsets = np.zeros((1, len(ends)))
        for leaf, end in enumerate(ends):
            for index, right in _path(self.tree, end):
                weights[place[index], leaf] = 1.0 if right else -1.0
                offsets[0, leaf] -= (
                    right  # the sum is 0 for the leaf that is reached, and negative for others
                )
        agreement = self._add("MatMul", [bits, self._constant(weights)])
        total = self._add("Add", [agreement, self._constant(offsets)])
        return self._add("ArgMax", [total], axis=1, keepdims=0)


def _path(tree: ShapeTree, end: int) -> list[tuple[int, bool]]:
    above = {}
    for index, node in enumerate(tree.nodes):
        if node.split is not None:
            above[node.split.left], above[node.split.right] = (index, False), (index, True)
    path = []
    while end in above:
        path.append(above[end])
        end = above[end][0]
    return path


def _is_text(column: Column) -> bool:
    return column.kind == "category" and isinstance(plain(column.categories[0]), str)


def _missing_text(tree: ShapeTree) -> str:
    """Return a text that is no category: the empty one if possible."""
    known = {category for column in tree.schema.columns for category in column.categories}
    return next(text for k in range(len(known) + 2) if (text := "<missing>" * k) not in known)


def _category_array(column: Column) -> npt.NDArray[Any]:
    categories = [plain(category) for category in column.categories]
    if _is_text(column) and all(isinstance(category, str) for category in categories):
        return np.array(categories, dtype=object)
    for category in categories:
        if not isinstance(category, int | float) or abs(category) > MAX_EXACT:
            raise ExportError(
                f"ONNX compares numbers as doubles, so it cannot express the category {category!r} of "
                f"{column.name!r} exactly; export to Python instead"
            )
    return np.array(categories, dtype=np.float64)


def _label_array(tree: ShapeTree) -> npt.NDArray[Any]:
    labels = [plain(label) for label in tree.classes]
    kinds = {type(label) for label in labels}
    if len(kinds) != 1 or not kinds <= LABEL_TYPES.keys():
        raise ExportError(
            "an output of ONNX has one type, but the classes have several; export to Python instead"
        )
    try:
        return np.array(labels, dtype=LABEL_TYPES[kinds.pop()])
    except OverflowError as error:
        raise ExportError("ONNX cannot hold a class in 64 bits; export to Python instead") from error
