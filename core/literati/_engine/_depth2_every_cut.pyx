"""The exact solver for depth left 2 over every cut: it searches intervals of positions instead of positions.

With the other change points fixed, moving one to a higher position makes one child grow and the other shrink. A tree
of a set of rows costs no more on a part of them, and on a larger set at most the weight of the added rows more. So the
optimum of a child is monotone in its rows and changes by at most the weight that is moved, and between two tried
positions

    cost >= cost of the growing child at the lower one + cost of the shrinking child at the upper one, and
    cost >= cost at a tried position - weight between it and the position.

Up to LANES positions are tried at once; intervals that cannot hold anything better are dropped.

With min_rows > 1 the optimum is not monotone in the rows. The bounds are then those of min_rows = 1, which are lower,
over all positions; a tree has to hold min_rows rows in every interval.
"""

from libc.string cimport memcpy, memset

from literati._engine._bounds cimport leaf_cost_of
from literati._engine._depth2_min_rows cimport best_swept
from literati._engine._depth2_sweep cimport sweep_shapes
from literati._engine._memory cimport tracked_append, tracked_free, tracked_malloc
from literati._engine._rows cimport count_classes, next_legal, rows_alloc, rows_free
from literati._engine._types cimport (
    DONE, LANES, LEGAL_CUT, MAX_CLASSES, NO_MEMORY, STOPPED, TIME_UP, feature_order, int64_t, monotonic, uint32_t,
)


cdef enum:
    MIN_INTERVALS = 256  # capacity at the beginning: 14 KiB


# The intervals of one round, and the positions tried in them.
cdef struct Round:
    int32_t n                    # intervals taken from the front
    Interval intervals[LANES]
    int32_t start[LANES + 1]     # [interval] index of its first position among the shapes of the sweep


cdef Depth2Solve* solve_new(const Dataset* data, Control* control, int32_t n) noexcept nogil:
    cdef Depth2Solve* solve = <Depth2Solve*>tracked_malloc(control, sizeof(Depth2Solve))
    if solve == NULL:
        return NULL
    memset(solve, 0, sizeof(Depth2Solve))
    solve.capacity = MIN_INTERVALS
    solve.intervals = <Interval*>tracked_malloc(control, MIN_INTERVALS * sizeof(Interval))
    if solve.intervals == NULL or not rows_alloc(data, control, &solve.rows, n):
        solve_free(control, solve)
        return NULL
    return solve


cdef void solve_free(Control* control, Depth2Solve* solve) noexcept nogil:
    if solve != NULL:
        rows_free(control, &solve.rows)
        tracked_free(control, solve.intervals)
        tracked_free(control, solve)


cdef int32_t legal_near(const Rows* rows, int32_t feature, int32_t at, int32_t first, int32_t last) noexcept nogil:
    # The position behind all values is legal where some rows have no value.
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef int32_t known = rows.known[feature], step = 0, top = known if known < rows.n else -1
    while at - step >= first or at + step <= last:
        if at - step >= first and (entries[at - step - 1] & LEGAL_CUT or at - step == top):
            return at - step
        if at + step <= last and (entries[at + step - 1] & LEGAL_CUT or at + step == top):
            return at + step
        step += 1
    return 0


cdef bint add_interval(Control* control, Depth2Solve* solve, const Interval* interval) noexcept nogil:
    """Append an interval unless it is empty; return False when memory ran out."""
    cdef void* moved
    if interval.first > interval.last:
        return True
    if (
        solve.n_intervals == solve.capacity and control.byte_limit
        and control.bytes + 2 * solve.capacity * <int64_t>sizeof(Interval) > control.byte_limit
    ):
        return False
    moved = tracked_append(control, solve.intervals, solve.n_intervals, &solve.capacity, sizeof(Interval))
    if moved == NULL:
        return False
    solve.intervals = <Interval*>moved
    solve.intervals[solve.n_intervals] = interval[0]
    solve.n_intervals += 1
    return True


