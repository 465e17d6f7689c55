"""Expand data states over candidate cuts: choices, their children, first bounds and estimates."""

from literati._engine._data_state cimport SearchContext
from literati._engine._graph cimport Choice, DataState, Expansion
from literati._engine._types cimport Rows, Shape, int32_t

# Fills context.sums at its positions, after it has appended two: the rows with a value, and all rows.
cdef void sum_positions(SearchContext* context, const Rows* rows, int32_t feature) noexcept nogil
# Makes a choice with its two children from context.sums of its feature. Returns NULL when there is no memory.
cdef Choice* open_choice(SearchContext* context, DataState* s, Choice* prefix, const Shape* shape) noexcept nogil

# Each of these returns False when memory ran out. New choices go to `expansion`; the state itself only gets its rows.
# After a stop request `expansion` is empty, or the choice is still not estimated.
cdef bint estimate_children(SearchContext* context, Choice* c) noexcept nogil
cdef bint expand_state(SearchContext* context, DataState* s, Expansion* expansion) noexcept nogil
cdef bint refine_choice(SearchContext* context, Choice* c, Expansion* expansion) noexcept nogil
