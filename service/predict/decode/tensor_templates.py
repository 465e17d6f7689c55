"""Read small requests of the Open Inference Protocol by a template.

A client repeats a request with other numbers. The text around the numbers is parsed once; afterwards only the
numbers are read, without a Python object for each cell. For one row of ten columns this takes a third of the
time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from literati._predict._number_json import numbers_in_arrays
from service.predict.decode.number_rows import Match, read_matrix
from service.predict.decode.tensor_request import NumberTensors
from service.predict.layout import Batch
from service.predict.outputs import Wanted

MAX_TEMPLATES = 8  # of a model
MAX_BODY_BYTES = 1 << 13  # in a larger body the numbers take most of the time
# In valid JSON this matches nothing within a text, because its quotation marks are escaped there.
_DATA = re.compile(rb'"data"\s*:\s*(\[[^"{}]*\])'.replace(rb"\s", rb"[ \t\n\r]"))


class Template(NamedTuple):
    """How the numbers of requests are read that differ in nothing else."""

    tensors: NumberTensors  # of the first such request
    nested: bool  # an array for each row of a matrix
    match: Match
    wanted: Wanted

    def read(self, arrays: list[bytes]) -> Batch | None:
        """Return the rows of a request with these arrays in `data`, or None if they do not fit."""
        names, rows, width, _ = self.tensors
        count, length = (rows, width) if self.nested else (len(names), rows * width)
        text = b",".join(arrays) if self.nested else b"[%b]" % b",".join(arrays)
        found = numbers_in_arrays(text, 0, count, length)
        if found is None or found[1] != len(text) or np.isinf(found[0]).any():
            return None
        numbers = found[0].reshape(rows, width) if self.match.is_matrix else found[0].T
        return read_matrix(numbers, self.match, self.wanted)


class SplitBody(NamedTuple):
    """The body of a request."""

    around: bytes  # the text around the arrays
    arrays: list[bytes]  # those in `data`


def split_body(body: bytes) -> SplitBody:
    parts = _DATA.split(body)
    return SplitBody(b"\0".join(parts[::2]), parts[1::2])


class TemplateCache:
    """The templates of the latest forms of requests to a model."""

    def __init__(self) -> None:
        self._templates: dict[bytes, Template] = {}

    def __len__(self) -> int:
        return len(self._templates)

    def read(self, body: SplitBody, max_rows: int) -> Batch | None:
        """Return the rows of a request, or None if it needs the complete parser."""
        template = self._templates.get(body.around)
        if template is None or template.tensors.rows > max_rows:
            return None
        if len(body.arrays) != len(template.tensors.names):  # the text around them contains a zero byte
            return None
        return template.read(body.arrays)

    def add(self, body: SplitBody, tensors: NumberTensors, match: Match, wanted: Wanted) -> None:
        """Keep a template of a request that consists of these tensors and the names of outputs."""
        if len(body.arrays) != len(tensors.names):  # the name of a field is written with escapes
            return
        nested = body.arrays[0][1:].lstrip(b" \t\n\r").startswith(b"[")
        if len(self._templates) >= MAX_TEMPLATES:
            self._templates.clear()
        # Threads may overwrite each other's entry.
        self._templates[body.around] = Template(tensors._replace(cells=[]), nested, match, wanted)
