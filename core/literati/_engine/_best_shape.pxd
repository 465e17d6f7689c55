"""The best shape function on one feature for rows that each have a target side, left or right.

Let P be the weight of the rows before a position whose target is right, less that of the rows whose target is left.
A segment that is sent right gains P(end) - P(begin). The largest gain with k change points follows from the largest one
with k - 1, in one pass over the rows in the order of the feature. Depth 1 and polishing share this recurrence.
"""

from libc.stdint cimport INT64_MIN

from literati._engine._types cimport MAX_K, Dataset, Shape, cost_t, int32_t, int64_t

cdef struct SideScan:
    # The fields that every row reads come first.
    int64_t prefix                       # P before the current group
    int64_t group                        # change of P over the current group: rows that no change point can separate
    int32_t at                           # position where the group begins; the caller moves it
    int32_t direction                    # sign of the last group that was not balanced, 0: none yet
    int64_t gain[MAX_K + 1][2]           # [change points][side of the first segment], without the last segment
    int64_t missing                      # change of P over the rows without a value
    int32_t cuts[MAX_K + 1][2][MAX_K]    # positions of the change points of `gain`


cdef inline void start_scan(SideScan* scan, int32_t max_k) noexcept nogil:
    cdef int32_t k
    scan.prefix = scan.group = scan.missing = 0
    scan.at = scan.direction = 0
    scan.gain[0][0] = scan.gain[0][1] = 0
    for k in range(1, max_k + 1):
        scan.gain[k][0] = scan.gain[k][1] = INT64_MIN // 2


cdef inline void end_group(SideScan* scan, int32_t max_k) noexcept nogil:
    """Consider a change point where the group begins, and add the group to the rows before.

    Only positions where P turns matter: a change point anywhere else gains by moving to one, or is not needed. At a
    minimum only a segment that goes right can begin, at a maximum only one that goes left.
    """
    cdef int32_t k, i, first, begins_right = scan.group > 0
    cdef int64_t gain, step
    if scan.group * scan.direction < 0:
        step = -scan.prefix if begins_right else scan.prefix
        # From the largest k down, so that gain[k - 1] has no change point at this position yet.
        for k in range(max_k, 0, -1):
            first = (k + begins_right) & 1
            gain = scan.gain[k - 1][first] + step
            if gain > scan.gain[k][first]:
                scan.gain[k][first] = gain
                for i in range(k - 1):
                    scan.cuts[k][first][i] = scan.cuts[k - 1][first][i]
                scan.cuts[k][first][k - 1] = scan.at
    if scan.group != 0:
        scan.direction = 1 if begins_right else -1
    scan.prefix += scan.group
    scan.group = 0


cdef inline bint is_better(cost_t cost, int32_t size, cost_t* best, int32_t* best_size) noexcept nogil:
    """Accept a cost that is lower, or equal with a smaller size."""
    if cost > best[0] or (cost == best[0] and size >= best_size[0]):
        return False
    best[0] = cost
    best_size[0] = size
    return True


cdef inline int32_t offer_shapes(
    const Dataset* data, const SideScan* scan, int32_t known, bint any_missing, cost_t all_left, cost_t* cost,
    int32_t n_cuts, Shape* shape
) noexcept nogil:
    """Write the cheapest shape of a finished scan if it costs less than `cost`, or as much with less than `n_cuts`.

    `known` is the position behind the last value and `all_left` the cost if the shape sent every row left. The result
    is -1 where no shape is better, else the side that the first segment is meant for: if that is the right one, left
    and right in `shape` mean the opposite. Of the shape's positions only `at` is written.
    """
    cdef int32_t k, i, first, found = -1
    cdef int64_t gain
    for k in range(1, data.max_k + 1):
        for first in range(2):
            if scan.gain[k][first] < INT64_MIN // 4:
                continue
            # The last segment and the rows without a value go where they gain.
            gain = scan.gain[k][first] + (scan.prefix if (k + first) & 1 else 0) + max(scan.missing, 0)
            if is_better(all_left - gain * data.weight_cost + (k - 1) * data.changepoint_cost, k, cost, &n_cuts):
                found = first
                shape.n_cuts = k
                shape.missing_right = any_missing and (scan.missing <= 0 if first else scan.missing >= 0)
                for i in range(k):
                    shape.at[i] = scan.cuts[k][first][i]
    if any_missing:
        for first in range(2):  # all values on one side, the rows without a value on the other
            gain = scan.prefix if first else scan.missing
            if is_better(all_left - gain * data.weight_cost, 1, cost, &n_cuts):
                found = first
                shape.n_cuts = shape.missing_right = 1
                shape.at[0] = known
    return found
