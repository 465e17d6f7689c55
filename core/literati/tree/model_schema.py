"""The JSON Schema (2020-12) of a tree's JSON form; docs/model-format.md explains the fields."""

from __future__ import annotations

from typing import Any

from literati.tree import model_json
from literati.tree.model_checks import MAX_LIST
from literati.tree.nodes import BEYOND_SPACE, SPACES

Schema = dict[str, Any]

# Fields that earlier versions did not write.
OPTIONAL = frozenset({"beyond_space", "min_samples_leaf", "probability_smoothing", "stage_proof", "summary"})

_FLAG: Schema = {"type": "boolean"}
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_NUMBER_OR_NULL: Schema = {"type": ["number", "null"]}
_POSITIVE: Schema = {"type": "number", "minimum": 0}


def tree_schema() -> Schema:
    """Return the schema of a whole model, as openapi/tree.schema.json keeps it."""
    definitions = tree_definitions("#/$defs/")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{model_json.FORMAT}, version {model_json.VERSION}",
        **definitions.pop("Tree"),
        "$defs": definitions,
    }


def tree_definitions(ref: str) -> dict[str, Schema]:
    """Return the parts by name, `Tree` first. `ref` is the prefix of a part's name in a reference."""

    def part(name: str) -> Schema:
        return {"$ref": ref + name}

    return {
        "Tree": _object(
            "A model: one tree, its columns, its classes, and what is proven about it.",
            format=_with({"const": model_json.FORMAT}, "Names the format."),
            version=_with({"const": model_json.VERSION}, "The version of the format."),
            engine_version=_with(_TEXT, "The version of Literati that wrote the model."),
            named_columns=_with(
                _FLAG, "Whether the training data had column names. If not, columns are matched by position."
            ),
            columns=_with(
                _list(part("TreeColumn"), 1, MAX_LIST), "The columns of a row, in the order of training."
            ),
            classes=part("TreeClasses"),
            settings=part("TreeSettings"),
            proof=part("TreeProof"),
            summary=part("TreeSummary"),
            nodes=_with(
                _list(part("TreeNode"), 1, model_json.MAX_NODES),
                "The nodes in preorder: the root first, a left child right after its parent.",
            ),
        ),
        "TreeColumn": {
            "description": "A column of the training data.",
            "oneOf": [part("TreeNumberColumn"), part("TreeBooleanColumn"), part("TreeCategoryColumn")],
        },
        "TreeNumberColumn": {
            **_column(
                "number",
                minimum=_with(_NUMBER_OR_NULL, "The smallest training value; null if there is none."),
                maximum=_with(_NUMBER_OR_NULL, "The largest training value; null if there is none."),
            ),
            "anyOf": [
                _where(minimum=_NUMBER, maximum=_NUMBER),
                _where(minimum={"type": "null"}, maximum={"type": "null"}, constant={"const": True}),
            ],
        },
        "TreeBooleanColumn": _column("boolean"),
        "TreeCategoryColumn": {
            **_column(
                "category",
                categories=_with(
                    _list(part("TreeLabel"), 0, MAX_LIST, uniqueItems=True),
                    "The categories that training saw. Splits name them by their index here.",
                ),
            ),
            "anyOf": [_where(categories={"minItems": 1}), _where(constant={"const": True})],
        },
        "TreeLabel": {
            "description": 'A class label or a category with its type, so that 1, 1.0, true and "1" differ.',
            "oneOf": [
                _label("bool", _FLAG),
                _label("int", {"type": "integer"}),
                _label("float", _NUMBER),
                _label("str", _TEXT),
                _label("tuple", {"type": "array", "items": part("TreeLabel")}),
            ],
        },
        "TreeClasses": {
            **_object(
                "The classes, in the order that counts and probabilities use.",
                dtype=_with(
                    {"type": "string", "pattern": f"^({model_json.DTYPES})$"},
                    "The type of the labels: str, object for mixed ones, or the name of a NumPy type.",
                ),
                labels=_with(
                    _list(part("TreeLabel"), 2, MAX_LIST, uniqueItems=True), "The labels, all different."
                ),
            ),
            "anyOf": [_where(dtype={"const": "object"}), *(_labels_of(*kind) for kind in _LABEL_KINDS)],
        },
        "TreeSettings": _object(
            "The parameters that define the cost, the size and the probabilities of the tree.",
            max_depth=_integer(0, model_json.MAX_DEPTH),
            max_changepoints=_integer(1, model_json.MAX_CHANGEPOINTS),
            split_penalty=_POSITIVE,
            changepoint_penalty=_POSITIVE,
            min_samples_leaf=_integer(
                1,
                model_json.MAX_ROWS,
                "Training rows in each interval of a split at least, and so in each leaf. 1 if it is absent.",
            ),
            probability_smoothing=_with(
                _POSITIVE,
                "The weight that is added to each class of a leaf for its probabilities. 0 if it is absent.",
            ),
        ),
        "TreeProof": _object(
            "What the search proved. The bounds are about trees of the space that was searched.",
            objective=_with(_NUMBER, "The cost of this tree: misclassified training weight and penalties."),
            upper_bound=_with(_NUMBER, "The cost of the best tree of the space that the search found."),
            lower_bound=_with(_NUMBER, "No tree of the space costs less."),
            proven_optimal=_with(_FLAG, "Whether the bounds met."),
            proven_space=_with({"enum": list(SPACES)}, "The space that was searched."),
            candidate_leaves=_with(
                _list(_integer(1, MAX_LIST), 0, model_json.MAX_LEAF_SIZES),
                "Leaves of the CART trees that propose change points, by level; the last entry repeats.",
            ),
            beyond_space=_with(
                _FLAG,
                f"True exactly if `objective` is lower than `upper_bound`. {BEYOND_SPACE} "
                "Absent in models of Literati 0.1.0.",
            ),
            stage_proof=part("TreeStageProof"),
        ),
        "TreeStageProof": _object(
            "The widest space that a stage of the search has proven. Absent if the search has one stage, has "
            "proven none, or has proven the last one.",
            proven_space=_with({"enum": list(SPACES)}, "The space, which that of the bounds contains."),
            candidate_leaves=_with(
                _list(_integer(1, MAX_LIST), 0, model_json.MAX_LEAF_SIZES),
                "Leaves of the CART trees that propose change points there, by level.",
            ),
            optimum=_with(_NUMBER, "The lowest cost of a tree of that space."),
        ),
        "TreeSummary": _object(
            "What follows from the nodes. Absent in models of Literati 0.1.0.",
            feature_importances=_with(
                _list(part("TreeFeatureImportance"), 0, MAX_LIST),
                "The columns that splits use, those that save the most errors first. "
                "All other columns save none.",
            ),
        ),
        "TreeFeatureImportance": _object(
            "How many training errors the splits on a column save.",
            column=_integer(0, MAX_LIST, "Index into `columns`."),
            feature=_with(_TEXT, "The name of the column."),
            errors_saved=_with(
                _POSITIVE,
                "The sum over the splits on the column: the `error` of the node less the `error` of both "
                "children.",
            ),
            importance=_with(
                {**_POSITIVE, "maximum": 1},
                "The share of `errors_saved` in the sum over all columns; 0 if that is 0.",
            ),
        ),
        "TreeNode": _object(
            "A node with the statistics of its training rows. A node without a split is a leaf.",
            rows=_integer(1, model_json.MAX_ROWS, "Training rows that reach it."),
            counts=_with(_list(_POSITIVE, 2, MAX_LIST), "The weight of these rows by class."),
            label=_integer(
                0, MAX_LIST - 1, "Index of the class with the largest count; the lowest index in a tie."
            ),
            error=_with(_POSITIVE, "Weight misclassified if this node were a leaf."),
            cost=_with(_POSITIVE, "Weight misclassified by the leaves of the subtree, plus its penalties."),
            bound=_with(_NUMBER, "No subtree of the searched space costs less on these rows."),
            proven=_with(_FLAG, "Whether the search proved that none costs less than this subtree."),
            split={"anyOf": [part("TreeSplit"), {"type": "null"}]},
        ),
        "TreeSplit": _object(
            "Which side each value of one column goes to.",
            column=_integer(0, MAX_LIST, "Index into `columns`."),
            thresholds=_with(
                _list(_NUMBER, 0, MAX_LIST),
                "Ascending. A value goes right if it is greater than an odd number of them. "
                "Empty for categories.",
            ),
            right_categories=_with(
                _list(_integer(0, MAX_LIST), 0, MAX_LIST),
                "Ascending indices of the categories that go right. Empty for numbers and booleans.",
            ),
            changepoints=_integer(
                1, model_json.MAX_CHANGEPOINTS, "Number of change points that the penalty counts."
            ),
            missing_right=_with(_FLAG, "Whether a missing value goes right."),
            missing_seen=_with(_FLAG, "Whether training rows with a missing value reached this node."),
            unknown_right=_with(_FLAG, "Whether a category that training did not see goes right."),
            left=_integer(1, model_json.MAX_NODES, "Index of the left child."),
            right=_integer(1, model_json.MAX_NODES, "Index of the right child."),
        ),
    }


