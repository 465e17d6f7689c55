"""Expand data states over candidate cuts: choices, their children, first bounds and estimates.

A data state is expanded by opening choices: with one change point each where its children are expanded in turn, with
every shape function at once where its children are solved (depth left 2). Other choices come by refinement.
"""

from libc.stdlib cimport qsort
from libc.string cimport memset

from literati._engine._bounds cimport RowSummary, empty_summary, lower_bound_of
from literati._engine._cart cimport Cut, max_candidate_cuts, cart_cuts, cart_lookahead
from literati._engine._data_state cimport (
    CART_LOOKAHEAD, IMPURITY, PrefixSums, leaves_at, rows_ready, split_rows, state_start,
)
from literati._engine._depth2 cimport ShapeIterator, shapes_next, shapes_start
from literati._engine._depth2_sweep cimport BATCHES, Sweep, sweep_shapes
from literati._engine._graph cimport LOOKAHEAD, choice_free, choice_new, expansion_add_choice, expansion_free
from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._rows cimport rows_free
from literati._engine._types cimport (
    LANES, MAX_CLASSES, ROW_MASK, Control, Dataset, cost_t, feature_order, int64_t, uint32_t, uint64_t,
)

cdef enum:
    MAX_CHOICES_AT_ONCE = 1 << 14  # choices that one expansion opens (16 MiB); the others come by refinement
    # Choices of one expansion that get a lookahead. Every column can have candidate cuts, and a lookahead visits every
    # column, so the lookaheads of all choices would take time that grows with the square of the number of columns.
    MAX_LOOKAHEAD_CHOICES = 128


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
    if not c.estimated:
        c.impurity = impurity(data, sides[0].counts) + impurity(data, sides[1].counts)
    if context.heuristic == IMPURITY:
        c.left.estimate = <double>c.left.upper if c.left.complete else impurity(data, sides[0].counts)
        c.right.estimate = <double>c.right.upper if c.right.complete else impurity(data, sides[1].counts)
    return c


cdef double impurity(const Dataset* data, const int64_t* counts) noexcept nogil:
    """Return weight times Gini impurity, in cost units."""
    cdef double total = 0.0, squares = 0.0
    cdef int32_t c
    for c in range(data.n_classes):
        total += counts[c]
        squares += <double>counts[c] * counts[c]
    return (total - squares / total) * data.weight_cost


cdef int compare_doubles(const void* one, const void* other) noexcept nogil:
    cdef double a = (<const double*>one)[0], b = (<const double*>other)[0]
    return (a > b) - (a < b)


cdef bint choose_lookaheads(SearchContext* context, const Expansion* expansion) noexcept nogil:
    """Leave lookaheads to the new choices of least impurity if there are many; return False when memory ran out.

    The others keep the cost of two leaves as their estimate, so the search follows them later.
    """
    cdef int32_t i, n = expansion.n_choices, left = MAX_LOOKAHEAD_CHOICES
    cdef double* sorted_values
    cdef double limit
    if n <= MAX_LOOKAHEAD_CHOICES or expansion.choices[0].estimated:
        return True  # all of them can have one, or none needs one
    sorted_values = <double*>tracked_malloc(context.control, n * sizeof(double))
    if sorted_values == NULL:
        return False
    for i in range(n):
        sorted_values[i] = expansion.choices[i].impurity
    qsort(sorted_values, n, sizeof(double), compare_doubles)
    limit = sorted_values[MAX_LOOKAHEAD_CHOICES - 1]
    tracked_free(context.control, sorted_values)
    for i in range(n):
        if expansion.choices[i].impurity <= limit and left > 0:
            left -= 1
        else:
            expansion.choices[i].estimated = True
    return True


