"""Steps of a polish after which every interval still holds at least min_rows rows.

The intervals of a node's new shape function are long enough by the recurrence of _min_rows.pyx. But the function also
moves rows between the subtrees, so their intervals are counted again, and a step that leaves one too short is not
made. A node that becomes a leaf, or one of its children, only adds rows to the intervals that stay.
"""

import numpy as np

from literati._engine._min_rows cimport add_position, offer_intervals, start_intervals
from literati._engine._mutable_tree cimport MutableNode
from literati._engine._types cimport MAX_K, ROW_MASK, feature_order, uint32_t

cdef enum:
    MISSING = MAX_K + 1  # where rows without a value are counted


cdef LongIntervals make_long_intervals(MutableTree tree):
    cdef LongIntervals made
    cdef int64_t[::1] prefix, gain, more_gain
    cdef int32_t[::1] at, before
    if tree.data.min_rows == 1:
        return None
    made = LongIntervals.__new__(LongIntervals)
    n, max_fits = tree.data.n_rows, 1 << tree.data.max_depth
    prefix, gain, more_gain = (np.empty(n, dtype=np.int64) for _ in range(3))
    at, before = np.empty(n, dtype=np.int32), np.empty(n * tree.data.max_k, dtype=np.int32)
    made.arrays = (prefix, gain, more_gain, at, before)
    made.scan.prefix, made.scan.gain[0], made.scan.gain[1] = &prefix[0], &gain[0], &more_gain[0]
    made.scan.at, made.scan.before, made.scan.capacity = &at[0], &before[0], n
    made.listed = np.empty(n, dtype=np.int32)
    made.start = np.zeros(max_fits + 1, dtype=np.int64)
    made.known = np.zeros(max_fits, dtype=np.int64)
    made.counts = np.zeros((tree.capacity, MISSING + 1), dtype=np.int64)
    return made


cdef class LongIntervals:
    cdef void list_rows(
        self, MutableTree tree, int32_t feature, const int16_t* fit_of, int32_t n_fits
    ) noexcept nogil:
        cdef const uint32_t* entries = feature_order(tree.rows, feature)
        cdef int32_t i, row, n_known = tree.rows.known[feature]
        cdef int64_t total = 0, begin
        for i in range(n_fits + 1):
            self.start[i] = 0
        for row in range(tree.data.n_rows):
            if fit_of[row] >= 0:
                self.start[fit_of[row]] += 1
        # start[fit] is where its next row goes, and at the end where those of the next fit begin.
        for i in range(n_fits):
            begin = total
            total += self.start[i]
            self.start[i] = self.known[i] = begin
        for i in range(tree.data.n_rows):
            row = entries[i] & ROW_MASK
            if fit_of[row] >= 0:
                self.listed[self.start[fit_of[row]]] = row
                self.start[fit_of[row]] += 1
                self.known[fit_of[row]] += i < n_known
        for i in range(n_fits, 0, -1):
            self.start[i] = self.start[i - 1]
        self.start[0] = 0
        for i in range(n_fits):
            self.known[i] -= self.start[i]

    cdef int32_t offer(
        self, MutableTree tree, int32_t feature, int32_t fit, const int16_t* target, cost_t all_left, cost_t* cost,
        int32_t n_cuts, Shape* shape
    ) noexcept nogil:
        cdef IntervalScan* scan = &self.scan
        cdef const int32_t* rows = &self.listed[self.start[fit]]
        cdef const int32_t* codes = tree.data.codes + feature * <int64_t>tree.data.n_rows
        cdef int32_t i, first, row, known = <int32_t>self.known[fit]
        cdef int32_t n = <int32_t>(self.start[fit + 1] - self.start[fit])
        cdef int64_t weight
        start_intervals(scan, known, n - known)
        for i in range(n):
            row = rows[i]
            weight = tree.data.weight[row] if target[row] >= 0 else 0
            if target[row] >= 0 and not target[row] & 1:
                weight = -weight
            if i >= known:
                scan.missing += weight
                continue
            scan.total += weight
            if i + 1 < known and codes[row] != codes[rows[i + 1]]:
                add_position(tree.data, scan, i + 1)
        first = offer_intervals(tree.data, scan, all_left, cost, n_cuts, shape)
        if first >= 0:
            shape.feature = feature
            for i in range(shape.n_cuts):
                shape.cut[i] = tree.data.cardinality[feature]
                if shape.at[i] < known:
                    shape.cut[i] = codes[rows[shape.at[i]]]
        return first

    cdef bint holds_below(
        self, MutableTree tree, int32_t fit, int32_t v, const Shape* shape, bint swapped
    ) noexcept nogil:
        cdef MutableNode* node = &tree.nodes[v]
        cdef int32_t i, k, row, code, interval, at
        cdef int64_t place
        if node.shape.feature < 0:
            return True
        for i in range(tree.capacity):
            for k in range(MISSING + 1):
                self.counts[i, k] = 0
        for place in range(self.start[fit], self.start[fit + 1]):
            row = self.listed[place]
            at = node.right if tree.goes_right(shape, row) != swapped else node.left
            while tree.nodes[at].shape.feature >= 0:
                code = tree.data.codes[tree.nodes[at].shape.feature * <int64_t>tree.data.n_rows + row]
                interval = 0
                for k in range(tree.nodes[at].shape.n_cuts):
                    interval += tree.nodes[at].shape.cut[k] <= code
                if code == tree.data.cardinality[tree.nodes[at].shape.feature]:
                    interval = MISSING
                self.counts[at, interval] += 1
                at = tree.nodes[at].right if tree.goes_right(&tree.nodes[at].shape, row) else tree.nodes[at].left
        return self.subtree_holds(tree, node.left) and self.subtree_holds(tree, node.right)

    cdef bint subtree_holds(self, MutableTree tree, int32_t v) noexcept nogil:
        cdef MutableNode* node = &tree.nodes[v]
        cdef int32_t i, last = node.shape.n_cuts
        cdef int64_t least = tree.data.min_rows
        if node.shape.feature < 0:
            return True
        if node.shape.cut[last - 1] == tree.data.cardinality[node.shape.feature]:
            last -= 1  # behind the cut above all values are the rows without one
            if self.counts[v, MISSING] < least:
                return False
        for i in range(last + 1):
            if self.counts[v, i] < least:
                return False
        return self.subtree_holds(tree, node.left) and self.subtree_holds(tree, node.right)
