"""The AO* loop: select, expand, backpropagate, prune.

Every step is a round of tasks (_round.pxd). Selection follows the estimate (V-tilde) and carries a budget: what a state
may cost at most to be part of a better tree. A choice whose lower bound reaches the budget is pruned for good, since
budgets only fall. Pruning and completion look at the admissible bounds alone, so the order of the search never changes
what is proven.
"""

from literati._engine._bounds cimport RowSummary, empty_summary, lower_bound_of
from literati._engine._cache cimport cache_clear, cache_free, cache_init
from literati._engine._cart cimport cart_lookahead
from literati._engine._data_state cimport (
    buffers_free, buffers_init, cart_tree, choice_key, count_expansion, counter_free, counter_init, state_cache_bound,
    state_collapse, state_complete, state_key, state_recall, state_start,
)
from literati._engine._explored cimport add_explored, explore_child, explore_choice, share_choice, unexplored
from literati._engine._gaps cimport gap_estimate, gap_lower, remove_gap
from literati._engine._graph cimport (
    LEAF, SPLIT, Choice, choice_estimate, choice_free, choice_lower, choice_upper, commit_lower, state_free,
    state_set_tree, state_take_expansion, tree_size, tree_write,
)
from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._round cimport (
    EXPAND, EXPAND_GAPS, LOOK_AHEAD, MAX_TASKS, OPEN_GAP, REFINE, REFINE_GAP, SOLVE, SOLVE_EVERY_CUT, Task,
    helpers_free, helpers_init, round_add, round_discard, round_run, round_size,
)
from literati._engine._rows cimport count_classes, rows_alloc, rows_free
from literati._engine._solve_state cimport state_take_solution
from literati._engine._types cimport DONE, NO_MEMORY, STOPPED


cdef enum:
    # Expansions over CART's cuts before every cut is searched. On scikit-learn's digits (depth 3, two change points)
    # the tree after 8 seconds then has 661 errors instead of 801: see docs/decisions/0008.
    WARM_UP_EXPANSIONS = 256
    # The root follows estimates until PATIENCE times the expansions of the last improvement have passed, and at least
    # MIN_PATIENCE. Safe defaults: they change how early the lower bound rises, not what is proven.
    PATIENCE = 2
    MIN_PATIENCE = 64
    MAX_LOOKAHEADS = 4   # of one round: on a million rows each takes seconds
    DUAL_TASKS = 4       # of one dual round: what is not the lowest bound raises the root's bound later, if at all
    MAX_BRANCHES = 2     # choices of one state, above those whose children are solved, that a round follows


cdef int32_t dual_share(const Ao* ao) noexcept nogil:
    """Return the share of the work for dual rounds, in per cent: it grows with the age of the incumbent.

    The age is the work so far over the work at the last better tree. docs/decisions/0036 has the measurements.
    """
    if ao.round_work < 3 * ao.improved_work:
        return 15
    return 50 if ao.round_work < 6 * ao.improved_work else 90


cdef bint is_dual_round(const Ao* ao) noexcept nogil:
    """Return whether the next round is there to raise the root's lower bound, and not to find a better tree.

    Where every cut is a candidate, only the root turns to its weakest bound: see select_choice. Dual rounds need memory
    for all that is begun.
    """
    return ao.or_selection == MIXED and not ao.context.every_cut and not ao.low_memory and ao.dual_balance >= 0


cdef void account_round(Ao* ao, int64_t work) noexcept nogil:
    """Add the work of a round, and give dual rounds their share of it."""
    ao.round_work += work
    ao.dual_balance += work * (dual_share(ao) - (100 if ao.dual else 0))


cdef bint ao_init(
    Ao* ao, const Dataset* data, Control* control, int64_t cache_bytes, int32_t n_threads
) noexcept nogil:
    cdef SearchContext* context = &ao.context
    context.data = data
    context.control = control
    context.cache = &ao.cache
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
    # The tree is as old as all work so far: dual rounds get a small share until the wider space has had several times
    # that much.
    ao.round_work = ao.dual_balance = 0
    ao.improved_work = control.work
    ao.in_warm_up = False
    context.every_cut = every_cut


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


