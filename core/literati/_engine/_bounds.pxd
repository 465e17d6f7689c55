"""Admissible bounds from class weights."""

from literati._types cimport Problem, cost_t, int32_t, int64_t

cdef cost_t leaf_cost_of(const Problem* p, const int64_t* counts) noexcept nogil
cdef cost_t lower_bound_of(const Problem* p, const int64_t* counts, int64_t doomed, int32_t depth) noexcept nogil
