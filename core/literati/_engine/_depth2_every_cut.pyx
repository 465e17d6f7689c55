"""Depth left 2 over every cut: intervals of positions instead of positions.

With the other change points fixed, moving one to the right makes one child grow and the other shrink. The optimum of a
child is monotone in its rows and moves by at most the weight moved, so between two tried positions

    cost >= cost of the grown child at the lower one + cost of the shrunk child at the upper one, and
    cost >= cost at a tried position - weight between it and the position.

Sixteen positions are tried at once; intervals that cannot hold anything better are dropped.
"""

from libc.string cimport memcpy, memset
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from literati._bottom cimport count_classes
from literati._bounds cimport leaf_cost_of
from literati._rows cimport cut_between, drop, grab, rows_alloc, rows_free
from literati._sweep cimport Sweep, sweep_shapes
from literati._types cimport (
    DONE, LANES, LEGAL_CUT, MAX_CLASSES, MAX_K, NO_MEMORY, Outcome, Problem, ROW_MASK, Rows, STOPPED, Shape, TIME_UP,
    cost_t, feature_order, int32_t, int64_t, max_cost, min_cost, uint32_t,
)


cdef double monotonic() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return t.tv_sec + 1e-9 * t.tv_nsec


cdef bint deep_init(Problem* p, Deep* deep, int32_t n) noexcept nogil:
    memset(deep, 0, sizeof(Deep))
    deep.room = 256
    deep.intervals = <Interval*>grab(p, deep.room * sizeof(Interval))
    if deep.intervals == NULL or not rows_alloc(p, &deep.rows, n):
        drop(p, deep.intervals)
        deep.intervals = NULL
        return False
    return True


cdef void deep_free(Problem* p, Deep* deep) noexcept nogil:
    rows_free(p, &deep.rows)
    drop(p, deep.intervals)
    deep.intervals = NULL


cdef int32_t legal_near(const Rows* rows, int32_t feature, int32_t at, int32_t first, int32_t last) noexcept nogil:
    """The legal position nearest to `at` between first and last; 0 if there is none.

    The position behind all values is legal where some rows have none.
    """
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef int32_t known = rows.known[feature], step = 0, top = known if known < rows.n else -1
    while at - step >= first or at + step <= last:
        if at - step >= first and (entries[at - step - 1] & LEGAL_CUT or at - step == top):
            return at - step
        if at + step <= last and (entries[at + step - 1] & LEGAL_CUT or at + step == top):
            return at + step
        step += 1
    return 0


cdef int32_t cut_at(const Problem* p, const Rows* rows, int32_t feature, int32_t at) noexcept nogil:
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef const int32_t* codes = p.codes + feature * <int64_t>p.n_rows
    if at == rows.known[feature]:
        return p.card[feature]
    return cut_between(p, feature, codes[entries[at - 1] & ROW_MASK], codes[entries[at] & ROW_MASK])


cdef bint add_interval(Problem* p, Deep* deep, const Interval* interval) noexcept nogil:
    cdef Interval* larger
    if deep.n_intervals == deep.room:
        if p.byte_limit and p.bytes + 2 * deep.room * <int64_t>sizeof(Interval) > p.byte_limit:
            return False
        larger = <Interval*>grab(p, 2 * deep.room * sizeof(Interval))
        if larger == NULL:
            return False
        memcpy(larger, deep.intervals, deep.n_intervals * sizeof(Interval))
        drop(p, deep.intervals)
        deep.intervals = larger
        deep.room *= 2
    deep.intervals[deep.n_intervals] = interval[0]
    deep.n_intervals += 1
    return True


cdef bint shrink(const Problem* p, Interval* interval, cost_t base, cost_t cutoff) noexcept nogil:
    """Cuts off positions that cannot cost less than the cutoff; False if none is left."""
    cdef cost_t row_cost = p.heaviest * p.weight_cost
    cdef int64_t spare
    if base + interval.grown + interval.shrunk >= cutoff:
        return False
    if interval.below_cost > cutoff:
        spare = interval.below_at + (interval.below_cost - cutoff) // row_cost + 1
        if spare > interval.first:
            if spare > interval.last:
                return False
            interval.first = <int32_t>spare
    if interval.above_cost > cutoff:
        spare = interval.above_at - (interval.above_cost - cutoff) // row_cost - 1
        if spare < interval.last:
            if spare < interval.first:
                return False
            interval.last = <int32_t>spare
    return interval.first <= interval.last


