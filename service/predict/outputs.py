"""What a request of another protocol asks for: some of the outputs of a model."""

from __future__ import annotations

from typing import NamedTuple

OUTPUTS = ("predict", "predict_proba", "leaf_ids")


class Output(NamedTuple):
    """An output that a request asks for."""

    name: str  # one of OUTPUTS
    binary: bool = False  # bytes after the JSON instead of an array in it


class Wanted(NamedTuple):
    """The outputs that a request asks for, and its id, which the response repeats."""

    outputs: tuple[Output, ...]
    id: str | None = None


ALL = tuple(Output(name) for name in OUTPUTS)
ALL_BINARY = tuple(Output(name, binary=True) for name in OUTPUTS)
