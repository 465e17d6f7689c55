"""Gaps between tried change points: where every cut is a candidate, choices are opened one by one."""

from literati._engine._data_state cimport SearchContext, StepCounter
from literati._engine._graph cimport Choice, DataState, Gap
from literati._engine._types cimport Dataset, cost_t, int32_t

# Bound and estimate of all shape functions whose next change point lies in the gap.
cdef cost_t gap_lower(const Dataset* data, const Gap* gap) noexcept nogil
cdef double gap_estimate(const Gap* gap) noexcept nogil
# Removes a gap in which nothing costs less than `lower`; the state's bound remembers that.
cdef void remove_gap(DataState* s, int32_t index, cost_t lower) noexcept nogil

# Each of these returns False when memory ran out; the state is then as it was before.
cdef bint expand_gaps(SearchContext* context, DataState* s) noexcept nogil
cdef bint refine_gap(SearchContext* context, Choice* c) noexcept nogil
# Tries one change point of the gap and counts it; the gap becomes the two beside it.
cdef bint open_gap(
    SearchContext* context, StepCounter* counter, DataState* s, int32_t index, cost_t budget
) noexcept nogil
