"""Data states and what they share: buffers, rows, first values, completion."""

from literati._engine._bounds cimport RowSummary
from literati._engine._cache cimport Cache
from literati._engine._cart cimport Cart
from literati._engine._depth2_sweep cimport Sweep
from literati._engine._graph cimport DataState, TreeNode
from literati._engine._memory cimport Arena
from literati._engine._types cimport Control, Dataset, Rows, Shape, int32_t, int64_t, uint64_t, uint8_t

cdef enum:
    MAX_RECENT = 1 << 14  # steps that a checkpoint remembers beside those of live states; a power of two, safe default

# How V-tilde, the estimate of a state, is computed.
cdef enum Heuristic:
    CART_LOOKAHEAD = 0
    PRIMAL = 1
    IMPURITY = 2

# Class weights and hashes of a feature's order, summed up to each of some positions.
cdef struct PrefixSums:
    int32_t n                   # positions; the last two are the rows with a value, and all rows
    int32_t* at                 # [position]
    int64_t* counts             # [position][class] weight
    int64_t* unavoidable_error  # [position]
    uint64_t* hash              # [2 * position]

# What a step of the search reads, and the buffers of the thread that makes it. Every thread has a context of its own.
cdef struct SearchContext:
    const Dataset* data
    Control* control     # of this thread
    Cache* cache         # of all threads; it is written only between rounds of tasks
    bint every_cut       # candidates are all legal cuts: modes ALL and QUANTILE, but not during their warm-up
    Heuristic heuristic
    double until         # when the running slice ends, in seconds of the monotonic clock
    int64_t cache_hits   # states that found something about their rows in the cache
    Rows all_rows        # of the root; the context of the first thread owns them
    # Buffers, filled and read within one step.
    Arena arena          # owns the memory of cart, sweep, sums and side
    Cart cart
    Sweep sweep
    PrefixSums sums
    Rows left            # rows of the left child of a choice
    Rows right           # rows of the right child
    uint8_t* side        # [row] 0: left, 1: right

# The expansions that were counted, and those that must not be counted twice: see _checkpoint.pyx.
cdef struct StepCounter:
    int64_t expansions   # steps that were counted
    uint64_t* steps      # keys of the steps that a checkpoint has counted, sorted
    int64_t n_steps
    uint64_t* recent     # ring buffer with the keys of the last steps counted here
    int64_t n_recent     # keys that were ever written to it

# Allocates the buffers of a context, whose other fields are set before. Returns False when there is no memory.
cdef bint buffers_init(SearchContext* context) noexcept nogil
cdef void buffers_free(SearchContext* context) noexcept nogil

# Keys of steps: the expansion of a state, the opening of a choice, its refinement.
cdef uint64_t state_key(const DataState* s) noexcept nogil
cdef uint64_t choice_key(const DataState* s, const Shape* shape, bint refined) noexcept nogil
cdef bint counter_init(Control* control, StepCounter* counter) noexcept nogil
cdef void counter_free(Control* control, StepCounter* counter) noexcept nogil
cdef void count_expansion(StepCounter* counter, uint64_t key) noexcept nogil

# Leaves of the CART that proposes the candidate cuts of a state.
cdef int32_t leaves_at(const Dataset* data, int32_t depth) noexcept nogil
# Returns False when there is no memory, or after a stop request.
cdef bint rows_ready(SearchContext* context, DataState* s) noexcept nogil
# After a stop request rows are not written: look at control.stop before they are used.
cdef void filter_rows(SearchContext* context, DataState* s, Rows* rows) noexcept nogil
cdef void split_rows(
    SearchContext* context, DataState* owner, const Shape* shape, Rows* left, Rows* right
) noexcept nogil
cdef void state_start(SearchContext* context, DataState* s, int32_t depth, const RowSummary* rows) noexcept nogil
# Uses what other states with the same rows have proven since the state was made.
cdef void state_recall(SearchContext* context, DataState* s) noexcept nogil
cdef void state_complete(SearchContext* context, DataState* s) noexcept nogil
cdef void state_cache_bound(SearchContext* context, DataState* s) noexcept nogil
cdef void state_collapse(SearchContext* context, DataState* s) noexcept nogil
cdef int32_t cart_tree(const Cart* cart, int32_t index, TreeNode* out) noexcept nogil
