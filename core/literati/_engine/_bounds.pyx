"""Admissible bounds from class weights."""

from libc.string cimport memset


cdef cost_t leaf_cost_of(const Dataset* data, const int64_t* counts) noexcept nogil:
    cdef int64_t total = 0, heaviest = 0
    cdef int32_t c
    for c in range(data.n_classes):
        total += counts[c]
        heaviest = max(heaviest, counts[c])
    return (total - heaviest) * data.weight_cost


cdef void empty_summary(const Dataset* data, RowSummary* rows) noexcept nogil:
    rows.n = 0
    rows.unavoidable_error = 0
    rows.hash[0] = rows.hash[1] = 0
    memset(rows.counts, 0, data.n_classes * sizeof(int64_t))


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


cdef cost_t lower_bound_of(const Dataset* data, const RowSummary* rows, int32_t depth) noexcept nogil:
    """Return the smallest cost that class weights allow.

    Proof: a tree with l leaves pays for l - 1 splits and predicts at most l classes, so it misclassifies every row
    outside the l heaviest classes; and of rows with equal features only one class can be right, so the error is never
    less than unavoidable_error.
    """
    cdef int64_t heap[MAX_CLASSES]
    cdef int64_t outside = 0
    cdef int32_t c, n = 0, leaves = 0, max_leaves
    cdef cost_t best
    for c in range(data.n_classes):
        if rows.counts[c] > 0:
            heap[n] = rows.counts[c]
            n += 1
            outside += rows.counts[c]
    max_leaves = n
    if depth < 30 and (1 << depth) < max_leaves:
        max_leaves = 1 << depth
    best = outside * data.weight_cost
    for c in range(n // 2 - 1, -1, -1):
        sift_down(heap, n, c)
    while leaves < max_leaves:
        outside -= heap[0]
        leaves += 1
        n -= 1
        heap[0] = heap[n]
        sift_down(heap, n, 0)
        if outside <= rows.unavoidable_error:
            # More leaves only add penalties.
            return min(best, (leaves - 1) * data.split_cost + rows.unavoidable_error * data.weight_cost)
        best = min(best, (leaves - 1) * data.split_cost + outside * data.weight_cost)
    return best
