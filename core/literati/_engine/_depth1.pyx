"""Exact solvers for depth left 1 and 2.

At depth left 1 the best shape function over every change point is a scan, without any search. At depth left 2 the
candidates of the state are swept, sixteen at a time.
"""

from libc.string cimport memset

from literati._bounds cimport leaf_cost_of
from literati._cart cimport Cart, Cut, cart_cuts
from literati._class_order cimport ClassOrder, class_order_merge, class_order_sort, class_rows
from literati._rows cimport cut_between, position_of_cut
from literati._sweep cimport BATCHES, Sweep, sweep_shapes
from literati._types cimport (
    LANES, LEGAL_CUT, MAX_CLASSES, ROW_MASK, Problem, Rows, Shape, cost_t, feature_order, int32_t, int64_t, uint32_t,
)


cdef void count_classes(const Problem* p, const Rows* rows, int64_t* counts, int64_t* doomed) noexcept nogil:
    cdef int32_t i
    cdef uint32_t row
    cdef const uint32_t* entries = rows.order + 1
    memset(counts, 0, p.n_classes * sizeof(int64_t))
    doomed[0] = 0
    for i in range(rows.n):
        row = entries[i] & ROW_MASK
        counts[p.label[row]] += p.weight[row]
        doomed[0] += p.doomed[row]


# --- all shape functions of some cuts ---------------------------------------------------------------------------------


cdef void shapes_start(ShapeWalk* walk, int32_t n_cuts) noexcept nogil:
    memset(walk, 0, sizeof(ShapeWalk))
    walk.n_cuts = n_cuts


cdef bint shapes_next(
    const Problem* p, const Rows* rows, const Cut* cuts, ShapeWalk* walk, int32_t max_k, Shape* shape
) noexcept nogil:
    cdef int32_t i, known, feature
    while True:
        if walk.k > 0 and not walk.missing_right and rows.known[cuts[walk.first].feature] < rows.n:
            walk.missing_right = 1
        else:
            walk.missing_right = 0
            # Next set of cuts: longer first, then the last one moves on, then shorter; then the next feature.
            if walk.k > 0 and walk.k < max_k and walk.chosen[walk.k - 1] + 1 < walk.last:
                walk.chosen[walk.k] = walk.chosen[walk.k - 1] + 1
                walk.k += 1
            else:
                while walk.k > 0 and walk.chosen[walk.k - 1] + 1 >= walk.last:
                    walk.k -= 1
                if walk.k > 0:
                    walk.chosen[walk.k - 1] += 1
                else:
                    if walk.last >= walk.n_cuts:
                        return False
                    walk.first = walk.last
                    while walk.last < walk.n_cuts and cuts[walk.last].feature == cuts[walk.first].feature:
                        walk.last += 1
                    walk.k = 1
                    walk.chosen[0] = walk.first
        feature = cuts[walk.first].feature
        known = rows.known[feature]
        # The cut behind all values parts only the rows without one: alone, and against the missing side.
        if cuts[walk.chosen[walk.k - 1]].at == known and (walk.k > 1 or not walk.missing_right):
            continue
        shape.feature = feature
        shape.n_cuts = walk.k
        shape.missing_right = walk.missing_right
        for i in range(walk.k):
            shape.cut[i] = cuts[walk.chosen[i]].cut
            shape.at[i] = cuts[walk.chosen[i]].at
        return True


# --- depth 1 with its change points -----------------------------------------------------------------------------------


cdef struct Segments:
    int64_t sum          # of the walk over the left segments
    int32_t at[8]        # change points


cdef void extend(
    Segments* best, const Segments* shorter, int64_t walk, int32_t sign, int32_t k, int32_t at
) noexcept nogil:
    """Offers best (of k + 1 change points) the segments of one change point less with another at `at`.

    `sign` is 1 to seek the largest sum and -1 for the smallest.
    """
    cdef int64_t sum = (shorter.sum if k else 0) + (-walk if k & 1 else walk)
    cdef int32_t i
    if sign * (sum - best.sum) > 0:
        best.sum = sum
        for i in range(k):
            best.at[i] = shorter.at[i]
        best.at[k] = at


