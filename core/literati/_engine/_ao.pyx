"""The AO* loop: select, expand, backpropagate, prune.

Selection follows the estimate (V-tilde) and carries a budget: what a state may cost at most to be part of a better
tree. A choice whose lower bound reaches the budget is pruned for good, since budgets only fall. Pruning and completion
look at the admissible bounds alone, so the order of the search never changes what is proven.
"""

from literati._engine._bounds cimport RowSummary, empty_summary
from literati._engine._cache cimport cache_clear
from literati._engine._cart cimport cart_lookahead
from literati._engine._data_state cimport cart_tree, state_cache_bound, state_collapse, state_complete, state_start
from literati._engine._expand cimport estimate_children, expand_state, refine_choice
from literati._engine._gaps cimport expand_gaps, gap_estimate, gap_lower, open_gap, refine_gap, remove_gap
from literati._engine._graph cimport (
    LEAF, SPLIT, Choice, choice_estimate, choice_free, choice_lower, choice_upper, commit_lower, state_free,
    state_set_tree, tree_size, tree_write,
)
from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._rows cimport count_classes, rows_free
from literati._engine._solve_state cimport solve_state
from literati._engine._types cimport DONE, NO_MEMORY, STOPPED, Control, Dataset


cdef enum:
    # Expansions over CART's cuts before every cut is searched. On scikit-learn's digits (depth 3, two change points)
    # the tree after 8 seconds then has 661 errors instead of 801: see docs/decisions/0008.
    WARM_UP_EXPANSIONS = 256
    # The root follows estimates until PATIENCE times the expansions of the last improvement have passed, and at least
    # MIN_PATIENCE. Safe defaults: they change how early the lower bound rises, not what is proven.
    PATIENCE = 2
    MIN_PATIENCE = 64


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
    ao.initial_lower = ao.root.lower
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
    cdef cost_t cost = cart_lookahead(data, control, &context.cart, &context.all_rows, data.max_depth)
    if control.stop:
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
    cdef Control* control = context.control
    cdef TreeNode* tree
    cdef int32_t n
    if not ao.root.complete and context.expansions < WARM_UP_EXPANSIONS:
        return True
    n = tree_size(&ao.root)
    tree = <TreeNode*>tracked_malloc(control, n * sizeof(TreeNode))
    if tree == NULL:
        return False
    ao_tree(ao, tree)
    state_free(control, &ao.root)
    cache_clear(control, &context.cache)
    ao.root.lower = ao.initial_lower
    ao.root.complete = ao.root.lower >= ao.root.upper
    state_set_tree(control, &ao.root, tree, n, ao.root.upper)
    ao.root.floor = ao.root.upper
    ao.root.estimate = <double>ao.root.upper
    ao.in_warm_up = False
    context.every_cut = True
    return True


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
        if s.choices[i].pruned:
            continue
        found = choice_upper(s.choices[i])
        if found < s.upper:
            s.upper = found
            s.best = s.choices[i]
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


cdef void ao_backpropagate(Ao* ao, DataState* s) noexcept nogil:
    cdef cost_t upper = ao.root.upper
    while update(ao, s) and s.parent != NULL:
        s = s.parent.owner
    if ao.root.upper < upper:
        ao.improved_at = ao.context.expansions


cdef inline bint open_below(const Choice* c, cost_t budget) noexcept nogil:
    """Return whether anything below a choice may cost less than the budget."""
    if c.refinable and c.refine_lower < budget:
        return True
    return commit_lower(c) < budget and not (c.left.complete and c.right.complete)


cdef Choice* select_choice(Ao* ao, DataState* s, cost_t budget, int32_t* gap) noexcept nogil:
    """Return the most promising choice, or NULL and the most promising gap (-1: there is neither)."""
    cdef SearchContext* context = &ao.context
    cdef Choice* best = NULL
    cdef Choice* c
    cdef double value, best_value = 0.0
    cdef int32_t i
    # Where the children of choices are solved and not expanded, a choice that was opened is finished first.
    cdef bint finish_first = context.every_cut and s.depth == 3
    # The root turns to its weakest bound once better trees have become rare: the same work raises the lower bound
    # on the way instead of at the end. It needs memory for all that is begun.
    cdef bint by_estimate = ao.or_selection == INFORMATIVE and (
        s.parent != NULL or ao.low_memory or context.expansions < PATIENCE * ao.improved_at + MIN_PATIENCE
    )
    gap[0] = -1
    for i in range(s.n_choices):
        c = s.choices[i]
        if c.pruned or not open_below(c, budget):
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


