"""The value cache: what is known about states by the hash of their rows and their depth left."""

from literati._engine._envelope cimport Envelope
from literati._engine._graph cimport TreeNode
from literati._engine._types cimport Control, Costs, cost_t, int32_t, int64_t, int8_t, uint64_t

cdef struct Entry:
    uint64_t hash[2]     # of the set of rows
    cost_t lower         # no tree on these rows costs less; if `exact`, the optimum
    TreeNode* tree       # the optimal tree; NULL: the solver of depth left 2 makes it again
    int32_t n_tree       # nodes of `tree`
    int32_t split_index  # where `tree` is NULL: as in DataState
    cost_t free_lower    # a lower bound without penalties, in units of weight
    Envelope* envelope   # the best trees for every penalty; NULL: not known
    int8_t depth         # depth left; 0: the entry is empty
    int8_t exact         # lower is the optimum

cdef struct Cache:
    Entry* entries
    int64_t size         # entries, a power of two
    int64_t used         # entries in use
    int64_t max_bytes    # limit of `bytes`
    int64_t bytes        # of entries and their trees

cdef bint cache_init(Control* control, Cache* cache, int64_t max_bytes) noexcept nogil
cdef void cache_free(Control* control, Cache* cache) noexcept nogil
# Empties the cache.
cdef void cache_clear(Control* control, Cache* cache) noexcept nogil
# Returns NULL when nothing is known.
cdef Entry* cache_find(const Cache* cache, const uint64_t* hash, int32_t depth) noexcept nogil
cdef void cache_store(
    Control* control, Cache* cache, const uint64_t* hash, int32_t depth, cost_t lower, bint exact,
    const TreeNode* tree, int32_t n_tree, int32_t split_index
) noexcept nogil
# Keeps the envelope of a state of depth left 2. A lost one costs time but does not change any value.
cdef void cache_store_envelope(
    Control* control, Cache* cache, const uint64_t* hash, const Envelope* envelope
) noexcept nogil
# Prepares the cache for other costs, in the ratio of the old ones. Envelopes stay, and values become bounds that hold
# at the new costs.
cdef void cache_change_costs(Control* control, Cache* cache, const Costs* old, const Costs* new) noexcept nogil
