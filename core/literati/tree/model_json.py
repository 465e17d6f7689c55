"""A tree as JSON, format version 1.

Reading checks the type and range of every field and that the fields agree, so that the predict kernel can use
a tree without further checks.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from literati.data import labels
from literati.data.schema import Column, Schema
from literati.errors import ModelFormatError
from literati.tree import importances
from literati.tree.model_checks import (
    MAX_LIST,
    check_fields,
    check_tree,
    checked_flag,
    checked_integer,
    checked_label,
    checked_list,
    checked_number,
    checked_text,
    is_close,
)
from literati.tree.nodes import SPACES, Node, Proof, Settings, Split, StageProof, is_beyond_space

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

FORMAT = "literati-tree"
VERSION = 1
MAX_TEXT = 1 << 26
MAX_NODES = 1 << 18
MAX_DEPTH = 64
MAX_CHANGEPOINTS = 64
MAX_LEAF_SIZES = 1024
MAX_ROWS = 1 << 62
_NEW_SETTINGS = {"min_samples_leaf": 1, "probability_smoothing": 0.0}  # what an absent setting means
DTYPES = "bool|u?int(8|16|32|64)|float(16|32|64)|str|object"


def dump(tree: ShapeTree) -> dict[str, Any]:
    """Return the tree as JSON data."""
    columns = [_dump_column(column) for column in tree.schema.columns]
    nodes = [
        {**_dump_fields(node), "split": None if node.split is None else _dump_fields(node.split)}
        for node in tree.nodes
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "engine_version": tree.engine_version,
        "named_columns": tree.schema.named,
        "columns": columns,
        "classes": {
            "dtype": "str" if tree.classes.dtype.kind == "U" else tree.classes.dtype.name,
            "labels": [labels.to_json(label) for label in tree.classes],
        },
        "settings": _dump_settings(tree.settings),
        "proof": _dump_proof(tree.proof),
        "summary": importances.summary(columns, nodes),
        "nodes": nodes,
    }


def with_bounds(data: dict[str, Any], upper: float, lower: float, proven: bool) -> dict[str, Any]:
    """Return a copy of `dump`'s data with other bounds, as `ShapeTree.with_proof` does for a tree.

    Data of version 0.1.0 gets the fields that follow from its others.
    """
    proof = data["proof"] | {"upper_bound": upper, "lower_bound": lower, "proven_optimal": proven}
    proof["beyond_space"] = is_beyond_space(proof["objective"], upper)
    root, *others = data["nodes"]
    summary = data.get("summary") or importances.summary(data["columns"], data["nodes"])
    nodes = [root | {"bound": lower, "proven": proven}, *others]
    return data | {"proof": proof, "summary": summary, "nodes": nodes}


def _dump_column(column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name, "kind": column.kind, "constant": column.constant}
    if column.kind == "category":
        entry["categories"] = [labels.to_json(category) for category in column.categories]
    if column.kind == "number":
        entry["minimum"], entry["maximum"] = column.minimum, column.maximum
    return entry


def _dump_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings. What version 0.1.0 did not have is left out where it has its default."""
    entry = _dump_fields(settings)
    return {name: value for name, value in entry.items() if _NEW_SETTINGS.get(name) != value}


def _dump_proof(proof: Proof) -> dict[str, Any]:
    """Return a proof as JSON data, without `stage_proof` if there is none, as Literati 0.1.0 wrote it."""
    data = {**_dump_fields(proof), "beyond_space": proof.beyond_space}
    stage = data.pop("stage_proof")
    return data if stage is None else {**data, "stage_proof": _dump_fields(stage)}


def _dump_fields(part: Settings | Proof | StageProof | Node | Split) -> dict[str, Any]:
    """Return the fields of a part by name, with lists for tuples."""
    return {
        name: list(value) if type(value := getattr(part, name)) is tuple else value
        for name in part.__dataclass_fields__
    }


