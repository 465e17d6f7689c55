"""A sweep scores many candidate splits at once: the best trees of depth 1 on both children of each.

The kernels are in _lanes_body.h. This module lays the candidates out in lanes and turns the kernels' sums into costs.
"""

from libc.string cimport memset

from literati._engine._bounds cimport leaf_cost_of
from literati._engine._cart cimport max_candidate_cuts
from literati._engine._class_order cimport class_order_init, class_rows, merge_classes, sort_classes, sort_rows_by_class
from literati._engine._memory cimport arena_malloc
from literati._engine._types cimport LANES, MAX_K, NARROW_ROWS, ROW_MASK, feature_order, int16_t

cdef enum:
    MAX_PIECES = LANES * MAX_K + 2  # that the cuts of one batch can make of one feature's order
    MAX_WEIGHT_16 = 16000           # twice this weight fits into 16 bits
    MAX_WEIGHT_32 = 1 << 29         # twice this weight fits into 32 bits


# The order of one feature, cut wherever a candidate on this feature cuts it.
cdef struct Pieces:
    int32_t first                   # candidates first .. last - 1 of the batch split on this feature
    int32_t last
    int32_t n                       # number of pieces; the last one holds the rows without a value
    int32_t end[MAX_PIECES]         # [piece] position behind its last row
    uint16_t left[MAX_PIECES]       # [piece] bit i is set if candidate i sends the piece left


cdef void sweep_init(
    const Dataset* data, Control* control, Arena* arena, Sweep* sweep, const Cart* cart
) noexcept nogil:
    cdef int64_t n = data.n_rows, c = data.n_classes
    cdef bint many = c > 2, pairs = c > 2 and data.max_k > 1
    memset(sweep, 0, sizeof(Sweep))
    sweep.bits = <uint16_t*>arena_malloc(control, arena, BATCHES * n * sizeof(uint16_t))
    sweep.best = arena_malloc(control, arena, BATCHES * 2 * MAX_K * LANES * sizeof(int64_t))
    sweep.counts = <int64_t*>arena_malloc(control, arena, BATCHES * LANES * 2 * c * sizeof(int64_t))
    sweep.totals = <int64_t*>arena_malloc(control, arena, BATCHES * LANES * 2 * sizeof(int64_t))
    sweep.piece_counts = <int64_t*>arena_malloc(control, arena, MAX_PIECES * c * sizeof(int64_t))
    sweep.scratch = arena_malloc(control, arena, 64 * (n + c + 1) * (1 if many else 0) + 64)
    sweep.pair_weight = arena_malloc(control, arena, n * sizeof(int64_t) * (1 if pairs else 0) + 64)
    sweep.min_weight = <int64_t*>arena_malloc(control, arena, BATCHES * LANES * 2 * sizeof(int64_t))
    sweep.cuts = <Cut*>arena_malloc(control, arena, max_candidate_cuts(data) * sizeof(Cut))
    sweep.shapes = <Shape*>arena_malloc(control, arena, BATCHES * LANES * sizeof(Shape))
    sweep.cost = <cost_t*>arena_malloc(control, arena, 2 * BATCHES * LANES * sizeof(cost_t))
    sweep.errors = <int64_t*>arena_malloc(control, arena, 2 * BATCHES * LANES * (data.max_k + 1) * sizeof(int64_t))
    sweep.children = <uint32_t*>arena_malloc(control, arena, min(n, <int64_t>NARROW_ROWS) * sizeof(uint32_t))
    if data.min_rows > 1:
        # The rows of a child are laid out by rows_alloc: the order, then how many have a value.
        sweep.child.order = <uint32_t*>arena_malloc(control, arena, 4 * data.n_features * (n + 2))
        sweep.side = <uint8_t*>arena_malloc(control, arena, n)
    class_order_init(data, control, arena, &sweep.classes, cart.buffer[0], <int32_t*>cart.buffer[1])


# --- candidates in lanes ----------------------------------------------------------------------------------------------


cdef void find_pieces(const Rows* rows, const Shape* shapes, int32_t n, int32_t first, Pieces* pieces) noexcept nogil:
    """Cut the order of a feature at the cuts of all candidates on it, from the first of them on."""
    cdef int32_t feature = shapes[first].feature, lane = first, n_ends = 0, k, i, end
    cdef int32_t* ends = pieces.end
    while lane < n and shapes[lane].feature == feature:
        for k in range(shapes[lane].n_cuts):
            end = shapes[lane].at[k]
            i = n_ends
            while i > 0 and ends[i - 1] > end:
                ends[i] = ends[i - 1]
                i -= 1
            ends[i] = end
            n_ends += 1
        lane += 1
    i = 0
    for k in range(n_ends):  # remove repeated ends
        if i == 0 or ends[k] != ends[i - 1]:
            ends[i] = ends[k]
            i += 1
    if i == 0 or ends[i - 1] < rows.known[feature]:
        ends[i] = rows.known[feature]
        i += 1
    ends[i] = rows.n
    pieces.first = first
    pieces.last = lane
    pieces.n = i + 1


