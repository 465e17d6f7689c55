"""The AO* loop: select, expand, backpropagate, prune."""

from literati._engine._data_state cimport SearchContext
from literati._engine._graph cimport DataState, TreeNode
from literati._engine._types cimport Outcome, cost_t, int32_t, int64_t

cdef enum OrSelection:
    INFORMATIVE = 0      # by estimate
    ADMISSIBLE = 1       # by lower bound

cdef enum AndSelection:
    ROUND_ROBIN = 0
    WORST_PRIMAL = 1     # the child with the larger upper bound
    WORST_HEURISTIC = 2  # the child with the larger estimate, or lower bound where OR selection is admissible

cdef struct Ao:
    SearchContext context
    DataState root
    OrSelection or_selection
    AndSelection and_selection
    int64_t improved_at      # expansions when the last better tree was found
    bint low_memory          # memory has run short at some time
    DataState* pending       # a state with an unfinished solve, which continues first: slices do not change the search
    cost_t pending_budget    # what that state may cost
    TreeNode* saved_tree     # incumbent of a checkpoint that has not been applied; NULL: none
    int32_t n_saved_tree
    cost_t saved_lower       # bounds of that checkpoint
    cost_t saved_upper
    bint in_warm_up          # only the cuts of CART are searched, to find a good tree early
    cost_t initial_lower     # lower bound of the root from its class weights: true in every space
    bint looked_ahead        # the CART of the root has been fitted

# Sets up the root state. Its first incumbent is a leaf, or the tree of a checkpoint.
cdef void ao_start(Ao* ao) noexcept nogil
# Makes the CART of full depth the incumbent, if it is better. It comes before every other step and counts as no
# expansion.
cdef Outcome ao_look_ahead(Ao* ao) noexcept nogil
# Makes one expansion: follows the most promising choices from the root to a state that is not expanded.
cdef Outcome ao_step(Ao* ao) noexcept nogil
# Ends the warm-up when it is complete or long enough; returns False when memory ran out.
cdef bint ao_end_warm_up(Ao* ao) noexcept nogil
# Carries new values of a state up, as far as they change anything.
cdef void ao_backpropagate(Ao* ao, DataState* s) noexcept nogil
# Frees what can be made again until `bytes` are in use, if that is possible.
cdef void ao_free_memory(Ao* ao, int64_t bytes) noexcept nogil

# Writes the incumbent, which has tree_size(&ao.root) nodes.
cdef void ao_tree(const Ao* ao, TreeNode* out) noexcept nogil
# Returns a lower bound of all trees of the whole space. During the warm-up the root's own bound is of a narrower space.
cdef cost_t ao_lower(const Ao* ao) noexcept nogil
# Returns whether the bounds have met: no tree of the space costs less than the incumbent.
cdef bint ao_proven(const Ao* ao) noexcept nogil
