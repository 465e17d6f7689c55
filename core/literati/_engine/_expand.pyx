"""Expand data states over candidate cuts: choices, their children, first bounds and estimates.

A data state is expanded by opening choices: with one change point each where its children are expanded in turn, with
every shape function at once where its children are solved (depth left 2). Other choices come by refinement.
"""

from libc.string cimport memset

from literati._engine._bounds cimport RowSummary, empty_summary, lower_bound_of
from literati._engine._cart cimport Cut, max_candidate_cuts, cart_cuts, cart_lookahead
from literati._engine._data_state cimport (
    CART_LOOKAHEAD, IMPURITY, PrefixSums, choice_key, count_expansion, leaves_at, rows_ready, split_rows, state_key,
    state_start,
)
from literati._engine._depth2 cimport ShapeIterator, shapes_next, shapes_start
from literati._engine._depth2_sweep cimport BATCHES, Sweep, sweep_shapes
from literati._engine._graph cimport LOOKAHEAD, choice_free, choice_new, state_add_choice, state_clear
from literati._engine._memory cimport tracked_malloc
from literati._engine._types cimport (
    LANES, MAX_CLASSES, ROW_MASK, Control, Dataset, cost_t, feature_order, int64_t, uint32_t, uint64_t,
)

cdef enum:
    MAX_CHOICES_AT_ONCE = 1 << 14  # choices that one expansion opens (16 MiB); the others come by refinement


cdef void sum_positions(SearchContext* context, const Rows* rows, int32_t feature) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef PrefixSums* sums = &context.sums
    cdef int64_t counts[MAX_CLASSES]
    cdef int64_t unavoidable_error = 0
    cdef uint64_t h0 = 0, h1 = 0
    cdef int32_t i = 0, k, c
    cdef uint32_t row
    cdef const uint32_t* entries = feature_order(rows, feature)
    sums.at[sums.n] = rows.known[feature]
    sums.at[sums.n + 1] = rows.n
    sums.n += 2
    for c in range(data.n_classes):
        counts[c] = 0
    for k in range(sums.n):
        while i < sums.at[k]:
            row = entries[i] & ROW_MASK
            counts[data.label[row]] += data.weight[row]
            unavoidable_error += data.unavoidable_error[row]
            h0 += data.row_hash[2 * <int64_t>row]
            h1 += data.row_hash[2 * <int64_t>row + 1]
            i += 1
        for c in range(data.n_classes):
            sums.counts[k * <int64_t>data.n_classes + c] = counts[c]
        sums.unavoidable_error[k] = unavoidable_error
        sums.hash[2 * k] = h0
        sums.hash[2 * k + 1] = h1


cdef void add_piece(
    const Dataset* data, const PrefixSums* sums, int32_t before, int32_t upto, RowSummary* side
) noexcept nogil:
    """Add the rows between two positions, given as indices into sums; -1 is the start."""
    cdef int32_t c
    side.n += sums.at[upto]
    side.unavoidable_error += sums.unavoidable_error[upto]
    side.hash[0] += sums.hash[2 * upto]
    side.hash[1] += sums.hash[2 * upto + 1]
    for c in range(data.n_classes):
        side.counts[c] += sums.counts[upto * <int64_t>data.n_classes + c]
    if before >= 0:
        side.n -= sums.at[before]
        side.unavoidable_error -= sums.unavoidable_error[before]
        side.hash[0] -= sums.hash[2 * before]
        side.hash[1] -= sums.hash[2 * before + 1]
        for c in range(data.n_classes):
            side.counts[c] -= sums.counts[before * <int64_t>data.n_classes + c]


cdef cost_t sum_sides(
    const Dataset* data, const PrefixSums* sums, const Shape* shape, int32_t depth, RowSummary* sides
) noexcept nogil:
    """Sum up both sides of a shape function; return a lower bound of what they cost in any refinement of it.

    Proof: a refinement only moves rows behind the last change point, so both sides keep the rows before it, and the
    bound of a set of rows never exceeds that of a larger set.
    """
    cdef int32_t piece, before = -1, upto
    cdef cost_t fixed = 0
    for piece in range(2):
        empty_summary(data, &sides[piece])
    # Rows without a value lie between the last two positions.
    add_piece(data, sums, sums.n - 2, sums.n - 1, &sides[shape.missing_right])
    for piece in range(shape.n_cuts + 1):
        upto = sums.n - 2
        if piece < shape.n_cuts:
            upto = before + 1
            while sums.at[upto] != shape.at[piece]:
                upto += 1
        else:
            fixed = lower_bound_of(data, &sides[0], depth) + lower_bound_of(data, &sides[1], depth)
        add_piece(data, sums, before, upto, &sides[piece & 1])
        before = upto
    return fixed