cdef void set_sides(const Shape* shapes, Pieces* pieces) noexcept nogil:
    """Note for every piece which candidates send it left."""
    cdef int32_t lane, piece, k
    memset(pieces.left, 0, pieces.n * sizeof(uint16_t))
    for lane in range(pieces.first, pieces.last):
        k = 0
        for piece in range(pieces.n - 1):
            # The piece lies behind the cuts that are smaller than its end.
            while k < shapes[lane].n_cuts and shapes[lane].at[k] < pieces.end[piece]:
                k += 1
            if not k & 1:
                pieces.left[piece] |= 1 << lane
        if not shapes[lane].missing_right:
            pieces.left[pieces.n - 1] |= 1 << lane


cdef void mark_rows(
    const Dataset* data, Sweep* sweep, const uint32_t* entries, const Pieces* pieces, uint16_t* bits, bint count
) noexcept nogil:
    """Write the bits of every row and, if `count` is set, the class weights of every piece."""
    cdef int32_t piece, k, start = 0, end
    cdef uint32_t row
    cdef uint16_t pattern
    cdef int64_t* counts
    for piece in range(pieces.n):
        end = pieces.end[piece]
        pattern = pieces.left[piece]
        if count:
            counts = sweep.piece_counts + <int64_t>piece * data.n_classes
            memset(counts, 0, data.n_classes * sizeof(int64_t))
            for k in range(start, end):
                row = entries[k] & ROW_MASK
                counts[data.label[row]] += data.weight[row]
        if pieces.first == 0:
            for k in range(start, end):
                bits[entries[k] & ROW_MASK] = pattern
        else:
            for k in range(start, end):
                bits[entries[k] & ROW_MASK] |= pattern
        start = end


cdef void weigh_children(
    const Dataset* data, const Sweep* sweep, const Pieces* pieces, int64_t* counts, int64_t* totals, bint count
) noexcept nogil:
    """Add up the pieces of both children of every candidate."""
    cdef int32_t lane, piece, side, c, start
    cdef const int64_t* piece_counts
    for lane in range(pieces.first, pieces.last):
        start = 0
        for piece in range(pieces.n):
            side = not (pieces.left[piece] >> lane) & 1
            if count:
                piece_counts = sweep.piece_counts + <int64_t>piece * data.n_classes
                for c in range(data.n_classes):
                    counts[(2 * lane + side) * data.n_classes + c] += piece_counts[c]
                    totals[2 * lane + side] += piece_counts[c]
            else:
                totals[2 * lane + side] += pieces.end[piece] - start
            start = pieces.end[piece]


cdef void mark_batch(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, const Shape* shapes, int32_t n,
    int32_t batch, bint count
) noexcept nogil:
    """Write which of the n <= LANES candidates of a batch send a row left, and the weights of their children.

    Class weights are counted only if `count` is set: that takes three times as long as the bits.
    """
    cdef int64_t* counts = sweep.counts + batch * LANES * 2 * <int64_t>data.n_classes
    cdef int64_t* totals = sweep.totals + batch * LANES * 2
    cdef Pieces pieces
    if count:
        memset(counts, 0, LANES * 2 * data.n_classes * sizeof(int64_t))
    memset(totals, 0, LANES * 2 * sizeof(int64_t))
    pieces.last = 0
    while pieces.last < n and not control.stop:
        find_pieces(rows, shapes, n, pieces.last, &pieces)
        set_sides(shapes, &pieces)
        mark_rows(
            data, sweep, feature_order(rows, shapes[pieces.first].feature), &pieces,
            sweep.bits + batch * <int64_t>data.n_rows, count,
        )
        weigh_children(data, sweep, &pieces, counts, totals, count)


# --- costs ------------------------------------------------------------------------------------------------------------


cdef inline int64_t lane_best(const void* best, int32_t width, int32_t side, int32_t k, int32_t lane) noexcept nogil:
    cdef int32_t index = (side * MAX_K + k) * LANES + lane
    if width == 0:
        return (<const int16_t*>best)[index]
    if width == 1:
        return (<const int32_t*>best)[index]
    return (<const int64_t*>best)[index]


