"""Swept candidates whose intervals, at the node and below it, hold at least min_rows rows.

A sweep for min_rows = 1 gives lower bounds, because every tree with longer intervals is among those it has considered.
With one change point another sweep masks the cuts of each lane by its counts of rows. Lanes cannot delay several change
points by rows of their own, so then the children of a candidate are solved one by one, if its bound is below the best
cost; the lowest bounds come first.
"""

from libc.string cimport memcpy

from literati._engine._depth1 cimport solve_depth1
from literati._engine._depth2_sweep cimport BATCHES, sweep_shapes
from literati._engine._min_rows cimport holds_min_rows
from literati._engine._rows cimport apply_shape, rows_filter
from literati._engine._types cimport LANES, Shape, int64_t


cdef cost_t child_cost(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t index, int32_t side
) noexcept nogil:
    """Return what one child of a candidate costs."""
    cdef Rows* child = &sweep.child
    cdef Shape unused
    cdef int32_t n_left = apply_shape(rows, &sweep.shapes[index], sweep.side)
    child.n = rows.n - n_left if side else n_left
    child.known = <int32_t*>(child.order + data.n_features * (<int64_t>child.n + 1))
    rows_filter(data, control, rows, sweep.side, side, child)
    if control.stop:
        return 0
    return solve_depth1(data, control, &sweep.classes, child, &unused)


cdef void offer_candidate(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t index, cost_t* best
) noexcept nogil:
    """Lower `best` to the cost of a candidate if that is less. The second child is solved only if it may matter."""
    cdef cost_t penalties = data.split_cost + (sweep.shapes[index].n_cuts - 1) * data.changepoint_cost
    cdef cost_t left = child_cost(data, control, sweep, rows, index, 0)
    cdef cost_t right = sweep.cost[2 * index + 1]
    if control.stop or penalties + left + right >= best[0]:
        return
    right = child_cost(data, control, sweep, rows, index, 1)
    if not control.stop and penalties + left + right < best[0]:
        best[0] = penalties + left + right


cdef inline cost_t swept_cost(const Dataset* data, const Sweep* sweep, int32_t index) noexcept nogil:
    cdef cost_t penalties = data.split_cost + (sweep.shapes[index].n_cuts - 1) * data.changepoint_cost
    return penalties + sweep.cost[2 * index] + sweep.cost[2 * index + 1]


cdef int32_t best_masked(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t n, const bint* tried, cost_t* best
) noexcept nogil:
    """Find the best candidate by a sweep that masks the cuts of each lane."""
    cdef cost_t bounds[2 * BATCHES * LANES]
    cdef int32_t i, found = -1
    memcpy(bounds, sweep.cost, 2 * n * sizeof(cost_t))
    sweep.long_intervals = True
    sweep_shapes(data, control, sweep, rows, sweep.shapes, n, False)
    sweep.long_intervals = False
    if not control.stop:
        for i in range(n):
            if not tried[i] and swept_cost(data, sweep, i) < best[0]:
                best[0] = swept_cost(data, sweep, i)
                found = i
    memcpy(sweep.cost, bounds, 2 * n * sizeof(cost_t))
    return found


cdef int32_t best_swept(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t n, cost_t* best
) noexcept nogil:
    cdef cost_t bounds[BATCHES * LANES]
    cdef cost_t cost
    cdef int32_t i, lowest, promising = 0, found = -1
    cdef bint tried[BATCHES * LANES]
    for i in range(n):
        bounds[i] = swept_cost(data, sweep, i)
        tried[i] = not holds_min_rows(data, rows, &sweep.shapes[i])
        promising += not tried[i] and bounds[i] < best[0]
    if data.max_k == 1 and promising > 1:
        return best_masked(data, control, sweep, rows, n, tried, best)
    while not control.stop:
        lowest = -1
        for i in range(n):
            if not tried[i] and bounds[i] < best[0] and (lowest < 0 or bounds[i] < bounds[lowest]):
                lowest = i
        if lowest < 0:
            break
        tried[lowest] = True
        cost = best[0]
        offer_candidate(data, control, sweep, rows, lowest, best)
        if best[0] < cost:
            found = lowest
    return found
