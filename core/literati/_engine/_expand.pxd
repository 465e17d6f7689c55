"""Opening states: candidates, children, their first bounds and guesses."""

from literati._graph cimport Choice, Data
from literati._states cimport Space
from literati._types cimport Rows, Shape, cost_t, int32_t

cdef Choice* open_choice(Space* space, Data* s, Choice* prefix, const Shape* shape) noexcept nogil
cdef bint guess_children(Space* space, Choice* c) noexcept nogil
cdef void sum_positions(Space* space, const Rows* rows, int32_t feature) noexcept nogil

# Each returns False when memory ran out; after a stop request the state is as it was before.
cdef bint expand_data(Space* space, Data* s) noexcept nogil
cdef bint refine_choice(Space* space, Choice* c) noexcept nogil
cdef bint solve_data(Space* space, Data* s, cost_t budget) noexcept nogil
