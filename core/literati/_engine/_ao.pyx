"""The AO* loop: select, expand, backpropagate, prune.

Selection follows the guess (V-tilde) and carries a budget: what a state may cost at most to be part of a better tree.
An action whose lower bound reaches the budget is pruned for good, since budgets only fall. Pruning and completion look
at the admissible bounds alone, so the order of the search never changes what is proven.
"""

from literati._bottom cimport count_classes
from literati._expand cimport expand_data, guess_children, refine_choice, solve_data
from literati._states cimport Space, cart_tree, data_complete, data_forget, data_remember, data_start
from literati._cart cimport cart_lookahead
from literati._gaps cimport gap_lower, gap_guess, open_gap, remove_gap
from literati._graph cimport (
    LEAF, SPLIT, TREE, Choice, Data, choice_free, choice_guess, choice_lower, choice_upper, commit_lower,
    TreeNode, cache_clear, data_clear, data_free_values, tree_size, tree_write,
)
from literati._rows cimport drop, grab, rows_free
from literati._types cimport (
    MAX_CLASSES, Problem, cost_t, int32_t, int64_t, max_cost, min_cost, uint64_t,
)


cdef void ao_start(Ao* ao) noexcept nogil:
    """Set up the root state. Its first incumbent is a leaf, or the tree of a checkpoint."""
    cdef Space* space = &ao.space
    cdef Problem* p = space.p
    cdef int64_t counts[MAX_CLASSES]
    cdef int64_t doomed
    cdef uint64_t hash[2]
    cdef int32_t row
    count_classes(p, &space.all_rows, counts, &doomed)
    hash[0] = hash[1] = 0
    for row in range(p.n_rows):
        hash[0] += p.row_hash[2 * <int64_t>row]
        hash[1] += p.row_hash[2 * <int64_t>row + 1]
    data_start(space, &ao.root, p.max_depth, p.n_rows, counts, doomed, hash)
    ao.least = ao.root.lower
    if ao.known_tree != NULL and not ao.root.complete:
        take_up(ao)
    ao.root.guess = <double>ao.root.upper
    ao.root.complete = ao.root.lower >= ao.root.upper
    ao.looked_ahead = ao.looked_ahead or ao.root.complete
    ao.improvements = 1


cdef Step ao_look_ahead(Ao* ao) noexcept nogil:
    """The first step: the CART of full depth, which lies in the space. Its tree is kept, not made again."""
    cdef Space* space = &ao.space
    cdef Problem* p = space.p
    cdef TreeNode* tree
    cdef cost_t cost = cart_lookahead(p, &space.cart, &space.all_rows, p.max_depth)
    if p.stop:
        return INTERRUPTED
    if cost < ao.root.upper:
        tree = <TreeNode*>grab(p, space.cart.n_nodes * sizeof(TreeNode))
        if tree == NULL:
            return OUT_OF_MEMORY
        drop(p, ao.root.tree)
        ao.root.tree = tree
        ao.root.n_tree = cart_tree(&space.cart, 0, tree)
        ao.root.policy = TREE
        ao.root.upper = cost
        ao.improvements += 1
    ao.root.guess = <double>ao.root.upper
    ao.root.complete = ao.root.lower >= ao.root.upper
    ao.looked_ahead = True
    return WENT_ON


cdef bint ao_warmed(Ao* ao) noexcept nogil:
    """Where every cut is searched, a short search over CART's cuts comes first.

    Its tree lies in the wider space too. Without it the first good tree of an exhaustive search can take minutes; its
    bounds and cached values, however, are of the narrower space and are dropped.
    """
    cdef Space* space = &ao.space
    cdef Problem* p = space.p
    cdef TreeNode* tree
    cdef int32_t n
    if not ao.root.complete and space.expansions < WARM_STEPS:
        return True
    n = tree_size(&ao.root)
    tree = <TreeNode*>grab(p, n * sizeof(TreeNode))
    if tree == NULL:
        return False
    ao_tree(ao, tree)
    ao.root.rows.order = NULL
    data_clear(p, &space.counters, &ao.root)
    data_free_values(p, &ao.root)
    cache_clear(p, &space.cache)
    ao.root.lower = ao.least
    ao.root.complete = ao.root.lower >= ao.root.upper
    ao.root.policy = TREE
    ao.root.tree = tree
    ao.root.n_tree = n
    ao.root.floor = ao.root.upper
    ao.root.guess = <double>ao.root.upper
    ao.warming = False
    p.every_cut = True
    return True


