"""Admissible bounds from class weights."""

from literati._types cimport MAX_CLASSES, Problem, cost_t, int32_t, int64_t, min_cost


cdef cost_t leaf_cost_of(const Problem* p, const int64_t* counts) noexcept nogil:
    cdef int64_t total = 0, most = 0
    cdef int32_t c
    for c in range(p.n_classes):
        total += counts[c]
        if counts[c] > most:
            most = counts[c]
    return (total - most) * p.weight_cost


cdef void sift_down(int64_t* heap, int32_t n, int32_t i) noexcept nogil:
    """Restore a heap with its largest entry in front, after entry i was replaced by a smaller one."""
    cdef int64_t moved = heap[i]
    cdef int32_t child
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= moved:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = moved


cdef cost_t lower_bound_of(const Problem* p, const int64_t* counts, int64_t doomed, int32_t depth) noexcept nogil:
    """No tree of this depth on these rows costs less.

    Proof: a tree with l leaves pays for l - 1 splits and predicts at most l classes, so it gets every row outside the l
    heaviest classes wrong; and of rows with equal features only one class can be right, the others are doomed.
    """
    cdef int64_t heap[MAX_CLASSES]
    cdef int64_t outside = 0
    cdef int32_t c, n = 0, leaves = 0, most_leaves
    cdef cost_t best
    for c in range(p.n_classes):
        if counts[c] > 0:
            heap[n] = counts[c]
            n += 1
            outside += counts[c]
    most_leaves = n
    if depth < 30 and (1 << depth) < most_leaves:
        most_leaves = 1 << depth
    best = outside * p.weight_cost
    for c in range(n // 2 - 1, -1, -1):
        sift_down(heap, n, c)
    while leaves < most_leaves:
        outside -= heap[0]
        leaves += 1
        n -= 1
        heap[0] = heap[n]
        sift_down(heap, n, 0)
        if outside <= doomed:
            # More leaves only add penalties.
            return min_cost(best, (leaves - 1) * p.split_cost + doomed * p.weight_cost)
        best = min_cost(best, (leaves - 1) * p.split_cost + outside * p.weight_cost)
    return best