cdef bint update(Ao* ao, DataState* s) noexcept nogil:
    """Compute a state's values from its choices and gaps, prune and complete it; return whether anything changed.

    Proof of the lower bound: every tree of the state is a leaf, which costs at least `upper`, or begins with a choice
    that is open, lies in a gap, or was pruned at a bound of at least `floor`.
    """
    cdef SearchContext* context = &ao.context
    cdef cost_t lower, upper = s.upper, was_lower = s.lower, found
    cdef double estimate, was_estimate = s.estimate
    cdef int32_t i
    cdef Choice* c
    for i in range(s.n_choices):
        c = s.choices[i]
        if c.pruned:
            continue
        if c.left.complete:
            explore_child(&c.left)
        if c.right.complete:
            explore_child(&c.right)
        found = choice_upper(c)
        if found < s.upper:
            s.upper = found
            s.best = c
            s.policy = SPLIT
    if s.policy == SPLIT and s.tree != NULL:
        tracked_free(context.control, s.tree)
        s.tree = NULL
    prune(ao, s, s.upper)
    lower = min(s.floor, s.upper)
    estimate = <double>s.upper
    for i in range(s.n_choices):
        c = s.choices[i]
        if not c.pruned:
            lower = min(lower, choice_lower(c))
            estimate = min(estimate, choice_estimate(c))
    for i in range(s.n_gaps):
        lower = min(lower, gap_lower(context.data, &s.gaps[i]))
    if lower > s.lower:
        s.lower = lower
    s.estimate = estimate
    if s.lower >= s.upper:
        state_complete(context, s)
    return s.complete or s.lower != was_lower or s.upper != upper or s.estimate != was_estimate


cdef void prune(Ao* ao, DataState* s, cost_t budget) noexcept nogil:
    """Prune what cannot cost less than the budget; the incumbent's own choice stays, since it holds the tree.

    Proof: a tree above this state improves the incumbent only if the state costs less than its budget. Budgets only
    fall, and `floor` keeps the bounds of what was pruned, so nothing has to be opened again.
    """
    cdef SearchContext* context = &ao.context
    cdef int32_t i, kept = 0
    cdef cost_t lower
    cdef Choice* c
    for i in range(s.n_choices):
        c = s.choices[i]
        lower = choice_lower(c)
        if c.pruned or lower < budget or (s.policy == SPLIT and s.best == c):
            s.choices[kept] = c
            kept += 1
            continue
        s.floor = min(s.floor, lower)
        explore_choice(c)
        state_cache_bound(context, &c.left)
        state_cache_bound(context, &c.right)
        if context.every_cut:
            # The gaps beside it go on reading its children's bounds.
            c.pruned = True
            state_free(context.control, &c.left)
            state_free(context.control, &c.right)
            s.choices[kept] = c
            kept += 1
        else:
            choice_free(context.control, c)
    s.n_choices = kept
    for i in range(s.n_gaps - 1, -1, -1):
        lower = gap_lower(context.data, &s.gaps[i])
        if lower >= budget:
            remove_gap(s, i, lower)


cdef inline bint open_below(const Choice* c, cost_t budget) noexcept nogil:
    """Return whether anything below a choice may cost less than the budget."""
    if c.refinable and c.refine_lower < budget:
        return True
    return commit_lower(c) < budget and not (c.left.complete and c.right.complete)