cdef void offer_pair(
    Problem* p, const Rows* rows, const uint32_t* entries, int32_t known, int32_t n, int32_t feature, int32_t label,
    int64_t both, int64_t total, cost_t* cost, Shape* shape
) noexcept nogil:
    """Offer the best shape functions of one feature that separate two labels, given the rows of these in its order.

    `both` is the weight of the two labels, `label` one of them, `total` the weight of the state.
    """
    cdef Segments best[2][8]
    cdef int32_t i, k, turn, sign
    cdef uint32_t row
    cdef int64_t walk = 0, missing = 0, left_sum, right
    cdef cost_t found
    memset(best, 0, sizeof(best))
    for i in range(known):
        row = entries[i] & ROW_MASK
        walk += p.weight[row] if p.label[row] == label else -p.weight[row]
        if entries[i] & LEGAL_CUT or i == known - 1:
            for k in range(p.max_k - 1, -1, -1):
                for turn in range(2):
                    # Positions among the rows of the pair; translated to those of the state when the shape is kept.
                    extend(&best[turn][k], &best[turn][k - 1] if k else NULL, walk, 1 - 2 * turn, k, i + 1)
    for i in range(known, n):
        row = entries[i] & ROW_MASK
        missing += p.weight[row] if p.label[row] == label else -p.weight[row]
    for k in range(p.max_k):
        for turn in range(2):
            sign = 1 - 2 * turn
            left_sum = best[turn][k].sum + (walk if k & 1 else 0)
            if sign * missing > 0:
                left_sum += missing
            # right minus wrong is twice the left sum less the total, or its negative
            right = (both + sign * (2 * left_sum - walk - missing)) // 2
            found = p.split_cost + k * p.refine_cost + (total - right) * p.weight_cost
            if found < cost[0]:
                to_state(p, rows, entries, known, feature, &best[turn][k], k + 1)
                if write_shape(p, rows, feature, &best[turn][k], k + 1, 0 if sign * missing > 0 else 1, shape):
                    cost[0] = found


cdef void to_state(
    const Problem* p, const Rows* rows, const uint32_t* entries, int32_t known, int32_t feature, Segments* segments,
    int32_t k
) noexcept nogil:
    """Turn change points between rows of a pair into change points between rows of the state.

    A change point behind a row of the pair goes behind the last row of the state with the same value; one behind the
    last row of the pair goes behind all values.
    """
    cdef const int32_t* codes = p.codes + feature * <int64_t>p.n_rows
    cdef int32_t i
    for i in range(k):
        if segments.at[i] == known:
            segments.at[i] = rows.known[feature]
        elif segments.at[i] > 0:
            segments.at[i] = next_legal_at(
                p, rows, feature, codes[entries[segments.at[i] - 1] & ROW_MASK]
            )


cdef int32_t next_legal_at(const Problem* p, const Rows* rows, int32_t feature, int32_t code) noexcept nogil:
    """The first legal position behind all rows of the state with this code or a lower one."""
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef int32_t at = position_of_cut(p, rows, feature, code + 1)
    while at < rows.known[feature] and not entries[at - 1] & LEGAL_CUT:
        at += 1
    return at


cdef cost_t solve_one(Problem* p, ClassOrder* order, const Rows* rows, Shape* shape) noexcept nogil:
    cdef int32_t a, b, j, i, k, known
    cdef int64_t total = 0, doomed, both
    cdef int64_t counts[MAX_CLASSES]
    cdef cost_t cost
    shape.feature = -1
    count_classes(p, rows, counts, &doomed)
    cost = leaf_cost_of(p, counts)
    for a in range(p.n_classes):
        total += counts[a]
    if p.n_classes == 2:
        for j in range(p.n_features):
            if p.stop:
                return cost
            p.work += 2 * rows.n
            offer_pair(
                p, rows, feature_order(rows, j), rows.known[j], rows.n, j, 0, total, total, &cost, shape
            )
        return cost
    class_order_sort(p, order, rows, counts)
    # The heaviest pairs come first: a pair that is too light ends the round, and so do all lighter ones.
    for i in range(order.n_present - 1):
        a = order.present[i]
        for k in range(i + 1, order.n_present):
            b = order.present[k]
            both = counts[a] + counts[b]
            if p.split_cost + (total - both) * p.weight_cost >= cost:
                break
            for j in range(p.n_features):
                if p.stop:
                    return cost
                known = class_order_merge(p, order, rows, j, a, b)
                p.work += 2 * (class_rows(order, a) + class_rows(order, b))
                offer_pair(
                    p, rows, order.merged + 1, known, class_rows(order, a) + class_rows(order, b), j, a, both, total,
                    &cost, shape,
                )
    return cost


