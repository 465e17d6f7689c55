"""The exact solver for depth left 1: the best shape function over every change point is a scan, without any search."""

from literati._engine._best_shape cimport SideScan, end_group, offer_shapes, start_scan
from literati._engine._bounds cimport leaf_cost_of
from literati._engine._class_order cimport class_rows, merge_classes, sort_classes, sort_rows_by_class
from literati._engine._min_rows cimport IntervalScan, add_position, offer_intervals, start_intervals
from literati._engine._rows cimport count_classes, cut_at, next_legal, position_of_cut
from literati._engine._types cimport LEGAL_CUT, MAX_CLASSES, ROW_MASK, feature_order, int32_t, int64_t, uint32_t


cdef void offer_pair_shapes(
    const Dataset* data, ClassOrder* order, const Rows* rows, const uint32_t* entries, int32_t known, int32_t n,
    int32_t feature, int32_t label, int32_t other, cost_t all_left, cost_t* cost, Shape* shape
) noexcept nogil:
    """Offer the best shape function of one feature that separates two labels, given their rows in its order.

    Rows of `label` should go left, those of `other` right. `all_left` is the cost of a split that sends every row left.
    """
    cdef SideScan scan
    cdef Shape unused
    cdef cost_t lowest = cost[0]
    cdef int32_t i
    cdef uint32_t row
    start_scan(&scan, data.max_k)
    for i in range(known):
        row = entries[i] & ROW_MASK
        scan.group += -data.weight[row] if data.label[row] == label else data.weight[row]
        # A balanced group is left open: of equally good change points the first one is taken.
        if entries[i] & LEGAL_CUT and scan.group != 0:
            end_group(&scan, data.max_k)
            scan.at = i + 1
    end_group(&scan, data.max_k)
    for i in range(known, n):
        row = entries[i] & ROW_MASK
        scan.missing += -data.weight[row] if data.label[row] == label else data.weight[row]
    if data.min_rows > 1:
        # A function with intervals of any size costs no more: only where one is better, the slower scan is made.
        if offer_shapes(data, &scan, known, rows.known[feature] < rows.n, all_left, &lowest, 0, &unused) >= 0:
            offer_long_intervals(data, order, rows, feature, label, other, all_left, cost, shape)
    elif offer_shapes(data, &scan, known, rows.known[feature] < rows.n, all_left, cost, 0, shape) >= 0:
        shape.feature = feature
        to_state(data, rows, entries, known, shape)


cdef void offer_long_intervals(
    const Dataset* data, ClassOrder* order, const Rows* rows, int32_t feature, int32_t label, int32_t other,
    cost_t all_left, cost_t* cost, Shape* shape
) noexcept nogil:
    """Offer the best shape function between two labels whose intervals hold min_rows rows, of any label."""
    cdef IntervalScan* scan = &order.scan
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef int32_t i, known = rows.known[feature]
    cdef uint32_t row
    start_intervals(scan, known, rows.n - known)
    for i in range(known):
        row = entries[i] & ROW_MASK
        if data.label[row] == label:
            scan.total -= data.weight[row]
        elif data.label[row] == other:
            scan.total += data.weight[row]
        if entries[i] & LEGAL_CUT:
            add_position(data, scan, i + 1)
    for i in range(known, rows.n):
        row = entries[i] & ROW_MASK
        if data.label[row] == label:
            scan.missing -= data.weight[row]
        elif data.label[row] == other:
            scan.missing += data.weight[row]
    if offer_intervals(data, scan, all_left, cost, 0, shape) >= 0:
        shape.feature = feature
        for i in range(shape.n_cuts):
            shape.cut[i] = cut_at(data, feature, entries, known, shape.at[i])


cdef void to_state(
    const Dataset* data, const Rows* rows, const uint32_t* entries, int32_t known, Shape* shape
) noexcept nogil:
    """Turn positions between rows of a pair of labels into positions between rows of the state, and into codes.

    A change point behind a row of the pair goes behind the last row of the state with the same value; one behind the
    last row of the pair goes behind all values.
    """
    cdef int32_t feature = shape.feature, i, code
    cdef const int32_t* codes = data.codes + feature * <int64_t>data.n_rows
    for i in range(shape.n_cuts):
        if shape.at[i] == known:
            shape.at[i] = rows.known[feature]
        else:
            code = codes[entries[shape.at[i] - 1] & ROW_MASK]
            shape.at[i] = next_legal(rows, feature, position_of_cut(data, rows, feature, code + 1))
        shape.cut[i] = cut_at(data, feature, feature_order(rows, feature), rows.known[feature], shape.at[i])


cdef cost_t solve_depth1(
    const Dataset* data, Control* control, ClassOrder* order, const Rows* rows, Shape* shape
) noexcept nogil:
    cdef int32_t a, b, j, i, k, known, n_pair
    cdef int64_t total = 0, both
    cdef int64_t counts[MAX_CLASSES]
    cdef cost_t cost
    shape.feature = -1
    count_classes(data, rows, counts)
    cost = leaf_cost_of(data, counts)
    if data.min_rows > 1 and rows.n < 2 * data.min_rows:
        return cost
    for a in range(data.n_classes):
        total += counts[a]
    if data.n_classes == 2:
        for j in range(data.n_features):
            if control.stop:
                return cost
            control.work += 2 * rows.n
            offer_pair_shapes(
                data, order, rows, feature_order(rows, j), rows.known[j], rows.n, j, 0, 1,
                data.split_cost + counts[1] * data.weight_cost, &cost, shape,
            )
        return cost
    sort_classes(data, order, counts)
    sort_rows_by_class(data, control, order, rows)
    # The heaviest pairs come first. A function between two labels misclassifies all rows of other labels, so a pair
    # that is too light to beat the best cost ends the round: all that follow are lighter.
    for i in range(order.n_present - 1):
        a = order.present[i]
        for k in range(i + 1, order.n_present):
            b = order.present[k]
            both = counts[a] + counts[b]
            if data.split_cost + (total - both) * data.weight_cost >= cost:
                break
            n_pair = class_rows(order, a) + class_rows(order, b)
            for j in range(data.n_features):
                if control.stop:
                    return cost
                known = merge_classes(data, order, rows, j, a, b)
                control.work += 2 * n_pair
                offer_pair_shapes(
                    data, order, rows, order.merged + 1, known, n_pair, j, a, b,
                    data.split_cost + (total - counts[a]) * data.weight_cost, &cost, shape,
                )
    return cost
