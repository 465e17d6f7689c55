"""Parts of the answer to a prediction of many rows: unusual cells, and a text for each row."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int32_t
from libc.string cimport memcpy

import numpy as np


def unusual_cells(const double[:, ::1] matrix, const double[::1] lows, const double[::1] highs):
    """Return for each column the rows whose cell is not between its low and its high, or is NaN."""
    cdef Py_ssize_t row, column, n_rows = matrix.shape[0], width = matrix.shape[1]
    if lows.shape[0] != width or highs.shape[0] != width:
        raise ValueError("expected a low and a high for each column")
    counts = np.zeros(width, dtype=np.intp)
    cdef Py_ssize_t[::1] found = counts
    with nogil:
        for row in range(n_rows):
            for column in range(width):
                found[column] += not (lows[column] <= matrix[row, column] <= highs[column])
    total = int(counts.sum())
    if total == 0:
        return {}
    ends = counts.cumsum()
    rows = np.empty(total, dtype=np.intp)
    cdef Py_ssize_t[::1] out = rows
    cdef Py_ssize_t[::1] at = ends - counts
    with nogil:
        for row in range(n_rows):
            for column in range(width):
                if not (lows[column] <= matrix[row, column] <= highs[column]):
                    out[at[column]] = row
                    at[column] += 1
    return {place: rows[ends[place] - counts[place]:ends[place]] for place in np.flatnonzero(counts).tolist()}


def joined_parts(list parts, const int32_t[::1] leaves):
    """Return `b",".join(parts[leaf] for leaf in leaves)` without a Python object for each row."""
    cdef Py_ssize_t row, size, n_rows = leaves.shape[0], n_parts = len(parts), total = n_rows - 1
    cdef bytes part, text
    cdef char *out
    if n_rows == 0:
        return b""
    for row in range(n_rows):
        if not 0 <= leaves[row] < n_parts:
            raise IndexError("no such leaf")
        part = <bytes?>parts[leaves[row]]
        total += PyBytes_GET_SIZE(part)
    text = PyBytes_FromStringAndSize(NULL, total)
    out = PyBytes_AS_STRING(text)
    for row in range(n_rows):
        if row:
            out[0] = c','
            out += 1
        part = <bytes>parts[leaves[row]]
        size = PyBytes_GET_SIZE(part)
        memcpy(out, PyBytes_AS_STRING(part), size)
        out += size
    return text
