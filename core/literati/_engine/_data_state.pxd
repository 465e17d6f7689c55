"""States and what they share: working space, rows, first values, completion."""

from literati._cart cimport Cart
from literati._graph cimport Cache, Choice, Counters, Data, TreeNode
from literati._sweep cimport Sweep
from literati._types cimport Problem, Rows, Shape, int32_t, int64_t, uint8_t, uint64_t

cdef enum:
    RECENT = 1 << 14  # a power of two

cdef enum Heuristic:
    CART_LOOKAHEAD = 0
    PRIMAL = 1
    IMPURITY = 2

# Class weights and hashes of a feature's order, summed up to each of some positions.
cdef struct Sums:
    int32_t n
    int32_t* at
    int64_t* counts      # [position][class]
    int64_t* doomed
    uint64_t* hash       # [2 * position]

cdef struct Space:       # everything an expansion needs besides the state
    Problem* p
    Cart cart
    Sweep sweep
    Cache cache
    Counters counters
    Sums sums
    Rows all_rows        # the root's
    Rows left            # room for the rows of a child
    Rows right
    uint8_t* side        # [row]
    Heuristic heuristic
    int64_t expansions
    uint64_t options     # hash of the options that shape the space
    uint64_t* steps      # keys of steps that a checkpoint has counted already, sorted
    int64_t n_steps
    uint64_t* recent     # ring of the keys of the last steps counted here
    int64_t n_recent     # counted, not kept
    double until         # when the running slice ends, on the monotonic clock

cdef bint space_init(Space* space, Problem* p, int64_t cache_bytes) noexcept nogil
cdef void space_free(Space* space) noexcept nogil

cdef uint64_t state_key(const Data* s) noexcept nogil
cdef uint64_t choice_key(const Data* s, const Shape* shape, bint refined) noexcept nogil
cdef void count_step(Space* space, uint64_t key) noexcept nogil

cdef int32_t leaves_at(const Problem* p, int32_t depth) noexcept nogil
cdef bint rows_ready(Space* space, Data* s) noexcept nogil
cdef void part_rows(Space* space, Data* owner, const Shape* shape, Rows* left, Rows* right) noexcept nogil
cdef void data_start(
    Space* space, Data* s, int32_t depth, int32_t n, const int64_t* counts, int64_t doomed, const uint64_t* hash
) noexcept nogil
cdef void data_complete(Space* space, Data* s) noexcept nogil
cdef void data_remember(Space* space, Data* s) noexcept nogil
cdef void data_forget(Space* space, Data* s) noexcept nogil
cdef void data_clear_below(Space* space, Data* s) noexcept nogil
cdef int32_t cart_tree(const Cart* cart, int32_t index, TreeNode* out) noexcept nogil
