"""Write a tree as PMML 4.4."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from literati._version import __version__
from literati.data.labels import plain
from literati.data.schema import Column
from literati.tree.export.code import used_columns
from literati.tree.export.conditions import ExportError, boolean_sides
from literati.tree.export.names import free_name
from literati.tree.export.provenance import provenance
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

NAMESPACE = "http://www.dmg.org/PMML-4_4"
DATA_TYPES = {bool: "boolean", int: "integer", float: "double", str: "string"}
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
    _field(dictionary, target, _data_type([plain(c) for c in tree.classes], "the classes"), labels)
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
    _outputs(_add(model, "Output"), tree, labels)
    _node(model, tree, 0, None, labels)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _outputs(output: Any, tree: ShapeTree, labels: list[str]) -> None:
    kind = _data_type([plain(label) for label in tree.classes], "the classes")
    fields = [
        ("label", "categorical", kind, {"feature": "predictedValue"}),
        ("leaf_id", "categorical", "string", {"feature": "entityId"}),
        *(
            (f"probability({label})", "continuous", "double", {"feature": "probability", "value": label})
            for label in labels
        ),
    ]
    for name, operator_type, data_type, feature in fields:
        name = free_name(tree, name)
        _add(output, "OutputField", name=name, optype=operator_type, dataType=data_type, **feature)


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


def _data_type(values: list[Any], what: str) -> str:
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= DATA_TYPES.keys():
        raise ExportError(f"A field of PMML has one type, but {what} have several; export to Python instead")
    return DATA_TYPES[kinds.pop()]


def _data_field(dictionary: Any, column: Column) -> None:
    if column.kind == "number":
        _add(dictionary, "DataField", name=column.name, optype="continuous", dataType="double")
    elif column.kind == "boolean":
        _field(dictionary, column.name, "boolean", ["false", "true"])
    else:
        values = [plain(category) for category in column.categories]
        # Without a list of values every category is valid; some evaluators take others as missing.
        _field(dictionary, column.name, _data_type(values, f"the categories of {column.name!r}"), [])


def _field(dictionary: Any, name: str, data_type: str, values: Any) -> None:
    field = _add(dictionary, "DataField", name=name, optype="categorical", dataType=data_type)
    for value in values:
        _add(field, "Value", value=value)


def _node(
    parent: Any, tree: ShapeTree, index: int, branch: tuple[Column, Split, bool] | None, labels: list[str]
) -> None:
    node = tree.nodes[index]
    element = _add(parent, "Node", id=str(index), recordCount=repr(float(node.weight)))
    if branch is None:
        _add(element, "True")
    else:
        _predicate(element, *branch)
    split = node.split
    if split is None:
        element.set("score", labels[node.label])
        probabilities = tree.probabilities[index].tolist()
        for label, count, probability in zip(labels, node.counts, probabilities, strict=True):
            distribution = {"recordCount": repr(float(count)), "probability": repr(probability)}
            _add(element, "ScoreDistribution", value=label, **distribution)
        return
    element.set("defaultChild", str(split.right if split.missing_right else split.left))
    column = tree.schema.columns[split.column]
    _node(element, tree, split.left, (column, split, False), labels)
    _node(element, tree, split.right, (column, split, True), labels)


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
    listed = [
        k for k in range(len(column.categories)) if (k in split.right_categories) != split.unknown_right
    ]
    others = split.unknown_right == right  # this side also has the categories that are not listed
    if not listed:
        operator = "isNotMissing" if others else "isMissing"
        _add(parent, "SimplePredicate", field=column.name, operator=operator)
        return
    operator = "isNotIn" if others else "isIn"
    predicate = _add(parent, "SimpleSetPredicate", field=column.name, booleanOperator=operator)
    texts = [_text(column.categories[k]) for k in listed]
    data_type = {"string": "string", "integer": "int", "boolean": "string", "double": "real"}
    kind = data_type[_data_type([plain(c) for c in column.categories], column.name)]
    array = _add(predicate, "Array", n=str(len(texts)), type=kind)
    quoted = ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts]
    if any("\r" in text for text in texts):
        raise ExportError(
            f"XML reads a carriage return in a category of {column.name!r} as a line feed; "
            "export to Python instead"
        )
    array.text = _xml(" ".join(quoted if kind == "string" else texts))
