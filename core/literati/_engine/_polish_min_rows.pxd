"""Steps of a polish after which every interval still holds at least min_rows rows."""

from literati._engine._min_rows cimport IntervalScan
from literati._engine._mutable_tree cimport MutableTree
from literati._engine._types cimport Shape, cost_t, int16_t, int32_t, int64_t

cdef class LongIntervals:
    cdef IntervalScan scan
    cdef object arrays           # keep the memory of `scan` alive
    cdef int32_t[::1] listed     # rows of all fits, one fit after the other, each in the order of one feature
    cdef int64_t[::1] start      # [fit] where its rows begin; one more behind the last
    cdef int64_t[::1] known      # [fit] how many of them have a value; the others come last
    cdef int64_t[:, ::1] counts  # [node][interval] rows with a value

    # Lists the rows of every fit in the order of a feature, given the fit of each row (-1: none).
    cdef void list_rows(
        self, MutableTree tree, int32_t feature, const int16_t* fit_of, int32_t n_fits
    ) noexcept nogil
    # The same as offer_shapes (_best_shape.pxd) for one fit, with codes instead of positions. `target` is the target of
    # every row: 2 * fit + side, -1 for none.
    cdef int32_t offer(
        self, MutableTree tree, int32_t feature, int32_t fit, const int16_t* target, cost_t all_left, cost_t* cost,
        int32_t n_cuts, Shape* shape
    ) noexcept nogil
    # Returns whether the intervals of all nodes below v hold enough rows if v gets this shape function.
    cdef bint holds_below(
        self, MutableTree tree, int32_t fit, int32_t v, const Shape* shape, bint swapped
    ) noexcept nogil
    cdef bint subtree_holds(self, MutableTree tree, int32_t v) noexcept nogil

# Returns None where min_rows is 1.
cdef LongIntervals make_long_intervals(MutableTree tree)