cdef void ao_tree(const Ao* ao, TreeNode* out) noexcept nogil:
    """Write the incumbent. What the warming up has proven of its nodes is not true of the whole space.

    Of the root, that is the whole tree, the bounds of the whole space are known.
    """
    cdef int32_t i, n = tree_write(&ao.root, out)
    if ao.warming:
        for i in range(n):
            out[i].proven = False
            out[i].lower = 0
        out.proven = ao_proven(ao)
        out.lower = ao_lower(ao)


cdef cost_t ao_lower(const Ao* ao) noexcept nogil:
    """What no tree of the whole space undercuts. What the warming up has proven is true of a narrower space only."""
    return min_cost(ao.least if ao.warming else ao.root.lower, ao.root.upper)


cdef bint ao_proven(const Ao* ao) noexcept nogil:
    """The bounds have met: no tree of the space costs less than the one at hand."""
    return ao_lower(ao) >= ao.root.upper


cdef void take_up(Ao* ao) noexcept nogil:
    """The incumbent and the lower bound of a checkpoint, which has had its lookahead unless its tree is a leaf."""
    ao.looked_ahead = ao.known_tree.policy != LEAF
    if ao.known_upper < ao.root.upper:
        drop(ao.space.p, ao.root.tree)
        ao.root.upper = ao.known_upper
        ao.root.policy = TREE
        ao.root.tree = ao.known_tree
        ao.root.n_tree = ao.n_known_tree
        ao.known_tree = NULL
    ao.root.lower = max_cost(ao.root.lower, min_cost(ao.known_lower, ao.root.upper))


cdef bint update(Ao* ao, Data* s) noexcept nogil:
    """Draws a state's values from its choices, prunes, completes. Did anything change?"""
    cdef Space* space = &ao.space
    cdef cost_t lower, upper = s.upper, was_lower = s.lower, found
    cdef double guess, was_guess = s.guess
    cdef int32_t i
    cdef Choice* c
    for i in range(s.n_choices):
        if s.choices[i].dead:
            continue
        found = choice_upper(s.choices[i])
        if found < s.upper:
            s.upper = found
            s.best = s.choices[i]
            s.policy = SPLIT
    if s.policy == SPLIT and s.tree != NULL:
        drop(space.p, s.tree)
        s.tree = NULL
    prune(ao, s, s.upper)
    lower = min_cost(s.floor, s.upper)
    guess = <double>s.upper
    for i in range(s.n_choices):
        c = s.choices[i]
        if not c.dead:
            lower = min_cost(lower, choice_lower(c))
            guess = min(guess, choice_guess(c))
    for i in range(s.n_gaps):
        lower = min_cost(lower, gap_lower(space.p, &s.gaps[i]))
    if lower > s.lower:
        s.lower = lower
    s.guess = guess
    if s.lower >= s.upper:
        data_complete(space, s)
    return s.complete or s.lower != was_lower or s.upper != upper or s.guess != was_guess


cdef void prune(Ao* ao, Data* s, cost_t budget) noexcept nogil:
    """Drops what cannot cost less than the budget; the incumbent's own choice stays, it holds the tree."""
    cdef Space* space = &ao.space
    cdef int32_t i, kept = 0
    cdef cost_t lower
    cdef Choice* c
    for i in range(s.n_choices):
        c = s.choices[i]
        lower = choice_lower(c)
        if c.dead or lower < budget or (s.policy == SPLIT and s.best == c):
            s.choices[kept] = c
            kept += 1
            continue
        s.floor = min_cost(s.floor, lower)
        data_remember(space, &c.left)
        data_remember(space, &c.right)
        if space.p.every_cut:
            # The gaps beside it go on reading its children's bounds.
            c.dead = True
            data_clear(space.p, &space.counters, &c.left)
            data_clear(space.p, &space.counters, &c.right)
            data_free_values(space.p, &c.left)
            data_free_values(space.p, &c.right)
            s.choices[kept] = c
            kept += 1
        else:
            choice_free(space.p, &space.counters, c)
    s.n_choices = kept
    for i in range(s.n_gaps - 1, -1, -1):
        lower = gap_lower(space.p, &s.gaps[i])
        if lower >= budget:
            remove_gap(s, i, lower)


