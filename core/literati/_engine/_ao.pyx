"""The AO* loop: select, expand, backpropagate, prune.

Every step is a round of tasks (_round.pxd): _select.pyx selects them, _round.pyx carries them out, this module puts
their results into the graph, and _values.pyx updates the states above them.
"""

from literati._engine._bounds cimport RowSummary, empty_summary, lower_bound_of
from literati._engine._cache cimport cache_change_costs, cache_clear, cache_free, cache_init
from literati._engine._cart cimport cart_lookahead
from literati._engine._data_state cimport (
    CART_LOOKAHEAD, buffers_free, buffers_init, cart_tree, choice_key, count_expansion, counter_free, counter_init,
    state_collapse, state_key, state_start,
)
from literati._engine._explored cimport add_explored, share_choice, unexplored
from literati._engine._graph cimport (
    LEAF, Choice, choice_estimate, state_free, state_set_tree, state_take_expansion, tree_size, tree_write,
)
from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._round cimport (
    EXPAND, EXPAND_GAPS, MAX_TASKS, REFINE, SOLVE, SOLVE_EVERY_CUT, Task, helpers_free, helpers_init, round_discard,
    round_run,
)
from literati._engine._rows cimport count_classes, rows_alloc, rows_free
from literati._engine._select cimport note_round, select_round, selection_start
from literati._engine._solve_state cimport state_take_solution
from literati._engine._types cimport DONE, NO_MEMORY, STOPPED
from literati._engine._values cimport backpropagate, list_state


cdef enum:
    # Expansions over CART's cuts before every cut is searched. On scikit-learn's digits (depth 3, two change points)
    # the tree after 8 seconds then has 661 errors instead of 801: see docs/decisions/0008.
    WARM_UP_EXPANSIONS = 256


cdef bint ao_init(
    Ao* ao, const Dataset* data, Control* control, int64_t cache_bytes, int32_t n_threads
) noexcept nogil:
    cdef SearchContext* context = &ao.context
    context.data = data
    context.control = control
    context.cache = &ao.cache
    ao.selection.context = context
    ao.selection.tasks = &ao.tasks
    # All of them are tried, whether or not one failed: `measuring` counts what each would take.
    cdef bint cache = cache_init(control, &ao.cache, cache_bytes)
    cdef bint counter = counter_init(control, &ao.counter)
    cdef bint all_rows = rows_alloc(data, control, &context.all_rows, data.n_rows)
    cdef bint buffers = buffers_init(context)
    cdef bint helpers = n_threads == 1 or helpers_init(&ao.helpers, n_threads - 1, context)
    return cache and counter and all_rows and buffers and helpers


cdef void ao_free(Ao* ao) noexcept nogil:
    cdef Control* control = ao.context.control
    round_discard(&ao.tasks, control)
    state_free(control, &ao.root)
    tracked_free(control, ao.saved_tree)
    helpers_free(&ao.helpers, control)
    buffers_free(&ao.context)
    rows_free(control, &ao.context.all_rows)
    counter_free(control, &ao.counter)
    cache_free(control, &ao.cache)


cdef void ao_start(Ao* ao) noexcept nogil:
    cdef SearchContext* context = &ao.context
    cdef const Dataset* data = context.data
    cdef RowSummary rows
    cdef int32_t row
    empty_summary(data, &rows)
    count_classes(data, &context.all_rows, rows.counts)
    rows.n = data.n_rows
    for row in range(data.n_rows):
        rows.unavoidable_error += data.unavoidable_error[row]
        rows.hash[0] += data.row_hash[2 * <int64_t>row]
        rows.hash[1] += data.row_hash[2 * <int64_t>row + 1]
    state_start(context, &ao.root, data.max_depth, &rows)
    ao.root.share = 1.0
    # Not the root's own bound: that may come from a checkpoint's values, which are true of one space only.
    ao.initial_lower = lower_bound_of(data, &rows, data.max_depth)
    if ao.saved_tree != NULL and not ao.root.complete:
        apply_checkpoint(ao)
    ao.root.estimate = <double>ao.root.upper
    ao.root.complete = ao.root.lower >= ao.root.upper
    ao.looked_ahead = ao.looked_ahead or ao.root.complete


cdef Outcome ao_look_ahead(Ao* ao) noexcept nogil:
    cdef SearchContext* context = &ao.context
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef TreeNode* tree
    cdef int64_t work = control.work
    cdef cost_t cost = cart_lookahead(data, control, &context.cart, &context.all_rows, data.max_depth)
    if control.stop:
        control.work = work  # what is done again is not counted twice: work decides when a tree is polished
        return STOPPED
    if cost < ao.root.upper:
        tree = <TreeNode*>tracked_malloc(control, context.cart.n_nodes * sizeof(TreeNode))
        if tree == NULL:
            return NO_MEMORY
        state_set_tree(control, &ao.root, tree, cart_tree(&context.cart, 0, tree), cost)
    ao.root.estimate = <double>ao.root.upper
    ao.root.complete = ao.root.lower >= ao.root.upper
    ao.looked_ahead = True
    return DONE


