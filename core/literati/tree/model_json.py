"""The JSON form of a tree, and the strict reading of it.

Version 1. A reader trusts nothing: every field's type, range and agreement with the others is checked before
a tree is built, so that a loaded tree can be routed by the kernel without further checks.
"""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from . import labels
from .errors import ModelFormatError
from .nodes import SPACES, Node, Proof, Settings, Split, depths, is_beyond_space
from .table import Column, Schema

if TYPE_CHECKING:
    from .model import ShapeTree

FORMAT = "literati-tree"
VERSION = 1
MAX_TEXT = 1 << 26
MAX_NODES = 1 << 18
MAX_LIST = 1 << 20
MAX_DEPTH = 64
MAX_CHANGEPOINTS = 64
MAX_LEAF_SIZES = 1024
MAX_ROWS = 1 << 62
DTYPES = "bool|u?int(8|16|32|64)|float(16|32|64)|str|object"


def dump(tree: ShapeTree) -> dict[str, Any]:
    settings, proof = tree.settings, tree.proof
    return {
        "format": FORMAT,
        "version": VERSION,
        "engine_version": tree.engine_version,
        "named_columns": tree.schema.named,
        "columns": [_dump_column(column) for column in tree.schema.columns],
        "classes": {
            "dtype": "str" if tree.classes.dtype.kind == "U" else tree.classes.dtype.name,
            "labels": [labels.to_json(label) for label in tree.classes],
        },
        "settings": {
            "max_depth": settings.max_depth,
            "max_changepoints": settings.max_changepoints,
            "split_penalty": settings.split_penalty,
            "changepoint_penalty": settings.changepoint_penalty,
        },
        "proof": {
            "objective": proof.objective,
            "upper_bound": proof.upper_bound,
            "lower_bound": proof.lower_bound,
            "proven_optimal": proof.proven_optimal,
            "proven_space": proof.proven_space,
            "candidate_leaves": list(proof.candidate_leaves),
            "beyond_space": proof.beyond_space,
        },
        "nodes": [_dump_node(node) for node in tree.nodes],
    }


def with_bounds(data: dict[str, Any], upper: float, lower: float, proven: bool) -> dict[str, Any]:
    """Return `dump`'s data with other bounds; `data` stays as it is. As `ShapeTree.with_proof`."""
    proof = data["proof"] | {"upper_bound": upper, "lower_bound": lower, "proven_optimal": proven}
    proof["beyond_space"] = is_beyond_space(proof["objective"], upper)
    root, *others = data["nodes"]
    return data | {"proof": proof, "nodes": [root | {"bound": lower, "proven": proven}, *others]}


def _dump_column(column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "kind": column.kind, "constant": column.constant}
    if column.kind == "category":
        entry["categories"] = [labels.to_json(category) for category in column.categories]
    if column.kind == "number":
        entry["minimum"], entry["maximum"] = column.minimum, column.maximum
    return entry


def _dump_node(node: Node) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "rows": node.rows,
        "counts": list(node.counts),
        "label": node.label,
        "error": node.error,
        "cost": node.cost,
        "bound": node.bound,
        "proven": node.proven,
        "split": None,
    }
    if node.split is not None:
        split = {name: getattr(node.split, name) for name in Split.__dataclass_fields__}
        entry["split"] = {k: list(v) if isinstance(v, tuple) else v for k, v in split.items()}
    return entry


