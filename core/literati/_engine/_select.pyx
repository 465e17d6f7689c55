"""Selection: which states the next round of tasks expands or solves.

Selection follows the estimate (V-tilde) and carries a budget: what a state may cost at most to be part of a better
tree. A choice whose lower bound reaches the budget is pruned for good, since budgets only fall. Dual rounds follow the
lowest bound instead, to raise the root's.
"""

from literati._engine._data_state cimport state_recall
from literati._engine._gaps cimport gap_estimate, gap_lower
from literati._engine._graph cimport Choice, choice_estimate, choice_lower, commit_lower
from literati._engine._round cimport (
    EXPAND, EXPAND_GAPS, LOOK_AHEAD, MAX_TASKS, OPEN_GAP, REFINE, REFINE_GAP, SOLVE, SOLVE_EVERY_CUT, round_add,
    round_size,
)
from literati._engine._values cimport prune


cdef enum:
    # The root follows estimates until PATIENCE times the expansions of the last improvement have passed, and at least
    # MIN_PATIENCE. Safe defaults: they change how early the lower bound rises, not what is proven.
    PATIENCE = 2
    MIN_PATIENCE = 64
    MAX_LOOKAHEADS = 4   # of one round: on a million rows each takes seconds
    DUAL_TASKS = 8       # of one dual round: fewer raise the bound earlier, more keep threads busy (decision 36)
    MAX_BRANCHES = 2     # choices of one state, above those whose children are solved, that a round follows


cdef int32_t dual_share(const Selection* selection) noexcept nogil:
    """Return the share of the work for dual rounds, in per cent: it grows with the age of the incumbent.

    The age is the work so far over the work at the last better tree. docs/decisions/0036 has the measurements.
    """
    if selection.round_work < 3 * selection.improved_work:
        return 15
    return 50 if selection.round_work < 6 * selection.improved_work else 90


cdef bint is_dual_round(const Selection* selection) noexcept nogil:
    """Return whether the next round is there to raise the root's lower bound, and not to find a better tree.

    Where every cut is a candidate, only the root turns to its weakest bound: see select_choice. Dual rounds need memory
    for all that is begun.
    """
    if selection.or_selection != MIXED or selection.context.every_cut or selection.low_memory:
        return False
    return selection.dual_balance >= 0


cdef inline bint open_below(const Choice* c, cost_t budget) noexcept nogil:
    """Return whether anything below a choice may cost less than the budget."""
    if c.refinable and c.refine_lower < budget:
        return True
    return commit_lower(c) < budget and not (c.left.complete and c.right.complete)


cdef Choice* select_choice(Selection* selection, DataState* s, cost_t budget, int32_t* gap) noexcept nogil:
    """Return the most promising choice, or NULL and the most promising gap (-1: there is neither).

    Choices that this round has selected are left out.
    """
    cdef SearchContext* context = selection.context
    cdef Choice* best = NULL
    cdef Choice* c
    cdef double value, best_value = 0.0
    cdef int32_t i
    # Where the children of choices are solved and not expanded, a choice that was opened is finished first.
    cdef bint finish_first = context.every_cut and s.depth == 3
    # The root turns to its weakest bound once better trees have become rare: the same work raises the lower bound
    # on the way instead of at the end. It needs memory for all that is begun. Dual rounds do so at every level. Where
    # every cut is a candidate there are no dual rounds; the root then turns to it in every second round only, since
    # otherwise no better tree would be found (docs/decisions/0036).
    cdef bint by_estimate = selection.or_selection != ADMISSIBLE and not selection.dual and (
        s.parent != NULL or selection.low_memory or (selection.or_selection == MIXED and not context.every_cut)
        or (selection.or_selection == MIXED and selection.rounds & 1)
        or selection.expansions < PATIENCE * selection.improved_at + MIN_PATIENCE
    )
    gap[0] = -1
    for i in range(s.n_choices):
        c = s.choices[i]
        if c.pruned or c.round == selection.rounds or not open_below(c, budget):
            continue
        value = choice_estimate(c) if by_estimate else <double>choice_lower(c)
        if best == NULL or value < best_value or (value == best_value and choice_estimate(c) < choice_estimate(best)):
            best = c
            best_value = value
    if best != NULL and finish_first and not best.refinable:
        return best
    for i in range(s.n_gaps):
        value = <double>gap_lower(context.data, &s.gaps[i])
        if by_estimate and not finish_first:
            value = max(value, gap_estimate(&s.gaps[i]))
        if (best == NULL and gap[0] < 0) or value < best_value:
            gap[0] = i
            best_value = value
    return NULL if gap[0] >= 0 else best


cdef inline bint larger_estimate_first(const Selection* selection, const Choice* c) noexcept nogil:
    """Return whether the child with the larger estimate comes first, because children are solved and not expanded."""
    return c.left.depth <= 2 and selection.or_selection != ADMISSIBLE


