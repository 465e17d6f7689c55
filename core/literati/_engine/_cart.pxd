"""Best-first CART on presorted rows: candidate cuts and lookahead trees."""

from literati._engine._cart_tree cimport Cart, CartNode, Split
from literati._engine._memory cimport Arena
from literati._engine._types cimport Control, Dataset, Rows, cost_t, int32_t

cdef struct Cut:
    int32_t feature
    int32_t cut          # code position
    int32_t at           # the same as a position in the order of the state's rows

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
