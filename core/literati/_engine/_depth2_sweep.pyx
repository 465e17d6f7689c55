"""Many candidate splits swept at once: the best trees of depth 1 on both children of each.

The kernels are in _lanes_body.h; here the candidates are laid out in lanes and the kernels' sums become costs.
"""

from libc.stdint cimport int16_t
from libc.string cimport memset

from literati._bounds cimport leaf_cost_of
from literati._cart cimport Cart, Cut, cart_cut_room
from literati._class_order cimport (
    ClassOrder, class_order_free, class_order_init, class_order_merge, class_order_sort, class_rows, sort_classes,
)
from literati._rows cimport drop, grab
from literati._types cimport (
    LANES, MAX_K, ROW_MASK, Problem, Rows, Shape, cost_t, feature_order, int32_t, int64_t, min_cost, uint16_t,
    uint32_t,
)

cdef enum:
    PIECES = LANES * MAX_K + 2  # that the cuts of one batch can make of one feature's order


cdef bint sweep_init(Problem* p, Sweep* sweep, const Cart* cart) noexcept nogil:
    cdef int64_t n = p.n_rows, c = p.n_classes
    cdef bint many = c > 2, pairs = c > 2 and p.max_k > 1, in_order
    memset(sweep, 0, sizeof(Sweep))
    sweep.bits = <uint16_t*>grab(p, BATCHES * n * sizeof(uint16_t))
    sweep.best = grab(p, BATCHES * 2 * MAX_K * LANES * sizeof(int64_t))
    sweep.counts = <int64_t*>grab(p, BATCHES * LANES * 2 * c * sizeof(int64_t))
    sweep.totals = <int64_t*>grab(p, BATCHES * LANES * 2 * sizeof(int64_t))
    sweep.piece_counts = <int64_t*>grab(p, PIECES * c * sizeof(int64_t))
    sweep.piece_bits = <uint16_t*>grab(p, PIECES * sizeof(uint16_t))
    sweep.scratch = grab(p, 64 * (n + c + 1) * (1 if many else 0) + 64)
    sweep.pair_weight = grab(p, n * sizeof(int64_t) * (1 if pairs else 0) + 64)
    sweep.needs = <int64_t*>grab(p, BATCHES * LANES * 2 * sizeof(int64_t))
    sweep.cuts = <Cut*>grab(p, cart_cut_room(p) * sizeof(Cut))
    sweep.shapes = <Shape*>grab(p, BATCHES * LANES * sizeof(Shape))
    sweep.left = <cost_t*>grab(p, 2 * BATCHES * LANES * sizeof(cost_t))
    in_order = class_order_init(p, &sweep.classes, cart.buffer[0], <int32_t*>cart.buffer[1])
    if (
        sweep.bits == NULL or sweep.best == NULL or sweep.counts == NULL or sweep.totals == NULL
        or sweep.piece_counts == NULL or sweep.piece_bits == NULL or sweep.scratch == NULL
        or sweep.pair_weight == NULL or sweep.needs == NULL or sweep.cuts == NULL
        or sweep.shapes == NULL or sweep.left == NULL or not in_order
    ):
        return False
    sweep.right = sweep.left + BATCHES * LANES
    return True


cdef void sweep_free(Problem* p, Sweep* sweep) noexcept nogil:
    drop(p, sweep.bits)
    drop(p, sweep.best)
    drop(p, sweep.counts)
    drop(p, sweep.totals)
    drop(p, sweep.piece_counts)
    drop(p, sweep.piece_bits)
    drop(p, sweep.scratch)
    drop(p, sweep.pair_weight)
    drop(p, sweep.needs)
    class_order_free(p, &sweep.classes)
    drop(p, sweep.cuts)
    drop(p, sweep.shapes)
    drop(p, sweep.left)
    memset(sweep, 0, sizeof(Sweep))


