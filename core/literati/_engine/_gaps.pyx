"""Gaps between tried change points: where every cut is a candidate, choices are opened one by one.

A gap contains every change point between two tried ones. As at depth left 2 (see _depth2_every_cut.pyx) the child
that grows with the position costs at least what it costs at the lower neighbour, and the one that shrinks at least what
it costs at the upper one. The neighbours' lower bounds rise as the search goes on, and the gap's with them.

With min_rows > 1 the optimum is not monotone in the rows, so neighbours prove only what is true for min_rows = 1.
"""

from libc.string cimport memset

from literati._engine._data_state cimport choice_key, count_expansion, rows_ready
from literati._engine._depth2_every_cut cimport legal_near
from literati._engine._expand cimport open_choice, sum_positions
from literati._engine._explored cimport add_explored, share_choice, unexplored
from literati._engine._graph cimport (
    choice_estimate, choice_free, state_add_choice, state_add_gap, state_clear,
)
from literati._engine._rows cimport cut_at
from literati._engine._types cimport Control, Shape, feature_order, int64_t


cdef inline const DataState* child(const Choice* c, bint right) noexcept nogil:
    return &c.right if right else &c.left


cdef inline cost_t child_bound(const Dataset* data, const Choice* c, bint right) noexcept nogil:
    """Return a lower bound of a child that is also one of every larger set of rows."""
    return child(c, right).lower if data.min_rows == 1 else child(c, right).relaxed


cdef inline cost_t commit_bound(const Dataset* data, const Choice* c) noexcept nogil:
    """Return a lower bound of a choice without refinements, from which other sets of rows may be bounded."""
    return c.cost + child_bound(data, c, False) + child_bound(data, c, True)


cdef cost_t gap_lower(const Dataset* data, const Gap* gap) noexcept nogil:
    """Return a bound that no shape function whose next change point lies in the gap undercuts.

    Proof: the side that is open behind the prefix gets all rows up to the gap, at least those that it has at the lower
    neighbour. The other side keeps the prefix's rows and, if this change point is the last, all rows behind the gap, at
    least those that it has at the upper neighbour.
    """
    cdef int32_t k = gap.prefix.shape.n_cuts if gap.prefix != NULL else 0
    cdef bint grows_right = k & 1
    cdef cost_t grown = 0, kept = 0, shrunk, lower
    if gap.below != NULL:
        grown = child_bound(data, gap.below, grows_right)
    elif k > 1:
        grown = child_bound(data, gap.prefix.prefix, grows_right)
    if k > 0:
        kept = child_bound(data, gap.prefix, not grows_right)
    shrunk = kept
    if gap.above != NULL:
        shrunk = max(shrunk, child_bound(data, gap.above, not grows_right))
    lower = data.split_cost + k * data.changepoint_cost + grown + shrunk
    if k + 1 < data.max_k:
        lower = min(lower, data.split_cost + (k + 1) * data.changepoint_cost + grown + kept)
    return lower


cdef double gap_estimate(const Gap* gap) noexcept nogil:
    """Return the estimate of the better neighbour; a gap without neighbours is tried first."""
    if gap.below != NULL and gap.above != NULL:
        return min(choice_estimate(gap.below), choice_estimate(gap.above))
    if gap.below != NULL:
        return choice_estimate(gap.below)
    return choice_estimate(gap.above) if gap.above != NULL else -1.0


cdef bint expand_gaps(SearchContext* context, DataState* s) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef Gap gap
    cdef int32_t j, side
    cdef bint ok
    if not rows_ready(context, s):
        return False
    for j in range(data.n_features):
        for side in range(2 if s.rows.known[j] < s.n else 1):
            memset(&gap, 0, sizeof(Gap))
            gap.feature = j
            gap.missing_right = side
            gap.first = 1
            gap.last = s.rows.known[j] - 1 + (1 if side else 0)
            if data.min_rows > 1:
                ok = add_long_gaps(data, control, s, &gap)
            else:
                ok = gap.first > gap.last or state_add_gap(control, s, &gap)
            if not ok:
                state_clear(control, s)
                return False
    for j in range(s.n_gaps):
        s.gaps[j].share = unexplored(s) / s.n_gaps
    return True


