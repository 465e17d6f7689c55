"""Take some rows of a table, whatever its type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def take_rows(data: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Return rows of an array, a sequence, or a pandas, polars or Arrow table, in the same type."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if hasattr(data, "take") and not isinstance(data, np.ndarray):
        return data.take(rows)  # Arrow
    if isinstance(data, list | tuple):
        return [data[row] for row in rows]
    return data[rows]  # NumPy and polars
