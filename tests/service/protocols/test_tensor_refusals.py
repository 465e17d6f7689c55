"""What is wrong with a request of the Open Inference Protocol, with its place and a remedy."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

from service.predict.predictor import Predictor
from service.predict.row_errors import MalformedError, RowsError
from tests.support.http.inference_bodies import Body, as_binary, as_json, columns, infer, tensor
from tests.support.http.predict_bodies import GOOD
from tests.support.records.model_maker import mixed_tree

INPUTS = columns([GOOD, GOOD])


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(mixed_tree(), {"model_id": "mdl_test"})


def refused(predictor: Predictor, body: Body, max_rows: int = 1_000) -> RowsError:
    with pytest.raises(RowsError) as caught:
        infer(predictor, body, max_rows)
    return caught.value


def changed(place: int, **fields: Any) -> list[dict[str, Any]]:
    """Return the inputs with other fields of one tensor; None removes a field."""
    inputs = [dict(entry) for entry in INPUTS]
    inputs[place].update(fields)
    inputs[place] = {name: value for name, value in inputs[place].items() if value is not None}
    return inputs


def without(name: str) -> list[dict[str, Any]]:
    return [entry for entry in INPUTS if entry["name"] != name]


def asking(*names: Any) -> Body:
    return as_json(INPUTS, outputs=[{"name": name} for name in names])


REFUSALS: list[tuple[Body, str, str, str]] = [
    (as_json([]), "/body/inputs", "NO_INPUTS", "send at least one"),
    ((b"{}", None), "/body/inputs", "MISSING", "`inputs` is missing"),
    ((b"[]", None), "/body", "TYPE", "must be an object"),
    ((b'{"inputs": [1]}', None), "/body/inputs/0", "TYPE", "Expected an object"),
    ((b'{"inputs": 3}', None), "/body/inputs", "TYPE", "array of objects"),
    (as_json(INPUTS, output=[]), "/body/output", "UNKNOWN_FIELD", "Did you mean `outputs`?"),
    (as_json(INPUTS, id=3), "/body/id", "TYPE", "Expected text"),
    (as_json(INPUTS, parameters=0), "/body/parameters", "TYPE", "Expected an object"),
    (as_json(INPUTS, outputs=0), "/body/outputs", "TYPE", "array of objects"),
    (as_json(changed(0, dtype="FP64")), "/body/inputs/0/dtype", "UNKNOWN_FIELD", "`datatype`"),
    (as_json(changed(1, name=3)), "/body/inputs/1/name", "TYPE", "Expected text"),
    (as_json(changed(1, name="size")), "/body/inputs/0", "REPEATED", "must differ"),
    (as_json(changed(1, shape=None)), "/body/inputs/1/shape", "MISSING", "`shape` is missing"),
    (as_json(changed(1, data=None)), "/body/inputs/1/data", "MISSING", "send `data`"),
    (as_json(changed(1, data="x")), "/body/inputs/1/data", "TYPE", "Expected an array"),
    *(
        (as_json(changed(1, shape=shape)), "/body/inputs/1/shape", "SHAPE", "Expected")
        for shape in (2, [], [2, 1, 1], [-2], [2.0], [True, 2], ["2"], [10**30], [2, 10**4000])
    ),
    (as_json(changed(1, shape=[3])), "/body/inputs/1/data", "SHAPE", "Expected 3 cells, as the shape says"),
    (as_json(changed(1, shape=[10**18])), "/body/inputs/1/data", "SHAPE", "there are 2"),
    (as_json(changed(1, shape=[1], data=[1])), "/body/inputs/1/shape", "SHAPE", "[2] or [2, 1]"),
    (as_json(changed(1, shape=[2, 2], data=[1, 2, 3, 4])), "/body/inputs/1/shape", "SHAPE", "[2] or [2, 1]"),
    (as_json(changed(1, data=[[1], [2, 3]])), "/body/inputs/1/data", "SHAPE", "2 arrays of 1 cells"),
    (as_json(changed(1, data=[[1], 2])), "/body/inputs/1/data", "SHAPE", "2 arrays of 1 cells"),
    (as_json(changed(1, data=[1, [2]])), "/body/inputs/1/data", "TYPE", "Row 2: the datatype FP64"),
    (as_json(changed(1, datatype="FP65")), "/body/inputs/1/datatype", "UNKNOWN_DATATYPE", "Did you mean FP"),
    (as_json(changed(1, datatype="double")), "/body/inputs/1/datatype", "UNKNOWN_DATATYPE", "FP64, BYTES"),
    (as_json(changed(1, datatype=["FP64"])), "/body/inputs/1/datatype", "UNKNOWN_DATATYPE", "The datatypes"),
    (as_json(changed(1, data=[1, "2"])), "/body/inputs/1/data", "TYPE", "Row 2: the datatype FP64 demands a"),
    (
        as_json(changed(1, data=[True, 2])),
        "/body/inputs/1/data",
        "TYPE",
        "Row 1: the datatype FP64 demands a",
    ),
    (as_json(changed(4, data=[3, 1.5])), "/body/inputs/4/data", "TYPE", "demands an integer from -9223"),
    (as_json(changed(4, datatype="UINT8", data=[256, 3])), "/body/inputs/4/data", "TYPE", "from 0 to 255"),
    (as_json(changed(4, datatype="INT8", data=[3, -129])), "/body/inputs/4/data", "TYPE", "Row 2"),
    (
        as_json(changed(2, data=["red", 3])),
        "/body/inputs/2/data",
        "TYPE",
        "Row 2: the datatype BYTES demands",
    ),
    (as_json(changed(3, data=[True, 2])), "/body/inputs/3/data", "TYPE", "demands true or false"),
    (as_json(changed(1, datatype="BYTES", data=["1", "x"])), "/body/rows/1/age", "TYPE", "expected a number"),
    (
        as_json(changed(1, datatype="BOOL", data=[True, True])),
        "/body/rows/0/age",
        "TYPE",
        "expected a number",
    ),
    (as_json(changed(2, datatype="FP64", data=[1, 2])), "/body/rows/0/colour", "TYPE", "expected text"),
    (as_json(changed(1, data=[1, float("inf")])), "/body/rows/1/age", "INFINITE", "finite"),
    (as_json(changed(1, datatype="FP32", data=[1, 1e39])), "/body/rows/1/age", "INFINITE", "finite"),
    (as_json(changed(1, data=[1, 10**400])), "/body/rows/1/age", "TOO_LARGE", "too large"),
    (as_json(changed(1, datatype="FP16", data=[1, 10**400])), "/body/rows/1/age", "TOO_LARGE", "too large"),
    (as_json(without("age")), "/body/inputs", "ABSENT", "The column 'age' is absent"),
    (as_json(changed(1, name="agee")), "/body/inputs", "ABSENT", "Is it 'agee'? Then rename"),
    (as_json([tensor("colour", "BYTES", ["red"])]), "/body/inputs", "ABSENT", "more are absent"),
    (as_json([tensor("x", "FP64", [])]), "/body/inputs", "NO_ROWS", "send at least one"),
    (
        as_json([{"name": "x", "datatype": "FP64", "shape": [1, 3], "data": [1, 2, 3]}]),
        "/body/inputs/0/shape",
        "SHAPE",
        "3 columns, but the model has 6: size, age, colour, member, zone, ...",
    ),
    (
        as_json(changed(2, parameters={"content_type": "datetime"})),
        "/body/inputs/2/parameters/content_type",
        "UNKNOWN_CONTENT_TYPE",
        "np, pd, str, json",
    ),
    (as_json(changed(2, parameters={"content_type": "json"})), "/body/inputs/2/data", "ENCODING", "not json"),
    (as_json(changed(2, parameters={"content_type": "base64"})), "/body/inputs/2/data", "ENCODING", "base64"),
    (asking("predictt"), "/body/outputs/0/name", "UNKNOWN_OUTPUT", "Did you mean `predict`?"),
    (asking("predict", "predict"), "/body/outputs/1/name", "REPEATED", "once"),
    (asking(3), "/body/outputs/0/name", "UNKNOWN_OUTPUT", "predict, predict_proba, leaf_ids"),
    (asking(["predict"]), "/body/outputs/0/name", "UNKNOWN_OUTPUT", "The outputs are"),
    (
        as_json(INPUTS, outputs=[{"name": "predict", "parameters": {"classification": 2}}]),
        "/body/outputs/0/parameters/classification",
        "NOT_SUPPORTED",
        "leave it out",
    ),
]


@pytest.mark.parametrize(("body", "place", "code", "text"), REFUSALS)
def test_refusals(predictor: Predictor, body: Body, place: str, code: str, text: str) -> None:
    error = refused(predictor, body)
    assert (error.errors[0].pointer, error.errors[0].code) == (place, code)
    assert text in error.detail or text in error.errors[0].message
    assert not isinstance(error, MalformedError)


def test_too_many_rows(predictor: Predictor) -> None:
    error = refused(predictor, as_json(columns([GOOD] * 11)), max_rows=10)
    assert error.errors[0].code == "TOO_MANY_ROWS"


def test_a_repeated_field(predictor: Predictor) -> None:
    body = json.dumps({"inputs": INPUTS}).encode()
    error = refused(predictor, (body.replace(b'"shape": [2]', b'"shape": [9], "shape": [2]', 1), None))
    assert error.errors[0].code == "REPEATED"


@pytest.mark.parametrize("body", [b"", b"{", b'{"inputs": [}', b"\xff", b'{"inputs": nan}'])
def test_what_is_no_json(predictor: Predictor, body: bytes) -> None:
    assert isinstance(refused(predictor, (body, None)), MalformedError)


def test_bytes_that_do_not_fit(predictor: Predictor) -> None:
    body, size = as_binary(INPUTS)
    assert size is not None
    assert "shorter than its header" in refused(predictor, (body, len(body) + 1)).detail
    assert "3 bytes after the last tensor" in refused(predictor, (body + b"abc", size)).detail
    assert "ends before the last byte" in refused(predictor, (body[:-1], size)).detail
    assert "Inference-Header-Content-Length" in refused(predictor, (body[:size], None)).detail
    assert "not both" in refused(predictor, as_json(changed(0, parameters={"binary_data_size": 8}))).detail
    for wrong in (-1, True, "8", 8.0):
        error = refused(predictor, as_json(changed(0, data=None, parameters={"binary_data_size": wrong})))
        assert error.errors[0].pointer == "/body/inputs/0/parameters/binary_data_size"


@pytest.mark.parametrize(
    ("datatype", "data", "text"),
    [
        ("FP64", bytes(15), "needs 16 bytes of FP64"),
        ("INT8", bytes(16), "needs 2 bytes of INT8"),
        ("BOOL", b"\x00\x02", "must be 0 or 1"),
        ("BYTES", b"\x01\x00\x00", "end within a text"),
        ("BYTES", struct.pack("<I", 2**32 - 1) + b"red", "end within a text"),
        ("BYTES", struct.pack("<I", 3) + b"red", "needs 2 texts, but there are 1"),
        ("BYTES", bytes(12), "needs 2 texts, but there are 3"),
        ("BYTES", bytes(4) + struct.pack("<I", 1) + b"\xff", "not in UTF-8"),
    ],
)
def test_bytes_that_do_not_fit_their_shape(
    predictor: Predictor, datatype: str, data: bytes, text: str
) -> None:
    entry = {
        "name": "colour",
        "datatype": datatype,
        "shape": [2],
        "parameters": {"binary_data_size": len(data)},
    }
    head = json.dumps({"inputs": [entry]}).encode()
    error = refused(predictor, (head + data, len(head)))
    assert text in error.detail
    assert error.errors[0].pointer.startswith("/body/inputs/0")
