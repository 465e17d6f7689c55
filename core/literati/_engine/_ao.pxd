"""The AO* loop: select, expand, backpropagate, prune."""

from literati._states cimport Space
from literati._graph cimport Choice, Data, TreeNode
from literati._types cimport cost_t, int32_t, int64_t

cdef enum OrSelection:
    INFORMATIVE = 0
    ADMISSIBLE = 1

cdef enum AndSelection:
    ROUND_ROBIN = 0
    WORST_PRIMAL = 1
    WORST_HEURISTIC = 2

cdef enum:
    WARM_STEPS = 256  # expansions in the adaptive space before every cut is searched

cdef enum Step:
    WENT_ON = 0
    INTERRUPTED = 1   # a stop request; nothing was lost
    OUT_OF_MEMORY = 2

cdef struct Ao:
    Space space
    Data root
    OrSelection or_selection
    AndSelection and_selection
    int64_t improvements
    bint tight               # memory has run short
    int64_t improved_at      # expansions at the last of them
    Data* pending            # a state whose solve was left half done: it goes on first, so that slices change nothing
    cost_t pending_budget
    TreeNode* known_tree     # from a checkpoint; NULL: none
    int32_t n_known_tree
    cost_t known_lower
    cost_t known_upper
    bint warming             # still in the adaptive space, for a first good tree
    cost_t least             # lower bound of the root before anything was opened: true in every space
    bint looked_ahead        # the root has had its CART

cdef void ao_start(Ao* ao) noexcept nogil
# Comes before every other step, and counts as no expansion.
cdef Step ao_look_ahead(Ao* ao) noexcept nogil
cdef Step ao_step(Ao* ao) noexcept nogil
# Room for tree_size(&ao.root) nodes.
cdef void ao_tree(const Ao* ao, TreeNode* out) noexcept nogil
cdef cost_t ao_lower(const Ao* ao) noexcept nogil
cdef bint ao_proven(const Ao* ao) noexcept nogil
# Ends the warming up when it is complete or long enough; False when memory ran out.
cdef bint ao_warmed(Ao* ao) noexcept nogil
cdef void ao_backpropagate(Ao* ao, Data* s) noexcept nogil
# Frees what can be made again until `bytes` are in use, if that is possible.
cdef void ao_make_room(Ao* ao, int64_t bytes) noexcept nogil