cdef void mark_batch(
    Problem* p, Sweep* sweep, const Rows* rows, const Shape* shapes, int32_t n, uint16_t* bits, int64_t* counts,
    int64_t* totals, bint tally_classes
) noexcept nogil:
    """Writes which of the n <= LANES candidates send a row left, and the weights of their children, by class or whole.

    Counting classes takes three times as long as the bits, and without a penalty for splits nothing needs it.
    """
    cdef int32_t lane = 0, first, feature, i, k, piece, n_pieces, stop, c, side
    cdef int32_t ends[PIECES]
    cdef int32_t end
    cdef const uint32_t* entries
    cdef uint32_t row
    cdef uint16_t pattern
    cdef int64_t* tally
    cdef bint fresh = True
    if tally_classes:
        memset(counts, 0, LANES * 2 * p.n_classes * sizeof(int64_t))
    memset(totals, 0, LANES * 2 * sizeof(int64_t))
    while lane < n and not p.stop:
        first = lane
        feature = shapes[first].feature
        n_pieces = 0
        while lane < n and shapes[lane].feature == feature:
            for k in range(shapes[lane].n_cuts):
                end = shapes[lane].at[k]
                i = n_pieces
                while i > 0 and ends[i - 1] > end:
                    ends[i] = ends[i - 1]
                    i -= 1
                ends[i] = end
                n_pieces += 1
            lane += 1
        i = 0
        for k in range(n_pieces):  # drop repeated ends
            if i == 0 or ends[k] != ends[i - 1]:
                ends[i] = ends[k]
                i += 1
        n_pieces = i
        if n_pieces == 0 or ends[n_pieces - 1] < rows.known[feature]:
            ends[n_pieces] = rows.known[feature]
            n_pieces += 1
        ends[n_pieces] = rows.n  # the rows without a value
        n_pieces += 1
        memset(sweep.piece_bits, 0, n_pieces * sizeof(uint16_t))
        for i in range(first, lane):
            k = 0
            for piece in range(n_pieces - 1):
                # the piece ends at ends[piece]: it lies behind the cuts that are smaller than its end
                while k < shapes[i].n_cuts and shapes[i].at[k] < ends[piece]:
                    k += 1
                if not k & 1:
                    sweep.piece_bits[piece] |= 1 << i
            if not shapes[i].missing_right:
                sweep.piece_bits[n_pieces - 1] |= 1 << i
        entries = feature_order(rows, feature)
        i = 0
        for piece in range(n_pieces):
            stop = ends[piece]
            pattern = sweep.piece_bits[piece]
            if tally_classes:
                tally = sweep.piece_counts + <int64_t>piece * p.n_classes
                memset(tally, 0, p.n_classes * sizeof(int64_t))
                for k in range(i, stop):
                    row = entries[k] & ROW_MASK
                    tally[p.label[row]] += p.weight[row]
            if fresh:
                for k in range(i, stop):
                    bits[entries[k] & ROW_MASK] = pattern
            else:
                for k in range(i, stop):
                    bits[entries[k] & ROW_MASK] |= pattern
            i = stop
        for i in range(first, lane):
            stop = 0
            for piece in range(n_pieces):
                side = not (sweep.piece_bits[piece] >> i) & 1
                if tally_classes:
                    for c in range(p.n_classes):
                        k = piece * p.n_classes + c
                        counts[(2 * i + side) * p.n_classes + c] += sweep.piece_counts[k]
                        totals[2 * i + side] += sweep.piece_counts[k]
                else:
                    totals[2 * i + side] += ends[piece] - stop
                stop = ends[piece]
        fresh = False


cdef inline int64_t lane_best(const void* best, int32_t width, int32_t side, int32_t k, int32_t lane) noexcept nogil:
    cdef int32_t index = (side * MAX_K + k) * LANES + lane
    if width == 0:
        return (<const int16_t*>best)[index]
    if width == 1:
        return (<const int32_t*>best)[index]
    return (<const int64_t*>best)[index]


cdef int32_t count_width(const Problem* p, const Rows* rows) noexcept nogil:
    """Which count type holds twice the weight of these rows."""
    cdef int64_t total = 0
    cdef int32_t i
    if not p.weighted:
        total = rows.n
    else:
        for i in range(rows.n):
            total += p.weight[rows.order[1 + i] & ROW_MASK]
    if total <= 16000:
        return 0
    return 1 if total <= 1 << 29 else 2


cdef inline const void* by_width(
    int32_t width, const void* small, const void* middle, const void* large
) noexcept nogil:
    return small if width == 0 else (middle if width == 1 else large)


