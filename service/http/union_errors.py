"""The places of Pydantic's errors in a body, with one member of each union.

For a value that fits no member of a union, Pydantic lists the errors of every member. Only the errors of the
member whose type the value has are kept, because the others would mislead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]

# Errors about the type of a value, with the expected type in words.
_OTHER_TYPE = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_parsing": "an integer",
    "int_type": "an integer",
    "list_type": "an array",
    "model_attributes_type": "an object",
    "model_type": "an object",
    "string_type": "text",
}
_LITERAL = "literal_error"
_LITERAL_WORDS = "Input should be "


@dataclass(frozen=True)
class Located:
    """An error with its place in the body."""

    path: Path
    code: str
    message: str
    members: tuple[tuple[Path, str], ...] = ()  # the place and the member of each union on the path

    @property
    def expected(self) -> str | None:
        """The expected type in words; None if the error is not about the type."""
        if self.code == _LITERAL:
            return self.message.removeprefix(_LITERAL_WORDS)
        return _OTHER_TYPE.get(self.code)


def located(details: Iterable[Any], body: Any) -> list[Located]:
    """Locate each error, and keep only the errors of the intended member of each union."""
    found = [_located(detail, body) for detail in details]
    unions = dict.fromkeys(place for error in found for place, _ in error.members)
    for place in sorted(unions, key=len, reverse=True):  # inner unions first
        found = _of_intended_member(found, place)
    return found


def _located(detail: Any, body: Any) -> Located:
    """Split Pydantic's location into the path in the body and the names of union members."""
    source, *steps = detail["loc"]
    code, message = str(detail["type"]), str(detail["msg"])
    if source != "body":
        return Located((source, *steps), code, message)
    at, path = body, [source]
    members: list[tuple[Path, str]] = []
    for place, step in enumerate(steps):
        inside = (isinstance(at, dict) and step in at) or (
            isinstance(at, list) and isinstance(step, int) and step < len(at)
        )
        if inside:
            at = at[step]
            path.append(step)
        elif place == len(steps) - 1 and code == "missing":
            path.append(step)
        else:
            members.append((tuple(path), str(step)))
    return Located(tuple(path), code, message, tuple(members))


def _of_intended_member(errors: Sequence[Located], place: Path) -> list[Located]:
    by_member: dict[str, list[Located]] = {}
    for error in errors:
        member = dict(error.members).get(place)
        if member is not None:
            by_member.setdefault(member, []).append(error)
    if len(by_member) < 2:
        return list(errors)
    wrong = [
        member for member, own in by_member.items() if all(_is_about_type(error, place) for error in own)
    ]
    dropped = [error for member in wrong for error in by_member[member]]
    kept = [error for error in errors if error not in dropped]
    if len(wrong) == len(by_member):
        expected = dict.fromkeys(str(error.expected) for error in dropped)
        outer = tuple(pair for pair in dropped[0].members if pair[0] != place)
        merged = Located(place, "type", f"Expected {' or '.join(expected)}", outer)
        kept.insert(errors.index(dropped[0]), merged)
    return kept


def _is_about_type(error: Located, place: Path) -> bool:
    """Return whether the error is about the type of the union's value itself."""
    return error.path == place and error.expected is not None
