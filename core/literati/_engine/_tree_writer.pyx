"""From the search's primal tree to an array of nodes.

The search keeps only as much of a tree as it cannot make again: a subtree that is a CART, or that the exact solvers of
depth left 1 and 2 found, is worked out here from its rows. Both are deterministic, so the same tree comes out.
"""

from libc.string cimport memset

import numpy as np

from literati._bottom cimport nth_shape, solve_one, solve_two
from literati._cart cimport Cart, cart_lookahead
from literati._states cimport Space, cart_tree, leaves_at
from literati._graph cimport LEAF, LOOKAHEAD, SOLVED, SPLIT, TreeNode
from literati._rows cimport apply_shape, drop, grab, position_of_cut, rows_alloc, rows_filter, rows_free
from literati._types cimport Problem, Rows, Shape, int32_t, uint8_t

NODE_DTYPE = np.dtype([
    ("feature", "<i4"), ("n_changepoints", "<i4"), ("changepoints", "<i4", (8,)), ("missing_right", "i1"),
    ("proven", "i1"), ("left", "<i4"), ("right", "<i4"), ("lower_bound", "<f8"),
])


cdef struct Emit:
    Space* space
    Node* out
    int32_t n
    double scale     # cost units of one misclassified row
    bint failed


cdef int32_t emit_tree(Space* space, const TreeNode* tree, Node* out, double scale) noexcept nogil:
    cdef Emit emit
    emit.space = space
    emit.out = out
    emit.n = 0
    emit.scale = scale
    emit.failed = False
    emit_node(&emit, tree, &space.all_rows)
    return -1 if emit.failed else emit.n


cdef Node* new_node(Emit* emit, const TreeNode* t) noexcept nogil:
    cdef Node* node = &emit.out[emit.n]
    memset(node, 0, sizeof(Node))
    node.feature = node.left = node.right = -1
    node.proven = t.proven
    node.lower_bound = t.lower / emit.scale
    emit.n += 1
    return node


cdef void emit_node(Emit* emit, const TreeNode* t, const Rows* rows) noexcept nogil:
    """At most max_depth calls deep: each holds the rows of its two children."""
    cdef Shape shape
    cdef int32_t i
    cdef TreeNode below[2]
    if emit.failed:
        return
    if t.policy == LEAF:
        new_node(emit, t)
    elif t.policy == LOOKAHEAD:
        emit_lookahead(emit, t, rows)
    elif t.policy == SPLIT:
        memset(&shape, 0, sizeof(Shape))
        shape.feature = t.feature
        shape.n_cuts = t.n_cuts
        shape.missing_right = t.missing_right
        for i in range(t.n_cuts):
            shape.cut[i] = t.cut[i]
        emit_split(emit, t, rows, &shape, t + 1, t + t.right)
    else:
        solve(emit, t, rows, &shape)
        memset(below, 0, sizeof(below))
        below[0].policy = below[1].policy = SOLVED if t.depth > 1 else LEAF
        below[0].depth = below[1].depth = t.depth - 1
        below[0].proven = below[1].proven = True
        if shape.feature < 0:
            new_node(emit, t)
        else:
            emit_split(emit, t, rows, &shape, &below[0], &below[1])


cdef void solve(Emit* emit, const TreeNode* t, const Rows* rows, Shape* shape) noexcept nogil:
    cdef Space* space = emit.space
    cdef int32_t number
    memset(shape, 0, sizeof(Shape))
    if t.depth == 1:
        solve_one(space.p, &space.sweep.classes, rows, shape)
    elif t.feature < 0 or not nth_shape(
        space.p, &space.sweep, &space.cart, rows, leaves_at(space.p, t.depth), t.feature, shape
    ):
        solve_two(space.p, &space.sweep, &space.cart, rows, leaves_at(space.p, t.depth), 0, shape, &number)
    emit.failed = emit.failed or space.p.stop


cdef void emit_split(
    Emit* emit, const TreeNode* t, const Rows* rows, Shape* shape, const TreeNode* left, const TreeNode* right
) noexcept nogil:
    cdef Problem* p = emit.space.p
    cdef Node* node = new_node(emit, t)
    cdef int32_t i, n_left, index = emit.n - 1
    cdef Rows part
    cdef uint8_t* side = emit.space.side
    node.feature = shape.feature
    node.n_changepoints = shape.n_cuts
    node.missing_right = shape.missing_right
    for i in range(shape.n_cuts):
        node.changepoints[i] = shape.cut[i]
        shape.at[i] = position_of_cut(p, rows, shape.feature, shape.cut[i])
    n_left = apply_shape(p, rows, shape, side)
    for i in range(2):
        if not rows_alloc(p, &part, rows.n - n_left if i else n_left):
            emit.failed = True
            return
        if i:
            apply_shape(p, rows, shape, side)  # the left subtree has used the array since
        rows_filter(p, rows, side, i, &part)
        if p.stop:
            rows_free(p, &part)
            emit.failed = True
            return
        if i:
            emit.out[index].right = emit.n
        else:
            emit.out[index].left = emit.n
        emit_node(emit, right if i else left, &part)
        rows_free(p, &part)


cdef void emit_lookahead(Emit* emit, const TreeNode* t, const Rows* rows) noexcept nogil:
    """The CART's nodes as a tree of splits and leaves, which is then written like any other."""
    cdef Space* space = emit.space
    cdef Cart* cart = &space.cart
    cdef TreeNode* tree
    cart_lookahead(space.p, cart, rows, t.depth)
    if space.p.stop:
        emit.failed = True
        return
    tree = <TreeNode*>grab(space.p, cart.n_nodes * sizeof(TreeNode))
    if tree == NULL:
        emit.failed = True
        return
    cart_tree(cart, 0, tree)
    tree.lower = t.lower
    tree.proven = t.proven
    emit_node(emit, tree, rows)
    drop(space.p, tree)
