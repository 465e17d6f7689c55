"""Admissible bounds from class weights."""

from literati._types cimport Problem, cost_t, int32_t, int64_t, min_cost


cdef cost_t leaf_cost_of(const Problem* p, const int64_t* counts) noexcept nogil:
    cdef int64_t total = 0, most = 0
    cdef int32_t c
    for c in range(p.n_classes):
        total += counts[c]
        if counts[c] > most:
            most = counts[c]
    return (total - most) * p.weight_cost


cdef cost_t lower_bound_of(const Problem* p, const int64_t* counts, int64_t doomed, int32_t depth) noexcept nogil:
    """No tree of this depth on these rows costs less.

    Proof: a tree with l leaves pays for l - 1 splits and predicts at most l classes, so it gets every row outside the l
    heaviest classes wrong; and of rows with equal features only one class can be right, the others are doomed.
    """
    cdef int64_t outside = 0, previous = -1, heaviest, wrong
    cdef int32_t c, leaves = 1, ties = 0, seen
    cdef int32_t most_leaves = p.n_classes
    cdef cost_t best
    if depth < 30 and (1 << depth) < most_leaves:
        most_leaves = 1 << depth
    for c in range(p.n_classes):
        outside += counts[c]
    best = outside * p.weight_cost
    # Classes from the heaviest down, without sorting: `previous` is the last weight taken, `ties` how often.
    while leaves <= most_leaves:
        heaviest = -1
        seen = 0
        for c in range(p.n_classes):
            if previous < 0 or counts[c] < previous:
                if counts[c] > heaviest:
                    heaviest = counts[c]
            elif counts[c] == previous:
                seen += 1
        if previous >= 0 and ties < seen:
            heaviest = previous
            ties += 1
        else:
            ties = 1
        previous = heaviest
        if heaviest <= 0:
            break
        outside -= heaviest
        wrong = outside if outside > doomed else doomed
        best = min_cost(best, (leaves - 1) * p.split_cost + wrong * p.weight_cost)
        leaves += 1
    return best
