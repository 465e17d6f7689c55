"""Presorted rows of a state, and the memory they live in."""

from literati._types cimport Problem, Rows, Shape, int32_t, int64_t, uint8_t, uint32_t

cdef void* grab(Problem* p, int64_t size) noexcept nogil
cdef void drop(Problem* p, void* block) noexcept nogil

cdef bint rows_alloc(Problem* p, Rows* rows, int32_t n) noexcept nogil
cdef void rows_free(Problem* p, Rows* rows) noexcept nogil
cdef void rows_borrow(const Problem* p, Rows* rows, int32_t n, uint32_t* order, int32_t* known) noexcept nogil

# Copies to `out` those of the n entries whose row is on side `target`, with the flags a subset of rows has.
# Returns how many; writes one entry before `out`.
cdef int32_t keep_side(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint8_t target, uint32_t* out
) noexcept nogil
cdef int32_t part_entries(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint32_t* left, uint32_t* right
) noexcept nogil
# A stop request ends it early: `out` then holds no rows, and the caller must look at p.stop before it uses them.
cdef void rows_filter(
    Problem* p, const Rows* rows, const uint8_t* side, uint8_t target, Rows* out
) noexcept nogil

# Sets side[row] to 0 (left) or 1 (right) for the rows of the state; returns how many go left.
cdef int32_t apply_shape(
    const Problem* p, const Rows* rows, const Shape* shape, uint8_t* side
) noexcept nogil
cdef int32_t position_of_cut(const Problem* p, const Rows* rows, int32_t feature, int32_t cut) noexcept nogil
cdef int32_t cut_between(const Problem* p, int32_t feature, int32_t below, int32_t above) noexcept nogil
