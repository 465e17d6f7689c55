"""Solve data states of depth left 1 and 2, which are never expanded."""

from libc.string cimport memcpy, memset

from literati._engine._cache cimport cache_store
from literati._engine._data_state cimport count_expansion, filter_rows, leaves_at, rows_ready, state_complete, state_key
from literati._engine._depth1 cimport solve_depth1
from literati._engine._depth2 cimport solve_depth2
from literati._engine._depth2_every_cut cimport Depth2Solve, solve_depth2_every_cut, solve_new
from literati._engine._graph cimport LEAF, SOLVED, SPLIT, TreeNode, state_discard_solve, state_set_tree
from literati._engine._memory cimport tracked_malloc
from literati._engine._rows cimport cut_at
from literati._engine._types cimport (
    DONE, NO_MEMORY, Control, Dataset, Outcome, Rows, Shape, feature_order, int32_t, int64_t, uint32_t,
)


cdef bint solve_state(SearchContext* context, DataState* s, cost_t budget) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef Rows* rows = &context.all_rows
    cdef Shape shape
    cdef cost_t value
    cdef int32_t split_index = -1
    if s.depth == 2 and context.every_cut:
        return solve_every_cut(context, s, budget)
    if s.parent != NULL:
        if not rows_ready(context, s.parent.owner):
            return False
        rows = &context.left
        filter_rows(context, s, rows)
        if control.stop:
            return True
    if s.depth == 1:
        value = solve_depth1(data, control, &context.sweep.classes, rows, &shape)
    else:
        value = solve_depth2(
            data, control, &context.sweep, &context.cart, rows, leaves_at(data, s.depth), s.lower, &shape, &split_index
        )
    if control.stop:
        return True
    s.upper = s.lower = value
    s.policy = LEAF if shape.feature < 0 else SOLVED
    s.split_index = split_index
    count_expansion(context, state_key(s))
    state_complete(context, s)
    return True


cdef bint solve_every_cut(SearchContext* context, DataState* s, cost_t budget) noexcept nogil:
    """Solve a state of depth left 2 over every cut, as far as the time allows."""
    cdef Control* control = context.control
    cdef Depth2Solve* solve
    cdef Outcome outcome
    cdef bint over_budget
    if s.solve == NULL and not begin_solve(context, s):
        return False
    if s.solve == NULL:
        return True
    solve = s.solve
    solve.known_lower = s.lower
    outcome = solve_depth2_every_cut(context.data, control, &context.sweep, solve, budget, context.until)
    if outcome == NO_MEMORY:
        # Its intervals are no longer complete: begin again when there is memory.
        state_discard_solve(control, s)
        return False
    # Only the root shows the best tree of an unfinished solve. Elsewhere it would change the order of the search, which
    # must not depend on when a slice ends.
    if (
        (outcome == DONE or s.parent == NULL) and solve.value < s.upper and solve.best.feature >= 0
        and not set_solve_tree(context, s)
    ):
        state_discard_solve(control, s)
        return False
    if outcome != DONE:
        return True
    count_expansion(context, state_key(s))
    over_budget = solve.value >= budget and solve.value > s.lower and budget < s.upper
    state_discard_solve(control, s)
    if over_budget:
        # The solve has dropped all that costs at least the budget, so the budget is a lower bound and not the value.
        s.lower = max(s.lower, budget)
        cache_store(control, &context.cache, s.hash, s.depth, s.lower, False, NULL, 0, -1)
    else:
        state_complete(context, s)
    return True


cdef bint begin_solve(SearchContext* context, DataState* s) noexcept nogil:
    """Set up s.solve with the rows of the state; after a stop request it stays NULL. Return False without memory."""
    cdef Control* control = context.control
    cdef int64_t n_features = context.data.n_features
    if s.parent != NULL and not rows_ready(context, s.parent.owner):
        return False
    s.solve = solve_new(context.data, control, s.n)
    if s.solve == NULL:
        return False
    if s.parent == NULL:
        memcpy(
            s.solve.rows.order, context.all_rows.order,
            n_features * (<int64_t>s.n + 1) * sizeof(uint32_t) + n_features * sizeof(int32_t),
        )
    else:
        filter_rows(context, s, &s.solve.rows)
    if control.stop:
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