def parse(text: str | bytes) -> Any:
    """Parse JSON text. NaN, repeated keys and very deep nesting raise ModelFormatError."""
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
    """Return the parts of a tree that `dump` wrote. Raise ModelFormatError if anything in it is wrong."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ModelFormatError(f"not a model: expected an object whose 'format' is {FORMAT!r}")
    if data.get("version") != VERSION or type(data.get("version")) is not int:
        raise ModelFormatError(
            f"version: this library reads version {VERSION}, the model has {data.get('version')!r}"
        )
    fields = "format version engine_version named_columns columns classes settings proof nodes"
    check_fields(data, "model", fields.split(), optional=["summary"])  # version 0.1.0 did not write it
    columns = checked_list(data["columns"], "columns", _load_column)
    if not columns or len({column.name for column in columns}) < len(columns):
        raise ModelFormatError("columns: expected one or more, of different names")
    schema = Schema(columns, checked_flag(data["named_columns"], "named_columns"))
    classes = _load_classes(data["classes"])
    settings = _load_settings(data["settings"])
    nodes = checked_list(data["nodes"], "nodes", _load_node, len(classes), max_length=MAX_NODES)
    check_tree(nodes, schema, settings)
    if "summary" in data:
        expected = importances.summary(data["columns"], data["nodes"])
        _check_summary(data["summary"], expected, nodes[0].weight)
    proof = _load_proof(data["proof"], nodes[0])
    return schema, classes, nodes, settings, proof, checked_text(data["engine_version"], "engine_version")


def _load_column(entry: Any, where: str) -> Column:
    kind = entry.get("kind") if isinstance(entry, dict) else None
    extra = {"number": ["minimum", "maximum"], "category": ["categories"], "boolean": []}
    if not isinstance(kind, str) or kind not in extra:
        raise ModelFormatError(f"{where}.kind: expected 'number', 'boolean' or 'category'")
    check_fields(entry, where, ["name", "kind", "constant", *extra[kind]])
    name = checked_text(entry["name"], f"{where}.name")
    constant = checked_flag(entry["constant"], f"{where}.constant")
    if kind == "boolean":
        return Column(name, "boolean", constant=constant)
    if kind == "category":
        categories = checked_list(entry["categories"], f"{where}.categories", checked_label)
        if len(set(categories)) < len(categories) or not (categories or constant):
            raise ModelFormatError(f"{where}.categories: expected one or more, all different")
        return Column(name, "category", categories, constant=constant)
    if entry["minimum"] is None and entry["maximum"] is None and constant:
        return Column(name, "number", constant=True)
    low, high = (checked_number(entry[field], f"{where}.{field}") for field in extra["number"])
    if low > high:
        raise ModelFormatError(f"{where}: the minimum is above the maximum")
    return Column(name, "number", (), low, high, constant)


def _load_classes(entry: Any) -> npt.NDArray[Any]:
    check_fields(entry, "classes", ["dtype", "labels"])
    dtype = checked_text(entry["dtype"], "classes.dtype")
    found = checked_list(entry["labels"], "classes.labels", checked_label)
    if len(found) < 2 or len(set(found)) < len(found):
        raise ModelFormatError("classes.labels: expected two or more, all different")
    if not re.fullmatch(DTYPES, dtype):
        raise ModelFormatError("classes.dtype: expected bool, str, object or a numeric NumPy type")
    if dtype == "object":
        return labels.object_array(found)
    kind = {"b": bool, "i": int, "u": int, "f": float, "s": str}[dtype[0]]
    if any(type(label) is not kind for label in found):
        raise ModelFormatError(f"classes.labels: expected labels of type {kind.__name__}, as the dtype says")
    with suppress(OverflowError, ValueError):
        array = np.array(found, dtype=dtype)
        if array.tolist() == list(found):
            return array
    raise ModelFormatError("classes.labels: a label does not fit the dtype")


def _load_settings(entry: Any) -> Settings:
    fields = [name for name in Settings.__dataclass_fields__ if name not in _NEW_SETTINGS]
    check_fields(entry, "settings", fields, optional=_NEW_SETTINGS)
    return Settings(
        checked_integer(entry["max_depth"], "settings.max_depth", 0, MAX_DEPTH),
        checked_integer(entry["max_changepoints"], "settings.max_changepoints", 1, MAX_CHANGEPOINTS),
        checked_number(entry["split_penalty"], "settings.split_penalty", 0.0),
        checked_number(entry["changepoint_penalty"], "settings.changepoint_penalty", 0.0),
        checked_integer(entry.get("min_samples_leaf", 1), "settings.min_samples_leaf", 1, MAX_ROWS),
        checked_number(entry.get("probability_smoothing", 0.0), "settings.probability_smoothing", 0.0),
    )


def _load_node(entry: Any, where: str, n_classes: int) -> Node:
    check_fields(entry, where, Node.__dataclass_fields__)
    counts = checked_list(entry["counts"], f"{where}.counts", checked_number, 0.0)
    if len(counts) != n_classes or not 0 < math.fsum(counts) < math.inf:
        raise ModelFormatError(f"{where}.counts: expected a weight for each class, not all zero")
    return Node(
        checked_integer(entry["rows"], f"{where}.rows", 1, MAX_ROWS),
        counts,
        checked_integer(entry["label"], f"{where}.label", 0, n_classes - 1),
        checked_number(entry["error"], f"{where}.error", 0.0),
        checked_number(entry["cost"], f"{where}.cost", 0.0),
        checked_number(entry["bound"], f"{where}.bound"),
        checked_flag(entry["proven"], f"{where}.proven"),
        None if entry["split"] is None else _load_split(entry["split"], f"{where}.split"),
    )


def _load_split(entry: Any, where: str) -> Split:
    check_fields(entry, where, Split.__dataclass_fields__)
    return Split(
        checked_integer(entry["column"], f"{where}.column", 0, MAX_LIST),
        checked_list(entry["thresholds"], f"{where}.thresholds", checked_number),
        checked_list(entry["right_categories"], f"{where}.right_categories", checked_integer, 0, MAX_LIST),
        checked_integer(entry["changepoints"], f"{where}.changepoints", 1, MAX_CHANGEPOINTS),
        checked_flag(entry["missing_right"], f"{where}.missing_right"),
        checked_flag(entry["missing_seen"], f"{where}.missing_seen"),
        checked_flag(entry["unknown_right"], f"{where}.unknown_right"),
        checked_integer(entry["left"], f"{where}.left", 1, MAX_NODES),
        checked_integer(entry["right"], f"{where}.right", 1, MAX_NODES),
    )


def _check_summary(summary: Any, expected: dict[str, Any], total: float) -> None:
    """Check a summary against the one that follows from the nodes. `total` is the weight of all rows."""
    check_fields(summary, "summary", expected)
    where = "summary.feature_importances"
    found = checked_list(summary["feature_importances"], where, _checked_importance)
    given = {entry["column"]: entry for entry in found}
    if len(found) != len(expected["feature_importances"]) or not all(
        (entry := given.get(other["column"])) is not None
        and entry["feature"] == other["feature"]
        and is_close(entry["errors_saved"], other["errors_saved"], total)
        and is_close(entry["importance"], other["importance"], 1.0)
        for other in expected["feature_importances"]
    ):
        raise ModelFormatError(f"{where}: expected what the splits on each column save, as the nodes say")


def _checked_importance(entry: Any, where: str) -> dict[str, Any]:
    check_fields(entry, where, ["column", "feature", "errors_saved", "importance"])
    checked_integer(entry["column"], f"{where}.column", 0, MAX_LIST)
    checked_text(entry["feature"], f"{where}.feature")
    checked_number(entry["errors_saved"], f"{where}.errors_saved", 0.0)
    checked_number(entry["importance"], f"{where}.importance", 0.0)
    return dict(entry)


def _load_stage_proof(entry: Any) -> StageProof:
    where = "proof.stage_proof"
    check_fields(entry, where, StageProof.__dataclass_fields__)
    space = checked_text(entry["proven_space"], f"{where}.proven_space")
    leaves, name = entry["candidate_leaves"], f"{where}.candidate_leaves"
    sizes = checked_list(leaves, name, checked_integer, 1, MAX_LIST, max_length=MAX_LEAF_SIZES)
    if space not in SPACES:
        raise ModelFormatError(f"{where}.proven_space: expected one of {', '.join(SPACES)}")
    return StageProof(space, sizes, checked_number(entry["optimum"], f"{where}.optimum"))


def _load_proof(entry: Any, root: Node) -> Proof:
    # Literati 0.1.0 did not write `stage_proof` and `beyond_space`.
    stage_proof = None
    if isinstance(entry, dict):
        stage_proof = _load_stage_proof(entry["stage_proof"]) if "stage_proof" in entry else None
        entry = {"stage_proof": None, **entry}
    check_fields(entry, "proof", Proof.__dataclass_fields__, optional=["beyond_space"])
    bounds = ("objective", "upper_bound", "lower_bound")
    objective, upper, lower = (checked_number(entry[name], f"proof.{name}") for name in bounds)
    proven = checked_flag(entry["proven_optimal"], "proof.proven_optimal")
    space = checked_text(entry["proven_space"], "proof.proven_space")
    leaves, where = entry["candidate_leaves"], "proof.candidate_leaves"
    sizes = checked_list(leaves, where, checked_integer, 1, MAX_LIST, max_length=MAX_LEAF_SIZES)
    proof = Proof(objective, upper, lower, proven, space, sizes, stage_proof)
    beyond = checked_flag(entry.get("beyond_space", proof.beyond_space), "proof.beyond_space")
    if space not in SPACES:
        raise ModelFormatError(f"proof.proven_space: expected one of {', '.join(SPACES)}")
    if not is_close(objective, root.cost, root.weight):
        raise ModelFormatError("proof.objective: expected the cost of the root")
    if lower > upper or (objective > upper and not is_close(objective, upper)):
        raise ModelFormatError("proof: expected lower bound <= upper bound and objective <= upper bound")
    if proven and not is_close(lower, upper):
        raise ModelFormatError("proof.proven_optimal: expected false, because the bounds differ")
    if beyond is not proof.beyond_space:
        raise ModelFormatError("proof.beyond_space: expected true exactly if objective < upper_bound")
    return proof