cdef bint ao_end_warm_up(Ao* ao) noexcept nogil:
    # The incumbent lies in the wider space too. The bounds and cached values are true of the narrower space only.
    cdef SearchContext* context = &ao.context
    cdef TreeNode* tree
    cdef int32_t n
    if not ao.root.complete and ao.counter.expansions < WARM_UP_EXPANSIONS:
        return True
    n = tree_size(&ao.root)
    tree = <TreeNode*>tracked_malloc(context.control, n * sizeof(TreeNode))
    if tree == NULL:
        return False
    ao_tree(ao, tree)
    ao_start_over(ao, True, tree, n, ao.root.upper)
    return True


cdef void ao_start_over(Ao* ao, bint every_cut, TreeNode* tree, int32_t n, cost_t upper) noexcept nogil:
    cdef SearchContext* context = &ao.context
    cdef Control* control = context.control
    round_discard(&ao.tasks, control)
    state_free(control, &ao.root)
    cache_clear(control, &ao.cache)
    ao.root.explored = 0.0
    ao.root.lower = ao.initial_lower
    ao.root.complete = ao.root.lower >= upper
    state_set_tree(control, &ao.root, tree, n, upper)
    ao.root.floor = upper
    ao.root.estimate = <double>upper
    selection_start(&ao.selection, control.work)
    ao.in_warm_up = False
    context.every_cut = every_cut


cdef void ao_change_costs(
    Ao* ao, const Costs* old, const Costs* new, TreeNode* tree, int32_t n, cost_t upper
) noexcept nogil:
    cdef SearchContext* context = &ao.context
    cdef Control* control = context.control
    round_discard(&ao.tasks, control)
    state_free(control, &ao.root)
    if ao.in_warm_up:
        cache_clear(control, &ao.cache)  # its values are true of CART's cuts only
    cache_change_costs(control, &ao.cache, old, new)
    tracked_free(control, ao.saved_tree)
    ao.saved_tree, ao.n_saved_tree, ao.saved_upper, ao.saved_lower = tree, n, upper, 0
    context.every_cut = context.every_cut or ao.in_warm_up
    ao.in_warm_up = False
    ao.root.explored = 0.0
    ao_start(ao)
    ao.looked_ahead = ao.root.complete or context.heuristic != CART_LOOKAHEAD
    selection_start(&ao.selection, control.work)


cdef void ao_tree(const Ao* ao, TreeNode* out) noexcept nogil:
    cdef int32_t i, n = tree_write(&ao.root, out)
    # What the warm-up has proven about subtrees is not true of the whole space.
    if ao.in_warm_up:
        for i in range(n):
            out[i].proven = False
            out[i].lower = 0
        out.proven = ao_proven(ao)
        out.lower = ao_lower(ao)


cdef cost_t ao_lower(const Ao* ao) noexcept nogil:
    return min(ao.initial_lower if ao.in_warm_up else ao.root.lower, ao.root.upper)


cdef double ao_explored(const Ao* ao) noexcept nogil:
    # Rounding must not make it 1 before the proof.
    if ao_proven(ao):
        return 1.0
    return 0.0 if ao.in_warm_up else min(ao.root.explored, 1.0 - 1e-9)


cdef bint ao_proven(const Ao* ao) noexcept nogil:
    return ao_lower(ao) >= ao.root.upper


cdef void apply_checkpoint(Ao* ao) noexcept nogil:
    """Use the incumbent and the lower bound of a checkpoint."""
    ao.looked_ahead = ao.saved_tree.policy != LEAF
    if ao.saved_upper < ao.root.upper:
        state_set_tree(ao.context.control, &ao.root, ao.saved_tree, ao.n_saved_tree, ao.saved_upper)
        ao.saved_tree = NULL
    ao.root.lower = max(ao.root.lower, min(ao.saved_lower, ao.root.upper))


# --- rounds -----------------------------------------------------------------------------------------------------------