cdef Choice* open_choice(SearchContext* context, DataState* s, Choice* prefix, const Shape* shape) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Choice* c = choice_new(context.control, s)
    cdef RowSummary sides[2]
    cdef cost_t fixed
    if c == NULL:
        return NULL
    fixed = sum_sides(data, &context.sums, shape, s.depth - 1, sides)
    c.prefix = prefix
    c.shape = shape[0]
    c.cost = data.split_cost + (shape.n_cuts - 1) * data.changepoint_cost
    c.refine_lower = c.cost + data.changepoint_cost + fixed
    c.estimated = context.heuristic != CART_LOOKAHEAD or s.depth < 4
    state_start(context, &c.left, s.depth - 1, &sides[0])
    state_start(context, &c.right, s.depth - 1, &sides[1])
    if context.heuristic == IMPURITY:
        c.left.estimate = impurity(data, sides[0].counts, &c.left)
        c.right.estimate = impurity(data, sides[1].counts, &c.right)
    return c


cdef double impurity(const Dataset* data, const int64_t* counts, const DataState* s) noexcept nogil:
    """Return weight times Gini impurity, in cost units."""
    cdef double total = 0.0, squares = 0.0
    cdef int32_t c
    if s.complete:
        return <double>s.upper
    for c in range(data.n_classes):
        total += counts[c]
        squares += <double>counts[c] * counts[c]
    return (total - squares / total) * data.weight_cost


cdef void look_ahead(SearchContext* context, DataState* s, const Rows* rows) noexcept nogil:
    """Set the upper bound and the estimate of a state to the cost of its CART.

    Proof: the CART of the state's depth lies inside its space, because candidates come from the same splits.
    """
    cdef cost_t cost = cart_lookahead(context.data, context.control, &context.cart, rows, s.depth)
    if context.control.stop:
        return
    if cost < s.upper:
        s.upper = cost
        s.floor = cost
        s.policy = LOOKAHEAD
    s.estimate = <double>s.upper
    s.complete = s.lower >= s.upper


cdef bint estimate_children(SearchContext* context, Choice* c) noexcept nogil:
    """Look ahead at both children of a choice; return False when there was no memory for it.

    This is a step of its own: with a million rows the lookahead of all choices of a state takes half a minute.
    """
    cdef bint left = not c.left.complete, right = not c.right.complete
    if not (left or right):
        c.estimated = True
        return True
    if not rows_ready(context, c.owner):
        return False
    split_rows(context, c.owner, &c.shape, &context.left if left else NULL, &context.right if right else NULL)
    if context.control.stop:
        return True
    if left:
        look_ahead(context, &c.left, &context.left)
    if right and not context.control.stop:
        look_ahead(context, &c.right, &context.right)
    c.estimated = not context.control.stop
    return True


cdef void estimate_batch(SearchContext* context, DataState* s, int32_t first, int32_t n) noexcept nogil:
    """Estimate children of depth left 2 by what they cost with one split."""
    cdef Sweep* sweep = &context.sweep
    cdef int32_t i
    for i in range(n):
        sweep.shapes[i] = s.choices[first + i].shape
    sweep_shapes(context.data, context.control, sweep, &s.rows, sweep.shapes, n, True)
    if context.control.stop:
        return
    for i in range(n):
        if not s.choices[first + i].left.complete:
            s.choices[first + i].left.estimate = <double>sweep.cost[2 * i]
        if not s.choices[first + i].right.complete:
            s.choices[first + i].right.estimate = <double>sweep.cost[2 * i + 1]


cdef void estimate_from(SearchContext* context, DataState* s, int32_t first) noexcept nogil:
    """Estimate the choices of a state from index `first` on, if their children are solved and not expanded."""
    if s.depth != 3 or context.heuristic != CART_LOOKAHEAD:
        return
    while first < s.n_choices and not context.control.stop:
        estimate_batch(context, s, first, min(BATCHES * LANES, s.n_choices - first))
        first += BATCHES * LANES