cdef DataState* select_child(Selection* selection, Choice* c) noexcept nogil:
    cdef bint right
    if c.left.complete:
        return &c.right
    if c.right.complete:
        return &c.left
    if selection.dual:
        # To raise the choice's bound one child is enough: the one that promises more cost for each row visited. Dual
        # rounds stay with it until it is complete.
        return &c.right if c.right.estimate * c.left.n > c.left.estimate * c.right.n else &c.left
    right = c.right.estimate > c.left.estimate
    if not larger_estimate_first(selection, c):
        if selection.and_selection == ROUND_ROBIN:
            right = c.right_next
            c.right_next = not right
        elif selection.and_selection == WORST_PRIMAL:
            right = c.right.upper > c.left.upper
        elif selection.or_selection == ADMISSIBLE:
            right = c.right.lower > c.left.lower
    return &c.right if right else &c.left


cdef bint select_lookaheads(Selection* selection, DataState* s) noexcept nogil:
    """Add the choices of a state without lookahead to the round; all get theirs before any is followed."""
    cdef int32_t i, n = 0, limit = 1 if selection.single_task else MAX_LOOKAHEADS
    for i in range(s.n_choices):
        if s.choices[i].estimated or s.choices[i].pruned:
            continue
        if n == limit or round_size(selection.tasks) == MAX_TASKS:
            return True
        round_add(selection.tasks, LOOK_AHEAD, s, s.choices[i], 0, 0)
        n += 1
    return n > 0


cdef void select_leaf(Selection* selection, DataState* s, cost_t budget) noexcept nogil:
    """Add a state that is not expanded to the round, unless its value has become known."""
    cdef bint every_cut = selection.context.every_cut
    cdef const DataState* other
    cdef int32_t i
    if s.parent != NULL:
        state_recall(selection.context, s)
        if s.complete:
            return
    for i in range(selection.tasks.n):
        # Equal rows are solved once; the other state finds the value in the cache.
        other = selection.tasks.tasks[i].state
        if other.depth == s.depth and other.hash[0] == s.hash[0] and other.hash[1] == s.hash[1]:
            return
    if s.depth > 2:
        round_add(selection.tasks, EXPAND_GAPS if every_cut else EXPAND, s, NULL, budget, 0)
    else:
        round_add(selection.tasks, SOLVE_EVERY_CUT if every_cut and s.depth == 2 else SOLVE, s, NULL, budget, 0)


cdef void select_tasks(Selection* selection, DataState* s, cost_t budget, int32_t limit) noexcept nogil:
    """Add the most promising steps below a state to the round, until the round has `limit` tasks.

    A dual round stays below the choice of lowest bound, and takes more only to keep a second thread busy. The budget
    of a child is what its parent may cost less the split and the lower bound of the other child: a child that costs
    more cannot be part of a better tree.
    """
    cdef int32_t gap, before = round_size(selection.tasks), branches = 0, max_branches = MAX_BRANCHES, enough = limit
    cdef DataState* child
    cdef Choice* c
    if not s.expanded:
        select_leaf(selection, s, budget)
        return
    budget = min(budget, s.upper)
    prune(selection.context, s, budget)
    if select_lookaheads(selection, s):
        return
    if s.depth == 3:
        max_branches = MAX_TASKS
    elif selection.low_memory:
        max_branches = 1  # what is begun beside the most promising path would be freed again
    if selection.dual and s.depth > 3:
        enough = min(limit, 2)
    while round_size(selection.tasks) < enough and branches < max_branches:
        c = select_choice(selection, s, budget, &gap)
        if gap >= 0:
            round_add(selection.tasks, OPEN_GAP, s, NULL, budget, gap)
            return
        if c == NULL:
            break
        c.round = selection.rounds
        branches += 1
        if c.refinable and c.refine_lower < budget:
            round_add(selection.tasks, REFINE_GAP if selection.context.every_cut else REFINE, s, c, budget, 0)
        else:
            child = select_child(selection, c)
            select_tasks(
                selection, child, budget - c.cost - (c.left.lower if child == &c.right else c.right.lower), limit
            )
    if round_size(selection.tasks) == before:
        # Nothing below costs less than the budget, or its value has become known: only the values are updated.
        selection.tasks.closed[selection.tasks.n_closed] = s
        selection.tasks.n_closed += 1


cdef void selection_start(Selection* selection, int64_t work) noexcept nogil:
    # The tree counts as old as all work so far: dual rounds get a small share until this space has had several times
    # that much.
    selection.round_work = selection.dual_balance = 0
    selection.improved_work = work


cdef void select_round(Selection* selection, DataState* root, int64_t expansions) noexcept nogil:
    cdef int32_t limit = MAX_TASKS
    selection.rounds += 1
    selection.expansions = expansions
    selection.dual = is_dual_round(selection)
    if selection.single_task or selection.context.every_cut:
        limit = 1
    elif selection.dual:
        limit = DUAL_TASKS
    select_tasks(selection, root, root.upper, limit)


cdef void note_round(Selection* selection, int64_t work, bint improved, int64_t expansions) noexcept nogil:
    selection.round_work += work
    # Dual rounds get their share of the work.
    selection.dual_balance += work * (dual_share(selection) - (100 if selection.dual else 0))
    if improved:
        selection.improved_at = expansions
        selection.improved_work = selection.round_work