cdef int32_t count_width(const Dataset* data, const Rows* rows) noexcept nogil:
    """Return which count type holds twice the weight of these rows: 0 is 16 bits, 1 is 32, 2 is 64."""
    cdef int64_t total = 0
    cdef int32_t i
    if not data.weighted:
        total = rows.n
    else:
        for i in range(rows.n):
            total += data.weight[rows.order[1 + i] & ROW_MASK]
    total = max(total, <int64_t>rows.n)  # a lane may also count rows
    if total <= MAX_WEIGHT_16:
        return 0
    return 1 if total <= MAX_WEIGHT_32 else 2


cdef inline const void* by_width(int32_t width, const void* a16, const void* a32, const void* a64) noexcept nogil:
    """Return the array whose entries have the width of the counts."""
    return a16 if width == 0 else (a32 if width == 1 else a64)


cdef inline int64_t best_size(int32_t width) noexcept nogil:
    """Return the bytes of the kernels' results for one batch."""
    return 2 * MAX_K * LANES * (2 << width)


cdef void walk_narrow(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, const uint16_t* bits, char* best
) noexcept nogil:
    """Run the kernel of two classes over the narrow entries of a CART on the same rows."""
    cdef const Cart* cart = sweep.narrow
    cdef int32_t i, j
    cdef uint32_t left
    for i in range(rows.n):
        left = bits[cart.row_of[i]]
        sweep.children[i] = left | ~left << 16
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += 4 * rows.n
        data.lanes.narrow_walk(
            <const uint16_t*>cart.buffer[0] + j * <int64_t>rows.n, rows.n, sweep.children, cart.class_first[1],
            data.max_k, best,
        )


cdef void walk_long(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t feature, const uint16_t* bits,
    const void* weight, int32_t width, void* best
) noexcept nogil:
    """Run the kernel for intervals of min_rows rows over one feature."""
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef int64_t min_rows = min(data.min_rows, <int64_t>rows.n)  # it has to fit into a lane
    control.work += 2 * rows.n
    if data.n_classes == 2:
        data.long_lanes.walk[width](
            entries, rows.known[feature], rows.n, bits, weight, min_rows, best, &control.stop
        )
    else:
        data.long_lanes.classes[width](
            entries, rows.known[feature], rows.n, bits, weight, data.label, data.n_classes, min_rows, sweep.scratch,
            best, &control.stop,
        )


cdef void walk_batch(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t batch, int32_t width
) noexcept nogil:
    """Run the kernel over the rows in the order of every feature."""
    cdef int32_t j
    cdef char* best = <char*>sweep.best + batch * best_size(width)
    cdef const uint16_t* bits = sweep.bits + batch * <int64_t>data.n_rows
    cdef const void* weight = by_width(width, data.weight16, data.weight32, data.weight)
    if data.n_classes == 2:
        weight = by_width(width, data.signed16, data.signed32, data.signed64)
        if sweep.narrow != NULL and width == 0:
            walk_narrow(data, control, sweep, rows, bits, best)
            return
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += 4 * rows.n
        if sweep.long_intervals:
            walk_long(data, control, sweep, rows, j, bits, weight, width, best)
        elif data.n_classes == 2:
            data.lanes.walk[width](
                feature_order(rows, j), rows.known[j], rows.n, bits, weight, data.max_k, best, &control.stop
            )
        else:
            data.lanes.classes[width](
                feature_order(rows, j), rows.known[j], rows.n, bits, weight, data.label, data.n_classes, sweep.scratch,
                best, &control.stop,
            )


cdef void read_costs(
    const Dataset* data, Sweep* sweep, int32_t batch, int32_t n, int32_t width, bint counted
) noexcept nogil:
    """Turn the sums of the kernels into the costs of both children of the n candidates of a batch.

    Without class weights the cost of a leaf is not known, and not needed: splits are then free, and the trivial cut,
    which every sweep includes, costs what a leaf does.
    """
    cdef const char* best = <const char*>sweep.best + batch * best_size(width)
    cdef int32_t i, side, k, index
    cdef int64_t total, right
    cdef cost_t cost
    for i in range(n):
        for side in range(2):
            index = 2 * (batch * LANES + i) + side
            total = sweep.totals[index]
            cost = total * data.weight_cost
            if counted:
                cost = leaf_cost_of(data, sweep.counts + <int64_t>index * data.n_classes)
            for k in range(data.max_k if data.n_classes == 2 else 1):
                right = lane_best(best, width, side, k, i)
                if data.n_classes == 2:
                    right = (total + right) // 2
                cost = min(cost, data.split_cost + k * data.changepoint_cost + (total - right) * data.weight_cost)
            sweep.cost[index] = cost


