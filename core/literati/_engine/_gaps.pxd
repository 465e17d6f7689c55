"""Choices opened one by one out of gaps between tried change points: modes `all` and `quantile`, depth left > 2."""

from literati._states cimport Space
from literati._graph cimport Choice, Data, Gap
from literati._types cimport Problem, cost_t, int32_t

cdef cost_t gap_lower(const Problem* p, const Gap* gap) noexcept nogil
cdef double gap_guess(const Gap* gap) noexcept nogil
cdef bint expand_gaps(Space* space, Data* s) noexcept nogil
cdef bint refine_gap(Space* space, Choice* c) noexcept nogil
# Tries one change point of the gap; the gap becomes the two beside it. False when memory ran out.
cdef bint open_gap(Space* space, Data* s, int32_t index, cost_t budget) noexcept nogil
cdef void remove_gap(Data* s, int32_t index, cost_t lower) noexcept nogil
