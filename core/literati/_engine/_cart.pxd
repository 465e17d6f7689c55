"""Best-first CART on presorted rows: candidate cuts and lookahead trees."""

from literati._engine._memory cimport Arena
from literati._engine._types cimport Control, Dataset, Rows, cost_t, int32_t, uint32_t, uint8_t

cdef struct Split:
    double score         # by the criterion; larger is better
    int32_t feature      # -1: none
    int32_t at           # rows with a value that go left
    int32_t missing_right  # side of the rows without a value

cdef struct CartNode:
    int32_t start        # position of its first row, the same in every feature's order
    int32_t n            # rows
    int32_t parent       # -1: the root
    int32_t left         # -1: a leaf
    int32_t right
    int32_t depth_left
    int32_t buffer       # which of the two buffers has its rows; -1: they are those of the state itself
    bint placed          # its rows have been written to the buffer
    bint scored          # `split` and the exact gain are known; else `gain` is an upper bound
    bint has_missing     # in a CART on one feature: the rows without a value belong to it
    double gain          # by which the best split improves the score
    Split split
    int32_t cut          # code position of the split
    cost_t cost          # of the tree below, after splits that do not pay were removed

cdef struct Cut:
    int32_t feature
    int32_t cut          # code position
    int32_t at           # the same as a position in the order of the state's rows

# Buffers for one CART at a time, from an arena. Their sizes follow the dataset; nothing is allocated while fitting.
cdef struct Cart:
    int32_t capacity     # nodes
    int32_t n_nodes
    CartNode* nodes
    double* counts       # [node][class] weight
    int32_t* known       # [node][feature] rows with a value
    uint32_t* buffer[2]  # rows, partitioned from one buffer to the other as the tree grows: laid out as Rows.order
    double* scratch      # of the Gini scan
    uint8_t* side        # [row] 0: left, 1: right
    double* below        # [class] weights on the left of the current cut
    double* above        # [class] weights on the right of the current cut
    double* missing      # [class] weights of the rows without a value
    double* with_missing  # [class] sum of below and missing

cdef void cart_init(const Dataset* data, Control* control, Arena* arena, Cart* cart, int32_t capacity) noexcept nogil

# Writes the cuts of a CART with at most `leaves` leaves, and in mode SHAPE those of each feature's own CART, sorted by
# feature and position. No two of them separate the state's rows in the same way. There are at most
# max_candidate_cuts().
cdef int32_t max_candidate_cuts(const Dataset* data) noexcept nogil
cdef int32_t cart_cuts(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t leaves, Cut* cuts
) noexcept nogil

# Returns the cost of the CART of at most this depth, without the splits that do not pay. Its nodes stay in `cart` until
# the next fit. After a stop request the result means nothing.
cdef cost_t cart_lookahead(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t depth
) noexcept nogil
