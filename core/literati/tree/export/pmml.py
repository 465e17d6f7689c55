"""Write a tree as PMML 4.4."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from literati._version import __version__
from literati.data.labels import plain
from literati.data.schema import UNKNOWN, Column
from literati.tree.export.code import used_columns
from literati.tree.export.conditions import ExportError, boolean_sides, code_sides
from literati.tree.export.example_rows import example_rows
from literati.tree.export.names import free_name
from literati.tree.export.provenance import provenance
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

NAMESPACE = "http://www.dmg.org/PMML-4_4"
DATA_TYPES = {bool: "boolean", int: "integer", float: "double", str: "string"}
ARRAY_TYPES = {"string": "string", "integer": "int", "boolean": "string", "double": "real"}
MAX_INTEGER = (1 << 31) - 1
MAX_ROWS = 32  # of the examples with which an evaluator can check itself
PRECISION = "1E-13"  # of probabilities, because an evaluator may divide them by their sum
NOT_IN_ARRAY = re.compile(r'["\\]|[^\S ]')  # what evaluators read in different ways
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_pmml(tree: ShapeTree, model_id: str | None = None) -> str:
    """Return an XML document with a TreeModel."""
    facts = provenance(tree, model_id)
    root = ElementTree.Element("PMML", xmlns=NAMESPACE, version="4.4")
    header = _add(root, "Header", description=facts["proof"])
    for name in ("model", "sha256"):
        if name in facts:
            _add(header, "Extension", name=name, value=facts[name])
    _add(header, "Application", name="Literati", version=__version__)
    columns = used_columns(tree).values()
    target = free_name(tree, "prediction")
    dictionary = _add(root, "DataDictionary", numberOfFields=str(len(columns) + 1))
    for column in columns:
        _data_field(dictionary, column)
    labels = [_text(label) for label in tree.classes]
    _field(dictionary, target, _data_type(tree.classes, "the classes"), labels)
    model = _add(
        root,
        "TreeModel",
        modelName=model_id or "Literati",
        functionName="classification",
        splitCharacteristic="binarySplit",
        missingValueStrategy="defaultChild",
        noTrueChildStrategy="returnLastPrediction",
    )
    schema = _add(model, "MiningSchema")
    for column in columns:
        _add(schema, "MiningField", name=column.name, invalidValueTreatment="asIs")
    _add(schema, "MiningField", name=target, usageType="target")
    outputs = _outputs(_add(model, "Output"), tree, labels)
    _nodes(model, tree, labels)
    _verification(model, tree, labels, outputs)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _outputs(output: Any, tree: ShapeTree, labels: list[str]) -> list[str]:
    """Add the outputs and return their names."""
    kind = _data_type(tree.classes, "the classes")
    fields = [
        ("label", "categorical", kind, {"feature": "predictedValue"}),
        ("leaf_id", "categorical", "string", {"feature": "entityId"}),
        *(
            (f"probability({label})", "continuous", "double", {"feature": "probability", "value": label})
            for label in labels
        ),
    ]
    names = []
    for name, operator_type, data_type, feature in fields:
        names.append(free_name(tree, name))
        _add(output, "OutputField", name=names[-1], optype=operator_type, dataType=data_type, **feature)
    return names


def _add(parent: Any, tag: str, /, **attributes: str) -> Any:
    return ElementTree.SubElement(parent, tag, {name: _xml(value) for name, value in attributes.items()})


def _xml(text: str) -> str:
    """Return a text that XML can hold."""
    if NOT_XML.search(text):
        raise ExportError(f"XML cannot hold a character of the text {text!r}; export to Python instead")
    return text


def _text(label: Any) -> str:
    label = plain(label)
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, tuple):
        raise ExportError(f"PMML has no value for the tuple {label!r}; export to Python instead")
    return label if isinstance(label, str) else repr(label)


def _data_type(values: Iterable[Any], what: str) -> str:
    """Return the type of classes or categories."""
    values = [plain(value) for value in values]
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= DATA_TYPES.keys():
        raise ExportError(f"A field of PMML has one type, but {what} have several; export to Python instead")
    kind = kinds.pop()
    if kind is int and (found := next((value for value in values if abs(value) > MAX_INTEGER), None)):
        raise ExportError(
            f"Evaluators of PMML have integers of 32 bits, but {what} contain {found}; "
            "export to Python instead"
        )
    return DATA_TYPES[kind]


def _data_field(dictionary: Any, column: Column) -> None:
    if column.kind == "number":
        _add(dictionary, "DataField", name=column.name, optype="continuous", dataType="double")
    elif column.kind == "boolean":
        _field(dictionary, column.name, "boolean", ["false", "true"])
    else:
        # Without a list of values every category is valid; some evaluators take others as missing.
        kind = _data_type(column.categories, f"the categories of {column.name!r}")
        _field(dictionary, column.name, kind, [])


def _field(dictionary: Any, name: str, data_type: str, values: Any) -> None:
    field = _add(dictionary, "DataField", name=name, optype="categorical", dataType=data_type)
    for value in values:
        _add(field, "Value", value=value)


def _nodes(model: Any, tree: ShapeTree, labels: list[str]) -> None:
    """Add the nodes; each is inside its parent, which comes before it."""
    probabilities = tree.probabilities.tolist()
    elements = {0: _add(model, "Node", id="0")}
    _add(elements[0], "True")
    for index, node in enumerate(tree.nodes):
        element, split = elements[index], node.split
        element.set("recordCount", repr(float(node.weight)))
        if split is None:
            element.set("score", labels[node.label])
            for label, count, share in zip(labels, node.counts, probabilities[index], strict=True):
                distribution = {"recordCount": repr(float(count)), "probability": repr(share)}
                _add(element, "ScoreDistribution", value=label, **distribution)
            continue
        element.set("defaultChild", str(split.right if split.missing_right else split.left))
        for child, right in ((split.left, False), (split.right, True)):
            elements[child] = _add(element, "Node", id=str(child))
            _predicate(elements[child], tree.schema.columns[split.column], split, right)


def _predicate(parent: Any, column: Column, split: Split, right: bool) -> None:
    """Add the condition of the rows that go to a side; for missing cells it is unknown, or says so itself."""
    if column.kind == "category":
        _category_predicate(parent, column, split, right)
    elif not split.thresholds:
        _add(parent, "SimplePredicate", field=column.name, operator="isMissing" if right else "isNotMissing")
    elif column.kind == "boolean":
        value = "true" if boolean_sides(split)[1] == right else "false"
        _add(parent, "SimplePredicate", field=column.name, operator="equal", value=value)
    else:
        ranges = [(above, up_to) for above, up_to, side in split.intervals() if side == right]
        host = parent if len(ranges) == 1 else _add(parent, "CompoundPredicate", booleanOperator="or")
        for above, up_to in ranges:
            ends = [("greaterThan", above), ("lessOrEqual", up_to)]
            inner = (
                host
                if above is None or up_to is None
                else _add(host, "CompoundPredicate", booleanOperator="and")
            )
            for operator, end in ends:
                if end is not None:
                    _add(inner, "SimplePredicate", field=column.name, operator=operator, value=repr(end))


def _category_predicate(parent: Any, column: Column, split: Split, right: bool) -> None:
    """List the categories of the side without those that training did not see."""
    left_codes, right_codes = code_sides(column, split)
    listed = [_text(column.categories[code]) for code in (left_codes if split.unknown_right else right_codes)]
    others = split.unknown_right == right  # this side also has the categories that are not listed
    if not listed:
        operator = "isNotMissing" if others else "isMissing"
        _add(parent, "SimplePredicate", field=column.name, operator=operator)
    elif any(NOT_IN_ARRAY.search(text) for text in listed):
        host = parent
        if len(listed) > 1:
            host = _add(parent, "CompoundPredicate", booleanOperator="and" if others else "or")
        for text in listed:
            operator = "notEqual" if others else "equal"
            _add(host, "SimplePredicate", field=column.name, operator=operator, value=text)
    else:
        operator = "isNotIn" if others else "isIn"
        predicate = _add(parent, "SimpleSetPredicate", field=column.name, booleanOperator=operator)
        kind = ARRAY_TYPES[_data_type(column.categories, column.name)]
        array = _add(predicate, "Array", n=str(len(listed)), type=kind)
        array.text = _xml(" ".join(f'"{text}"' if kind == "string" else text for text in listed))


def _verification(model: Any, tree: ShapeTree, labels: list[str], outputs: list[str]) -> None:
    """Add rows with what they predict; a missing cell has no element."""
    rows = [
        (leaf, cells)
        for leaf, cells in example_rows(tree, MAX_ROWS, _exact_codes)
        if _is_exact_content(labels[tree.nodes[leaf].label])
    ]
    if not rows:
        return
    probabilities = tree.probabilities.tolist()
    columns = used_columns(tree)
    tags = {index: f"column_{index}" for index in columns}
    size = {"recordCount": str(len(rows)), "fieldCount": str(len(columns) + len(outputs))}
    verification = _add(model, "ModelVerification", **size)
    fields = _add(verification, "VerificationFields")
    for index, column in columns.items():
        _add(fields, "VerificationField", field=column.name, column=tags[index])
    for place, name in enumerate(outputs):
        _add(fields, "VerificationField", field=name, column=f"output_{place}", precision=PRECISION)
    table = _add(verification, "InlineTable")
    for leaf, cells in rows:
        row = _add(table, "row")
        for index, cell in cells.items():
            _add(row, tags[index]).text = _cell_text(columns[index], cell)
        predicted = [labels[tree.nodes[leaf].label], str(leaf), *map(repr, probabilities[leaf])]
        for place, text in enumerate(predicted):
            _add(row, f"output_{place}").text = text


def _exact_codes(column: Column) -> list[float]:
    """Return the codes of categories that a row can contain, also that of an unknown one if there are any."""
    codes = [float(code) for code, text in enumerate(column.categories) if _is_exact_content(_text(text))]
    return codes if _data_type(column.categories, column.name) == "boolean" else [*codes, UNKNOWN]


def _is_exact_content(text: str) -> bool:
    """Return whether every evaluator reads the content of an element as this text."""
    return text != "" and text == " ".join(text.split()) and not NOT_XML.search(text)


def _cell_text(column: Column, cell: float) -> str:
    """Return the text of an encoded cell."""
    if column.kind == "number":
        return repr(cell)
    if column.kind == "boolean":
        return _text(bool(cell))
    if cell != UNKNOWN:
        return _text(column.categories[int(cell)])
    known = set(map(_text, column.categories))
    kind = _data_type(column.categories, column.name)
    others = ({"integer": str(k), "double": f"{k}.0"}.get(kind, f"unseen {k}") for k in count())
    return next(text for text in others if text not in known)
