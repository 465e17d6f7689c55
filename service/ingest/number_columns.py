"""Convert Arrow columns of numbers to int64 or float64."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from service.ingest.arrow_types import column_fixes
from service.ingest.dictionary_column import without_nan
from service.ingest.errors import IngestError, cell_issue
from service.ingest.fixes import quoted
from service.ingest.number_style import to_doubles
from service.ingest.options import Plan
from service.ingest.tables import Column

MAX_EXACT = 1 << 53  # larger integers are not all floating-point numbers
_MAX_INT64_DOUBLE = np.nextafter(2.0**63, 0)  # the largest floating-point number that is a 64-bit integer


def number_column(name: str, column: Any, plan: Plan) -> Column:
    """Return the column as int64 if it holds integers of 64 bits, else as float64."""
    whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale <= 0)
    array = None
    if whole:
        with suppress(pa.ArrowInvalid):  # beyond 64 bits
            array = column.cast(pa.int64())
    if array is None:
        array = without_nan(to_doubles(column))
        _check_finite(name, array, plan)
    return Column(name, "number", array, _precision_warnings(name, array, whole=whole))


def _check_finite(name: str, array: Any, plan: Plan) -> None:
    row = pa.compute.index(pa.compute.is_inf(array), True).as_py() + 1
    if row:
        message = (
            f"Column {quoted(name)} is infinite in row {row:,}; numbers must be finite. Leave the cell empty "
            "if the value is missing."
        )
        raise IngestError(cell_issue(row, name, "INFINITE", message, *column_fixes(name, plan)))


def _precision_warnings(name: str, array: Any, *, whole: bool) -> tuple[str, ...]:
    """Warn about different whole numbers that are equal as floating-point numbers."""
    low, high = pa.compute.min_max(array).as_py().values()
    if low is None or max(-low, high) <= MAX_EXACT:
        return ()
    advice = f"If they are ids, leave the column out, or keep them exactly with types={name[:80]}:category."
    if pa.types.is_integer(array.type):
        distinct = np.unique(array.drop_null().to_numpy())
        rounded = distinct.astype(np.float64)
        limit = _MAX_INT64_DOUBLE
        if (np.clip(rounded, -limit, limit).astype(np.int64) == distinct).all():
            return ()
        return (
            f"Column {quoted(name)} holds whole numbers beyond 2^53, which a tree compares as floating-point "
            f"numbers: {len(np.unique(rounded)):,} of its {len(distinct):,} different values can be "
            f"distinguished. {advice}",
        )
    if whole or bool(pa.compute.all(pa.compute.equal(pa.compute.floor(array), array)).as_py()):
        return (
            f"Column {quoted(name)} holds whole numbers beyond 2^63, stored as floating-point numbers with "
            f"about 16 digits. {advice}",
        )
    return ()
