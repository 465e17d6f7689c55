"""Rows that wish to go left or right, and the shape function that grants the most weight of wishes.

Many sets of wishes (one for each node of a level of a tree) are served by one scan of the rows in feature
order, so that nothing has to be sorted or filtered per node. A set with prefix sums P (weight for right less
weight for left, up to a position) gains P(end) - P(start) from every stretch it sends right; the best choice
of at most K change points is a program over their number, with moves only between distinct values.
"""

from libc.math cimport INFINITY

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define PREFETCH(p) __builtin_prefetch(p)
    #else
    #define PREFETCH(p)
    #endif
    """
    void PREFETCH(const void*) noexcept nogil

cdef enum:
    AHEAD = 24  # rows; the wishes of a million rows outgrow the near caches


cdef inline void end_group(Wishes* job, int32_t max_changepoints, double fee) noexcept nogil:
    """All rows with the code `last` are seen: consider a change point below it.

    Only where P turns: from any other place a stretch gains by moving its end, or by vanishing with it. At a
    minimum only a stretch to the right may begin, at a maximum only end.
    """
    cdef int32_t count, first, i, begins = job.group > 0
    cdef double step, gain
    if job.group * job.rising < 0:
        step = -job.prefix if begins else job.prefix
        # Downwards, so that value[count - 1] is still the one without a change point here.
        for count in range(max_changepoints, 0, -1):
            first = (count + begins) & 1
            gain = job.value[count - 1][first] + step - (fee if count > 1 else 0.0)
            if gain > job.value[count][first]:
                job.value[count][first] = gain
                for i in range(count - 1):
                    job.cuts[count][first][i] = job.cuts[count - 1][first][i]
                job.cuts[count][first][count - 1] = job.last
    if job.group != 0:
        job.rising = 1 if begins else -1
    job.prefix += job.group
    job.group = 0


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


cdef void finish(Wishes* job, const Column* column, int32_t max_changepoints) noexcept nogil:
    cdef int32_t count, first, i
    cdef double joined = job.missing if job.missing > 0 else 0.0
    cdef double last
    if job.any_missing and job.last >= 0:
        # All known values on one side, the missing ones on the other: a cut above every value.
        for first in range(2):
            if offer(job, job.prefix if first else job.missing, column.feature, 1, first):
                job.best.cuts[0] = column.cardinality
                job.best.missing_right = 1
    for count in range(1, max_changepoints + 1):
        for first in range(2):
            last = job.prefix if (count + first) & 1 else 0.0
            if job.value[count][first] > -INFINITY and offer(
                job, job.value[count][first] + last + joined, column.feature, count, first
            ):
                for i in range(count):
                    job.best.cuts[i] = job.cuts[count][first][i]


cdef void scan_feature(
    Wishes* jobs, int32_t n_jobs, const int16_t* want, const double* weight, const Column* column,
    int32_t n_rows, int32_t max_changepoints, double changepoint_penalty,
) noexcept nogil:
    """Offer every active set the best function on this feature. want[row] is 2 * set + side, or -1."""
    cdef Wishes* job
    cdef const uint32_t* order = column.order
    cdef int32_t i, row, wish, count, code = -1
    cdef double amount
    for i in range(n_jobs):
        job = &jobs[i]
        job.prefix = job.group = job.missing = 0
        job.last = -1
        job.rising = 0
        job.any_missing = False
        for count in range(max_changepoints + 1):
            job.value[count][0] = job.value[count][1] = -INFINITY if count else 0
    for i in range(column.n_missing):
        row = order[i] & ROW_OF_ENTRY
        wish = want[row]
        if wish >= 0:
            job = &jobs[wish >> 1]
            amount = 1.0 if weight == NULL else weight[row]
            job.any_missing = True
            job.missing += amount if wish & 1 else -amount
    for i in range(column.n_missing, n_rows):
        if i + AHEAD < n_rows:
            PREFETCH(&want[order[i + AHEAD] & ROW_OF_ENTRY])
        code += order[i] >> 31
        row = order[i] & ROW_OF_ENTRY
        wish = want[row]
        if wish < 0:
            continue
        job = &jobs[wish >> 1]
        if code != job.last:
            end_group(job, max_changepoints, changepoint_penalty)
            job.last = code
        amount = 1.0 if weight == NULL else weight[row]
        job.group += amount if wish & 1 else -amount
    for i in range(n_jobs):
        if jobs[i].active:
            end_group(&jobs[i], max_changepoints, changepoint_penalty)
            finish(&jobs[i], column, max_changepoints)
