"""The AND/OR graph: data states, the shape functions tried at them, and primal trees.

States own what lies below them, so pruning is freeing. A completed state shrinks to its value and a compact tree.
"""

from libc.string cimport memcpy, memset

from literati._engine._depth2_every_cut cimport solve_free
from literati._engine._memory cimport tracked_append, tracked_free, tracked_malloc
from literati._engine._rows cimport rows_free

# --- states -----------------------------------------------------------------------------------------------------------


cdef Choice* choice_new(Control* control, DataState* owner) noexcept nogil:
    cdef Choice* c = <Choice*>tracked_malloc(control, sizeof(Choice))
    if c == NULL:
        return NULL
    memset(c, 0, sizeof(Choice))
    c.owner = owner
    c.left.parent = c
    c.right.parent = c
    control.states_live += 2
    return c


cdef bint state_add_choice(Control* control, DataState* s, Choice* c) noexcept nogil:
    return append_choice(control, &s.choices, &s.n_choices, &s.choice_capacity, c)


cdef bint expansion_add_choice(Control* control, Expansion* expansion, Choice* c) noexcept nogil:
    return append_choice(control, &expansion.choices, &expansion.n_choices, &expansion.capacity, c)


cdef bint append_choice(
    Control* control, Choice*** choices, int32_t* n, int32_t* capacity, Choice* c
) noexcept nogil:
    cdef void* moved = tracked_append(control, choices[0], n[0], capacity, sizeof(Choice*))
    if moved == NULL:
        return False
    choices[0] = <Choice**>moved
    choices[0][n[0]] = c
    n[0] += 1
    return True


cdef bint state_take_expansion(Control* control, DataState* s, Expansion* expansion) noexcept nogil:
    cdef int32_t i, had = s.n_choices
    if s.choices == NULL:
        s.choices, s.n_choices, s.choice_capacity = expansion.choices, expansion.n_choices, expansion.capacity
    else:
        for i in range(expansion.n_choices):
            if not state_add_choice(control, s, expansion.choices[i]):
                s.n_choices = had
                return False
        tracked_free(control, expansion.choices)
    if expansion.cuts != NULL:
        s.cuts, s.n_cuts = expansion.cuts, expansion.n_cuts
    memset(expansion, 0, sizeof(Expansion))
    return True


cdef void expansion_free(Control* control, Expansion* expansion) noexcept nogil:
    cdef int32_t i
    for i in range(expansion.n_choices):
        choice_free(control, expansion.choices[i])
    tracked_free(control, expansion.choices)
    tracked_free(control, expansion.cuts)
    memset(expansion, 0, sizeof(Expansion))


cdef bint state_add_gap(Control* control, DataState* s, const Gap* gap) noexcept nogil:
    cdef void* gaps = tracked_append(control, s.gaps, s.n_gaps, &s.gap_capacity, sizeof(Gap))
    if gaps == NULL:
        return False
    s.gaps = <Gap*>gaps
    s.gaps[s.n_gaps] = gap[0]
    s.n_gaps += 1
    return True


cdef void choice_free(Control* control, Choice* c) noexcept nogil:
    if c == NULL:
        return
    state_free(control, &c.left)
    state_free(control, &c.right)
    control.states_live -= 2
    control.states_freed += 2
    tracked_free(control, c)


cdef void state_clear(Control* control, DataState* s) noexcept nogil:
    """Free everything below a data state; its values and its compact tree stay."""
    cdef int32_t i
    for i in range(s.n_choices):
        choice_free(control, s.choices[i])
    tracked_free(control, s.choices)
    tracked_free(control, s.cuts)
    tracked_free(control, s.gaps)
    if s.parent == NULL:
        s.rows.order = NULL  # the root only borrows its rows
    rows_free(control, &s.rows)
    s.choices = NULL
    s.cuts = NULL
    s.gaps = NULL
    s.best = NULL
    s.n_choices = s.choice_capacity = 0
    s.n_cuts = s.n_gaps = s.gap_capacity = 0
    s.expanded = False


cdef void state_free(Control* control, DataState* s) noexcept nogil:
    """Free everything that a data state owns."""
    state_clear(control, s)
    tracked_free(control, s.tree)
    s.tree = NULL
    state_discard_solve(control, s)


cdef void state_discard_solve(Control* control, DataState* s) noexcept nogil:
    solve_free(control, s.solve)
    s.solve = NULL


# --- compact trees ----------------------------------------------------------------------------------------------------


cdef int32_t tree_size(const DataState* s) noexcept nogil:
    if s.policy == TREE:
        return s.n_tree
    if s.policy == SPLIT:
        return 1 + tree_size(&s.best.left) + tree_size(&s.best.right)
    return 1


cdef int32_t tree_write(const DataState* s, TreeNode* out) noexcept nogil:
    """Write the tree of a state's upper bound; return its size."""
    cdef int32_t n = 1, i
    cdef const Shape* shape
    if s.policy == TREE:
        memcpy(out, s.tree, s.n_tree * sizeof(TreeNode))
        out.lower = s.lower
        out.proven = s.complete
        return s.n_tree
    memset(out, 0, sizeof(TreeNode))
    out.lower = s.lower
    out.proven = s.complete
    out.depth = s.depth
    out.policy = s.policy
    set_split_index(out, s.split_index if s.policy == SOLVED else -1)
    if s.policy == SPLIT:
        shape = &s.best.shape
        out.feature = shape.feature
        out.n_cuts = shape.n_cuts
        out.missing_right = shape.missing_right
        for i in range(shape.n_cuts):
            out.cut[i] = shape.cut[i]
        n += tree_write(&s.best.left, out + n)
        out.right = n
        n += tree_write(&s.best.right, out + n)
    return n


cdef bint state_keep_tree(Control* control, DataState* s) noexcept nogil:
    """Turn the policy into a compact tree, so that what lies below can be freed; return False without memory."""
    cdef int32_t n
    cdef TreeNode* tree
    if s.policy != SPLIT:
        return True
    n = tree_size(s)
    tree = <TreeNode*>tracked_malloc(control, n * sizeof(TreeNode))
    if tree == NULL:
        return False
    tree_write(s, tree)
    state_set_tree(control, s, tree, n, s.upper)
    return True


cdef void state_set_tree(Control* control, DataState* s, TreeNode* tree, int32_t n, cost_t upper) noexcept nogil:
    tracked_free(control, s.tree)
    s.tree = tree
    s.n_tree = n
    s.policy = TREE
    s.upper = upper
