"""Values of states: computed from their choices, carried up to the root, and used to prune."""

from literati._engine._data_state cimport SearchContext
from literati._engine._graph cimport DataState
from literati._engine._types cimport cost_t, int32_t

# Prunes the choices and gaps of a state that cannot cost less than the budget.
cdef void prune(SearchContext* context, DataState* s, cost_t budget) noexcept nogil
# Appends a state to a list of n states, unless it is there already.
cdef void list_state(DataState** states, int32_t* n, DataState* s) noexcept nogil
# Updates the states of a list, which is overwritten, and carries their new values up.
cdef void backpropagate(SearchContext* context, DataState** states, int32_t n) noexcept nogil