cdef void read_errors(const Dataset* data, Sweep* sweep, int32_t batch, int32_t n, int32_t width) noexcept nogil:
    """Turn the sums of the kernels into the errors of both children by their number of change points.

    Several change points between more than two labels are offered later, by `offer_pair_costs`.
    """
    cdef const char* best = <const char*>sweep.best + batch * best_size(width)
    cdef int32_t i, side, k, index
    cdef int64_t total, right
    cdef int64_t* errors
    for i in range(n):
        for side in range(2):
            index = 2 * (batch * LANES + i) + side
            errors = sweep.errors + <int64_t>index * (data.max_k + 1)
            total = sweep.totals[index]
            errors[0] = leaf_cost_of(data, sweep.counts + <int64_t>index * data.n_classes) // data.weight_cost
            for k in range(data.max_k):
                errors[k + 1] = errors[k]
                if k and data.n_classes > 2:
                    continue
                right = lane_best(best, width, side, k, i)
                if data.n_classes == 2:
                    right = (total + right) // 2
                errors[k + 1] = min(errors[k], total - right)


cdef void sweep_shapes(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, const Shape* shapes, int32_t n, bint quick
) noexcept nogil:
    cdef int32_t width = count_width(data, rows), n_batches = (n + LANES - 1) // LANES, batch, n_lanes
    cdef bint pairs = data.n_classes > 2 and data.max_k > 1 and not quick
    cdef bint count = data.weighted or data.split_cost > 0 or pairs or sweep.by_size
    memset(sweep.best, 0, n_batches * best_size(width))
    for batch in range(n_batches):
        n_lanes = min(LANES, n - batch * LANES)
        mark_batch(data, control, sweep, rows, shapes + batch * LANES, n_lanes, batch, count)
        walk_batch(data, control, sweep, rows, batch, width)
        if control.stop:
            return
        if sweep.by_size:
            read_errors(data, sweep, batch, n_lanes, width)
        else:
            read_costs(data, sweep, batch, n_lanes, width, count)
    if pairs:
        sweep_pairs(data, control, sweep, rows, n, width)


# --- more than two classes, two or more change points -----------------------------------------------------------------


cdef inline void set_min_weight(const Dataset* data, Sweep* sweep, int32_t child) noexcept nogil:
    """Set how much two labels must weigh to improve a child, given as 2 * candidate + side.

    A function with two or more change points between two labels that weigh `both` misclassifies all other rows, so it
    costs at least split_cost + changepoint_cost + (total - both) * weight_cost; it helps only if that is below the
    cost that the child has already. At some penalty it helps only if the other rows are fewer than the errors that the
    child has already with two change points; with more change points these are no more.
    """
    if sweep.by_size:
        sweep.min_weight[child] = sweep.totals[child] - sweep.errors[child * (<int64_t>data.max_k + 1) + 2]
        return
    cdef cost_t lowest = data.split_cost + data.changepoint_cost + sweep.totals[child] * data.weight_cost
    cdef cost_t excess = lowest - sweep.cost[child]
    sweep.min_weight[child] = excess // data.weight_cost if excess >= 0 else -1


cdef inline bint pair_may_help(
    const Dataset* data, const Sweep* sweep, int32_t first, int32_t last, int32_t a, int32_t b
) noexcept nogil:
    """Return whether two or more change points between these labels may improve a child of these candidates."""
    cdef int32_t i
    cdef const int64_t* counts = sweep.counts + 2 * <int64_t>first * data.n_classes
    for i in range(2 * first, 2 * last):
        if counts[a] + counts[b] > sweep.min_weight[i]:
            return True
        counts += data.n_classes
    return False