cdef Outcome search_last(
    Problem* p, Sweep* sweep, Deep* deep, const Shape* prefix, cost_t budget, double until
) noexcept nogil:
    """Find the best place for one more change point behind those of the prefix, on any feature if it has none.

    deep.intervals holds the positions to try. After STOPPED or TIME_UP they are those that are left to try, so that
    another call goes on; every call that is not stopped tries some.
    """
    cdef int32_t k = prefix.n_cuts, n, i, j, per, taken, at, previous, count
    cdef bint grow_right = k & 1
    cdef cost_t base = p.split_cost + k * p.refine_cost, cutoff, cost
    cdef const Rows* rows = &deep.rows
    cdef Interval source
    cdef Interval piece
    cdef Interval picked[LANES]
    cdef int32_t start[LANES + 1]
    cdef int32_t n_picked
    cdef Shape* shape
    cdef int64_t work
    while deep.n_intervals and deep.value > deep.least:
        cutoff = min_cost(deep.value, budget)
        n = 0
        for i in range(deep.n_intervals):
            if shrink(p, &deep.intervals[i], base, cutoff):
                deep.intervals[n] = deep.intervals[i]
                n += 1
        deep.n_intervals = n
        if n == 0:
            break
        n_picked = min(n, LANES)
        per = LANES // n_picked
        taken = 0
        for i in range(n_picked):
            source = deep.intervals[i]
            picked[i] = source
            start[i] = taken
            previous = source.first - 1
            count = min(per, source.last - source.first + 1)
            for j in range(count):
                at = source.first + <int32_t>((<int64_t>(source.last - source.first) * (2 * j + 1)) // (2 * count))
                at = legal_near(rows, source.feature, at, previous + 1, source.last)
                if at == 0:
                    break
                shape = &sweep.shapes[taken]
                shape[0] = prefix[0]
                shape.feature = source.feature
                shape.missing_right = source.missing_right
                shape.at[k] = at
                shape.n_cuts = k + 1
                taken += 1
                previous = at
        start[n_picked] = taken
        work = p.work
        sweep_shapes(p, sweep, rows, sweep.shapes, taken, False)
        if p.stop:
            p.work = work  # the same positions are tried again
            return STOPPED
        # The picked ones leave the front; what is left of them comes to the end: coarse before fine.
        deep.n_intervals = n - n_picked
        for i in range(deep.n_intervals):
            deep.intervals[i] = deep.intervals[i + n_picked]
        for i in range(n_picked):
            source = picked[i]
            piece = source
            for j in range(start[i], start[i + 1]):
                cost = base + sweep.left[j] + sweep.right[j]
                if cost < deep.value:
                    deep.value = cost
                    deep.best = sweep.shapes[j]
                piece.last = sweep.shapes[j].at[k] - 1
                piece.above_at = sweep.shapes[j].at[k]
                piece.above_cost = cost
                piece.shrunk = max_cost(source.shrunk, sweep.left[j] if grow_right else sweep.right[j])
                if piece.first <= piece.last and not add_interval(p, deep, &piece):
                    return NO_MEMORY
                piece = source
                piece.first = sweep.shapes[j].at[k] + 1
                piece.below_at = sweep.shapes[j].at[k]
                piece.below_cost = cost
                piece.grown = max_cost(source.grown, sweep.right[j] if grow_right else sweep.left[j])
            if start[i] < start[i + 1] and piece.first <= piece.last and not add_interval(p, deep, &piece):
                return NO_MEMORY
        if until > 0.0 and monotonic() > until:
            return TIME_UP
    return DONE


cdef void fresh_interval(
    const Rows* rows, Interval* interval, int32_t feature, int32_t missing_right, int32_t first
) noexcept nogil:
    """All positions from `first` on; the one behind all values only for the rows without one, on their own side."""
    memset(interval, 0, sizeof(Interval))
    interval.feature = feature
    interval.missing_right = missing_right
    interval.first = first
    interval.last = rows.known[feature] - 1
    if missing_right and first == 1 and rows.known[feature] < rows.n:
        interval.last += 1


cdef bint begin_first(Problem* p, Deep* deep) noexcept nogil:
    """Set up the intervals of a single change point on every feature; False when memory ran out."""
    cdef int32_t j, side
    cdef Interval interval
    for j in range(p.n_features):
        for side in range(2 if deep.rows.known[j] < deep.rows.n else 1):
            fresh_interval(&deep.rows, &interval, j, side, 1)
            if interval.first <= interval.last and not add_interval(p, deep, &interval):
                return False
    return True


cdef bint begin_behind_prefix(Problem* p, Deep* deep) noexcept nogil:
    """Set up the interval of the change point behind those of the prefix; False when memory ran out."""
    cdef int32_t k = deep.prefix.n_cuts
    cdef Interval interval
    fresh_interval(
        &deep.rows, &interval, deep.prefix.feature, deep.prefix.missing_right, deep.prefix.at[k - 1] + 1
    )
    # The next change point closes the side that is open now; the other one has its rows for sure.
    interval.grown = deep.grown[k - 2] if k > 1 else 0
    interval.shrunk = deep.grown[k - 1]
    deep.n_intervals = 0
    return interval.first > interval.last or add_interval(p, deep, &interval)


cdef cost_t grown_cost(Problem* p, Sweep* sweep, Deep* deep) noexcept nogil:
    """Cost of the side that the last change point of the prefix has just closed: rows behind it never join it."""
    cdef int32_t k = deep.prefix.n_cuts
    sweep.shapes[0] = deep.prefix
    sweep_shapes(p, sweep, &deep.rows, sweep.shapes, 1, False)
    return sweep.left[0] if k & 1 else sweep.right[0]


cdef bint next_prefix(Problem* p, Sweep* sweep, Deep* deep, cost_t budget) noexcept nogil:
    """Steps to the next prefix of up to K - 1 change points that could be part of something better.

    Depth first. What a prefix surely costs rises with its last change point, so the first one that is too dear ends
    its level.
    """
    cdef Shape* prefix = &deep.prefix
    cdef const Rows* rows = &deep.rows
    cdef int32_t at, known, k
    cdef cost_t sure
    cdef bint deeper = prefix.n_cuts > 0 and prefix.n_cuts < p.max_k - 1
    cdef int64_t work = p.work
    cdef Shape before = prefix[0]
    cdef cost_t grown[8]
    for k in range(MAX_K):
        grown[k] = deep.grown[k]
    while prefix.feature < p.n_features:
        known = rows.known[prefix.feature]
        if prefix.n_cuts == 0 or deeper:
            at = (prefix.at[prefix.n_cuts - 1] if prefix.n_cuts else 0) + 1
            prefix.n_cuts += 1
        else:
            at = prefix.at[prefix.n_cuts - 1] + 1
        k = prefix.n_cuts
        at = next_legal(rows, prefix.feature, at, known - 1)
        if at:
            prefix.at[k - 1] = at
            deep.grown[k - 1] = grown_cost(p, sweep, deep)
            if p.stop:
                # Half a sweep says nothing: begin again where this call began.
                p.work = work
                prefix[0] = before
                for k in range(MAX_K):
                    deep.grown[k] = grown[k]
                return False
            sure = deep.grown[k - 1] + (deep.grown[k - 2] if k > 1 else 0)
            if p.split_cost + k * p.refine_cost + sure < min_cost(deep.value, budget):
                return True
        # This level is done.
        deeper = False
        prefix.n_cuts -= 1
        if prefix.n_cuts == 0:
            if not prefix.missing_right and known < rows.n:
                prefix.missing_right = 1
            else:
                prefix.missing_right = 0
                prefix.feature += 1
    return False


cdef int32_t next_legal(const Rows* rows, int32_t feature, int32_t at, int32_t last) noexcept nogil:
    cdef const uint32_t* entries = feature_order(rows, feature)
    while at <= last:
        if entries[at - 1] & LEGAL_CUT:
            return at
        at += 1
    return 0


cdef Outcome deep_solve(Problem* p, Sweep* sweep, Deep* deep, cost_t budget, double until) noexcept nogil:
    cdef int64_t counts[MAX_CLASSES]
    cdef int64_t doomed
    cdef Outcome outcome
    if deep.stage == NOT_BEGUN:
        count_classes(p, &deep.rows, counts, &doomed)
        deep.value = leaf_cost_of(p, counts)
        deep.best.feature = -1
        if not begin_first(p, deep):
            return NO_MEMORY
        deep.stage = FIRST
    if deep.stage == FIRST:
        outcome = search_last(p, sweep, deep, &deep.prefix, budget, until)
        if outcome != DONE:
            return outcome
        deep.stage = BETWEEN_PREFIXES
    while p.max_k > 1 and deep.value > deep.least:
        if deep.stage == BETWEEN_PREFIXES:
            if not next_prefix(p, sweep, deep, budget):
                if p.stop:
                    return STOPPED
                break
            if not begin_behind_prefix(p, deep):
                return NO_MEMORY
            deep.stage = BEHIND_PREFIX
        outcome = search_last(p, sweep, deep, &deep.prefix, budget, until)
        if outcome != DONE:
            return outcome
        deep.stage = BETWEEN_PREFIXES
        if until > 0.0 and monotonic() > until:
            return TIME_UP
    return DONE
