"""Read the rows with which an evaluator of PMML can check itself."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

NAMESPACE = {"": "http://www.dmg.org/PMML-4_4"}
READERS: dict[str, Any] = {
    "double": float,
    "integer": int,
    "string": str,
    "boolean": {"false": False, "true": True}.__getitem__,
}


def verification_rows(document: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the cells and the outputs of each row by field, in the types of the fields."""
    root = ElementTree.fromstring(document)
    outputs = {field.attrib["name"]: field.attrib for field in root.iterfind(".//OutputField", NAMESPACE)}
    types = {
        field.attrib["name"]: field.attrib for field in root.iterfind(".//DataField", NAMESPACE)
    } | outputs
    verification = root.find("./TreeModel/ModelVerification", NAMESPACE)
    assert verification is not None
    fields = {
        field.attrib["column"]: field.attrib["field"]
        for field in verification.iterfind(".//VerificationField", NAMESPACE)
    }
    rows = []
    for row in verification.iterfind("./InlineTable/row", NAMESPACE):
        found = {fields[cell.tag.partition("}")[2]]: cell.text for cell in row}
        read = {name: READERS[types[name]["dataType"]](text) for name, text in found.items()}
        predicted = {name: read.pop(name) for name in outputs}
        rows.append((read, predicted))
    assert int(verification.attrib["recordCount"]) == len(rows)
    assert int(verification.attrib["fieldCount"]) == len(fields)
    return rows
