"""Choices opened one by one out of gaps between tried change points: modes `all` and `quantile`, depth left > 2.

A gap stands for every change point between two tried ones. As at depth left 2 (see _intervals.pyx) the child that
grows with the position costs at least what it costs at the lower neighbour, and the one that shrinks what it costs at
the upper one; the neighbours' lower bounds rise as the search goes on, and the gap's with them.
"""

from libc.string cimport memset

from literati._expand cimport open_choice, sum_positions
from literati._states cimport Space, choice_key, count_step, data_clear_below, rows_ready, state_key
from literati._graph cimport (
    Choice, Data, Gap, choice_free, choice_guess, commit_lower, data_add, data_add_gap,
)
from literati._intervals cimport cut_at, legal_near
from literati._types cimport Problem, Shape, cost_t, int32_t, int64_t, max_cost, min_cost


cdef inline const Data* child(const Choice* c, bint right) noexcept nogil:
    return &c.right if right else &c.left


cdef cost_t gap_lower(const Problem* p, const Gap* gap) noexcept nogil:
    """No shape function whose next change point lies in the gap costs less.

    Proof: the side that is open behind the prefix gets all rows up to the gap, at least what it has at the lower
    neighbour. The other side keeps the prefix's rows and, if this change point is the last, all rows behind the gap, at
    least what it has at the upper neighbour.
    """
    cdef int32_t k = gap.prefix.shape.n_cuts if gap.prefix != NULL else 0
    cdef bint grows_right = k & 1
    cdef cost_t grown = 0, kept = 0, shrunk, lower
    if gap.below != NULL:
        grown = child(gap.below, grows_right).lower
    elif k > 1:
        grown = child(gap.prefix.prefix, grows_right).lower
    if k > 0:
        kept = child(gap.prefix, not grows_right).lower
    shrunk = kept
    if gap.above != NULL:
        shrunk = max_cost(shrunk, child(gap.above, not grows_right).lower)
    lower = p.split_cost + k * p.refine_cost + grown + shrunk
    if k + 1 < p.max_k:
        lower = min_cost(lower, p.split_cost + (k + 1) * p.refine_cost + grown + kept)
    return lower


cdef double gap_guess(const Gap* gap) noexcept nogil:
    """A change point costs about what its better neighbour does; one without neighbours is tried first."""
    if gap.below != NULL and gap.above != NULL:
        return min(choice_guess(gap.below), choice_guess(gap.above))
    if gap.below != NULL:
        return choice_guess(gap.below)
    return choice_guess(gap.above) if gap.above != NULL else -1.0


cdef bint expand_gaps(Space* space, Data* s) noexcept nogil:
    cdef Problem* p = space.p
    cdef Gap gap
    cdef int32_t j, side
    if not rows_ready(space, s):
        return False
    for j in range(p.n_features):
        for side in range(2 if s.rows.known[j] < s.n else 1):
            memset(&gap, 0, sizeof(Gap))
            gap.feature = j
            gap.missing_right = side
            gap.first = 1
            gap.last = s.rows.known[j] - 1 + (1 if side else 0)
            if gap.first <= gap.last and not data_add_gap(p, s, &gap):
                data_clear_below(space, s)
                return False
    s.expanded = True
    count_step(space, state_key(s))
    return True


cdef bint refine_gap(Space* space, Choice* c) noexcept nogil:
    """One gap for every further change point of a choice."""
    cdef Gap gap
    memset(&gap, 0, sizeof(Gap))
    gap.prefix = c
    gap.feature = c.shape.feature
    gap.missing_right = c.shape.missing_right
    gap.first = c.shape.at[c.shape.n_cuts - 1] + 1
    if not rows_ready(space, c.owner):
        return False
    gap.last = c.owner.rows.known[gap.feature] - 1
    if gap.first <= gap.last and not data_add_gap(space.p, c.owner, &gap):
        return False
    c.refinable = False
    return True


cdef void remove_gap(Data* s, int32_t index, cost_t lower) noexcept nogil:
    s.floor = min_cost(s.floor, lower)
    s.n_gaps -= 1
    s.gaps[index] = s.gaps[s.n_gaps]


