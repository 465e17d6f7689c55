"""Best-first CART on presorted rows: candidate cuts and lookahead trees."""

from literati._types cimport Problem, Rows, cost_t, int32_t, int64_t, uint8_t, uint32_t

cdef struct Split:
    double score         # what the criterion makes of it; larger is better
    int32_t feature      # -1: none
    int32_t at           # rows with a value on side A
    int32_t missing_right

cdef struct CartNode:
    int32_t start        # of its rows in the buffer, the same in every feature's order
    int32_t n
    int32_t parent
    int32_t left         # -1: a leaf
    int32_t right
    int32_t depth_left
    int32_t home         # which buffer has its rows; -1: those of the state itself
    bint placed          # its rows stand in the buffer
    bint scored          # `split` and the exact gain are known; else gain is an upper bound
    double gain
    Split split
    int32_t cut          # the split's code position
    cost_t cost          # of the tree below, after cutting back what does not pay

cdef struct Cut:
    int32_t feature
    int32_t cut          # code position
    int32_t at           # the same as a position in the order of the state's rows

# Buffers for one CART at a time. Sizes follow the problem; nothing is allocated while fitting.
cdef struct Cart:
    int32_t capacity     # nodes
    int32_t n_nodes
    CartNode* nodes
    double* counts       # [node][class] weight
    int32_t* known       # [node][feature] rows with a value
    uint32_t* buffer[2]  # the rows, partitioned from one to the other as the tree grows: each a Rows.order
    double* scratch      # of the Gini scan
    uint8_t* side        # [row]
    double* below        # [class] scratch
    double* above
    double* missing
    double* with_missing

cdef bint cart_init(Problem* p, Cart* cart, int32_t capacity) noexcept nogil
cdef void cart_free(Problem* p, Cart* cart) noexcept nogil

# The cuts of a CART with at most `leaves` leaves (and in mode SHAPE those of each feature's own CART), by feature and
# position, each partition of the state's rows once. `cuts` has room for cart_cut_room() of them.
cdef int32_t cart_cut_room(const Problem* p) noexcept nogil
cdef int32_t cart_cuts(Problem* p, Cart* cart, const Rows* rows, int32_t leaves, Cut* cuts) noexcept nogil

# Cost of the CART of at most this depth, cut back where a leaf is cheaper; its nodes stay in `cart` until the next fit.
cdef cost_t cart_lookahead(Problem* p, Cart* cart, const Rows* rows, int32_t depth) noexcept nogil
