"""Presorted rows of a state, and the memory they live in.

A state keeps its rows once for every feature, in feature order. A child is a stable filter of its parent, so nothing is
sorted after the root. Whether a cut may lie behind a row is a flag of the entry; the filter carries it along.
"""

from libc.stdlib cimport free, malloc

from literati._types cimport (
    ROW_MASK, Problem, Rows, Shape, feature_order, int32_t, int64_t, uint8_t, uint32_t,
)


cdef void* grab(Problem* p, int64_t size) noexcept nogil:
    """malloc that is counted; NULL when there is none. The kernels may read up to 32 bytes behind the end."""
    cdef int64_t* block
    if p.measuring:
        p.bytes += size + 96
        return NULL
    if p.allocations_failing > 0:
        if p.allocations_left == 0:
            p.allocations_failing -= 1
            return NULL
        p.allocations_left -= 1
    block = <int64_t*>malloc(size + 96)
    if block == NULL:
        return NULL
    # The vectors of the kernels need 32 bytes of alignment; the size stands just before the block.
    cdef char* start = <char*>block + 64 - (<size_t>block & 31)
    (<int64_t*>start - 1)[0] = size
    (<void**>start - 2)[0] = block
    p.bytes += size + 96
    return start


cdef void drop(Problem* p, void* block) noexcept nogil:
    if block == NULL:
        return
    p.bytes -= (<int64_t*>block - 1)[0] + 96
    free((<void**>block - 2)[0])


cdef bint rows_alloc(Problem* p, Rows* rows, int32_t n) noexcept nogil:
    cdef int64_t entries = p.n_features * (<int64_t>n + 1)
    cdef void* block = grab(p, entries * sizeof(uint32_t) + p.n_features * sizeof(int32_t))
    if block == NULL:
        rows.order = NULL
        return False
    rows_borrow(p, rows, n, <uint32_t*>block, <int32_t*>(<uint32_t*>block + entries))
    return True


cdef void rows_free(Problem* p, Rows* rows) noexcept nogil:
    drop(p, rows.order)
    rows.order = NULL


cdef void rows_borrow(const Problem* p, Rows* rows, int32_t n, uint32_t* order, int32_t* known) noexcept nogil:
    """Rows in memory that belongs to somebody else."""
    rows.n = n
    rows.order = order
    rows.known = known


cdef int32_t keep_side(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint8_t target, uint32_t* out
) noexcept nogil:
    cdef int32_t i, kept = 0
    cdef uint32_t entry, row, take, last = 0, flags = 0
    # Free of branches: a cut is legal between two kept rows if any was between them before.
    for i in range(n):
        entry = entries[i]
        row = entry & ROW_MASK
        take = side[row] == target
        kept += take
        last = row if take else last
        flags = (entry ^ row) | (0 if take else flags)
        out[kept - 1] = last | flags
    return kept


cdef int32_t part_entries(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint32_t* left, uint32_t* right
) noexcept nogil:
    """Both sides of a stable partition at once, free of branches: see keep_side. Returns how many go right.

    Leaves the entries just before left and right as they were.
    """
    cdef uint32_t before_left = (left - 1)[0], before_right = (right - 1)[0]
    cdef uint32_t entry, row, goes_right, flag, last_left = 0, last_right = 0, left_flags = 0, right_flags = 0
    cdef int32_t i, n_right = 0
    for i in range(n):
        entry = entries[i]
        row = entry & ROW_MASK
        flag = entry ^ row
        goes_right = side[row]
        n_right += goes_right
        last_left = last_left if goes_right else row
        last_right = row if goes_right else last_right
        left_flags = flag | (left_flags if goes_right else 0)
        right_flags = flag | (0 if goes_right else right_flags)
        # the entry before right may be the last one of left: written first, so that left has the last word
        right[n_right - 1] = last_right | right_flags
        left[i - n_right] = last_left | left_flags
    (left - 1)[0] = before_left
    if n_right == n or &left[n - n_right] != right:
        (right - 1)[0] = before_right
    return n_right


cdef void rows_filter(
    Problem* p, const Rows* rows, const uint8_t* side, uint8_t target, Rows* out
) noexcept nogil:
    """The rows of one side, in memory that `out` already has for out.n of them; unfinished after a stop request."""
    cdef int32_t j, known
    cdef const uint32_t* entries
    cdef uint32_t* kept
    cdef uint32_t last
    for j in range(p.n_features):
        if p.stop:
            return
        p.work += rows.n
        entries = feature_order(rows, j)
        kept = feature_order(out, j)
        known = keep_side(entries, rows.known[j], side, target, kept)
        out.known[j] = known
        if rows.known[j] < rows.n:
            last = kept[known - 1]  # keep_side writes one entry before its output
            keep_side(entries + rows.known[j], rows.n - rows.known[j], side, target, kept + known)
            kept[known - 1] = last


cdef int32_t apply_shape(
    const Problem* p, const Rows* rows, const Shape* shape, uint8_t* side
) noexcept nogil:
    cdef int32_t j = shape.feature, i = 0, stop, piece, left = 0
    cdef const uint32_t* entries = feature_order(rows, j)
    for piece in range(shape.n_cuts + 1):
        stop = shape.at[piece] if piece < shape.n_cuts else rows.known[j]
        if not piece & 1:
            left += stop - i
        while i < stop:
            side[entries[i] & ROW_MASK] = piece & 1
            i += 1
    if not shape.missing_right:
        left += rows.n - i
    while i < rows.n:
        side[entries[i] & ROW_MASK] = shape.missing_right
        i += 1
    return left


cdef int32_t position_of_cut(const Problem* p, const Rows* rows, int32_t feature, int32_t cut) noexcept nogil:
    """How many rows of the state have a code below the cut."""
    cdef int32_t low = 0, high = rows.known[feature], middle
    cdef const int32_t* codes = p.codes + feature * <int64_t>p.n_rows
    cdef const uint32_t* entries = feature_order(rows, feature)
    while low < high:
        middle = (low + high) // 2
        if codes[entries[middle] & ROW_MASK] < cut:
            low = middle + 1
        else:
            high = middle
    return low


cdef int32_t cut_between(const Problem* p, int32_t feature, int32_t below, int32_t above) noexcept nogil:
    """Where a cut between two neighbouring codes of some rows stands among the codes of all rows.

    On a grid the lowest allowed place, else the one that the midpoint of the two values has, as in scikit-learn.
    """
    cdef const double* values = p.values + p.value_start[feature]
    cdef const uint8_t* grid
    cdef int32_t low = below + 1, high = above, middle
    cdef double threshold
    if p.grid != NULL:
        grid = p.grid + p.value_start[feature]
        while low < above and not grid[low]:
            low += 1
        return low
    threshold = 0.5 * values[below] + 0.5 * values[above]
    while low < high:
        middle = (low + high) // 2
        if values[middle] > threshold:
            high = middle
        else:
            low = middle + 1
    return low
