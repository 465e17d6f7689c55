"""The rows of a state by class, each class in the order of every feature, so that two classes can be merged.

A shape function with two or more change points separates two labels, so with many classes it is tried on many pairs of
them. Once a state is sorted by class, a pair takes time in proportion to its own rows, not to those of the state.
"""

from libc.string cimport memset

from literati._engine._memory cimport arena_malloc
from literati._engine._min_rows cimport interval_scan_init
from literati._engine._types cimport LEGAL_CUT, ROW_MASK, feature_order

cdef enum:
    NO_VALUE = 0x7FFFFFFF  # sorts behind every value


cdef void class_order_init(
    const Dataset* data, Control* control, Arena* arena, ClassOrder* order, uint32_t* rows, int32_t* values
) noexcept nogil:
    cdef int64_t n = data.n_rows, m = data.n_features, c = data.n_classes
    order.present = <int32_t*>arena_malloc(control, arena, c * sizeof(int32_t))
    order.start = <int32_t*>arena_malloc(control, arena, (c + 1) * sizeof(int32_t))
    order.known = <int32_t*>arena_malloc(control, arena, m * c * sizeof(int32_t))
    order.next = <int32_t*>arena_malloc(control, arena, c * sizeof(int32_t))
    order.merged = <uint32_t*>arena_malloc(control, arena, (n + 1) * sizeof(uint32_t))
    if data.min_rows > 1:
        interval_scan_init(data, control, arena, &order.scan)
    order.rows = rows
    order.values = values


cdef void sort_classes(const Dataset* data, ClassOrder* order, const int64_t* weight) noexcept nogil:
    """List the classes that have rows, the heaviest first."""
    cdef int32_t c, i, n = 0, low, high, middle
    for c in range(data.n_classes):
        if weight[c] == 0:
            continue
        # Insert behind all that weigh as much or more: a binary search, then one move.
        low, high = 0, n
        while low < high:
            middle = (low + high) // 2
            if weight[order.present[middle]] >= weight[c]:
                low = middle + 1
            else:
                high = middle
        for i in range(n, low, -1):
            order.present[i] = order.present[i - 1]
        order.present[low] = c
        n += 1
    order.n_present = n


cdef void sort_rows_by_class(const Dataset* data, Control* control, ClassOrder* order, const Rows* rows) noexcept nogil:
    cdef int32_t j, i, c, value, place
    cdef uint32_t row
    cdef const uint32_t* entries = feature_order(rows, 0)
    cdef uint32_t* list_rows
    cdef int32_t* list_values
    cdef int32_t* known
    memset(order.start, 0, (data.n_classes + 1) * sizeof(int32_t))
    for i in range(rows.n):
        order.start[data.label[entries[i] & ROW_MASK] + 1] += 1
    for c in range(data.n_classes):
        order.start[c + 1] += order.start[c]
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += rows.n
        entries = feature_order(rows, j)
        list_rows = order.rows + j * <int64_t>rows.n
        list_values = order.values + j * <int64_t>rows.n
        known = order.known + j * <int64_t>data.n_classes
        for c in range(data.n_classes):
            order.next[c] = order.start[c]
        value = 0
        for i in range(rows.n):
            if i == rows.known[j]:
                for c in range(data.n_classes):
                    known[c] = order.next[c] - order.start[c]
                value = NO_VALUE
            row = entries[i] & ROW_MASK
            c = data.label[row]
            place = order.next[c]
            order.next[c] = place + 1
            list_rows[place] = row
            list_values[place] = value
            if value != NO_VALUE and entries[i] & LEGAL_CUT:
                value += 1
        if rows.known[j] == rows.n:
            for c in range(data.n_classes):
                known[c] = order.next[c] - order.start[c]


cdef int32_t merge_classes(
    const Dataset* data, ClassOrder* order, const Rows* rows, int32_t feature, int32_t a, int32_t b
) noexcept nogil:
    cdef const uint32_t* list_rows = order.rows + feature * <int64_t>rows.n
    cdef const int32_t* values = order.values + feature * <int64_t>rows.n
    cdef const int32_t* known = order.known + feature * <int64_t>data.n_classes
    cdef int32_t at_a = order.start[a], at_b = order.start[b], end_a = at_a + known[a], end_b = at_b + known[b]
    cdef int32_t n = 0, n_known, value, last = -1
    cdef uint32_t* out = order.merged + 1
    cdef uint32_t row
    cdef bint take_a
    while at_a < end_a and at_b < end_b:
        # There is no branch, because which class comes next cannot be predicted.
        take_a = values[at_a] <= values[at_b]
        row = list_rows[at_a] if take_a else list_rows[at_b]
        value = values[at_a] if take_a else values[at_b]
        at_a += take_a
        at_b += not take_a
        out[n - 1] |= LEGAL_CUT if value != last else 0
        out[n] = row
        last = value
        n += 1
    if at_b < end_b:
        at_a, end_a = at_b, end_b
    while at_a < end_a:
        value = values[at_a]
        out[n - 1] |= LEGAL_CUT if value != last else 0
        out[n] = list_rows[at_a]
        last = value
        n += 1
        at_a += 1
    n_known = n
    # The entry before the first row took its flag; it is spare. Rows without a value come last.
    for at_a in range(order.start[a] + known[a], order.start[a + 1]):
        out[n] = list_rows[at_a]
        n += 1
    for at_b in range(order.start[b] + known[b], order.start[b + 1]):
        out[n] = list_rows[at_b]
        n += 1
    return n_known