cdef void sweep_pairs(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, int32_t n, int32_t width
) noexcept nogil:
    """Try shape functions of two or more change points, one pair of labels after the other.

    The heaviest pairs come first, because they raise min_weight for the others. A pair whose rows weigh no more than
    the smallest min_weight of all children improves none of them (see set_min_weight), nor does a lighter pair.
    """
    cdef ClassOrder* order = &sweep.classes
    cdef int32_t n_batches = (n + LANES - 1) // LANES, i, j, k, a, b, c, batch, n_helped
    cdef int32_t helped[BATCHES]
    cdef int64_t* weight = sweep.piece_counts
    cdef int64_t smallest
    cdef bint sorted_by_class = False
    for c in range(data.n_classes):
        weight[c] = sweep.counts[c] + sweep.counts[data.n_classes + c]
    sort_classes(data, order, weight)
    for i in range(2 * n):
        set_min_weight(data, sweep, i)
    for i in range(order.n_present - 1):
        smallest = sweep.min_weight[0]
        for k in range(1, 2 * n):
            smallest = min(smallest, sweep.min_weight[k])
        a = order.present[i]
        if weight[a] + weight[order.present[i + 1]] <= smallest:
            return
        for j in range(i + 1, order.n_present):
            b = order.present[j]
            if weight[a] + weight[b] <= smallest:
                break
            n_helped = 0
            for batch in range(n_batches):
                if pair_may_help(data, sweep, batch * LANES, min(n, (batch + 1) * LANES), a, b):
                    helped[n_helped] = batch
                    n_helped += 1
            if control.stop:
                return
            if n_helped == 0:
                continue
            if not sorted_by_class:
                sorted_by_class = True
                sort_rows_by_class(data, control, order, rows)
                if control.stop:
                    return
            walk_pair(data, control, sweep, rows, helped, n_helped, width, a, b)
            if control.stop:
                return
            for k in range(n_helped):
                offer_pair_costs(data, sweep, helped[k], n, width, a, b)


cdef void walk_pair(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, const int32_t* batches, int32_t n_batches,
    int32_t width, int32_t a, int32_t b
) noexcept nogil:
    """Find the best shape functions between two labels for the candidates of some batches."""
    cdef ClassOrder* order = &sweep.classes
    cdef int32_t j, i, known, n_pair = class_rows(order, a) + class_rows(order, b)
    cdef int64_t size = best_size(width)
    weigh_pair(data, sweep, a, 1, width)
    weigh_pair(data, sweep, b, -1, width)
    for i in range(n_batches):
        memset(<char*>sweep.best + batches[i] * size, 0, size)
    for j in range(data.n_features):
        if control.stop:
            return
        known = merge_classes(data, order, rows, j, a, b)
        for i in range(n_batches):
            data.lanes.walk[width](
                order.merged + 1, known, n_pair, sweep.bits + batches[i] * <int64_t>data.n_rows, sweep.pair_weight,
                data.max_k, <char*>sweep.best + batches[i] * size, &control.stop,
            )
        control.work += (1 + 2 * n_batches) * n_pair


cdef void offer_pair_costs(
    const Dataset* data, Sweep* sweep, int32_t batch, int32_t n, int32_t width, int32_t a, int32_t b
) noexcept nogil:
    """Lower the costs, or the errors, of the children of a batch to what was found between two labels."""
    cdef int32_t child, k
    cdef int64_t both, right, wrong
    cdef const char* best = <const char*>sweep.best + batch * best_size(width)
    cdef const int64_t* counts
    cdef int64_t* errors
    for child in range(2 * batch * LANES, 2 * min(n, (batch + 1) * LANES)):
        counts = sweep.counts + <int64_t>child * data.n_classes
        errors = sweep.errors + child * (<int64_t>data.max_k + 1)
        both = counts[a] + counts[b]
        for k in range(1, data.max_k):
            right = (both + lane_best(best, width, child & 1, k, child // 2 - batch * LANES)) // 2
            wrong = sweep.totals[child] - right
            if sweep.by_size:
                errors[k + 1] = min(errors[k + 1], wrong)
            else:
                sweep.cost[child] = min(
                    sweep.cost[child], data.split_cost + k * data.changepoint_cost + wrong * data.weight_cost
                )
        set_min_weight(data, sweep, child)


cdef void weigh_pair(const Dataset* data, Sweep* sweep, int32_t c, int32_t sign, int32_t width) noexcept nogil:
    """Give the rows of a class their weight with a sign, in the count type of the sweep."""
    cdef const ClassOrder* order = &sweep.classes
    cdef int32_t i
    cdef uint32_t row
    for i in range(order.start[c], order.start[c + 1]):
        row = order.rows[i]
        if width == 0:
            (<int16_t*>sweep.pair_weight)[row] = <int16_t>(sign * data.weight[row])
        elif width == 1:
            (<int32_t*>sweep.pair_weight)[row] = <int32_t>(sign * data.weight[row])
        else:
            (<int64_t*>sweep.pair_weight)[row] = sign * data.weight[row]