cdef void ao_backpropagate(Ao* ao, Data* s) noexcept nogil:
    """Carries new values up, as far as they change anything."""
    cdef cost_t upper = ao.root.upper
    while update(ao, s) and s.parent != NULL:
        s = s.parent.owner
    if ao.root.upper < upper:
        ao.improvements += 1
        ao.improved_at = ao.space.expansions


cdef inline bint open_below(const Choice* c, cost_t budget) noexcept nogil:
    """Is there anything left to do under a choice for less than the budget?"""
    if c.refinable and c.refine_lower < budget:
        return True
    return commit_lower(c) < budget and not (c.left.complete and c.right.complete)


cdef Choice* select_choice(Ao* ao, Data* s, cost_t budget, int32_t* gap) noexcept nogil:
    """The most promising choice, or NULL with the most promising gap (-1: there is neither)."""
    cdef Space* space = &ao.space
    cdef Choice* best = NULL
    cdef Choice* c
    cdef double value, least = 0.0
    cdef int32_t i
    # Where gaps have children that are solved at once, a choice that was opened is finished first.
    cdef bint hurry = space.p.every_cut and s.depth == 3
    # The root turns to its weakest bound once better trees have become rare: the same work raises the lower bound
    # on the way instead of at the end. It needs memory for all that is begun.
    cdef bint by_guess = ao.or_selection == INFORMATIVE and (
        s.parent != NULL or ao.tight or space.expansions < 2 * ao.improved_at + 64
    )
    gap[0] = -1
    for i in range(s.n_choices):
        c = s.choices[i]
        if c.dead or not open_below(c, budget):
            continue
        value = choice_guess(c) if by_guess else <double>choice_lower(c)
        if best == NULL or value < least or (value == least and choice_guess(c) < choice_guess(best)):
            best = c
            least = value
    if best != NULL and hurry and not best.refinable:
        return best
    for i in range(s.n_gaps):
        value = <double>gap_lower(space.p, &s.gaps[i])
        if by_guess and not hurry:
            value = max(value, gap_guess(&s.gaps[i]))
        if (best == NULL and gap[0] < 0) or value < least:
            gap[0] = i
            least = value
    return NULL if gap[0] >= 0 else best


cdef Choice* unguessed(Data* s) noexcept nogil:
    """A choice that awaits its lookahead: all have theirs before any is followed."""
    cdef int32_t i
    for i in range(s.n_choices):
        if not s.choices[i].guessed and not s.choices[i].dead:
            return s.choices[i]
    return NULL


cdef inline bint larger_guess_first(const Ao* ao, const Choice* c) noexcept nogil:
    """Children of depth left 2 are solved whole: the one that is expected to cost more comes first."""
    return c.left.depth <= 2 and ao.or_selection == INFORMATIVE


cdef void give_back_turns(Ao* ao, Data* s) noexcept nogil:
    """Undo the turns taken on the way to `s`: an interrupted step has done nothing and is repeated."""
    cdef Choice* c = s.parent
    while c != NULL:
        if ao.and_selection == ROUND_ROBIN and not (
            c.left.complete or c.right.complete or larger_guess_first(ao, c)
        ):
            c.turn_right = not c.turn_right
        c = c.owner.parent


cdef Data* select_child(Ao* ao, Choice* c) noexcept nogil:
    cdef bint right
    if c.left.complete:
        return &c.right
    if c.right.complete:
        return &c.left
    if larger_guess_first(ao, c):
        right = c.right.guess > c.left.guess
    elif ao.and_selection == ROUND_ROBIN:
        right = c.turn_right
        c.turn_right = not right  # `give_back_turns` when the step is interrupted
    elif ao.and_selection == WORST_PRIMAL:
        right = c.right.upper > c.left.upper
    elif ao.or_selection == INFORMATIVE:
        right = c.right.guess > c.left.guess
    else:
        right = c.right.lower > c.left.lower
    return &c.right if right else &c.left


