"""Text views (polars writes them) to coded text.

Many views may show the same bytes, so a short file can hold a column that is longer than memory once its text
stands cell by cell. The columns are coded instead, and what the different views show is counted first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

CODED = pa.dictionary(pa.int32(), pa.string())
_VIEW = np.dtype([("length", "<i4"), ("prefix", "<i4"), ("buffer", "<i4"), ("offset", "<i4")])
_PLENTY = 1 << 26  # bytes of text that are not worth a second look


class TooLargeError(ValueError):
    """The text of a column takes more than the limit."""


def without_views(table: Any, most: int) -> tuple[Any, int]:
    """A valid table with its views coded, and the bytes of text that this took."""
    taken = 0
    for place, field in enumerate(table.schema):
        if not has_views(field.type):
            continue
        chunks = []
        for chunk in table.column(place).chunks:
            coded = _coded(chunk, most - taken)
            taken += coded.dictionary.nbytes
            chunks.append(coded)
        table = table.set_column(place, field.name, pa.chunked_array(chunks, CODED))
    return table, taken


def has_views(kind: Any) -> bool:
    return bool(pa.types.is_string_view(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _coded(chunk: Any, most: int) -> Any:
    if _shown_bytes(_words(chunk)) > most:
        raise TooLargeError
    coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
    values = coded.dictionary.cast(pa.string())
    return pa.DictionaryArray.from_arrays(coded.indices.cast(pa.int32()), values)


def viewed_bytes(table: Any) -> int:
    """The text of all views, cell by cell. Works on a table that is not known to be valid."""
    chunks = [chunk for column in table.columns if has_views(column.type) for chunk in column.chunks]
    return sum(int(_views(_words(chunk))["length"].sum(dtype=np.int64)) for chunk in chunks)


def _words(chunk: Any) -> Any:
    return chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk


def _shown_bytes(words: Any) -> int:
    """At most what the different words take together."""
    views = _views(words)
    if int(views["length"].sum(dtype=np.int64)) <= _PLENTY:
        return 0
    return int(np.unique(views)["length"].sum(dtype=np.int64))


def _views(words: Any) -> npt.NDArray[Any]:
    views = np.frombuffer(words.buffers()[1], _VIEW, count=words.offset + len(words))[words.offset :]
    known: npt.NDArray[Any] = views[np.asarray(words.is_valid())]
    return known