# --- expansion --------------------------------------------------------------------------------------------------------


cdef void sum_cuts(SearchContext* context, DataState* s, int32_t feature) noexcept nogil:
    cdef int32_t i
    context.sums.n = 0
    for i in range(s.n_cuts):
        if s.cuts[i].feature == feature and s.cuts[i].at < s.rows.known[feature]:
            context.sums.at[context.sums.n] = s.cuts[i].at
            context.sums.n += 1
    sum_positions(context, &s.rows, feature)


cdef int32_t eager_changepoints(const Dataset* data, const DataState* s) noexcept nogil:
    """Return how many change points shape functions may have so that all of them can be opened at once."""
    cdef int32_t k, i, first, last
    cdef double functions = 0.0, ways
    for k in range(1, data.max_k + 1):
        last = 0
        while last < s.n_cuts:
            first = last
            while last < s.n_cuts and s.cuts[last].feature == s.cuts[first].feature:
                last += 1
            ways = 2.0 if s.rows.known[s.cuts[first].feature] < s.n else 1.0
            for i in range(k):
                ways *= <double>(last - first - i) / (i + 1)
            functions += ways
        if functions > MAX_CHOICES_AT_ONCE:
            return max(k - 1, 1)
    return data.max_k


cdef bint expand_state(SearchContext* context, DataState* s) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef ShapeIterator iterator
    cdef Shape shape
    cdef Choice* c
    cdef int32_t feature = -1, max_k = 1
    cdef bint ok = True
    if not rows_ready(context, s):
        return False
    s.cuts = <Cut*>tracked_malloc(control, max_candidate_cuts(data) * sizeof(Cut))
    if s.cuts == NULL:
        return False
    s.n_cuts = cart_cuts(data, control, &context.cart, &s.rows, leaves_at(data, s.depth), s.cuts)
    if s.depth == 3:
        max_k = eager_changepoints(data, s)
    memset(&shape, 0, sizeof(Shape))
    shapes_start(&iterator, s.n_cuts)
    while not control.stop and shapes_next(&s.rows, s.cuts, &iterator, max_k, &shape):
        if shape.feature != feature:
            feature = shape.feature
            sum_cuts(context, s, feature)
        c = open_choice(context, s, NULL, &shape)
        if c == NULL or not state_add_choice(control, s, c):
            choice_free(control, c)
            ok = False
            break
        if control.byte_limit and control.bytes > control.byte_limit:
            ok = False
            break
        c.refinable = max_k < data.max_k and shape.n_cuts == max_k and shape.at[0] < s.rows.known[feature]
    if ok:
        estimate_from(context, s, 0)
    if control.stop or not ok:
        # The bounds of half an expansion would leave choices out: undo it.
        state_clear(control, s)
        return ok
    s.expanded = True
    count_expansion(context, state_key(s))
    return True


cdef bint refine_choice(SearchContext* context, Choice* c) noexcept nogil:
    """Open the choices with one change point more than c, behind its last one."""
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef DataState* s = c.owner
    cdef Shape shape
    cdef Choice* finer
    cdef int32_t i, k = c.shape.n_cuts, had = s.n_choices
    cdef bint ok = rows_ready(context, s)
    if not ok:
        return False
    sum_cuts(context, s, c.shape.feature)
    for i in range(s.n_cuts):
        if control.stop or not ok:
            break
        if (
            s.cuts[i].feature != c.shape.feature or s.cuts[i].at <= c.shape.at[k - 1]
            or s.cuts[i].at >= s.rows.known[c.shape.feature]
        ):
            continue
        shape = c.shape
        shape.at[k] = s.cuts[i].at
        shape.cut[k] = s.cuts[i].cut
        shape.n_cuts = k + 1
        finer = open_choice(context, s, NULL, &shape)
        ok = finer != NULL and state_add_choice(control, s, finer)
        if not ok:
            choice_free(control, finer)
            break
        finer.refinable = k + 1 < data.max_k
    if ok:
        estimate_from(context, s, had)
    if control.stop or not ok:
        while s.n_choices > had:
            s.n_choices -= 1
            choice_free(control, s.choices[s.n_choices])
        return ok
    c.refinable = False
    count_expansion(context, choice_key(s, &c.shape, True))
    return True
