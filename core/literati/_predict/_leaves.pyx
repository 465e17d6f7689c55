"""The predict kernel: find the leaf of each row.

A tree is three flat arrays: records, thresholds and the sides of categories. FlatNode has the layout of NODE_DTYPE.
"""

from libc.stdint cimport int32_t, uint8_t

import numpy as np

cdef packed struct FlatNode:
    int32_t column         # of the matrix; -1 for a leaf
    int32_t left           # index of the child record
    int32_t right
    int32_t start          # first entry in `thresholds`, or in `sides` if `is_category`
    int32_t length         # number of entries
    uint8_t is_category
    uint8_t missing_right
    uint8_t unknown_right

NODE_DTYPE = np.dtype([
    ("column", "i4"), ("left", "i4"), ("right", "i4"), ("start", "i4"), ("length", "i4"),
    ("is_category", "u1"), ("missing_right", "u1"), ("unknown_right", "u1"),
])


cdef inline bint goes_right(const FlatNode *node, double x, const double *thresholds,
                            const uint8_t *sides) noexcept nogil:
    cdef int32_t k, passed = 0
    if x != x:
        return node.missing_right
    if node.is_category:
        if x < 0 or x >= node.length:
            return node.unknown_right
        return sides[node.start + <int32_t>x]
    # There are at most eight thresholds: counting without a branch is faster than a binary search.
    for k in range(node.length):
        passed += x > thresholds[node.start + k]
    return passed & 1


def route(const double[:, ::1] matrix, const FlatNode[::1] nodes, const double[::1] thresholds,
          const uint8_t[::1] sides, int32_t[::1] leaves):
    """Write the index of each row's leaf into `leaves`. The arrays must come from a validated tree."""
    cdef Py_ssize_t i, n_rows = matrix.shape[0]
    cdef int32_t at
    cdef const FlatNode *node
    cdef const double *cuts = NULL
    cdef const uint8_t *table = NULL
    if leaves.shape[0] != n_rows:
        raise ValueError("leaves: expected one entry for each row")
    if n_rows == 0:
        return
    if thresholds.shape[0]:
        cuts = &thresholds[0]
    if sides.shape[0]:
        table = &sides[0]
    with nogil:
        for i in range(n_rows):
            at = 0
            node = &nodes[0]
            while node.column >= 0:
                at = node.right if goes_right(node, matrix[i, node.column], cuts, table) else node.left
                node = &nodes[at]
            leaves[i] = at
