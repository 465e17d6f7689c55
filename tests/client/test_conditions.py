"""Conditions of `wait`, and the comparison of versions."""

from __future__ import annotations

from typing import Any

import pytest

from literati.client.conditions import parse_condition
from literati.client.versions import difference


def record(**progress: Any) -> dict[str, Any]:
    return {"progress": {"gap_relative": None, **progress}}


@pytest.mark.parametrize(
    ("text", "gap", "seconds", "holds"),
    [
        ("gap<=0.01", 0.01, 0, True),
        ("gap <= 1%", 0.01, 0, True),
        ("gap<0.01", 0.01, 0, False),
        ("gap<=0.01", None, 0, False),
        ("gap<=0.01 or seconds>=60", 0.5, 60, True),
        ("gap<=0.01 and seconds>=60", 0.5, 60, False),
        ("gap<=0.01 and seconds>=60 or seconds > 1e2", 0.5, 101, True),
        ("gap==0", 0.0, 0, True),
    ],
)
def test_conditions(text: str, gap: float | None, seconds: float, holds: bool) -> None:
    assert parse_condition(text)(record(gap_relative=gap, elapsed_seconds=seconds)) == holds


@pytest.mark.parametrize("text", ["", "gap", "gap<=", "gap<=x", "colour<=1", "gap<=0.01;", "gap<=1..2", "or"])
def test_what_is_not_a_condition(text: str) -> None:
    with pytest.raises(ValueError, match=r"until: expected conditions such as 'gap<=0.01 or"):
        parse_condition(text)


@pytest.mark.parametrize(
    ("client", "answer", "words"),
    [
        ("0.2.0", {"version": "0.2.0"}, None),
        ("0.2.0", {"version": "0.2.1.dev0"}, None),
        ("0.3.0", {"version": "0.2.0"}, "may not know parameters and calls of this client"),
        ("0.2.0", {"version": "0.10.0"}, "parameters and trees that this client does not know"),
        ("0.2.0", {"version": "1.0.0", "api": "v2"}, "speaks the API 'v2'"),
        ("0.2.0", {"version": "0.2.0", "name": "other"}, "does not seem to be Literati"),
        ("0.2.0", {"version": "unknown"}, None),
    ],
)
def test_versions(client: str, answer: dict[str, Any], words: str | None) -> None:
    found = difference(client, {"name": "literati", "api": "v1", **answer})
    assert found is None if words is None else words in str(found)