cdef void take_lookahead(DataState* s, cost_t cost) noexcept nogil:
    """Set the upper bound and the estimate of a state to the cost of its CART.

    Proof: the CART of the state's depth lies inside its space, because candidates come from the same splits.
    """
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
    cdef cost_t left_cost = 0, right_cost = 0
    if not (left or right):
        c.estimated = True
        return True
    if not rows_ready(context, c.owner):
        return False
    split_rows(context, c.owner, &c.shape, &context.left if left else NULL, &context.right if right else NULL)
    if left and not context.control.stop:
        left_cost = cart_lookahead(context.data, context.control, &context.cart, &context.left, c.left.depth)
    if right and not context.control.stop:
        right_cost = cart_lookahead(context.data, context.control, &context.cart, &context.right, c.right.depth)
    if context.control.stop:
        return True  # both are fitted again, so that the work does not depend on stops
    if left:
        take_lookahead(&c.left, left_cost)
    if right:
        take_lookahead(&c.right, right_cost)
    c.estimated = True
    return True


cdef int32_t estimate_batch(
    SearchContext* context, const DataState* s, Choice** choices, int32_t n
) noexcept nogil:
    """Estimate children of depth left 2 by what they cost with one split, as many as one sweep takes.

    Choices with two complete children need no estimate. Return how many of the n choices are done.
    """
    cdef Sweep* sweep = &context.sweep
    cdef Choice* swept[BATCHES * LANES]
    cdef int32_t i, done = 0, n_swept = 0
    while done < n and n_swept < BATCHES * LANES:
        if not (choices[done].left.complete and choices[done].right.complete):
            swept[n_swept] = choices[done]
            sweep.shapes[n_swept] = choices[done].shape
            n_swept += 1
        done += 1
    if n_swept:
        sweep_shapes(context.data, context.control, sweep, &s.rows, sweep.shapes, n_swept, True)
    if context.control.stop:
        return done
    for i in range(n_swept):
        if not swept[i].left.complete:
            swept[i].left.estimate = <double>sweep.cost[2 * i]
        if not swept[i].right.complete:
            swept[i].right.estimate = <double>sweep.cost[2 * i + 1]
    return done


cdef void estimate_choices(SearchContext* context, const DataState* s, const Expansion* expansion) noexcept nogil:
    """Estimate new choices of a state, if their children are solved and not expanded."""
    cdef int32_t first = 0
    if s.depth != 3 or context.heuristic != CART_LOOKAHEAD:
        return
    while first < expansion.n_choices and not context.control.stop:
        first += estimate_batch(context, s, expansion.choices + first, expansion.n_choices - first)


# --- expansion --------------------------------------------------------------------------------------------------------


cdef int32_t first_cut(const Cut* cuts, int32_t n_cuts, int32_t feature) noexcept nogil:
    """Return the index of the first cut of a feature; cuts are sorted by feature."""
    cdef int32_t low = 0, high = n_cuts, middle
    while low < high:
        middle = (low + high) // 2
        if cuts[middle].feature < feature:
            low = middle + 1
        else:
            high = middle
    return low


cdef void sum_cuts(
    SearchContext* context, const Rows* rows, const Cut* cuts, int32_t n_cuts, int32_t feature
) noexcept nogil:
    cdef int32_t i = first_cut(cuts, n_cuts, feature)
    context.sums.n = 0
    while i < n_cuts and cuts[i].feature == feature:
        if cuts[i].at < rows.known[feature]:
            context.sums.at[context.sums.n] = cuts[i].at
            context.sums.n += 1
        i += 1
    sum_positions(context, rows, feature)


cdef int32_t eager_changepoints(
    const Dataset* data, const Rows* rows, const Cut* cuts, int32_t n_cuts
) noexcept nogil:
    """Return how many change points shape functions may have so that all of them can be opened at once."""
    cdef int32_t k, i, first, last
    cdef double functions = 0.0, ways
    for k in range(1, data.max_k + 1):
        last = 0
        while last < n_cuts:
            first = last
            while last < n_cuts and cuts[last].feature == cuts[first].feature:
                last += 1
            ways = 2.0 if rows.known[cuts[first].feature] < rows.n else 1.0
            for i in range(k):
                ways *= <double>(last - first - i) / (i + 1)
            functions += ways
        if functions > MAX_CHOICES_AT_ONCE:
            return max(k - 1, 1)
    return data.max_k