cdef Step ao_step(Ao* ao) noexcept nogil:
    """One expansion: from the root along the most promising choices to a state that is not expanded."""
    cdef Space* space = &ao.space
    cdef Data* s = &ao.root
    cdef Data* child
    cdef Choice* c
    cdef cost_t budget = s.upper, upper = s.upper
    cdef int32_t gap
    cdef bint fine
    if ao.pending != NULL:
        s = ao.pending
        budget = ao.pending_budget
        ao.pending = NULL
    while True:
        if s.depth <= 2:
            fine = solve_data(space, s, budget)
            if s.deep != NULL:
                ao.pending = s
                ao.pending_budget = budget
        elif not s.expanded:
            fine = expand_data(space, s)
        else:
            budget = min_cost(budget, s.upper)
            prune(ao, s, budget)
            c = unguessed(s)
            if c != NULL:
                fine = guess_children(space, c)
                break
            c = select_choice(ao, s, budget, &gap)
            if gap >= 0:
                fine = open_gap(space, s, gap, budget)
                break
            if c == NULL:
                # Nothing below costs less than the budget: the state's lower bound says so to those above.
                ao_backpropagate(ao, s)
                return WENT_ON
            if c.refinable and c.refine_lower < budget:
                fine = refine_choice(space, c)
            else:
                child = select_child(ao, c)
                budget -= c.cost + (c.left.lower if child == &c.right else c.right.lower)
                s = child
                continue
        break
    if space.p.stop:
        if ao.pending == NULL:
            give_back_turns(ao, s)
        return INTERRUPTED
    if not fine:
        return OUT_OF_MEMORY
    # A state that was solved, or closed at its budget, has no choices to draw values from.
    if not s.expanded:
        if s.parent == NULL:
            ao.improvements += s.upper < upper
            return WENT_ON
        s = s.parent.owner
    ao_backpropagate(ao, s)
    return WENT_ON


# --- memory -----------------------------------------------------------------------------------------------------------


cdef void drop_rows(Ao* ao, Data* s) noexcept nogil:
    """Rows can be filtered again from the root's."""
    cdef int32_t i
    if s.parent != NULL:
        rows_free(ao.space.p, &s.rows)
    for i in range(s.n_choices):
        drop_rows(ao, &s.choices[i].left)
        drop_rows(ao, &s.choices[i].right)


cdef void thin_out(Ao* ao, Data* s, int64_t bytes, int32_t keep) noexcept nogil:
    """The least promising choices of a state go back to being unexpanded, until so many expanded ones are left."""
    cdef Space* space = &ao.space
    cdef Choice* worst
    cdef double value, most = 0.0
    cdef int32_t i, expanded
    while space.p.bytes > bytes:
        worst = NULL
        expanded = 0
        for i in range(s.n_choices):
            if not (s.choices[i].left.expanded or s.choices[i].right.expanded):
                continue
            expanded += 1
            value = choice_guess(s.choices[i])
            if worst == NULL or value > most:
                worst = s.choices[i]
                most = value
        if expanded <= keep:
            break
        data_forget(space, &worst.left)
        data_forget(space, &worst.right)
        if worst.left.expanded or worst.right.expanded:
            return  # there was no memory for its tree
    if keep:
        for i in range(s.n_choices):
            thin_out(ao, &s.choices[i].left, bytes, keep)
            thin_out(ao, &s.choices[i].right, bytes, keep)


cdef void ao_make_room(Ao* ao, int64_t bytes) noexcept nogil:
    ao.pending = NULL
    ao.tight = True
    drop_rows(ao, &ao.root)
    # First what lies beside the most promising path; all of it only if that is not enough.
    thin_out(ao, &ao.root, bytes, 1)
    thin_out(ao, &ao.root, bytes, 0)
