"""Solve data states of depth left 1 and 2, which are never expanded."""

from literati._engine._data_state cimport SearchContext
from literati._engine._envelope cimport Envelope
from literati._engine._graph cimport DataState
from literati._engine._types cimport Outcome, cost_t, int32_t

# The value of a state that was solved over candidate cuts, before the state takes it.
cdef struct Solution:
    cost_t value
    int32_t split_index  # as in DataState
    bint is_leaf         # no split is better than a leaf
    Envelope envelope    # what the state costs at other penalties; empty if that was not asked for

# Solves a state over candidate cuts and writes its value; the state itself is not changed.
cdef Outcome solve_state(SearchContext* context, DataState* s, Solution* solution) noexcept nogil
# Makes the value of a state its own and completes it.
cdef void state_take_solution(SearchContext* context, DataState* s, const Solution* solution) noexcept nogil
# Solves a state of depth left 2 over every cut: proves its value, or that it costs at least the budget. After TIME_UP
# and STOPPED the unfinished solve is in s.solve, and another call continues.
cdef Outcome solve_every_cut(SearchContext* context, DataState* s, cost_t budget) noexcept nogil