cdef bint shrink(const Dataset* data, Interval* interval, cost_t base, cost_t cutoff) noexcept nogil:
    """Remove positions that cannot cost less than the cutoff; return False if none is left.

    Proof: see the two bounds at the head of this file. A position closer to a tried one than
    (its cost - cutoff) / (largest cost of a row) rows costs at least the cutoff.
    """
    cdef cost_t row_cost = data.max_weight * data.weight_cost
    cdef int64_t bound
    if base + interval.grown + interval.shrunk >= cutoff:
        return False
    if interval.below_cost > cutoff:
        bound = interval.below_at + (interval.below_cost - cutoff) // row_cost + 1
        if bound > interval.last:
            return False
        interval.first = max(interval.first, <int32_t>bound)
    if interval.above_cost > cutoff:
        bound = interval.above_at - (interval.above_cost - cutoff) // row_cost - 1
        if bound < interval.first:
            return False
        interval.last = min(interval.last, <int32_t>bound)
    return interval.first <= interval.last


cdef void shrink_intervals(const Dataset* data, Depth2Solve* solve, cost_t base, cost_t cutoff) noexcept nogil:
    """Remove the positions of all intervals that cannot cost less than the cutoff."""
    cdef int32_t i, n = 0
    for i in range(solve.n_intervals):
        if shrink(data, &solve.intervals[i], base, cutoff):
            solve.intervals[n] = solve.intervals[i]
            n += 1
    solve.n_intervals = n


