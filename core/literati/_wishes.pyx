"""Rows that wish to go left or right, and the shape function that grants the most weight of wishes.

Many sets of wishes (one for each node of a level of a tree) are served by one scan of the rows in feature
order, so that nothing has to be sorted or filtered per node. A set with prefix sums P (weight for right less
weight for left, up to a position) gains P(end) - P(start) from every stretch it sends right; the best choice
of at most K change points is a program over their number, with moves only between distinct values.
"""

from libc.math cimport INFINITY


cdef inline void cross(Wishes* job, int32_t code, int32_t max_changepoints, double fee) noexcept nogil:
    """Consider a change point below `code`."""
    cdef int32_t count, first, i
    cdef double step, gain
    # Downwards, so that value[count - 1] is still the one without a change point here.
    for count in range(max_changepoints, 0, -1):
        for first in range(2):
            # The stretch that begins here goes right if change points so far and the first side say so.
            step = -job.prefix if (count + first) & 1 else job.prefix
            gain = job.value[first][count - 1] + step - (fee if count > 1 else 0.0)
            if gain > job.value[first][count]:
                job.value[first][count] = gain
                for i in range(count - 1):
                    job.cuts[first][count][i] = job.cuts[first][count - 1][i]
                job.cuts[first][count][count - 1] = code


cdef inline bint offer(
    Wishes* job, double granted, int32_t feature, int32_t count, int32_t first
) noexcept nogil:
    """Keep the function if it is cheaper, or as cheap with fewer change points; the caller sets its cuts."""
    cdef double cost = job.floor + job.right - granted
    if cost > job.best_cost or (cost == job.best_cost and count >= job.best.count):
        return False
    job.best_cost = cost
    job.best.feature = feature
    job.best.count = count
    job.best.swapped = first
    job.best.missing_right = (job.missing < 0) if first else (job.missing > 0)
    return True


cdef void finish(Wishes* job, int32_t feature, int32_t cardinality, int32_t max_changepoints) noexcept nogil:
    cdef int32_t count, first, i
    cdef double joined = job.missing if job.missing > 0 else 0.0
    cdef double last
    if job.any_missing and job.last >= 0:
        # All known values on one side, the missing ones on the other: a cut above every value.
        for first in range(2):
            if offer(job, job.prefix if first else job.missing, feature, 1, first):
                job.best.cuts[0] = cardinality
                job.best.missing_right = 1
    for count in range(1, max_changepoints + 1):
        for first in range(2):
            last = job.prefix if (count + first) & 1 else 0.0
            if job.value[first][count] > -INFINITY and offer(
                job, job.value[first][count] + last + joined, feature, count, first
            ):
                for i in range(count):
                    job.best.cuts[i] = job.cuts[first][count][i]


cdef void scan_feature(
    Wishes* jobs, int32_t n_jobs, const int32_t* want, const double* weight, const int32_t* codes,
    const int32_t* order, int32_t n_rows, int32_t n_missing, int32_t feature, int32_t cardinality,
    int32_t max_changepoints, double changepoint_penalty,
) noexcept nogil:
    """Offer every active set the best function on this feature.

    want[row] is 2 * set + side, or -1; order holds the rows without a value, then the others by code.
    """
    cdef Wishes* job
    cdef int32_t i, row, wish, code, count, first
    cdef double amount
    for i in range(n_jobs):
        job = &jobs[i]
        job.last = -1
        job.any_missing = False
        job.missing = 0
        job.prefix = 0
        for first in range(2):
            job.value[first][0] = 0
            for count in range(1, max_changepoints + 1):
                job.value[first][count] = -INFINITY
    for i in range(n_missing):
        wish = want[order[i]]
        if wish >= 0:
            job = &jobs[wish >> 1]
            amount = 1.0 if weight == NULL else weight[order[i]]
            job.any_missing = True
            job.missing += amount if wish & 1 else -amount
    for i in range(n_missing, n_rows):
        row = order[i]
        wish = want[row]
        if wish < 0:
            continue
        job = &jobs[wish >> 1]
        code = codes[row]
        if code != job.last:
            if job.last >= 0:
                cross(job, code, max_changepoints, changepoint_penalty)
            job.last = code
        amount = 1.0 if weight == NULL else weight[row]
        job.prefix += amount if wish & 1 else -amount
    for i in range(n_jobs):
        if jobs[i].active:
            finish(&jobs[i], feature, cardinality, max_changepoints)
