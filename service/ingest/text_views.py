"""Dictionary-encode columns of string views, which polars writes.

Many views may refer to the same bytes, so the decoded text of a small file can be larger than memory. The
columns are dictionary-encoded instead, after the size of the distinct views has been checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from service.ingest.arrow_types import value_type
from service.ingest.dictionary_column import DICTIONARY

_VIEW = np.dtype([("length", "<i4"), ("prefix", "<i4"), ("buffer", "<i4"), ("offset", "<i4")])
_UNCHECKED_BYTES = 1 << 26  # less decoded text than this is always accepted


class TooLargeError(ValueError):
    """The text of a column is larger than the limit."""


def without_views(table: Any, max_bytes: int) -> tuple[Any, int]:
    """Dictionary-encode the views of a valid table. Return the table and the bytes of its dictionaries."""
    size = 0
    for position, field in enumerate(table.schema):
        if not has_views(field.type):
            continue
        chunks = []
        for chunk in table.column(position).chunks:
            encoded = _encoded(chunk, max_bytes - size)
            size += encoded.dictionary.nbytes
            chunks.append(encoded)
        table = table.set_column(position, field.name, pa.chunked_array(chunks, DICTIONARY))
    return table, size


def has_views(kind: Any) -> bool:
    return bool(pa.types.is_string_view(value_type(kind)))


def _encoded(chunk: Any, max_bytes: int) -> Any:
    if _distinct_bytes(chunk) > max_bytes:
        raise TooLargeError
    encoded = chunk.dictionary_encode()
    values = encoded.dictionary.cast(pa.string())
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(pa.int32()), values)


def decoded_bytes(table: Any) -> int:
    """Return the size of the text of all views, cell by cell. The table need not be valid."""
    chunks = [chunk for column in table.columns if has_views(column.type) for chunk in column.chunks]
    return sum(_total_bytes(_views(chunk)) for chunk in chunks)


def _distinct_bytes(chunk: Any) -> int:
    """Return the size of the text of the distinct views; 0 if all of them together are small."""
    views = _views(chunk)
    return 0 if _total_bytes(views) <= _UNCHECKED_BYTES else _total_bytes(np.unique(views))


def _total_bytes(views: npt.NDArray[Any]) -> int:
    return int(views["length"].sum(dtype=np.int64))


def _views(chunk: Any) -> npt.NDArray[Any]:
    values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
    views = np.frombuffer(values.buffers()[1], _VIEW, count=values.offset + len(values))[values.offset :]
    valid: npt.NDArray[Any] = views[np.asarray(values.is_valid())]
    return valid
