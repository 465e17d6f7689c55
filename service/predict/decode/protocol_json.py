"""Parse and check the JSON objects of other protocols."""

from __future__ import annotations

import json
import math
from itertools import islice
from typing import Any, NamedTuple

from literati.suggestions import did_you_mean, nearest
from service.http.problems import FieldError, pointer
from service.predict.decode.json_rows import parse_json
from service.predict.row_errors import MAX_ERRORS, RowsError, row_error

_CONSTANTS = {"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}


class Form(NamedTuple):
    """The fields of an object."""

    required: frozenset[str]
    known: frozenset[str]


def form(required: str, optional: str = "") -> Form:
    """Return the form of an object with these fields, separated by spaces."""
    return Form(frozenset(required.split()), frozenset(f"{required} {optional}".split()))


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse an object. NaN becomes null, because Python's own encoder writes missing values as NaN."""
    document = parse_json(body, allow_inf_nan=True)
    if b"NaN" in body:
        document = json.loads(body, parse_constant=_CONSTANTS.__getitem__)
    if type(document) is not dict:
        raise row_error("/body", "TYPE", "The body must be an object.")
    return document


def check_form(entry: Any, expected: Form, *where: str | int) -> dict[str, Any]:
    """Return an object with the expected fields; raise RowsError if fields are missing or unknown."""
    if type(entry) is not dict:
        raise row_error(pointer(*where), "TYPE", "Expected an object.")
    if not expected.required <= entry.keys() <= expected.known:
        errors = [
            FieldError(pointer(*where, name), "MISSING", f"The field `{name}` is missing.")
            for name in sorted(expected.required - entry.keys())
        ]
        errors += [
            FieldError(pointer(*where, name), "UNKNOWN_FIELD", _unknown(name, expected))
            for name in islice((name for name in entry if name not in expected.known), MAX_ERRORS)
        ]
        raise RowsError(errors[0].message, errors)
    return entry


def _unknown(name: str, expected: Form) -> str:
    known = sorted(expected.known)
    guess = did_you_mean(f"`{meant}`" for meant in nearest(name, known))
    return f"There is no such field.{guess} The fields are {', '.join(f'`{field}`' for field in known)}."
