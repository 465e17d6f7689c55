"""Shape functions whose every interval holds at least `min_rows` of the rows with a value.

The recurrence is that of _best_shape.pxd with a delay: a change point follows one that lies min_rows rows before it, so
the best of those before is kept for the positions that are far enough behind. Rows count whether or not they have a
target side.
"""

from libc.stdint cimport INT64_MIN

from literati._engine._best_shape cimport is_better
from literati._engine._memory cimport arena_malloc

cdef enum:
    NO_POSITION = -1


cdef void interval_scan_init(const Dataset* data, Control* control, Arena* arena, IntervalScan* scan) noexcept nogil:
    cdef int64_t n = data.n_rows
    scan.capacity = n
    scan.prefix = <int64_t*>arena_malloc(control, arena, n * sizeof(int64_t))
    scan.gain[0] = <int64_t*>arena_malloc(control, arena, n * sizeof(int64_t))
    scan.gain[1] = <int64_t*>arena_malloc(control, arena, n * sizeof(int64_t))
    scan.at = <int32_t*>arena_malloc(control, arena, n * sizeof(int32_t))
    scan.before = <int32_t*>arena_malloc(control, arena, data.max_k * n * sizeof(int32_t))


cdef int32_t next_layer(
    const Dataset* data, IntervalScan* scan, int32_t first, int32_t k, int64_t* best
) noexcept nogil:
    """Find the largest gain of k change points with the last at each position; return the best one, or NO_POSITION.

    `first` is the side of the first interval, and `best` the gain with the interval behind the last change point.
    """
    cdef const int64_t* fewer = scan.gain[(k - 1) & 1]
    cdef const int64_t* prefix = scan.prefix
    cdef int64_t* gain = scan.gain[k & 1]
    cdef int32_t* before = scan.before + (k - 1) * scan.capacity
    cdef bint goes_right = (k - 1 + first) & 1, tail_right = (k + first) & 1
    cdef int32_t c, next_far = 0, best_far = NO_POSITION, found = NO_POSITION
    cdef int64_t far = 0, value
    cdef int64_t top = INT64_MIN
    for c in range(scan.n):
        if k == 1:
            gain[c] = prefix[c] if goes_right else 0
        else:
            while scan.at[next_far] <= scan.at[c] - data.min_rows:
                value = fewer[next_far]
                if value > INT64_MIN:
                    value -= prefix[next_far] if goes_right else 0
                    if best_far == NO_POSITION or value > far:
                        far = value
                        best_far = next_far
                next_far += 1
            before[c] = best_far
            gain[c] = INT64_MIN
            if best_far == NO_POSITION:
                continue
            gain[c] = far + (prefix[c] if goes_right else 0)
        value = gain[c] + (scan.total - prefix[c] if tail_right else 0)
        if found == NO_POSITION or value > top:
            top = value
            found = c
    best[0] = top
    return found


cdef int32_t offer_intervals(
    const Dataset* data, IntervalScan* scan, cost_t all_left, cost_t* cost, int32_t n_cuts, Shape* shape
) noexcept nogil:
    cdef int32_t first, k, i, c, found = -1
    cdef int64_t gain
    for first in range(2):
        for k in range(1, data.max_k + 1):
            c = next_layer(data, scan, first, k, &gain)
            if c == NO_POSITION:
                break  # with more change points there is none either
            gain += max(scan.missing, 0)
            if is_better(all_left - gain * data.weight_cost + (k - 1) * data.changepoint_cost, k, cost, &n_cuts):
                found = first
                shape.n_cuts = k
                shape.missing_right = scan.n_missing > 0 and (scan.missing <= 0 if first else scan.missing >= 0)
                for i in range(k - 1, -1, -1):
                    shape.at[i] = scan.at[c]
                    c = scan.before[i * scan.capacity + c]
    if scan.known >= data.min_rows and scan.n_missing >= data.min_rows:
        for first in range(2):  # all values on one side, the rows without a value on the other
            gain = scan.total if first else scan.missing
            if is_better(all_left - gain * data.weight_cost, 1, cost, &n_cuts):
                found = first
                shape.n_cuts = shape.missing_right = 1
                shape.at[0] = <int32_t>scan.known
    return found