cdef Choice* next_unestimated(DataState* s) noexcept nogil:
    """Return a choice without lookahead, NULL if there is none. All get theirs before any is followed."""
    cdef int32_t i
    for i in range(s.n_choices):
        if not s.choices[i].estimated and not s.choices[i].pruned:
            return s.choices[i]
    return NULL


cdef inline bint larger_estimate_first(const Ao* ao, const Choice* c) noexcept nogil:
    """Return whether the child with the larger estimate comes first, because children are solved and not expanded."""
    return c.left.depth <= 2 and ao.or_selection == INFORMATIVE


cdef void undo_turns(Ao* ao, DataState* s) noexcept nogil:
    """Undo the turns taken on the way to `s`, because a stopped step has done nothing and is repeated."""
    cdef Choice* c = s.parent
    while c != NULL:
        if ao.and_selection == ROUND_ROBIN and not (
            c.left.complete or c.right.complete or larger_estimate_first(ao, c)
        ):
            c.right_next = not c.right_next
        c = c.owner.parent


cdef DataState* select_child(Ao* ao, Choice* c) noexcept nogil:
    cdef bint right
    if c.left.complete:
        return &c.right
    if c.right.complete:
        return &c.left
    right = c.right.estimate > c.left.estimate
    if not larger_estimate_first(ao, c):
        if ao.and_selection == ROUND_ROBIN:
            right = c.right_next
            c.right_next = not right  # undo_turns undoes it when the step is stopped
        elif ao.and_selection == WORST_PRIMAL:
            right = c.right.upper > c.left.upper
        elif ao.or_selection == ADMISSIBLE:
            right = c.right.lower > c.left.lower
    return &c.right if right else &c.left


cdef bint advance(Ao* ao, DataState** state, cost_t* budget, bint* ok) noexcept nogil:
    """Take one step at a state, or descend to one of its children; return whether it descended.

    The budget of a child is what its parent may cost less the split and the lower bound of the other child: a child
    that costs more cannot be part of a better tree.
    """
    cdef SearchContext* context = &ao.context
    cdef DataState* s = state[0]
    cdef DataState* child
    cdef Choice* c
    cdef int32_t gap
    budget[0] = min(budget[0], s.upper)
    prune(ao, s, budget[0])
    c = next_unestimated(s)
    if c != NULL:
        ok[0] = estimate_children(context, c)
        return False
    c = select_choice(ao, s, budget[0], &gap)
    if gap >= 0:
        ok[0] = open_gap(context, s, gap, budget[0])
        return False
    if c == NULL:
        return False  # nothing below costs less than the budget, and the state's lower bound says so
    if c.refinable and c.refine_lower < budget[0]:
        ok[0] = refine_gap(context, c) if context.every_cut else refine_choice(context, c)
        return False
    child = select_child(ao, c)
    budget[0] -= c.cost + (c.left.lower if child == &c.right else c.right.lower)
    state[0] = child
    return True


cdef Outcome ao_step(Ao* ao) noexcept nogil:
    cdef SearchContext* context = &ao.context
    cdef DataState* s = &ao.root
    cdef cost_t budget = s.upper
    cdef bint ok = True
    if ao.pending != NULL:
        s = ao.pending
        budget = ao.pending_budget
        ao.pending = NULL
    while s.expanded and advance(ao, &s, &budget, &ok):
        pass
    if s.depth <= 2:
        ok = solve_state(context, s, budget)
        if s.solve != NULL:
            ao.pending = s
            ao.pending_budget = budget
    elif not s.expanded:
        ok = expand_gaps(context, s) if context.every_cut else expand_state(context, s)
    if context.control.stop:
        if ao.pending == NULL:
            undo_turns(ao, s)
        return STOPPED
    if not ok:
        return NO_MEMORY
    # A state that was solved, or closed at its budget, has no choices.
    if not s.expanded:
        if s.parent == NULL:
            return DONE
        s = s.parent.owner
    ao_backpropagate(ao, s)
    return DONE


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
    ao.pending = NULL
    ao.low_memory = True
    free_rows(ao, &ao.root)
    # First what lies beside the most promising path; all of it only if that is not enough.
    collapse_choices(ao, &ao.root, bytes, 1)
    collapse_choices(ao, &ao.root, bytes, 0)
