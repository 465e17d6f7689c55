"""Solve data states of depth left 1 and 2, which are never expanded."""

from literati._engine._data_state cimport SearchContext
from literati._engine._graph cimport DataState
from literati._engine._types cimport cost_t

# Proves the value of a state, or that it costs at least the budget. A solve over every cut may be left unfinished in
# s.solve when its time is up or it is stopped. Returns False when memory ran out.
cdef bint solve_state(SearchContext* context, DataState* s, cost_t budget) noexcept nogil
