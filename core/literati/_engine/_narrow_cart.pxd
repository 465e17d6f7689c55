"""CART on narrow entries: the same splits as in _cart.pyx, many times faster."""

from literati._engine._cart_tree cimport Cart
from literati._engine._memory cimport Arena
from literati._engine._types cimport Control, Dataset, Rows, int32_t

cdef void narrow_init(const Dataset* data, Control* control, Arena* arena, Cart* cart) noexcept nogil
# Sets cart.narrow if the rows of a state, for which a tree has been started, can be fitted with narrow entries.
cdef void narrow_start(const Dataset* data, Cart* cart, const Rows* rows) noexcept nogil
# What place_children, score_node and split_node do in _cart.pyx.
cdef void narrow_place_children(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t index
) noexcept nogil
cdef void narrow_score_node(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t index
) noexcept nogil
cdef void narrow_split_node(const Dataset* data, Cart* cart, const Rows* rows, int32_t index) noexcept nogil
