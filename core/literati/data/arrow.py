"""Read Arrow columns through their own methods, without an import of pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def dictionary_codes(column: Any) -> tuple[npt.NDArray[np.int64], Any]:
    """Return the code of each cell, -1 where it is missing, and the dictionary. There must be a cell."""
    coded = column if str(column.type).startswith("dictionary") else column.dictionary_encode()
    if hasattr(coded, "unify_dictionaries"):  # a chunked array needs one dictionary for all chunks
        coded = coded.unify_dictionaries()
    parts = getattr(coded, "chunks", [coded])
    signed = [part.indices.cast("int64") for part in parts]  # polars uses unsigned indices
    codes = [indices.fill_null(-1).to_numpy(zero_copy_only=False) for indices in signed]
    return np.concatenate(codes), parts[0].dictionary