cdef void sweep_shapes(
    Problem* p, Sweep* sweep, const Rows* rows, const Shape* shapes, int32_t n, bint quick
) noexcept nogil:
    cdef int32_t width = count_width(p, rows), n_batches = (n + LANES - 1) // LANES
    cdef int32_t b, j, i, side, k
    cdef int64_t best_size = 2 * MAX_K * LANES * (2 << width), total, right
    cdef char* best
    cdef uint16_t* bits
    cdef int64_t* counts
    cdef int64_t* totals
    cdef cost_t cost
    cdef const void* weight
    # With free splits the trivial cut, which every sweep includes, stands for the leaf.
    cdef bint pairs = p.n_classes > 2 and p.max_k > 1 and not quick
    cdef bint tally_classes = p.weighted or p.split_cost > 0 or pairs
    cdef const uint32_t* entries
    memset(sweep.best, 0, n_batches * best_size)
    if p.n_classes == 2:
        weight = by_width(width, p.signed16, p.signed32, p.signed64)
    else:
        weight = by_width(width, p.weight16, p.weight32, p.weight)
    for b in range(n_batches):
        bits = sweep.bits + b * <int64_t>p.n_rows
        best = <char*>sweep.best + b * best_size
        counts = sweep.counts + b * LANES * 2 * <int64_t>p.n_classes
        totals = sweep.totals + b * LANES * 2
        mark_batch(
            p, sweep, rows, shapes + b * LANES, min(LANES, n - b * LANES), bits, counts, totals, tally_classes
        )
        for j in range(p.n_features):
            if p.stop:
                return
            p.work += 4 * rows.n
            entries = feature_order(rows, j)
            if p.n_classes == 2:
                p.lanes.walk[width](entries, rows.known[j], rows.n, bits, weight, p.max_k, best, &p.stop)
            else:
                p.lanes.classes[width](
                    entries, rows.known[j], rows.n, bits, weight, p.label, p.n_classes, sweep.scratch, best,
                    &p.stop,
                )
        for i in range(min(LANES, n - b * LANES)):
            for side in range(2):
                total = totals[2 * i + side]
                cost = total * p.weight_cost
                if tally_classes:
                    cost = leaf_cost_of(p, counts + (2 * i + side) * p.n_classes)
                for k in range(p.max_k if p.n_classes == 2 else 1):
                    right = lane_best(best, width, side, k, i)
                    if p.n_classes == 2:
                        right = (total + right) // 2
                    cost = min_cost(cost, p.split_cost + k * p.refine_cost + (total - right) * p.weight_cost)
                if side:
                    sweep.right[b * LANES + i] = cost
                else:
                    sweep.left[b * LANES + i] = cost
    if pairs:
        sweep_pairs(p, sweep, rows, n, width)


# --- more than two classes, two or more change points -----------------------------------------------------------------


cdef void set_needs(Problem* p, Sweep* sweep, int32_t n) noexcept nogil:
    """Note for every child of every candidate how much weight two labels must have to beat what it has."""
    cdef int32_t i, side, c
    cdef int64_t total
    cdef const int64_t* counts
    for i in range(n):
        for side in range(2):
            counts = sweep.counts + (2 * <int64_t>i + side) * p.n_classes
            total = 0
            for c in range(p.n_classes):
                total += counts[c]
            sweep.totals[2 * i + side] = total
            set_need(p, sweep, i, side)


cdef inline void set_need(Problem* p, Sweep* sweep, int32_t i, int32_t side) noexcept nogil:
    """Two labels that weigh `both` may help a child if split + refine + (total - both) * weight_cost < its cost."""
    cdef cost_t have = sweep.right[i] if side else sweep.left[i]
    cdef cost_t excess = p.split_cost + p.refine_cost + sweep.totals[2 * i + side] * p.weight_cost - have
    sweep.needs[2 * i + side] = excess // p.weight_cost if excess >= 0 else -1


cdef inline bint pair_may_help(
    const Problem* p, const Sweep* sweep, int32_t first, int32_t last, int32_t a, int32_t b
) noexcept nogil:
    """Could two or more change points between these labels beat what some child of these candidates has?"""
    cdef int32_t i
    cdef const int64_t* counts = sweep.counts + 2 * <int64_t>first * p.n_classes
    for i in range(2 * first, 2 * last):
        if counts[a] + counts[b] > sweep.needs[i]:
            return True
        counts += p.n_classes
    return False


cdef int64_t least_need(const Sweep* sweep, int32_t n) noexcept nogil:
    cdef int64_t least = sweep.needs[0]
    cdef int32_t i
    for i in range(1, 2 * n):
        if sweep.needs[i] < least:
            least = sweep.needs[i]
    return least


