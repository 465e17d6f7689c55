"""The AO* loop: select, expand, backpropagate, prune."""

from literati._engine._cache cimport Cache
from literati._engine._data_state cimport SearchContext, StepCounter
from literati._engine._graph cimport DataState, TreeNode
from literati._engine._round cimport Helpers, Round
from literati._engine._select cimport Selection
from literati._engine._types cimport Control, Costs, Dataset, Outcome, cost_t, int32_t, int64_t, uint64_t

cdef struct Ao:
    SearchContext context    # of the calling thread
    Helpers helpers          # the other threads
    Cache cache
    StepCounter counter
    DataState root
    uint64_t options         # hash of the options that define the space of trees
    Selection selection
    int64_t started_at       # expansions when the search of this space began
    Round tasks              # a round that is not finished continues first: slices do not change the search
    TreeNode* saved_tree     # incumbent of a checkpoint that has not been applied; NULL: none
    int32_t n_saved_tree
    cost_t saved_lower       # bounds of that checkpoint
    cost_t saved_upper
    bint in_warm_up          # only the cuts of CART are searched, to find a good tree early
    cost_t initial_lower     # lower bound of the root from its class weights: true in every space
    bint looked_ahead        # the CART of the root has been fitted

# Allocates the cache, the buffers and the memory of the root's rows, which the caller fills. Returns False when there
# is no memory.
cdef bint ao_init(
    Ao* ao, const Dataset* data, Control* control, int64_t cache_bytes, int32_t n_threads
) noexcept nogil
cdef void ao_free(Ao* ao) noexcept nogil
# Sets up the root state. Its first incumbent is a leaf, or the tree of a checkpoint.
cdef void ao_start(Ao* ao) noexcept nogil
# Makes the CART of full depth the incumbent, if it is better. It comes before every other step and counts as no
# expansion.
cdef Outcome ao_look_ahead(Ao* ao) noexcept nogil
# Carries out a round of tasks: selects the most promising states that are not expanded, expands or solves them, and
# updates all states above. It counts at most max_expansions. After TIME_UP and STOPPED the next call continues.
cdef Outcome ao_step(Ao* ao, int64_t max_expansions) noexcept nogil
# Ends the warm-up when it is complete or long enough; returns False when memory ran out.
cdef bint ao_end_warm_up(Ao* ao) noexcept nogil
# Begins the search of a wider space with a tree that costs `upper`. The state owns the tree. What was proven before is
# forgotten, except the first lower bound.
cdef void ao_start_over(Ao* ao, bint every_cut, TreeNode* tree, int32_t n, cost_t upper) noexcept nogil
# Begins the search again after the costs have changed, with a tree that costs `upper` now. The search owns the tree.
cdef void ao_change_costs(
    Ao* ao, const Costs* old, const Costs* new, TreeNode* tree, int32_t n, cost_t upper
) noexcept nogil
# Frees what can be made again until `bytes` are in use, if that is possible.
cdef void ao_free_memory(Ao* ao, int64_t bytes) noexcept nogil

# Writes the incumbent, which has tree_size(&ao.root) nodes.
cdef void ao_tree(const Ao* ao, TreeNode* out) noexcept nogil
# Returns a lower bound of all trees of the whole space. During the warm-up the root's own bound is of a narrower space.
cdef cost_t ao_lower(const Ao* ao) noexcept nogil
# Returns the explored share of the space, from 0 to 1: see _explored.pxd. It is 1 once the bounds have met.
cdef double ao_explored(const Ao* ao) noexcept nogil
# Returns whether the bounds have met: no tree of the space costs less than the incumbent.
cdef bint ao_proven(const Ao* ao) noexcept nogil