cdef bint add_long_gaps(const Dataset* data, Control* control, DataState* s, Gap* gap) noexcept nogil:
    """Add the positions of a gap with min_rows rows before and behind them, or False when memory ran out.

    The position behind all values is a gap of its own: behind it are the rows without a value.
    """
    cdef int64_t known = s.rows.known[gap.feature]
    cdef bint above_all = gap.last == known
    if known >= 2 * data.min_rows:
        gap.first = <int32_t>data.min_rows
        gap.last = <int32_t>(known - data.min_rows)
        if not state_add_gap(control, s, gap):
            return False
    if above_all and known >= data.min_rows and s.n - known >= data.min_rows:
        gap.first = gap.last = <int32_t>known
        return state_add_gap(control, s, gap)
    return True


cdef bint refine_gap(SearchContext* context, Choice* c) noexcept nogil:
    """Open the gap of all further change points of a choice."""
    cdef Gap gap
    cdef int32_t min_rows = <int32_t>context.data.min_rows  # a state that was split has twice as many rows
    memset(&gap, 0, sizeof(Gap))
    gap.prefix = c
    gap.feature = c.shape.feature
    gap.missing_right = c.shape.missing_right
    gap.first = c.shape.at[c.shape.n_cuts - 1] + min_rows
    if not rows_ready(context, c.owner):
        return False
    gap.last = c.owner.rows.known[gap.feature] - min_rows
    gap.share = c.refine_share
    if gap.first > gap.last:
        add_explored(c.owner, gap.share)
    elif not state_add_gap(context.control, c.owner, &gap):
        return False
    c.refine_share = 0.0
    c.refinable = False
    return True


cdef void remove_gap(DataState* s, int32_t index, cost_t lower) noexcept nogil:
    s.floor = min(s.floor, lower)
    add_explored(s, s.gaps[index].share)
    s.n_gaps -= 1
    s.gaps[index] = s.gaps[s.n_gaps]


cdef void trim(const Dataset* data, DataState* s, Gap* gap, cost_t budget) noexcept nogil:
    """Remove positions that cost at least the budget, where this change point is the last.

    Proof: a cost changes by at most the weight that moves, so a position within (cost of a tried neighbour - budget)
    of that neighbour costs at least the budget.
    """
    cdef cost_t row_cost = data.max_weight * data.weight_cost
    cdef int32_t k = gap.prefix.shape.n_cuts if gap.prefix != NULL else 0, positions = gap.last - gap.first + 1
    cdef int64_t bound
    cdef double share = gap.share
    if k + 1 < data.max_k:
        return
    if gap.below != NULL and commit_bound(data, gap.below) > budget:
        bound = gap.below.shape.at[k] + (commit_bound(data, gap.below) - budget) // row_cost + 1
        if bound > gap.first:
            s.floor = min(s.floor, budget)
            gap.first = <int32_t>min(bound, <int64_t>gap.last + 1)
    if gap.above != NULL and commit_bound(data, gap.above) > budget:
        bound = gap.above.shape.at[k] - (commit_bound(data, gap.above) - budget) // row_cost - 1
        if bound < gap.last:
            s.floor = min(s.floor, budget)
            gap.last = <int32_t>max(bound, <int64_t>gap.first - 1)
    gap.share = share * (gap.last - gap.first + 1) / positions
    add_explored(s, share - gap.share)


cdef void raise_bound(DataState* s, cost_t lower) noexcept nogil:
    s.relaxed = max(s.relaxed, lower)
    if lower > s.lower:
        s.lower = min(lower, s.upper)
        s.complete = s.lower >= s.upper


cdef inline cost_t bound_without(cost_t lower, int32_t rows, cost_t row_cost) noexcept nogil:
    """Return a bound of a state without some of its rows: each lowers it by at most row_cost.

    The product may not fit into 64 bits, because one row can have nearly all of the weight.
    """
    return lower - rows * row_cost if rows <= lower // row_cost else 0


