"""Class labels as text, as predictions show them and as options name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from literati.cli.errors import InputError

MAX_LISTED = 20


def label_text(label: Any) -> str:
    """Return a label as text: booleans as in JSON, everything else as `str` spells it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def weights_by_label(weights: Mapping[str, float], labels: Iterable[Any]) -> dict[Any, float]:
    """Return class weights by label instead of its text. Raise InputError if a text names no class."""
    known = {label_text(label): label for label in sorted(labels, key=label_text)}
    found: dict[Any, float] = {}
    for word, weight in weights.items():
        label = known.get(word, _same_value(word, known.values()))
        if label is None:
            more = f" and {len(known) - MAX_LISTED} more" if len(known) > MAX_LISTED else ""
            listed = ", ".join(list(known)[:MAX_LISTED])
            raise InputError(f"--class-weight: there is no class {word!r}; the classes are {listed}{more}.")
        if label in found:
            raise InputError(f"--class-weight: class {label_text(label)} has two weights; give it one.")
        found[label] = weight
    return found


def _same_value(word: str, labels: Iterable[Any]) -> Any:
    """Return the boolean or number that a word also spells, such as 1.0 for 1; None if there is none."""
    for label in labels:
        if isinstance(label, bool):
            if word.lower() == label_text(label):
                return label
        elif isinstance(label, int | float) and _number(word) == label:
            return label
    return None


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
