"""Rows of numbers out of JSON text, against Python's own reading of it."""

from __future__ import annotations

import json
import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from literati._predict._number_json import numbers_in_arrays, numbers_in_records


def read_one(text: str) -> float | None:
    found = numbers_in_arrays(f"[[{text}]]".encode(), 0, 1, 1)
    return None if found is None else float(found[0][0, 0])


digits = st.text("0123456789", min_size=1, max_size=30)
decimals = st.builds(
    lambda sign, whole, part, power: f"{sign}{int(whole)}{part and '.' + part}{power}",
    st.sampled_from(["", "-"]),
    digits,
    st.just("") | digits,
    st.just("") | st.integers(-400, 400).map("e{}".format) | st.integers(0, 50).map("E+{}".format),
)
doubles = st.binary(min_size=8, max_size=8).map(lambda raw: struct.unpack("d", raw)[0])


@settings(max_examples=2000, deadline=None)
@given(decimals | doubles.filter(math.isfinite).map(repr))
@example("9007199254740993")
@example("1e22")
@example("1e23")
@example("18446744073709551615e-19")
@example("9999999999999999999e19")
@example("2.2250738585072011e-308")
@example("4.9406564584124654e-324")
@example("1.7976931348623159e308")
@example("0.000000000000000000000000000000000000001")
@example("0e99999999999")
@example("1" * 2000)
@example("0." + "0" * 200_000 + "1")
@example("1" + "0" * 400 + "e-400")
def test_a_number_is_the_nearest_double(text: str) -> None:
    assert read_one(text) == float(text)


@settings(max_examples=500, deadline=None)
@given(st.integers(1 << 52, (1 << 53) - 1), st.integers(-40, 20))
def test_halfway_between_two_doubles(mantissa: int, power: int) -> None:
    halfway = Fraction(2 * mantissa + 1, 2) * Fraction(2) ** power
    places = 0
    while halfway.denominator > 1:
        halfway, places = halfway * 10, places + 1
    for digits in (halfway.numerator - 1, halfway.numerator, halfway.numerator + 1):
        assert read_one(f"{digits}e-{places}") == float(f"{digits}e-{places}")


def test_null_is_nan_and_a_minus_stays() -> None:
    missing = read_one("null")
    assert missing is not None
    assert math.isnan(missing)
    assert str(read_one("-0.0")) == "-0.0"
    assert read_one("-1e999") == -math.inf


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "+1", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "--1", "1_0", "0x10", "1 2", "1,"),
        *("nul", "nulll", "NaN", "Infinity", "-Infinity", "true", '"1"', "[1]", "{}", "1\x002", "\u0661"),
    ],
)
def test_what_is_no_json_number_is_left_to_others(text: str) -> None:
    assert read_one(text) is None


cells = st.none() | st.integers(-(10**25), 10**25) | st.floats(allow_nan=False, allow_infinity=False)
spaces = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n\t", "\r\n: ")])


def same(found: Any, rows: list[list[Any]]) -> bool:
    expected = np.array([[math.nan if cell is None else float(cell) for cell in row] for row in rows])
    return np.array_equal(found, expected, equal_nan=True)


@settings(deadline=None)
@given(st.data(), spaces)
def test_arrays(data: st.DataObject, separators: tuple[str, str]) -> None:
    width = data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))
    text = json.dumps(rows, separators=separators).encode()
    found = numbers_in_arrays(b"before" + text + b"after", 6, len(rows), width)
    assert found is not None
    assert same(found[0], rows)
    assert found[1] == 6 + len(text)
    n = len(rows)
    for other in ((n + 1, width), (n - 1, width), (n, width + 1), (n, width - 1)):
        assert numbers_in_arrays(text, 0, *other) is None


@settings(deadline=None)
@given(st.data(), spaces)
def test_records(data: st.DataObject, separators: tuple[str, str]) -> None:
    plain = st.text(st.characters(codec="utf-8", exclude_characters='"\\', min_codepoint=32), max_size=6)
    names = data.draw(st.lists(plain, min_size=1, max_size=5, unique=True))
    order = data.draw(st.permutations(names))
    width = len(names)
    rows = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6))
    records = [{name: row[names.index(name)] for name in order} for row in rows]
    text = json.dumps(records, separators=separators, ensure_ascii=False).encode()
    wanted = [name.encode() for name in names]
    found = numbers_in_records(text, 0, len(rows), wanted)
    assert found is not None
    assert same(found[0], rows)
    assert found[1] == len(text)
    assert numbers_in_records(text, 0, len(rows), [*wanted, b"one more"]) is None
    assert numbers_in_records(text, 0, len(rows) + 1, wanted) is None
    if width > 1:
        assert numbers_in_records(text, 0, len(rows), wanted[1:]) is None


@pytest.mark.parametrize(
    "text",
    [
        b'[{"a":1,"a":2}]',
        b'[{"a":1,"b":2,"a":3}]',
        b'[{"a":1,"b":"2"}]',
        b'[{"a":1,"b":[2]}]',
        b'[{"a":1,"b"}]',
        b'[{"a":1,"b":2',
        b'[{"a":1,"bb":2}]',
        b'[{"a":1,"\\u0062":2}]',
        b'[{"a":1 "b":2}]',
        b'[{"a',
        b"[{",
        b"[",
    ],
)
def test_records_of_another_kind(text: bytes) -> None:
    assert numbers_in_records(text, 0, 1, [b"a", b"b"]) is None


def test_names_in_another_order_than_before() -> None:
    text = b'[{"a":1,"b":2},{"b":3,"a":4}]'
    assert numbers_in_records(text, 0, 2, [b"a", b"b"]) is None


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_what_is_read_is_json(data: st.DataObject) -> None:
    """Damage anywhere is either noticed, or the text is still the JSON of what was read."""
    records = data.draw(st.booleans())
    good = b'[{"a": 1.5, "b": null}, {"a": -2e3, "b": 40}]' if records else b"[[1.5, null], [-2e3, 40]]"
    text = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place] = data.draw(st.sampled_from(list(b'0123456789.eE+-[]{},:"abnul \n\x00\xff')))
    body = bytes(text[: data.draw(st.integers(0, len(text)))])
    found = numbers_in_records(body, 0, 2, [b"a", b"b"]) if records else numbers_in_arrays(body, 0, 2, 2)
    if found is not None:
        parsed = json.loads(body[: found[1]])
        rows = [[row["a"], row["b"]] for row in parsed] if records else parsed
        assert same(found[0], rows)


def test_odd_arguments() -> None:
    for at, rows, width in ((-1, 1, 1), (5, 1, 1), (0, 0, 1), (0, 1, 0), (0, -1, 1)):
        assert numbers_in_arrays(b"[[1]]", at, rows, width) is None
        assert numbers_in_records(b"[{}]", at, rows, [b"a"] * width) is None