cdef void raise_children(const Dataset* data, const Gap* gap, Choice* c) noexcept nogil:
    """Raise the lower bounds of a new choice's children to what its tried neighbours prove.

    Proof: the child that grows has all rows of the lower neighbour's child, and all but the rows between of the upper
    neighbour's; for the child that shrinks the neighbours change places. Bounds are monotone in the rows.
    """
    cdef int32_t k = c.shape.n_cuts - 1
    cdef bint grows_right = k & 1
    cdef cost_t row_cost = data.max_weight * data.weight_cost
    cdef int32_t between
    cdef DataState* grows = &c.right if grows_right else &c.left
    cdef DataState* shrinks = &c.left if grows_right else &c.right
    if gap.below != NULL:
        between = c.shape.at[k] - gap.below.shape.at[k]
        raise_bound(grows, child_bound(data, gap.below, grows_right))
        raise_bound(shrinks, bound_without(child_bound(data, gap.below, not grows_right), between, row_cost))
    if gap.above != NULL:
        between = gap.above.shape.at[k] - c.shape.at[k]
        raise_bound(grows, bound_without(child_bound(data, gap.above, grows_right), between, row_cost))
        raise_bound(shrinks, child_bound(data, gap.above, not grows_right))


cdef void gap_shape(SearchContext* context, DataState* s, const Gap* gap, int32_t at, Shape* shape) noexcept nogil:
    """Write the shape function with the next change point at a position, and sum its positions."""
    cdef int32_t k, i, known = s.rows.known[gap.feature]
    memset(shape, 0, sizeof(Shape))
    if gap.prefix != NULL:
        shape[0] = gap.prefix.shape
    k = shape.n_cuts
    shape.feature = gap.feature
    shape.missing_right = gap.missing_right
    shape.at[k] = at
    shape.cut[k] = cut_at(context.data, gap.feature, feature_order(&s.rows, gap.feature), known, at)
    shape.n_cuts = k + 1
    context.sums.n = 0
    for i in range(k + 1):
        if shape.at[i] < known:
            context.sums.at[context.sums.n] = shape.at[i]
            context.sums.n += 1
    sum_positions(context, &s.rows, gap.feature)


cdef bint open_gap(
    SearchContext* context, StepCounter* counter, DataState* s, int32_t index, cost_t budget
) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef Gap gap
    cdef Gap beside
    cdef Shape shape
    cdef Choice* c
    cdef int32_t at = 0
    cdef double position_share
    if not rows_ready(context, s):
        return False
    trim(data, s, &s.gaps[index], budget)
    gap = s.gaps[index]
    if gap.first <= gap.last:
        at = legal_near(&s.rows, gap.feature, gap.first + (gap.last - gap.first) // 2, gap.first, gap.last)
    if at == 0:
        remove_gap(s, index, s.floor)
        return True
    gap_shape(context, s, &gap, at, &shape)
    c = open_choice(context, s, gap.prefix, &shape)
    if c == NULL:
        return False
    position_share = gap.share / (gap.last - gap.first + 1)
    beside = gap
    beside.above = c
    beside.last = at - 1
    beside.share = (at - gap.first) * position_share
    # Both or neither: a gap that was lost would count as searched.
    if beside.first <= beside.last and not state_add_gap(control, s, &beside):
        choice_free(control, c)
        return False
    if not state_add_choice(control, s, c):
        s.n_gaps -= beside.first <= beside.last
        choice_free(control, c)
        return False
    c.refinable = shape.n_cuts < data.max_k and at < s.rows.known[gap.feature]
    share_choice(c, position_share)
    raise_children(data, &gap, c)
    count_expansion(counter, choice_key(s, &shape, False))
    s.gaps[index].below = c
    s.gaps[index].first = at + 1
    s.gaps[index].share = (gap.last - at) * position_share
    if s.gaps[index].first > gap.last:
        remove_gap(s, index, s.floor)
    return True