cdef void sweep_pairs(Problem* p, Sweep* sweep, const Rows* rows, int32_t n, int32_t width) noexcept nogil:
    """More than two classes: shape functions of two or more change points, one pair of labels after the other.

    Pairs come heaviest first, so that they raise the bar for the others. A pair whose rows weigh no more than the least
    need of all children helps none of them, and neither does one that is lighter still.
    """
    cdef ClassOrder* order = &sweep.classes
    cdef int32_t n_batches = (n + LANES - 1) // LANES, i, j, k, a, b, c, batch, n_helped
    cdef int32_t helped[BATCHES]
    cdef int64_t* weight = sweep.piece_counts
    cdef int64_t least
    cdef bint sorted_by_class = False
    for c in range(p.n_classes):
        weight[c] = sweep.counts[c] + sweep.counts[p.n_classes + c]
    sort_classes(p, order, weight)
    set_needs(p, sweep, n)
    for i in range(order.n_present - 1):
        least = least_need(sweep, n)
        a = order.present[i]
        if weight[a] + weight[order.present[i + 1]] <= least:
            return
        for j in range(i + 1, order.n_present):
            b = order.present[j]
            if weight[a] + weight[b] <= least:
                break
            n_helped = 0
            for batch in range(n_batches):
                if pair_may_help(p, sweep, batch * LANES, min(n, (batch + 1) * LANES), a, b):
                    helped[n_helped] = batch
                    n_helped += 1
            if p.stop:
                return
            if n_helped == 0:
                continue
            if not sorted_by_class:
                sorted_by_class = True
                class_order_sort(p, order, rows, weight)
                if p.stop:
                    return
            walk_pair(p, sweep, rows, helped, n_helped, width, a, b)
            if p.stop:
                return
            for k in range(n_helped):
                offer_pair(p, sweep, helped[k], n, width, a, b)


cdef void walk_pair(
    Problem* p, Sweep* sweep, const Rows* rows, const int32_t* batches, int32_t n_batches, int32_t width, int32_t a,
    int32_t b
) noexcept nogil:
    """Find the best shape functions between two labels for the candidates of some batches."""
    cdef ClassOrder* order = &sweep.classes
    cdef int32_t j, i, known, n_pair = class_rows(order, a) + class_rows(order, b)
    cdef int64_t best_size = 2 * MAX_K * LANES * (2 << width)
    weigh_pair(p, sweep, a, 1, width)
    weigh_pair(p, sweep, b, -1, width)
    for i in range(n_batches):
        memset(<char*>sweep.best + batches[i] * best_size, 0, best_size)
    for j in range(p.n_features):
        if p.stop:
            return
        known = class_order_merge(p, order, rows, j, a, b)
        for i in range(n_batches):
            p.lanes.walk[width](
                order.merged + 1, known, n_pair, sweep.bits + batches[i] * <int64_t>p.n_rows, sweep.pair_weight,
                p.max_k, <char*>sweep.best + batches[i] * best_size, &p.stop,
            )
        p.work += (1 + 2 * n_batches) * n_pair


cdef void offer_pair(
    Problem* p, Sweep* sweep, int32_t batch, int32_t n, int32_t width, int32_t a, int32_t b
) noexcept nogil:
    """Offer the children of a batch what was found between two labels."""
    cdef int32_t i, side, k
    cdef int64_t best_size = 2 * MAX_K * LANES * (2 << width), both, right
    cdef const char* best = <const char*>sweep.best + batch * best_size
    cdef const int64_t* counts
    cdef cost_t cost
    for i in range(batch * LANES, min(n, (batch + 1) * LANES)):
        for side in range(2):
            counts = sweep.counts + (2 * <int64_t>i + side) * p.n_classes
            both = counts[a] + counts[b]
            cost = sweep.right[i] if side else sweep.left[i]
            for k in range(1, p.max_k):
                right = (both + lane_best(best, width, side, k, i - batch * LANES)) // 2
                cost = min_cost(
                    cost,
                    p.split_cost + k * p.refine_cost + (sweep.totals[2 * i + side] - right) * p.weight_cost,
                )
            if side:
                sweep.right[i] = cost
            else:
                sweep.left[i] = cost
            set_need(p, sweep, i, side)


cdef void weigh_pair(Problem* p, Sweep* sweep, int32_t c, int32_t sign, int32_t width) noexcept nogil:
    """Give the rows of a class their weight with a sign, in the count type of the sweep."""
    cdef const ClassOrder* order = &sweep.classes
    cdef int32_t i
    cdef uint32_t row
    for i in range(order.start[c], order.start[c + 1]):
        row = order.rows[i]
        if width == 0:
            (<int16_t*>sweep.pair_weight)[row] = <int16_t>(sign * p.weight[row])
        elif width == 1:
            (<int32_t*>sweep.pair_weight)[row] = <int32_t>(sign * p.weight[row])
        else:
            (<int64_t*>sweep.pair_weight)[row] = sign * p.weight[row]
