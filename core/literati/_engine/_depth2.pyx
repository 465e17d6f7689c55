"""The exact solver for depth left 2 over candidate cuts, which are swept sixteen at a time."""

from libc.string cimport memset

from literati._engine._bounds cimport leaf_cost_of
from literati._engine._cart cimport cart_cuts
from literati._engine._depth2_min_rows cimport best_swept
from literati._engine._depth2_sweep cimport BATCHES, sweep_shapes
from literati._engine._min_rows cimport holds_min_rows
from literati._engine._rows cimport count_classes
from literati._engine._types cimport LANES, MAX_CLASSES, int64_t


cdef void shapes_start(ShapeIterator* iterator, int32_t n_cuts) noexcept nogil:
    memset(iterator, 0, sizeof(ShapeIterator))
    iterator.n_cuts = n_cuts


cdef bint next_cuts(const Cut* cuts, ShapeIterator* iterator, int32_t max_k) noexcept nogil:
    """Step to the next set of cuts: one cut more, or its last cut moved on, or fewer cuts, or the next feature."""
    cdef int32_t last = iterator.last
    if iterator.k > 0 and iterator.k < max_k and iterator.chosen[iterator.k - 1] + 1 < last:
        iterator.chosen[iterator.k] = iterator.chosen[iterator.k - 1] + 1
        iterator.k += 1
        return True
    while iterator.k > 0 and iterator.chosen[iterator.k - 1] + 1 >= last:
        iterator.k -= 1
    if iterator.k > 0:
        iterator.chosen[iterator.k - 1] += 1
        return True
    if last >= iterator.n_cuts:
        return False
    iterator.first = last
    while last < iterator.n_cuts and cuts[last].feature == cuts[iterator.first].feature:
        last += 1
    iterator.last = last
    iterator.k = 1
    iterator.chosen[0] = iterator.first
    return True


cdef bint shapes_next(
    const Dataset* data, const Rows* rows, const Cut* cuts, ShapeIterator* iterator, int32_t max_k, Shape* shape
) noexcept nogil:
    cdef int32_t i, known, feature
    while True:
        if iterator.k > 0 and not iterator.missing_right and rows.known[cuts[iterator.first].feature] < rows.n:
            iterator.missing_right = 1
        else:
            iterator.missing_right = 0
            if not next_cuts(cuts, iterator, max_k):
                return False
        feature = cuts[iterator.first].feature
        known = rows.known[feature]
        # The cut behind all values separates only the rows without a value: it is used alone, and they go right.
        if cuts[iterator.chosen[iterator.k - 1]].at == known and (iterator.k > 1 or not iterator.missing_right):
            continue
        shape.feature = feature
        shape.n_cuts = iterator.k
        shape.missing_right = iterator.missing_right
        for i in range(iterator.k):
            shape.cut[i] = cuts[iterator.chosen[i]].cut
            shape.at[i] = cuts[iterator.chosen[i]].at
        if data.min_rows > 1 and not holds_min_rows(data, rows, shape):
            continue
        return True


cdef int32_t next_shapes(
    const Dataset* data, const Rows* rows, Sweep* sweep, ShapeIterator* iterator
) noexcept nogil:
    cdef int32_t n = 0
    while n < BATCHES * LANES and shapes_next(data, rows, sweep.cuts, iterator, data.max_k, &sweep.shapes[n]):
        n += 1
    return n


cdef cost_t solve_depth2(
    const Dataset* data, Control* control, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves, cost_t lower,
    Shape* shape, int32_t* split_index
) noexcept nogil:
    cdef int64_t counts[MAX_CLASSES]
    cdef int32_t n, i, seen = 0
    cdef ShapeIterator iterator
    cdef cost_t best, found, penalties
    shape.feature = -1
    split_index[0] = -1
    count_classes(data, rows, counts)
    best = leaf_cost_of(data, counts)
    # Nothing costs less than the lower bound, and every tree but a leaf costs a split.
    if best <= lower or best <= data.split_cost:
        return best
    shapes_start(&iterator, cart_cuts(data, control, cart, rows, leaves, sweep.cuts))
    sweep.narrow = cart if cart.narrow else NULL
    while best > lower and not control.stop:
        n = next_shapes(data, rows, sweep, &iterator)
        if n == 0:
            break
        sweep.long_intervals = data.min_rows > 1 and data.max_k == 1
        sweep_shapes(data, control, sweep, rows, sweep.shapes, n, False)
        sweep.long_intervals = False
        if control.stop:
            break
        if data.min_rows > 1 and data.max_k > 1:
            i = best_swept(data, control, sweep, rows, n, &best)
            if i >= 0:
                shape[0] = sweep.shapes[i]
                split_index[0] = seen + i
            seen += n
            continue
        for i in range(n):
            penalties = data.split_cost + (sweep.shapes[i].n_cuts - 1) * data.changepoint_cost
            found = penalties + sweep.cost[2 * i] + sweep.cost[2 * i + 1]
            if found < best:
                best = found
                shape[0] = sweep.shapes[i]
                split_index[0] = seen + i
        seen += n
    sweep.narrow = NULL
    return best


cdef bint nth_shape(
    const Dataset* data, Control* control, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves,
    int32_t split_index, Shape* shape
) noexcept nogil:
    cdef ShapeIterator iterator
    shapes_start(&iterator, cart_cuts(data, control, cart, rows, leaves, sweep.cuts))
    while not control.stop and shapes_next(data, rows, sweep.cuts, &iterator, data.max_k, shape):
        if split_index == 0:
            return True
        split_index -= 1
    shape.feature = -1
    return False
