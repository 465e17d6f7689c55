"""Presorted rows of a state.

A state keeps its rows once for every feature, in feature order. A child is a stable filter of its parent, so nothing is
sorted after the root. Whether a cut may lie behind a row is a flag of the entry; the filter carries it along.
"""

from libc.string cimport memset

from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._types cimport LEGAL_CUT, ROW_MASK, feature_order


cdef bint rows_alloc(const Dataset* data, Control* control, Rows* rows, int32_t n) noexcept nogil:
    cdef int64_t entries = data.n_features * (<int64_t>n + 1)
    cdef void* block = tracked_malloc(control, entries * sizeof(uint32_t) + data.n_features * sizeof(int32_t))
    if block == NULL:
        rows.order = NULL
        return False
    rows.n = n
    rows.order = <uint32_t*>block
    rows.known = <int32_t*>(rows.order + entries)
    return True


cdef void rows_free(Control* control, Rows* rows) noexcept nogil:
    tracked_free(control, rows.order)
    rows.order = NULL


cdef int32_t keep_side(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint8_t target, uint32_t* out
) noexcept nogil:
    cdef int32_t i, kept = 0
    cdef uint32_t entry, row, take, last = 0, flags = 0
    # A cut is legal between two kept rows if any was between them before. There is no branch, because which side a row
    # is on cannot be predicted: `take` is all ones or zero, and the compiler makes no branch of it.
    for i in range(n):
        entry = entries[i]
        row = entry & ROW_MASK
        take = 0 - <uint32_t>(side[row] == target)
        kept -= <int32_t>take
        last ^= (last ^ row) & take
        flags = (entry ^ row) | (flags & ~take)
        out[kept - 1] = last | flags
    return kept


cdef int32_t partition_entries(
    const uint32_t* entries, int32_t n, const uint8_t* side, uint32_t* left, uint32_t* right
) noexcept nogil:
    """Partition entries stably, without a branch: see keep_side."""
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
        # The entry before `right` may be the last one of `left`: it is written first, so that `left` overwrites it.
        right[n_right - 1] = last_right | right_flags
        left[i - n_right] = last_left | left_flags
    (left - 1)[0] = before_left
    if n_right == n or &left[n - n_right] != right:
        (right - 1)[0] = before_right
    return n_right


cdef inline int32_t filter_entries(
    const Dataset* data, const uint32_t* entries, int32_t n, const uint8_t* side, uint8_t target, uint32_t* out
) noexcept nogil:
    if data.lanes.keep_side != NULL:
        return data.lanes.keep_side(entries, n, side, target, out)
    return keep_side(entries, n, side, target, out)


cdef void rows_filter(
    const Dataset* data, Control* control, const Rows* rows, const uint8_t* side, uint8_t target, Rows* out
) noexcept nogil:
    cdef int32_t j, known
    cdef const uint32_t* entries
    cdef uint32_t* kept
    cdef uint32_t last
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += rows.n
        entries = feature_order(rows, j)
        kept = feature_order(out, j)
        known = filter_entries(data, entries, rows.known[j], side, target, kept)
        out.known[j] = known
        if rows.known[j] < rows.n:
            last = kept[known - 1]  # the filter writes one entry before its output
            filter_entries(data, entries + rows.known[j], rows.n - rows.known[j], side, target, kept + known)
            kept[known - 1] = last


cdef int32_t apply_shape(const Rows* rows, const Shape* shape, uint8_t* side) noexcept nogil:
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


cdef int32_t position_of_cut(const Dataset* data, const Rows* rows, int32_t feature, int32_t cut) noexcept nogil:
    cdef int32_t low = 0, high = rows.known[feature], middle
    cdef const int32_t* codes = data.codes + feature * <int64_t>data.n_rows
    cdef const uint32_t* entries = feature_order(rows, feature)
    while low < high:
        middle = (low + high) // 2
        if codes[entries[middle] & ROW_MASK] < cut:
            low = middle + 1
        else:
            high = middle
    return low


cdef int32_t next_legal(const Rows* rows, int32_t feature, int32_t at) noexcept nogil:
    cdef const uint32_t* entries = feature_order(rows, feature)
    while at < rows.known[feature] and not entries[at - 1] & LEGAL_CUT:
        at += 1
    return at


cdef int32_t cut_at(
    const Dataset* data, int32_t feature, const uint32_t* entries, int32_t known, int32_t at
) noexcept nogil:
    cdef const int32_t* codes = data.codes + feature * <int64_t>data.n_rows
    if at == known:
        return data.cardinality[feature]
    return cut_between(data, feature, codes[entries[at - 1] & ROW_MASK], codes[entries[at] & ROW_MASK])


cdef int32_t cut_between(const Dataset* data, int32_t feature, int32_t below, int32_t above) noexcept nogil:
    # On a grid the lowest legal code, else that of the midpoint of the two values, as in scikit-learn.
    cdef const double* values = data.values + data.value_start[feature]
    cdef const uint8_t* grid
    cdef int32_t low = below + 1, high = above, middle
    cdef double threshold
    if data.grid != NULL:
        grid = data.grid + data.value_start[feature]
        while low < high and not grid[low]:
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


cdef void count_classes(const Dataset* data, const Rows* rows, int64_t* counts) noexcept nogil:
    cdef int32_t i, ones = 0
    cdef uint32_t row
    cdef const uint32_t* entries = rows.order + 1
    if data.n_classes == 2 and not data.weighted:
        # A sum in a register: counts in memory would wait for each other.
        for i in range(rows.n):
            ones += data.label[entries[i] & ROW_MASK]
        counts[0] = rows.n - ones
        counts[1] = ones
        return
    memset(counts, 0, data.n_classes * sizeof(int64_t))
    for i in range(rows.n):
        row = entries[i] & ROW_MASK
        counts[data.label[row]] += data.weight[row]
