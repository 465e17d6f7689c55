"""Write the search's primal tree as an array of nodes.

The search keeps only those parts of a tree that it cannot compute again. A subtree that is a CART, or that the exact
solvers of depth left 1 and 2 found, is computed here from its rows. Both are deterministic: the tree is the same.
"""

from libc.string cimport memset

import numpy as np

from literati._engine._cart cimport Cart, cart_lookahead
from literati._engine._data_state cimport cart_tree, leaves_at
from literati._engine._depth1 cimport solve_depth1
from literati._engine._depth2 cimport nth_shape, solve_depth2
from literati._engine._graph cimport LEAF, LOOKAHEAD, SOLVED, SPLIT, get_split_index
from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._rows cimport apply_shape, position_of_cut, rows_alloc, rows_filter, rows_free
from literati._engine._types cimport Control, Dataset, Rows, Shape, uint8_t

NODE_DTYPE = np.dtype([
    ("feature", "<i4"), ("n_changepoints", "<i4"), ("changepoints", "<i4", (8,)), ("missing_right", "i1"),
    ("proven", "i1"), ("left", "<i4"), ("right", "<i4"), ("lower_bound", "<f8"),
])


cdef struct NodeWriter:
    SearchContext* context
    Node* out
    int32_t n        # nodes written
    double scale     # cost units of one misclassified row
    bint failed      # memory ran out, or a stop was requested


cdef int32_t write_nodes(SearchContext* context, const TreeNode* tree, Node* out, double scale) noexcept nogil:
    cdef NodeWriter writer = NodeWriter(context, out, 0, scale, False)
    write_subtree(&writer, tree, &context.all_rows)
    return -1 if writer.failed else writer.n


cdef Node* new_node(NodeWriter* writer, const TreeNode* t) noexcept nogil:
    cdef Node* node = &writer.out[writer.n]
    memset(node, 0, sizeof(Node))
    node.feature = node.left = node.right = -1
    node.proven = t.proven
    node.lower_bound = t.lower / writer.scale
    writer.n += 1
    return node


cdef void write_subtree(NodeWriter* writer, const TreeNode* t, const Rows* rows) noexcept nogil:
    # At most max_depth calls are nested; each holds the rows of one child.
    cdef Shape shape
    cdef int32_t i
    cdef TreeNode below[2]
    if writer.failed:
        return
    if t.policy == LEAF:
        new_node(writer, t)
    elif t.policy == LOOKAHEAD:
        write_lookahead(writer, t, rows)
    elif t.policy == SPLIT:
        memset(&shape, 0, sizeof(Shape))
        shape.feature = t.feature
        shape.n_cuts = t.n_cuts
        shape.missing_right = t.missing_right
        for i in range(t.n_cuts):
            shape.cut[i] = t.cut[i]
        write_split(writer, t, rows, &shape, t + 1, t + t.right)
    else:
        solve_node(writer, t, rows, &shape)
        memset(below, 0, sizeof(below))
        below[0].policy = below[1].policy = SOLVED if t.depth > 1 else LEAF
        below[0].depth = below[1].depth = t.depth - 1
        below[0].proven = below[1].proven = True
        if shape.feature < 0:
            new_node(writer, t)
        else:
            write_split(writer, t, rows, &shape, &below[0], &below[1])


cdef void solve_node(NodeWriter* writer, const TreeNode* t, const Rows* rows, Shape* shape) noexcept nogil:
    cdef SearchContext* context = writer.context
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef int32_t split_index, leaves = leaves_at(data, t.depth)
    memset(shape, 0, sizeof(Shape))
    if t.depth == 1:
        solve_depth1(data, control, &context.sweep.classes, rows, shape)
    elif get_split_index(t) < 0 or not nth_shape(
        data, control, &context.sweep, &context.cart, rows, leaves, get_split_index(t), shape
    ):
        solve_depth2(data, control, &context.sweep, &context.cart, rows, leaves, 0, shape, &split_index)
    writer.failed = writer.failed or control.stop


cdef void write_split(
    NodeWriter* writer, const TreeNode* t, const Rows* rows, Shape* shape, const TreeNode* left, const TreeNode* right
) noexcept nogil:
    cdef const Dataset* data = writer.context.data
    cdef Control* control = writer.context.control
    cdef Node* node = new_node(writer, t)
    cdef int32_t i, n_left, index = writer.n - 1
    cdef Rows part
    cdef uint8_t* side = writer.context.side
    node.feature = shape.feature
    node.n_changepoints = shape.n_cuts
    node.missing_right = shape.missing_right
    for i in range(shape.n_cuts):
        node.changepoints[i] = shape.cut[i]
        shape.at[i] = position_of_cut(data, rows, shape.feature, shape.cut[i])
    n_left = apply_shape(rows, shape, side)
    for i in range(2):
        if not rows_alloc(data, control, &part, rows.n - n_left if i else n_left):
            writer.failed = True
            return
        if i:
            apply_shape(rows, shape, side)  # the left subtree has used the array since
            writer.out[index].right = writer.n
        else:
            writer.out[index].left = writer.n
        rows_filter(data, control, rows, side, i, &part)
        writer.failed = writer.failed or control.stop
        write_subtree(writer, right if i else left, &part)  # writes nothing after a failure
        rows_free(control, &part)


cdef void write_lookahead(NodeWriter* writer, const TreeNode* t, const Rows* rows) noexcept nogil:
    """Write the CART's nodes as a tree of splits and leaves, which is then written like any other."""
    cdef SearchContext* context = writer.context
    cdef Cart* cart = &context.cart
    cdef TreeNode* tree
    cart_lookahead(context.data, context.control, cart, rows, t.depth)
    if context.control.stop:
        writer.failed = True
        return
    tree = <TreeNode*>tracked_malloc(context.control, cart.n_nodes * sizeof(TreeNode))
    if tree == NULL:
        writer.failed = True
        return
    cart_tree(cart, 0, tree)
    tree.lower = t.lower
    tree.proven = t.proven
    write_subtree(writer, tree, rows)
    tracked_free(context.control, tree)