cdef Choice* select_choice(Ao* ao, DataState* s, cost_t budget, int32_t* gap) noexcept nogil:
    """Return the most promising choice, or NULL and the most promising gap (-1: there is neither).

    Choices that this round has selected are left out.
    """
    cdef SearchContext* context = &ao.context
    cdef Choice* best = NULL
    cdef Choice* c
    cdef double value, best_value = 0.0
    cdef int32_t i
    # Where the children of choices are solved and not expanded, a choice that was opened is finished first.
    cdef bint finish_first = context.every_cut and s.depth == 3
    # The root turns to its weakest bound once better trees have become rare: the same work raises the lower bound
    # on the way instead of at the end. It needs memory for all that is begun. Dual rounds do so at every level.
    cdef bint by_estimate = ao.or_selection != ADMISSIBLE and not ao.dual and (
        s.parent != NULL or ao.low_memory or (ao.or_selection == MIXED and not context.every_cut)
        or ao.counter.expansions - ao.started_at < PATIENCE * ao.improved_at + MIN_PATIENCE
    )
    gap[0] = -1
    for i in range(s.n_choices):
        c = s.choices[i]
        if c.pruned or c.round == ao.rounds or not open_below(c, budget):
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


cdef inline bint larger_estimate_first(const Ao* ao, const Choice* c) noexcept nogil:
    """Return whether the child with the larger estimate comes first, because children are solved and not expanded."""
    return c.left.depth <= 2 and ao.or_selection != ADMISSIBLE


cdef DataState* select_child(Ao* ao, Choice* c) noexcept nogil:
    cdef bint right
    if c.left.complete:
        return &c.right
    if c.right.complete:
        return &c.left
    if ao.dual:
        # To raise the choice's bound one child is enough: the one that promises more cost for each row visited. Dual
        # rounds stay with it until it is complete.
        return &c.right if c.right.estimate * c.left.n > c.left.estimate * c.right.n else &c.left
    right = c.right.estimate > c.left.estimate
    if not larger_estimate_first(ao, c):
        if ao.and_selection == ROUND_ROBIN:
            right = c.right_next
            c.right_next = not right
        elif ao.and_selection == WORST_PRIMAL:
            right = c.right.upper > c.left.upper
        elif ao.or_selection == ADMISSIBLE:
            right = c.right.lower > c.left.lower
    return &c.right if right else &c.left


# --- rounds -----------------------------------------------------------------------------------------------------------


cdef bint select_lookaheads(Ao* ao, DataState* s) noexcept nogil:
    """Add the choices of a state without lookahead to the round; all get theirs before any is followed."""
    cdef int32_t i, n = 0, limit = 1 if ao.single_task else MAX_LOOKAHEADS
    for i in range(s.n_choices):
        if s.choices[i].estimated or s.choices[i].pruned:
            continue
        if n == limit or round_size(&ao.tasks) == MAX_TASKS:
            return True
        round_add(&ao.tasks, LOOK_AHEAD, s, s.choices[i], 0, 0)
        n += 1
    return n > 0


cdef void select_leaf(Ao* ao, DataState* s, cost_t budget) noexcept nogil:
    """Add a state that is not expanded to the round, unless its value has become known."""
    cdef bint every_cut = ao.context.every_cut
    cdef const DataState* other
    cdef int32_t i
    if s.parent != NULL:
        state_recall(&ao.context, s)
        if s.complete:
            return
    for i in range(ao.tasks.n):
        # Equal rows are solved once; the other state finds the value in the cache.
        other = ao.tasks.tasks[i].state
        if other.depth == s.depth and other.hash[0] == s.hash[0] and other.hash[1] == s.hash[1]:
            return
    if s.depth > 2:
        round_add(&ao.tasks, EXPAND_GAPS if every_cut else EXPAND, s, NULL, budget, 0)
    else:
        round_add(&ao.tasks, SOLVE_EVERY_CUT if every_cut and s.depth == 2 else SOLVE, s, NULL, budget, 0)