cdef Outcome merge_task(Ao* ao, Task* task) noexcept nogil:
    """Put the result of a task into the graph; values above follow later."""
    cdef SearchContext* context = &ao.context
    cdef DataState* s = task.state
    cdef int32_t had = s.n_choices, i, n_new = task.expansion.n_choices
    cdef double share
    context.control.work += task.work
    if task.kind == SOLVE:
        state_take_solution(context, s, &task.solution)
    if task.kind == EXPAND or task.kind == REFINE:
        if not state_take_expansion(context.control, s, &task.expansion):
            return NO_MEMORY
        share = unexplored(s)
        if task.kind == REFINE:
            share = task.choice.refine_share
            task.choice.refine_share = 0.0
            task.choice.refinable = False
        if n_new == 0:
            add_explored(s, share)
        for i in range(had, s.n_choices):
            share_choice(s.choices[i], share / n_new)
    if task.kind == EXPAND or task.kind == EXPAND_GAPS:
        s.expanded = True
    if task.kind == REFINE:
        count_expansion(&ao.counter, choice_key(s, &task.choice.shape, True))
    elif task.kind == EXPAND or task.kind == EXPAND_GAPS or task.kind == SOLVE or task.kind == SOLVE_EVERY_CUT:
        count_expansion(&ao.counter, state_key(s))
    return DONE


cdef Outcome merge_round(Ao* ao) noexcept nogil:
    """Put the results of all tasks into the graph, in the order of selection, and update the states above."""
    cdef DataState* changed[2 * MAX_TASKS]
    cdef DataState* s
    cdef int32_t i, n = 0
    cdef cost_t upper = ao.root.upper
    cdef int64_t work = ao.context.control.work
    cdef Outcome outcome = DONE
    for i in range(ao.tasks.n):
        if outcome == DONE:
            outcome = merge_task(ao, &ao.tasks.tasks[i])
        s = ao.tasks.tasks[i].state
        # A state that was solved, or closed at its budget, has no choices.
        if not s.expanded and s.parent != NULL:
            s = s.parent.owner
        if s.expanded:
            list_state(changed, &n, s)
    for i in range(ao.tasks.n_closed):
        list_state(changed, &n, ao.tasks.closed[i])
    round_discard(&ao.tasks, ao.context.control)
    backpropagate(&ao.context, changed, n)
    note_round(
        &ao.selection, ao.context.control.work - work, ao.root.upper < upper, ao.counter.expansions - ao.started_at
    )
    return outcome


cdef Outcome ao_step(Ao* ao, int64_t max_expansions) noexcept nogil:
    cdef Outcome outcome
    if ao.tasks.n == 0:
        ao.tasks.expansions_left = max_expansions
        select_round(&ao.selection, &ao.root, ao.counter.expansions - ao.started_at)
    outcome = round_run(&ao.tasks, &ao.context, &ao.counter, &ao.helpers)
    if outcome == NO_MEMORY:
        round_discard(&ao.tasks, ao.context.control)
    if outcome != DONE:
        return outcome
    ao.selection.single_task = False
    return merge_round(ao)


# --- memory -----------------------------------------------------------------------------------------------------------


cdef void free_rows(Ao* ao, DataState* s) noexcept nogil:
    """Free the rows of all states; they can be filtered again from the root's."""
    cdef int32_t i
    if s.parent != NULL:
        rows_free(ao.context.control, &s.rows)
    for i in range(s.n_choices):
        free_rows(ao, &s.choices[i].left)
        free_rows(ao, &s.choices[i].right)


cdef void collapse_choices(Ao* ao, DataState* s, int64_t bytes, int32_t keep) noexcept nogil:
    """Collapse the least promising choices of a state until `bytes` are in use or `keep` expanded ones are left."""
    cdef SearchContext* context = &ao.context
    cdef Choice* worst
    cdef double value, worst_value = 0.0
    cdef int32_t i, expanded
    while context.control.bytes > bytes:
        worst = NULL
        expanded = 0
        for i in range(s.n_choices):
            if not (s.choices[i].left.expanded or s.choices[i].right.expanded):
                continue
            expanded += 1
            value = choice_estimate(s.choices[i])
            if worst == NULL or value > worst_value:
                worst = s.choices[i]
                worst_value = value
        if expanded <= keep:
            break
        state_collapse(context, &worst.left)
        state_collapse(context, &worst.right)
        if worst.left.expanded or worst.right.expanded:
            return  # there was no memory for its tree
    if keep:
        for i in range(s.n_choices):
            collapse_choices(ao, &s.choices[i].left, bytes, keep)
            collapse_choices(ao, &s.choices[i].right, bytes, keep)


cdef void ao_free_memory(Ao* ao, int64_t bytes) noexcept nogil:
    round_discard(&ao.tasks, ao.context.control)
    ao.selection.low_memory = ao.selection.single_task = True
    free_rows(ao, &ao.root)
    # First what lies beside the most promising path; all of it only if that is not enough.
    collapse_choices(ao, &ao.root, bytes, 1)
    collapse_choices(ao, &ao.root, bytes, 0)
