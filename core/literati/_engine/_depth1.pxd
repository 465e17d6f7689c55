"""Exact solvers for depth left 1 and 2."""

from literati._cart cimport Cart, Cut
from literati._class_order cimport ClassOrder
from literati._sweep cimport Sweep
from literati._types cimport Problem, Rows, Shape, cost_t, int32_t, int64_t

# Steps through all shape functions of a state's candidate cuts; False after the last one.
cdef struct ShapeWalk:
    int32_t first           # cuts of the feature at hand: cuts[first .. last - 1]
    int32_t last
    int32_t n_cuts          # all of them
    int32_t k               # change points chosen
    int32_t chosen[8]
    int32_t missing_right

cdef void shapes_start(ShapeWalk* walk, int32_t n_cuts) noexcept nogil
cdef bint shapes_next(
    const Problem* p, const Rows* rows, const Cut* cuts, ShapeWalk* walk, int32_t max_k, Shape* shape
) noexcept nogil

# The best tree of depth 1. shape.feature is -1 where a leaf is best.
cdef cost_t solve_one(Problem* p, ClassOrder* order, const Rows* rows, Shape* shape) noexcept nogil
# The best tree of depth 2 over the cuts of a CART with so many leaves, its first split likewise, and the number of this
# split among all shape functions of the cuts (-1: a leaf), from which nth_shape makes it again.
cdef cost_t solve_two(
    Problem* p, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves, cost_t bound, Shape* shape, int32_t* number
) noexcept nogil
# False when there is no shape function of this number, or after a stop request.
cdef bint nth_shape(
    Problem* p, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves, int32_t number, Shape* shape
) noexcept nogil
cdef void count_classes(const Problem* p, const Rows* rows, int64_t* counts, int64_t* doomed) noexcept nogil