cdef bint add_choice(
    SearchContext* context, DataState* s, const Shape* shape, bint refinable, Expansion* expansion
) noexcept nogil:
    """Open a choice of a state; return False when memory ran out."""
    cdef Control* control = context.control
    cdef Choice* c = open_choice(context, s, NULL, shape)
    if c == NULL or not expansion_add_choice(control, expansion, c):
        choice_free(control, c)
        return False
    c.refinable = refinable
    return control.byte_limit == 0 or control.bytes <= control.byte_limit


cdef bint finish_expansion(
    SearchContext* context, const DataState* s, Expansion* expansion, bint ok
) noexcept nogil:
    """Estimate the new choices; free them if memory ran out or a stop was requested: half of them mean nothing."""
    ok = ok and choose_lookaheads(context, expansion)
    if ok:
        estimate_choices(context, s, expansion)
    if not ok or context.control.stop:
        expansion_free(context.control, expansion)
    return ok


cdef bint expand_state(SearchContext* context, DataState* s, Expansion* expansion) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef ShapeIterator iterator
    cdef Shape shape
    cdef int32_t feature = -1, max_k = 1
    cdef bint ok = True, refinable, had_rows = s.rows.order != NULL
    if not rows_ready(context, s):
        return control.stop
    expansion.cuts = <Cut*>tracked_malloc(control, max_candidate_cuts(data) * sizeof(Cut))
    if expansion.cuts == NULL:
        return False
    expansion.n_cuts = cart_cuts(data, control, &context.cart, &s.rows, leaves_at(data, s.depth), expansion.cuts)
    if s.depth == 3:
        max_k = eager_changepoints(data, &s.rows, expansion.cuts, expansion.n_cuts)
    memset(&shape, 0, sizeof(Shape))
    shapes_start(&iterator, expansion.n_cuts)
    while ok and not control.stop and shapes_next(data, &s.rows, expansion.cuts, &iterator, max_k, &shape):
        if shape.feature != feature:
            feature = shape.feature
            sum_cuts(context, &s.rows, expansion.cuts, expansion.n_cuts, feature)
        refinable = max_k < data.max_k and shape.n_cuts == max_k and shape.at[0] < s.rows.known[feature]
        ok = add_choice(context, s, &shape, refinable, expansion)
    ok = finish_expansion(context, s, expansion, ok)
    if expansion.cuts == NULL and not had_rows and s.parent != NULL:
        rows_free(control, &s.rows)  # the next try filters them again, and counts the work
    return ok


cdef bint refine_choice(SearchContext* context, Choice* c, Expansion* expansion) noexcept nogil:
    """Open the choices with one change point more than c, behind its last one."""
    cdef const Dataset* data = context.data
    cdef DataState* s = c.owner
    cdef Shape shape
    cdef int32_t i, k = c.shape.n_cuts
    cdef bint ok = True
    if not rows_ready(context, s):
        return context.control.stop
    sum_cuts(context, &s.rows, s.cuts, s.n_cuts, c.shape.feature)
    for i in range(s.n_cuts):
        if context.control.stop or not ok:
            break
        if (
            s.cuts[i].feature != c.shape.feature or s.cuts[i].at - c.shape.at[k - 1] < data.min_rows
            or s.cuts[i].at >= s.rows.known[c.shape.feature]
        ):
            continue
        shape = c.shape
        shape.at[k] = s.cuts[i].at
        shape.cut[k] = s.cuts[i].cut
        shape.n_cuts = k + 1
        ok = add_choice(context, s, &shape, k + 1 < data.max_k, expansion)
    return finish_expansion(context, s, expansion, ok)
