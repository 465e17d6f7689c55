"""The exact solver for depth left 2 over candidate cuts."""

from literati._engine._cart cimport Cart, Cut
from literati._engine._depth2_sweep cimport Sweep
from literati._engine._types cimport Control, Dataset, Rows, Shape, cost_t, int32_t

# Enumerates all shape functions of a state's candidate cuts.
cdef struct ShapeIterator:
    int32_t first           # the cuts of the current feature are cuts[first .. last - 1]
    int32_t last
    int32_t n_cuts          # candidate cuts of all features
    int32_t k               # change points chosen
    int32_t chosen[8]       # [k] indices of the chosen cuts
    int32_t missing_right   # side of the rows without a value

cdef void shapes_start(ShapeIterator* iterator, int32_t n_cuts) noexcept nogil
# Writes the next shape function of at most max_k change points; returns False after the last one.
cdef bint shapes_next(
    const Dataset* data, const Rows* rows, const Cut* cuts, ShapeIterator* iterator, int32_t max_k, Shape* shape
) noexcept nogil
# Fills sweep.shapes with the next shape functions, as many as one sweep takes; returns their number.
cdef int32_t next_shapes(
    const Dataset* data, const Rows* rows, Sweep* sweep, ShapeIterator* iterator
) noexcept nogil

# Returns the cost of the best tree of depth 2 over the cuts of a CART with `leaves` leaves. Writes its first split
# (feature -1: a leaf) and the index of this split among all shape functions of the cuts (-1: a leaf). A tree that costs
# no more than `lower`, a bound known to the caller, ends the solve. After a stop request the result means nothing.
cdef cost_t solve_depth2(
    const Dataset* data, Control* control, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves, cost_t lower,
    Shape* shape, int32_t* split_index
) noexcept nogil
# Writes the first split again from its index. Returns False when there is none, or after a stop request.
cdef bint nth_shape(
    const Dataset* data, Control* control, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves,
    int32_t split_index, Shape* shape
) noexcept nogil