cdef void trim(const Problem* p, Data* s, Gap* gap, cost_t budget) noexcept nogil:
    """Where this change point is the last: positions whose distance in weight to a dear neighbour is too small."""
    cdef cost_t row_cost = p.heaviest * p.weight_cost
    cdef int32_t k = gap.prefix.shape.n_cuts if gap.prefix != NULL else 0
    cdef int64_t spare
    if k + 1 < p.max_k:
        return
    if gap.below != NULL and commit_lower(gap.below) > budget:
        spare = gap.below.shape.at[k] + (commit_lower(gap.below) - budget) // row_cost + 1
        if spare > gap.first:
            s.floor = min_cost(s.floor, budget)
            gap.first = <int32_t>min(spare, <int64_t>gap.last + 1)
    if gap.above != NULL and commit_lower(gap.above) > budget:
        spare = gap.above.shape.at[k] - (commit_lower(gap.above) - budget) // row_cost - 1
        if spare < gap.last:
            s.floor = min_cost(s.floor, budget)
            gap.last = <int32_t>max(spare, <int64_t>gap.first - 1)


cdef void lift(Data* s, cost_t lower) noexcept nogil:
    if lower > s.lower:
        s.lower = min_cost(lower, s.upper)
        s.complete = s.lower >= s.upper


cdef inline cost_t without(cost_t lower, int32_t rows, cost_t row_cost) noexcept nogil:
    """What is left of a bound without some rows. Their product may not fit: one row can weigh nearly all there is."""
    return lower - rows * row_cost if rows <= lower // row_cost else 0


cdef void lift_children(const Problem* p, const Gap* gap, Choice* c) noexcept nogil:
    """What the tried neighbours tell about the children of a new choice: see the head of this file.

    The child that grows has all rows of the lower neighbour's, and all but the rows between of the upper one's; the
    child that shrinks likewise with the neighbours changed.
    """
    cdef int32_t k = c.shape.n_cuts - 1
    cdef bint grows_right = k & 1
    cdef cost_t row_cost = p.heaviest * p.weight_cost
    cdef int32_t between
    cdef Data* grows = &c.right if grows_right else &c.left
    cdef Data* shrinks = &c.left if grows_right else &c.right
    if gap.below != NULL:
        between = c.shape.at[k] - gap.below.shape.at[k]
        lift(grows, child(gap.below, grows_right).lower)
        lift(shrinks, without(child(gap.below, not grows_right).lower, between, row_cost))
    if gap.above != NULL:
        between = gap.above.shape.at[k] - c.shape.at[k]
        lift(grows, without(child(gap.above, grows_right).lower, between, row_cost))
        lift(shrinks, child(gap.above, not grows_right).lower)


cdef bint open_gap(Space* space, Data* s, int32_t index, cost_t budget) noexcept nogil:
    cdef Problem* p = space.p
    cdef Gap gap = s.gaps[index]
    cdef Gap beside
    cdef Shape shape
    cdef Choice* c
    cdef int32_t at = 0, k, i
    if not rows_ready(space, s):
        return False
    trim(p, s, &gap, budget)
    if gap.first <= gap.last:
        at = legal_near(&s.rows, gap.feature, gap.first + (gap.last - gap.first) // 2, gap.first, gap.last)
    if at == 0:
        remove_gap(s, index, s.floor)
        return True
    memset(&shape, 0, sizeof(Shape))
    if gap.prefix != NULL:
        shape = gap.prefix.shape
    k = shape.n_cuts
    shape.feature = gap.feature
    shape.missing_right = gap.missing_right
    shape.at[k] = at
    shape.cut[k] = cut_at(p, &s.rows, gap.feature, at)
    shape.n_cuts = k + 1
    space.sums.n = 0
    for i in range(k + 1):
        if shape.at[i] < s.rows.known[gap.feature]:
            space.sums.at[space.sums.n] = shape.at[i]
            space.sums.n += 1
    sum_positions(space, &s.rows, gap.feature)
    c = open_choice(space, s, gap.prefix, &shape)
    if c == NULL:
        return False
    beside = gap
    beside.above = c
    beside.last = at - 1
    # Both or neither: a gap that was lost would be taken for searched.
    if beside.first <= beside.last and not data_add_gap(p, s, &beside):
        choice_free(p, &space.counters, c)
        return False
    if not data_add(p, s, c):
        s.n_gaps -= beside.first <= beside.last
        choice_free(p, &space.counters, c)
        return False
    c.refinable = k + 1 < p.max_k and at < s.rows.known[gap.feature]
    lift_children(p, &gap, c)
    count_step(space, choice_key(s, &shape, False))
    gap.below = c
    gap.first = at + 1
    if gap.first > gap.last:
        remove_gap(s, index, s.floor)
    else:
        s.gaps[index] = gap
    return True