_LABEL_KINDS = (("bool", "bool"), ("u?int(8|16|32|64)", "int"), ("float(16|32|64)", "float"), ("str", "str"))


def _object(description: str, **fields: Schema) -> Schema:
    """Return the schema of an object with these fields and no others; all but OPTIONAL are required."""
    return {
        "description": description,
        "type": "object",
        "properties": fields,
        "required": [name for name in fields if name not in OPTIONAL],
        "additionalProperties": False,
    }


def _column(kind: str, **fields: Schema) -> Schema:
    return _object(
        f"A column of kind {kind}.",
        name=_with(_TEXT, "Its name; x0, x1, ... where training had no names."),
        kind={"const": kind},
        constant=_with(_FLAG, "Whether it had one value in training. No split uses such a column."),
        **fields,
    )


def _label(kind: str, value: Schema) -> Schema:
    return _object(f"A label of type {kind}.", type={"const": kind}, value=value)


def _labels_of(dtype: str, kind: str) -> Schema:
    return _where(dtype={"pattern": f"^({dtype})$"}, labels={"items": _where(type={"const": kind})})


def _where(**fields: Schema) -> Schema:
    """Return the schema of an object in which these fields have these schemas."""
    return {"properties": fields}


def _integer(minimum: int, maximum: int, description: str | None = None) -> Schema:
    schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return schema if description is None else _with(schema, description)


def _list(items: Schema, min_items: int, max_items: int, **more: Any) -> Schema:
    return {"type": "array", "items": items, "minItems": min_items, "maxItems": max_items, **more}


def _with(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}