def parse(text: str | bytes) -> Any:
    """JSON text to data: no NaN, no repeated keys, no bottomless nesting."""
    if not isinstance(text, str | bytes):
        raise TypeError(f"text: expected str or bytes, got {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise ModelFormatError(f"the model has {len(text)} characters; at most {MAX_TEXT} are read")
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except ModelFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"the model is not valid JSON: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise ModelFormatError(f"the model is not valid JSON: {name} is not a JSON number")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        raise ModelFormatError("the model is not valid JSON: a field occurs twice in one object")
    return entry


def load(data: Any) -> tuple[Schema, npt.NDArray[Any], tuple[Node, ...], Settings, Proof, str]:
    """The parts of a tree out of `dump`'s data; ModelFormatError if anything is off."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ModelFormatError(f"not a model: expected an object whose 'format' is {FORMAT!r}")
    if data.get("version") != VERSION or type(data.get("version")) is not int:
        raise ModelFormatError(
            f"version: this library reads version {VERSION}, the model has {data.get('version')!r}"
        )
    _fields(
        data,
        "model",
        "format version engine_version named_columns columns classes settings proof nodes",
    )
    columns = tuple(
        _load_column(entry, f"columns[{i}]") for i, entry in enumerate(_list(data["columns"], "columns"))
    )
    if not columns or len({column.name for column in columns}) < len(columns):
        raise ModelFormatError("columns: expected one or more, of different names")
    schema = Schema(columns, _flag(data["named_columns"], "named_columns"))
    classes = _load_classes(data["classes"])
    settings = _load_settings(data["settings"])
    entries = _list(data["nodes"], "nodes", MAX_NODES)
    nodes = tuple(_load_node(entry, f"nodes[{i}]", len(classes)) for i, entry in enumerate(entries))
    _check_tree(nodes, schema, settings)
    proof = _load_proof(data["proof"], nodes[0])
    return schema, classes, nodes, settings, proof, _text(data["engine_version"], "engine_version")


def _load_column(entry: Any, where: str) -> Column:
    kind = entry.get("kind") if isinstance(entry, dict) else None
    extra = {"number": " minimum maximum", "category": " categories", "boolean": ""}
    if not isinstance(kind, str) or kind not in extra:
        raise ModelFormatError(f"{where}.kind: expected 'number', 'boolean' or 'category'")
    _fields(entry, where, "name kind constant" + extra[kind])
    name, constant = _text(entry["name"], f"{where}.name"), _flag(entry["constant"], f"{where}.constant")
    if kind == "category":
        categories = tuple(
            _label(item, f"{where}.categories") for item in _list(entry["categories"], f"{where}.categories")
        )
        if len(set(categories)) < len(categories) or not (categories or constant):
            raise ModelFormatError(f"{where}.categories: expected one or more, all different")
        return Column(name, "category", categories, constant=constant)
    if kind == "boolean":
        return Column(name, "boolean", constant=constant)
    if entry["minimum"] is None and entry["maximum"] is None and constant:
        return Column(name, "number", constant=True)
    low, high = _number(entry["minimum"], f"{where}.minimum"), _number(entry["maximum"], f"{where}.maximum")
    if low > high:
        raise ModelFormatError(f"{where}: the minimum is above the maximum")
    return Column(name, "number", (), low, high, constant)


def _load_classes(entry: Any) -> npt.NDArray[Any]:
    _fields(entry, "classes", "dtype labels")
    dtype = _text(entry["dtype"], "classes.dtype")
    found = [_label(item, "classes.labels") for item in _list(entry["labels"], "classes.labels")]
    if len(found) < 2 or len(set(found)) < len(found):
        raise ModelFormatError("classes.labels: expected two or more, all different")
    if not re.fullmatch(DTYPES, dtype):
        raise ModelFormatError("classes.dtype: not a type that labels can have")
    if dtype == "object":
        return labels.object_array(found)
    kind = {"b": bool, "i": int, "u": int, "f": float, "s": str}[dtype[0]]
    if any(type(label) is not kind for label in found):
        raise ModelFormatError(f"classes.labels: expected labels of type {kind.__name__}, as the dtype says")
    try:
        array = np.array(found, dtype=dtype)
    except (OverflowError, ValueError):
        raise ModelFormatError("classes.labels: a label does not fit the dtype") from None
    if array.tolist() != found:
        raise ModelFormatError("classes.labels: a label does not fit the dtype")
    return array


def _load_settings(entry: Any) -> Settings:
    _fields(entry, "settings", "max_depth max_changepoints split_penalty changepoint_penalty")
    return Settings(
        _integer(entry["max_depth"], "settings.max_depth", 0, MAX_DEPTH),
        _integer(entry["max_changepoints"], "settings.max_changepoints", 1, MAX_CHANGEPOINTS),
        _number(entry["split_penalty"], "settings.split_penalty", 0.0),
        _number(entry["changepoint_penalty"], "settings.changepoint_penalty", 0.0),
    )


def _load_node(entry: Any, where: str, n_classes: int) -> Node:
    _fields(entry, where, "rows counts label error cost bound proven split")
    counts = tuple(_number(x, f"{where}.counts", 0.0) for x in _list(entry["counts"], f"{where}.counts"))
    if len(counts) != n_classes or not 0 < math.fsum(counts) < math.inf:
        raise ModelFormatError(f"{where}.counts: expected a weight for each class, not all zero")
    return Node(
        _integer(entry["rows"], f"{where}.rows", 1, MAX_ROWS),
        counts,
        _integer(entry["label"], f"{where}.label", 0, n_classes - 1),
        _number(entry["error"], f"{where}.error", 0.0),
        _number(entry["cost"], f"{where}.cost", 0.0),
        _number(entry["bound"], f"{where}.bound"),
        _flag(entry["proven"], f"{where}.proven"),
        None if entry["split"] is None else _load_split(entry["split"], f"{where}.split"),
    )


def _load_split(entry: Any, where: str) -> Split:
    _fields(entry, where, " ".join(Split.__dataclass_fields__))
    thresholds = [
        _number(x, f"{where}.thresholds") for x in _list(entry["thresholds"], f"{where}.thresholds")
    ]
    right = _list(entry["right_categories"], f"{where}.right_categories")
    return Split(
        _integer(entry["column"], f"{where}.column", 0, MAX_LIST),
        tuple(thresholds),
        tuple(_integer(x, f"{where}.right_categories", 0, MAX_LIST) for x in right),
        _integer(entry["changepoints"], f"{where}.changepoints", 1, MAX_CHANGEPOINTS),
        _flag(entry["missing_right"], f"{where}.missing_right"),
        _flag(entry["missing_seen"], f"{where}.missing_seen"),
        _flag(entry["unknown_right"], f"{where}.unknown_right"),
        _integer(entry["left"], f"{where}.left", 1, MAX_NODES),
        _integer(entry["right"], f"{where}.right", 1, MAX_NODES),
    )


def _load_proof(entry: Any, root: Node) -> Proof:
    _fields(
        entry,
        "proof",
        "objective upper_bound lower_bound proven_optimal proven_space candidate_leaves",
        optional="beyond_space",  # Literati 0.1.0 did not write it
    )
    objective, upper, lower = (
        _number(entry[name], f"proof.{name}") for name in ("objective", "upper_bound", "lower_bound")
    )
    space = _text(entry["proven_space"], "proof.proven_space")
    leaves = _list(entry["candidate_leaves"], "proof.candidate_leaves", MAX_LEAF_SIZES)
    if space not in SPACES:
        raise ModelFormatError(f"proof.proven_space: expected one of {', '.join(SPACES)}")
    if not _close(objective, root.cost, root.weight):
        raise ModelFormatError("proof.objective: not the cost of the root")
    if lower > upper or (objective > upper and not _close(objective, upper)):
        raise ModelFormatError("proof: expected lower bound <= upper bound and objective <= upper bound")
    proven = _flag(entry["proven_optimal"], "proof.proven_optimal")
    if proven and not _close(lower, upper):
        raise ModelFormatError("proof.proven_optimal: the bounds differ, so nothing is proven")
    sizes = tuple(_integer(x, "proof.candidate_leaves", 1, MAX_LIST) for x in leaves)
    proof = Proof(objective, upper, lower, proven, space, sizes)
    beyond = _flag(entry.get("beyond_space", proof.beyond_space), "proof.beyond_space")
    if beyond is not proof.beyond_space:
        raise ModelFormatError("proof.beyond_space: expected true exactly if objective < upper_bound")
    return proof


def _check_tree(nodes: tuple[Node, ...], schema: Schema, settings: Settings) -> None:
    """Preorder rules out cycles and shared children; then every node must agree with its children."""
    size = [1] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        split = nodes[index].split
        if split is None:
            continue
        if (
            not (split.left == index + 1 < split.right < len(nodes))
            or split.right != split.left + size[split.left]
        ):
            raise ModelFormatError(f"nodes[{index}].split: the children are not those of a tree in preorder")
        size[index] = 1 + size[split.left] + size[split.right]
    if not nodes or size[0] != len(nodes):
        raise ModelFormatError("nodes: expected one tree that reaches every node")
    if max(depths(nodes)) > settings.max_depth:
        raise ModelFormatError(f"nodes: the tree is deeper than its max_depth, {settings.max_depth}")
    for index, node in enumerate(nodes):
        _check_node(node, f"nodes[{index}]")
        if node.split is not None:
            _check_split(node.split, schema, settings, f"nodes[{index}].split")
            children = nodes[node.split.left], nodes[node.split.right]
            _check_children(node, *children, settings, nodes[0].weight, f"nodes[{index}]")


def _check_node(node: Node, where: str) -> None:
    if node.label != node.counts.index(max(node.counts)):
        raise ModelFormatError(f"{where}.label: not the heaviest class")
    if not _close(node.error, math.fsum(node.counts) - node.counts[node.label], node.weight):
        raise ModelFormatError(f"{where}.error: not the weight outside the label")
    if node.split is None and node.cost != node.error:
        raise ModelFormatError(f"{where}.cost: a leaf costs its error")


def _check_children(
    node: Node, left: Node, right: Node, settings: Settings, total: float, where: str
) -> None:
    """`total` is the weight of all rows: penalties are rounded to a unit that is a small part of it."""
    assert node.split is not None
    sums = [a + b for a, b in zip(left.counts, right.counts, strict=True)]
    weight = node.weight
    if left.rows + right.rows != node.rows or not all(map(_close, sums, node.counts, [weight] * len(sums))):
        raise ModelFormatError(f"{where}: its rows and counts are not the sum of its children's")
    if not _close(node.cost, settings.penalty(node.split.changepoints) + left.cost + right.cost, total):
        raise ModelFormatError(f"{where}.cost: not the sum of the penalties and the children's costs")


def _check_split(split: Split, schema: Schema, settings: Settings, where: str) -> None:
    if split.column >= len(schema.columns) or schema.columns[split.column].constant:
        raise ModelFormatError(f"{where}.column: not a column that varies")
    if split.changepoints > settings.max_changepoints:
        raise ModelFormatError(
            f"{where}.changepoints: more than max_changepoints, {settings.max_changepoints}"
        )
    column = schema.columns[split.column]
    if column.kind == "category":
        if split.thresholds or not _rising((-1, *split.right_categories, len(column.categories))):
            raise ModelFormatError(f"{where}: expected rising indices of categories and no thresholds")
        parted = 0 < len(split.right_categories) < len(column.categories)
        if not parted and not (split.missing_seen and split.missing_right != bool(split.right_categories)):
            raise ModelFormatError(f"{where}.right_categories: nothing goes to one of the sides")
        return
    low, high = (
        (0.0, 1.0) if column.minimum is None or column.maximum is None else (column.minimum, column.maximum)
    )
    if split.right_categories or split.changepoints != max(1, len(split.thresholds)):
        raise ModelFormatError(f"{where}: a number has no categories and a change point for each threshold")
    if not _rising(split.thresholds) or not all(low <= t < high for t in split.thresholds):
        raise ModelFormatError(f"{where}.thresholds: expected rising numbers inside the column's range")
    if not split.thresholds and not (split.missing_right and split.missing_seen):
        raise ModelFormatError(f"{where}.thresholds: none, and nothing goes right")


def _rising(numbers: tuple[float, ...]) -> bool:
    return all(a < b for a, b in pairwise(numbers))


def _close(a: float, b: float, scale: float = 0.0) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * scale)


def _fields(entry: Any, where: str, names: str, optional: str = "") -> None:
    expected = set(names.split())
    if not isinstance(entry, dict):
        raise ModelFormatError(f"{where}: expected an object")
    found = entry.keys() - set(optional.split())
    if found != expected:
        odd = sorted(map(str, found ^ expected))[0]
        raise ModelFormatError(
            f"{where}: the field {odd[:80]!r} is {'absent' if odd in expected else 'unknown'}"
        )


def _list(value: Any, where: str, most: int = MAX_LIST) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ModelFormatError(f"{where}: expected a list of at most {most} entries")
    return value


def _integer(value: Any, where: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ModelFormatError(f"{where}: expected an integer from {low} to {high}")
    return value


def _number(value: Any, where: str, low: float = -math.inf) -> float:
    if type(value) in (int, float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and number >= low:
            return number
    raise ModelFormatError(f"{where}: expected a finite number" + (f" >= {low:g}" if low == 0 else ""))


def _flag(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise ModelFormatError(f"{where}: expected true or false")
    return value


def _text(value: Any, where: str) -> str:
    if type(value) is not str:
        raise ModelFormatError(f"{where}: expected text")
    return value


def _label(value: Any, where: str) -> Any:
    try:
        return labels.from_json(value)
    except ValueError as error:
        raise ModelFormatError(f"{where}: {error}") from None
