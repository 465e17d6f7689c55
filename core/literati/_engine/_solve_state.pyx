"""Solve data states of depth left 1 and 2, which are never expanded."""

from libc.string cimport memcpy, memset

from literati._engine._cache cimport cache_store, cache_store_envelope
from literati._engine._data_state cimport filter_rows, leaves_at, rows_ready, state_complete
from literati._engine._depth1 cimport solve_depth1
from literati._engine._depth2 cimport solve_depth2
from literati._engine._depth2_every_cut cimport Depth2Solve, solve_depth2_every_cut, solve_new
from literati._engine._envelope cimport EnvelopePoint, envelope_best, point_cost, solve_envelope
from literati._engine._graph cimport LEAF, SOLVED, SPLIT, TreeNode, state_discard_solve, state_set_tree
from literati._engine._memory cimport tracked_malloc
from literati._engine._rows cimport cut_at
from literati._engine._types cimport (
    DONE, NO_MEMORY, STOPPED, Control, Dataset, Outcome, Rows, Shape, feature_order, int32_t, int64_t, uint32_t,
)


cdef Outcome solve_state(SearchContext* context, DataState* s, Solution* solution) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef Rows* rows = &context.all_rows
    cdef const EnvelopePoint* best
    cdef Shape shape
    if s.parent != NULL:
        if not rows_ready(context, s.parent.owner):
            return STOPPED if control.stop else NO_MEMORY
        rows = &context.left
        filter_rows(context, s, rows)
        if control.stop:
            return STOPPED
    solution.split_index = -1
    solution.envelope.n = 0
    if data.split_complexity and s.depth == 2:
        solve_envelope(
            data, control, &context.sweep, &context.cart, rows, leaves_at(data, s.depth), &solution.envelope
        )
    if solution.envelope.n:
        best = envelope_best(data, &solution.envelope)
        solution.value = point_cost(data, best)
        solution.split_index = best.split_index
        solution.is_leaf = best.split_index < 0
        return STOPPED if control.stop else DONE
    if s.depth == 1:
        solution.value = solve_depth1(data, control, &context.sweep.classes, rows, &shape)
    else:
        solution.value = solve_depth2(
            data, control, &context.sweep, &context.cart, rows, leaves_at(data, s.depth), s.lower, &shape,
            &solution.split_index,
        )
    solution.is_leaf = shape.feature < 0
    return STOPPED if control.stop else DONE


cdef void state_take_solution(SearchContext* context, DataState* s, const Solution* solution) noexcept nogil:
    s.upper = s.lower = solution.value
    s.policy = LEAF if solution.is_leaf else SOLVED
    s.split_index = solution.split_index
    state_complete(context, s)
    if solution.envelope.n:
        cache_store_envelope(context.control, context.cache, s.hash, &solution.envelope)


cdef Outcome solve_every_cut(SearchContext* context, DataState* s, cost_t budget) noexcept nogil:
    cdef Control* control = context.control
    cdef Depth2Solve* solve
    cdef Outcome outcome
    cdef bint over_budget
    if s.solve == NULL and not begin_solve(context, s):
        return STOPPED if control.stop else NO_MEMORY
    if s.solve == NULL:
        return STOPPED
    solve = s.solve
    solve.known_lower = s.lower
    outcome = solve_depth2_every_cut(context.data, control, &context.sweep, solve, budget, context.until)
    if outcome == NO_MEMORY:
        # Its intervals are no longer complete: begin again when there is memory.
        state_discard_solve(control, s)
        return NO_MEMORY
    # Only the root shows the best tree of an unfinished solve. Elsewhere it would change the order of the search, which
    # must not depend on when a slice ends.
    if (
        (outcome == DONE or s.parent == NULL) and solve.value < s.upper and solve.best.feature >= 0
        and not set_solve_tree(context, s)
    ):
        state_discard_solve(control, s)
        return NO_MEMORY
    if outcome != DONE:
        return outcome
    if solve.value > solve.known_lower:
        s.relaxed = max(s.relaxed, min(solve.relaxed, min(solve.value, budget)))
    over_budget = solve.value >= budget and solve.value > s.lower and budget < s.upper
    state_discard_solve(control, s)
    if over_budget:
        # The solve has dropped all that costs at least the budget, so the budget is a lower bound and not the value.
        s.lower = max(s.lower, budget)
        cache_store(control, context.cache, s.hash, s.depth, s.lower, False, NULL, 0, -1)
    else:
        state_complete(context, s)
    return DONE


cdef bint begin_solve(SearchContext* context, DataState* s) noexcept nogil:
    """Set up s.solve with the rows of the state; after a stop request it stays NULL. Return False without memory."""
    cdef Control* control = context.control
    cdef int64_t n_features = context.data.n_features, work
    if s.parent != NULL and not rows_ready(context, s.parent.owner):
        return False
    s.solve = solve_new(context.data, control, s.n)
    if s.solve == NULL:
        return False
    work = control.work
    if s.parent == NULL:
        memcpy(
            s.solve.rows.order, context.all_rows.order,
            n_features * (<int64_t>s.n + 1) * sizeof(uint32_t) + n_features * sizeof(int32_t),
        )
    else:
        filter_rows(context, s, &s.solve.rows)
    if control.stop:
        control.work = work  # the rows are filtered again
        state_discard_solve(control, s)
    return True


cdef bint set_solve_tree(SearchContext* context, DataState* s) noexcept nogil:
    """Make the first split of a solve the state's tree; its children are left to the solver of depth left 1."""
    cdef const Shape* best = &s.solve.best
    cdef const Rows* rows = &s.solve.rows
    cdef int32_t i, j = best.feature
    cdef TreeNode* tree = <TreeNode*>tracked_malloc(context.control, 3 * sizeof(TreeNode))
    if tree == NULL:
        return False
    memset(tree, 0, 3 * sizeof(TreeNode))
    tree.policy = SPLIT
    tree.depth = 2
    tree.feature = j
    tree.n_cuts = best.n_cuts
    tree.missing_right = best.missing_right
    for i in range(best.n_cuts):
        tree.cut[i] = cut_at(context.data, j, feature_order(rows, j), rows.known[j], best.at[i])
    tree.right = 2
    for i in range(1, 3):
        tree[i].policy = SOLVED
        tree[i].depth = 1
        tree[i].proven = True
    state_set_tree(context.control, s, tree, 3, s.solve.value)
    return True
