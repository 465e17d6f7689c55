"""Take some rows of a table, whatever its type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.columns import ColumnTable


def take_rows(data: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Return rows of an array, a sequence, or a pandas, polars or Arrow table, in the same type."""
    if isinstance(data, ColumnTable):
        return data.take(rows)
    module = type(data).__module__.partition(".")[0]
    if module == "pandas":
        return data.iloc[rows]
    if module == "pyarrow":
        return data.take(rows)
    if module == "polars":
        return data[rows]
    if isinstance(data, list | tuple):
        return [data[row] for row in rows]
    return np.asarray(data)[rows]
