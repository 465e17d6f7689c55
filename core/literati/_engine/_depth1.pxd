"""The exact solver for depth left 1."""

from literati._engine._class_order cimport ClassOrder
from literati._engine._types cimport Control, Dataset, Rows, Shape, cost_t

# Returns the cost of the best tree of depth 1 and writes its split; shape.feature is -1 where a leaf is best. `order`
# is scratch memory. After a stop request the result means nothing.
cdef cost_t solve_depth1(
    const Dataset* data, Control* control, ClassOrder* order, const Rows* rows, Shape* shape
) noexcept nogil
