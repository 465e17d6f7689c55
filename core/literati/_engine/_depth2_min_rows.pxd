"""Swept candidates whose intervals, at the node and below it, hold at least min_rows rows."""

from literati._engine._depth2_sweep cimport Sweep
from literati._engine._types cimport Control, Dataset, Rows, cost_t, int32_t

# Returns the cheapest of the first n sweep.shapes, if its tree of depth 2 costs less than `best`, and sets `best` to
# its cost; -1 if there is none. sweep.cost must hold the costs of their children for min_rows = 1. After a stop request
# the result means nothing; sweep.cost is as before.
cdef int32_t best_swept(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t n, cost_t* best
) noexcept nogil
