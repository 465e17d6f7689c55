"""Tree-alternating optimization with exact steps."""

from literati._engine._types cimport Dataset, Rows

# Return a Polisher of trees over these data, which `owner` keeps alive.
cdef object make_polisher(const Dataset* data, const Rows* rows, object owner)