cdef bint write_shape(
    Problem* p, const Rows* rows, int32_t feature, const Segments* segments, int32_t k, int32_t missing_right,
    Shape* shape
) noexcept nogil:
    """The shape function of a set of change points, some of which may coincide or lie at an end; False if constant."""
    cdef int32_t i, n = 0, known = rows.known[feature], at
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef const int32_t* codes = p.codes + feature * <int64_t>p.n_rows
    cdef int32_t kept[8]
    cdef int32_t flip = 0
    for i in range(k):
        at = segments.at[i]
        if n and kept[n - 1] == at:
            n -= 1  # two change points at one place cancel
        elif at == 0 and n == 0:
            flip ^= 1  # the first segment is empty: the sides change names
        else:
            kept[n] = at
            n += 1
    if flip:
        missing_right = 1 - missing_right
    if n and kept[n - 1] == known and (n > 1 or known == rows.n):
        n -= 1  # nothing lies behind the last value
    if n == 0:
        if known == rows.n or not missing_right:
            return False
        kept[0] = known
        n = 1
    if known == rows.n:
        missing_right = 0
    shape.feature = feature
    shape.n_cuts = n
    shape.missing_right = missing_right
    for i in range(n):
        at = kept[i]
        shape.at[i] = at
        if at == known:
            shape.cut[i] = p.card[feature]
        else:
            shape.cut[i] = cut_between(p, feature, codes[entries[at - 1] & ROW_MASK], codes[entries[at] & ROW_MASK])
    return True


# --- depth 2 ----------------------------------------------------------------------------------------------------------


cdef cost_t solve_two(
    Problem* p, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves, cost_t bound, Shape* shape, int32_t* number
) noexcept nogil:
    cdef int64_t counts[MAX_CLASSES]
    cdef int64_t doomed
    cdef int32_t n_cuts, n, i, seen = 0
    cdef ShapeWalk walk
    cdef bint more = True
    cdef cost_t best, found
    shape.feature = -1
    number[0] = -1
    count_classes(p, rows, counts, &doomed)
    best = leaf_cost_of(p, counts)
    if best <= bound or best <= p.split_cost:
        return best
    n_cuts = cart_cuts(p, cart, rows, leaves, sweep.cuts)
    if p.stop:
        return best
    shapes_start(&walk, n_cuts)
    while more:
        n = 0
        while n < BATCHES * LANES:
            more = shapes_next(p, rows, sweep.cuts, &walk, p.max_k, &sweep.shapes[n])
            if not more:
                break
            n += 1
        if n == 0:
            break
        sweep_shapes(p, sweep, rows, sweep.shapes, n, False)
        if p.stop:
            return best
        for i in range(n):
            found = (
                p.split_cost + (sweep.shapes[i].n_cuts - 1) * p.refine_cost + sweep.left[i] + sweep.right[i]
            )
            if found < best:
                best = found
                shape[0] = sweep.shapes[i]
                number[0] = seen + i
        seen += n
        if best <= bound:
            break
    return best


cdef bint nth_shape(
    Problem* p, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves, int32_t number, Shape* shape
) noexcept nogil:
    cdef ShapeWalk walk
    cdef int32_t n_cuts = cart_cuts(p, cart, rows, leaves, sweep.cuts)
    if p.stop:
        return False
    shapes_start(&walk, n_cuts)
    while shapes_next(p, rows, sweep.cuts, &walk, p.max_k, shape):
        if number == 0:
            return True
        number -= 1
    shape.feature = -1
    return False
