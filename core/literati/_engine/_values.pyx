"""Values of states: computed from their choices, carried up to the root, and used to prune.

Pruning and completion look at the admissible bounds alone, so the order of the search never changes what is proven.
"""

from literati._engine._data_state cimport state_cache_bound, state_complete
from literati._engine._explored cimport explore_child, explore_choice
from literati._engine._gaps cimport gap_lower, remove_gap
from literati._engine._graph cimport SPLIT, Choice, choice_estimate, choice_free, choice_lower, choice_upper, state_free
from literati._engine._memory cimport tracked_free


cdef bint update(SearchContext* context, DataState* s) noexcept nogil:
    """Compute a state's values from its choices and gaps, prune and complete it; return whether anything changed.

    Proof of the lower bound: every tree of the state is a leaf, which costs at least `upper`, or begins with a choice
    that is open, lies in a gap, or was pruned at a bound of at least `floor`.
    """
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
    prune(context, s, s.upper)
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


cdef void prune(SearchContext* context, DataState* s, cost_t budget) noexcept nogil:
    """Prune what cannot cost less than the budget; the incumbent's own choice stays, since it holds the tree.

    Proof: a tree above this state improves the incumbent only if the state costs less than its budget. Budgets only
    fall, and `floor` keeps the bounds of what was pruned, so nothing has to be opened again.
    """
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


cdef void list_state(DataState** states, int32_t* n, DataState* s) noexcept nogil:
    """Append a state to a list, unless it is there already."""
    cdef int32_t i
    for i in range(n[0]):
        if states[i] == s:
            return
    states[n[0]] = s
    n[0] += 1


cdef void backpropagate(SearchContext* context, DataState** states, int32_t n) noexcept nogil:
    """Update states and carry their new values up, as far as they change anything.

    All states of one depth come before those above them, because an update may free what lies below.
    """
    cdef int32_t depth, i, n_above, max_depth = context.data.max_depth
    cdef DataState* s
    for depth in range(1, max_depth + 1):
        n_above = 0
        for i in range(n):
            s = states[i]
            if s.depth > depth:
                list_state(states, &n_above, s)
            elif update(context, s) and s.parent != NULL:
                list_state(states, &n_above, s.parent.owner)
        n = n_above