cdef void select_tasks(Ao* ao, DataState* s, cost_t budget, int32_t limit) noexcept nogil:
    """Add the most promising steps below a state to the round, until the round has `limit` tasks.

    A dual round stays below the choice of lowest bound, and takes more only to keep a second thread busy. The budget
    of a child is what its parent may cost less the split and the lower bound of the other child: a child that costs
    more cannot be part of a better tree.
    """
    cdef int32_t gap, before = round_size(&ao.tasks), branches = 0, max_branches = MAX_BRANCHES, enough = limit
    cdef DataState* child
    cdef Choice* c
    if not s.expanded:
        select_leaf(ao, s, budget)
        return
    budget = min(budget, s.upper)
    prune(ao, s, budget)
    if select_lookaheads(ao, s):
        return
    if s.depth == 3:
        max_branches = MAX_TASKS
    elif ao.low_memory:
        max_branches = 1  # what is begun beside the most promising path would be freed again
    if ao.dual and s.depth > 3:
        enough = min(limit, 2)
    while round_size(&ao.tasks) < enough and branches < max_branches:
        c = select_choice(ao, s, budget, &gap)
        if gap >= 0:
            round_add(&ao.tasks, OPEN_GAP, s, NULL, budget, gap)
            return
        if c == NULL:
            break
        c.round = ao.rounds
        branches += 1
        if c.refinable and c.refine_lower < budget:
            round_add(&ao.tasks, REFINE_GAP if ao.context.every_cut else REFINE, s, c, budget, 0)
        else:
            child = select_child(ao, c)
            select_tasks(
                ao, child, budget - c.cost - (c.left.lower if child == &c.right else c.right.lower), limit
            )
    if round_size(&ao.tasks) == before:
        # Nothing below costs less than the budget, or its value has become known: only the values are updated.
        ao.tasks.closed[ao.tasks.n_closed] = s
        ao.tasks.n_closed += 1


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


cdef void list_state(DataState** states, int32_t* n, DataState* s) noexcept nogil:
    """Append a state to a list, unless it is there already."""
    cdef int32_t i
    for i in range(n[0]):
        if states[i] == s:
            return
    states[n[0]] = s
    n[0] += 1


cdef void backpropagate(Ao* ao, DataState** states, int32_t n) noexcept nogil:
    """Update states and carry their new values up, as far as they change anything.

    All states of one depth come before those above them, because an update may free what lies below.
    """
    cdef int32_t depth, i, n_above, max_depth = ao.context.data.max_depth
    cdef DataState* s
    for depth in range(1, max_depth + 1):
        n_above = 0
        for i in range(n):
            s = states[i]
            if s.depth > depth:
                list_state(states, &n_above, s)
            elif update(ao, s) and s.parent != NULL:
                list_state(states, &n_above, s.parent.owner)
        n = n_above


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
    backpropagate(ao, changed, n)
    account_round(ao, ao.context.control.work - work)
    if ao.root.upper < upper:
        ao.improved_at = ao.counter.expansions - ao.started_at
        ao.improved_work = ao.round_work
    return outcome


cdef Outcome ao_step(Ao* ao, int64_t max_expansions) noexcept nogil:
    cdef Outcome outcome
    cdef int32_t limit = MAX_TASKS
    if ao.tasks.n == 0:
        ao.rounds += 1
        ao.dual = is_dual_round(ao)
        ao.tasks.expansions_left = max_expansions
        if ao.single_task or ao.context.every_cut:
            limit = 1
        elif ao.dual:
            limit = DUAL_TASKS
        select_tasks(ao, &ao.root, ao.root.upper, limit)
    outcome = round_run(&ao.tasks, &ao.context, &ao.counter, &ao.helpers)
    if outcome == NO_MEMORY:
        round_discard(&ao.tasks, ao.context.control)
    if outcome != DONE:
        return outcome
    ao.single_task = False
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
    ao.low_memory = ao.single_task = True
    free_rows(ao, &ao.root)
    # First what lies beside the most promising path; all of it only if that is not enough.
    collapse_choices(ao, &ao.root, bytes, 1)
    collapse_choices(ao, &ao.root, bytes, 0)