cdef void choose_positions(const Depth2Solve* solve, Shape* shapes, Round* tried) noexcept nogil:
    """Choose up to LANES positions, spread evenly over the first intervals, and write their shapes."""
    cdef int32_t k = solve.prefix.n_cuts, i, j, at, previous, count, taken = 0, per
    cdef const Interval* source
    tried.n = min(solve.n_intervals, LANES)
    per = LANES // tried.n
    for i in range(tried.n):
        source = &solve.intervals[i]
        tried.intervals[i] = source[0]
        tried.start[i] = taken
        previous = source.first - 1
        count = min(per, source.last - source.first + 1)
        for j in range(count):
            at = source.first + <int32_t>((<int64_t>(source.last - source.first) * (2 * j + 1)) // (2 * count))
            at = legal_near(&solve.rows, source.feature, at, previous + 1, source.last)
            if at == 0:
                break
            shapes[taken] = solve.prefix
            shapes[taken].feature = source.feature
            shapes[taken].missing_right = source.missing_right
            shapes[taken].at[k] = at
            shapes[taken].n_cuts = k + 1
            taken += 1
            previous = at
    tried.start[tried.n] = taken


cdef bint split_intervals(
    const Dataset* data, Control* control, const Sweep* sweep, Depth2Solve* solve, cost_t base, const Round* tried
) noexcept nogil:
    """Replace the intervals of a round by what lies between the tried positions; return False when memory ran out.

    The new intervals go to the end, so that the search is coarse before it is fine.
    """
    cdef int32_t k = solve.prefix.n_cuts, grows = k & 1, i, j  # `grows` is the side that grows with the position
    cdef cost_t cost
    cdef const Interval* source
    cdef Interval piece
    solve.n_intervals -= tried.n
    for i in range(solve.n_intervals):
        solve.intervals[i] = solve.intervals[i + tried.n]
    for i in range(tried.n):
        source = &tried.intervals[i]
        if tried.start[i] == tried.start[i + 1]:
            continue  # it holds no legal position
        piece = source[0]
        for j in range(tried.start[i], tried.start[i + 1]):
            cost = base + sweep.cost[2 * j] + sweep.cost[2 * j + 1]
            solve.relaxed = min(solve.relaxed, cost)
            if cost < solve.value and data.min_rows == 1:
                solve.value = cost
                solve.best = sweep.shapes[j]
            piece.last = sweep.shapes[j].at[k] - 1
            piece.above_at = sweep.shapes[j].at[k]
            piece.above_cost = cost
            piece.shrunk = max(source.shrunk, sweep.cost[2 * j + 1 - grows])
            if not add_interval(control, solve, &piece):
                return False
            piece = source[0]
            piece.first = sweep.shapes[j].at[k] + 1
            piece.below_at = sweep.shapes[j].at[k]
            piece.below_cost = cost
            piece.grown = max(source.grown, sweep.cost[2 * j + grows])
        if not add_interval(control, solve, &piece):
            return False
    return True


cdef void offer_swept(
    const Dataset* data, Control* control, Sweep* sweep, Depth2Solve* solve, int32_t n, cost_t budget
) noexcept nogil:
    """Make the best of the n shapes of a sweep that hold min_rows the solve's best, if it costs less."""
    cdef cost_t cost = min(solve.value, budget)
    cdef int32_t found = best_swept(data, control, sweep, &solve.rows, n, &cost)
    if found >= 0 and not control.stop:
        solve.value = cost
        solve.best = sweep.shapes[found]


cdef Outcome search_last(
    const Dataset* data, Control* control, Sweep* sweep, Depth2Solve* solve, cost_t budget, double until
) noexcept nogil:
    """Find the best place for one more change point behind those of the prefix, on any feature if it has none.

    solve.intervals holds the positions to try, and after STOPPED or TIME_UP those that are left to try.
    """
    cdef cost_t base = data.split_cost + solve.prefix.n_cuts * data.changepoint_cost
    cdef Round tried
    cdef int64_t work
    while solve.n_intervals and solve.value > solve.known_lower:
        shrink_intervals(data, solve, base, min(solve.value, budget))
        if solve.n_intervals == 0:
            break
        choose_positions(solve, sweep.shapes, &tried)
        work = control.work
        sweep_shapes(data, control, sweep, &solve.rows, sweep.shapes, tried.start[tried.n], False)
        if data.min_rows > 1 and not control.stop:
            offer_swept(data, control, sweep, solve, tried.start[tried.n], budget)
        if control.stop:
            control.work = work  # the same positions are tried again
            return STOPPED
        if not split_intervals(data, control, sweep, solve, base, &tried):
            return NO_MEMORY
        if until > 0.0 and monotonic() > until:
            return TIME_UP
    return DONE


cdef void init_interval(
    const Rows* rows, Interval* interval, int32_t feature, int32_t missing_right, int32_t first
) noexcept nogil:
    """Set up all positions from `first` on.

    The position behind all values belongs to it only where it separates the rows without a value from the others.
    """
    memset(interval, 0, sizeof(Interval))
    interval.feature = feature
    interval.missing_right = missing_right
    interval.first = first
    interval.last = rows.known[feature] - 1
    if missing_right and first == 1 and rows.known[feature] < rows.n:
        interval.last += 1


cdef bint begin_first(const Dataset* data, Control* control, Depth2Solve* solve) noexcept nogil:
    """Set up the intervals of a single change point on every feature; return False when memory ran out."""
    cdef int32_t j, side
    cdef Interval interval
    for j in range(data.n_features):
        for side in range(2 if solve.rows.known[j] < solve.rows.n else 1):
            init_interval(&solve.rows, &interval, j, side, 1)
            if not add_interval(control, solve, &interval):
                return False
    return True


cdef bint begin_behind_prefix(Control* control, Depth2Solve* solve) noexcept nogil:
    """Set up the interval of the change point behind those of the prefix; return False when memory ran out.

    Proof of its bounds: the next change point closes the side that is open now, which has at least the rows that it had
    when it was closed before; the other side keeps the rows that it has.
    """
    cdef int32_t k = solve.prefix.n_cuts
    cdef Interval interval
    init_interval(&solve.rows, &interval, solve.prefix.feature, solve.prefix.missing_right, solve.prefix.at[k - 1] + 1)
    interval.grown = solve.grown[k - 2] if k > 1 else 0
    interval.shrunk = solve.grown[k - 1]
    solve.n_intervals = 0
    return add_interval(control, solve, &interval)


cdef bint place_prefix(
    const Dataset* data, Control* control, Sweep* sweep, Depth2Solve* solve, int32_t from_at, cost_t budget
) noexcept nogil:
    """Move the last change point of the prefix to the next legal position; return whether it may lead to a better tree.

    Proof of the cut: every function with this prefix pays for k + 1 change points and keeps the rows before the last
    change point on their sides, so it costs at least what both sides cost when they were closed.
    """
    cdef Shape* prefix = &solve.prefix
    cdef int32_t k = prefix.n_cuts
    cdef int32_t at = next_legal(&solve.rows, prefix.feature, from_at)
    cdef cost_t fixed
    if at >= solve.rows.known[prefix.feature]:
        return False
    prefix.at[k - 1] = at
    sweep.shapes[0] = prefix[0]
    sweep_shapes(data, control, sweep, &solve.rows, sweep.shapes, 1, False)
    # The last change point of the prefix closes this side, with the rows before it.
    solve.grown[k - 1] = sweep.cost[(k - 1) & 1]
    fixed = solve.grown[k - 1] + (solve.grown[k - 2] if k > 1 else 0)
    return data.split_cost + k * data.changepoint_cost + fixed < min(solve.value, budget)


cdef bint next_prefix(
    const Dataset* data, Control* control, Sweep* sweep, Depth2Solve* solve, cost_t budget
) noexcept nogil:
    """Step, depth first, to the next prefix of up to K - 1 change points that may be part of a better function.

    The bound of a prefix rises with its last change point, so the first position that costs too much ends its level.
    After a stop request the solve is as it was before the call.
    """
    cdef Shape* prefix = &solve.prefix
    cdef int32_t from_at
    cdef bint deeper = prefix.n_cuts > 0 and prefix.n_cuts < data.max_k - 1, found
    cdef int64_t work = control.work
    cdef Shape before = prefix[0]
    cdef cost_t grown[8]
    memcpy(grown, solve.grown, sizeof(grown))
    while prefix.feature < data.n_features:
        from_at = prefix.at[prefix.n_cuts - 1] + 1 if prefix.n_cuts else 1
        if prefix.n_cuts == 0 or deeper:
            prefix.n_cuts += 1
        found = place_prefix(data, control, sweep, solve, from_at, budget)
        if control.stop:
            # A sweep that was stopped says nothing: begin again where this call began.
            control.work = work
            prefix[0] = before
            memcpy(solve.grown, grown, sizeof(grown))
            return False
        if found:
            return True
        # This level is done.
        deeper = False
        prefix.n_cuts -= 1
        if prefix.n_cuts == 0:
            if not prefix.missing_right and solve.rows.known[prefix.feature] < solve.rows.n:
                prefix.missing_right = 1
            else:
                prefix.missing_right = 0
                prefix.feature += 1
    return False


cdef Outcome solve_depth2_every_cut(
    const Dataset* data, Control* control, Sweep* sweep, Depth2Solve* solve, cost_t budget, double until
) noexcept nogil:
    cdef int64_t counts[MAX_CLASSES]
    cdef Outcome outcome
    if solve.stage == NOT_BEGUN:
        count_classes(data, &solve.rows, counts)
        solve.value = solve.relaxed = leaf_cost_of(data, counts)
        solve.best.feature = -1
        if not begin_first(data, control, solve):
            return NO_MEMORY
        solve.stage = FIRST
    if solve.stage == FIRST:
        outcome = search_last(data, control, sweep, solve, budget, until)
        if outcome != DONE:
            return outcome
        solve.stage = BETWEEN_PREFIXES
    while data.max_k > 1 and solve.value > solve.known_lower:
        if solve.stage == BETWEEN_PREFIXES:
            if not next_prefix(data, control, sweep, solve, budget):
                if control.stop:
                    return STOPPED
                break
            if not begin_behind_prefix(control, solve):
                return NO_MEMORY
            solve.stage = BEHIND_PREFIX
        outcome = search_last(data, control, sweep, solve, budget, until)
        if outcome != DONE:
            return outcome
        solve.stage = BETWEEN_PREFIXES
        if until > 0.0 and monotonic() > until:
            return TIME_UP
    return DONE
