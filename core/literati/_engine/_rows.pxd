"""Presorted rows of a state."""

from literati._engine._types cimport Control, Dataset, Rows, Shape, int32_t, int64_t, uint32_t, uint8_t

# Returns False when there is no memory.
cdef bint rows_alloc(const Dataset* data, Control* control, Rows* rows, int32_t n) noexcept nogil
cdef void rows_free(Control* control, Rows* rows) noexcept nogil

# Copies to `out` those of the n entries whose row is on side `target`, with the cut flags that a subset of rows has.
# Returns how many; also writes one entry before `out`.
cdef int32_t keep_side(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint8_t target, uint32_t* out
) noexcept nogil
# Copies the entries of both sides. Returns how many go right; keeps the entries just before `left` and `right`.
cdef int32_t partition_entries(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint32_t* left, uint32_t* right
) noexcept nogil
# Copies the rows of one side to `out`, which has memory for out.n of them. After a stop request `out` holds no rows.
cdef void rows_filter(
    const Dataset* data, Control* control, const Rows* rows, const uint8_t* side, uint8_t target, Rows* out
) noexcept nogil

# Sets side[row] to 0 (left) or 1 (right) for the rows of the state; returns how many go left.
cdef int32_t apply_shape(const Rows* rows, const Shape* shape, uint8_t* side) noexcept nogil
# Returns how many rows of the state have a code below the cut.
cdef int32_t position_of_cut(const Dataset* data, const Rows* rows, int32_t feature, int32_t cut) noexcept nogil
# Returns the first position from `at` on where a cut may lie between two values, or rows.known[feature].
cdef int32_t next_legal(const Rows* rows, int32_t feature, int32_t at) noexcept nogil
# Returns the code of a cut at a position among the `known` entries with a value of some rows in the feature's order.
cdef int32_t cut_at(
    const Dataset* data, int32_t feature, const uint32_t* entries, int32_t known, int32_t at
) noexcept nogil
# Returns the code of a cut between two neighbouring codes.
cdef int32_t cut_between(const Dataset* data, int32_t feature, int32_t below, int32_t above) noexcept nogil
# Sums the weight of every class.
cdef void count_classes(const Dataset* data, const Rows* rows, int64_t* counts) noexcept nogil
