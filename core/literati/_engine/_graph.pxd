"""The AND/OR graph: data states, the shape functions tried at them, and primal trees."""

from literati._engine._cart cimport Cut
from literati._engine._depth2_every_cut cimport Depth2Solve
from literati._engine._types cimport Control, Rows, Shape, cost_t, int32_t, int64_t, int8_t, uint64_t

# Where the tree behind a state's upper bound comes from.
cdef enum Policy:
    LEAF = 0             # no split
    LOOKAHEAD = 1        # the CART of the state's depth, which is fitted again when the tree is needed
    SOLVED = 2           # the exact solver of depth left 1 or 2, which runs again when the tree is needed
    SPLIT = 3            # the state's best choice and its children
    TREE = 4             # kept as a compact tree

# A node of a compact tree, in preorder: the left child follows its parent. Only SPLIT has children. Saved searches
# contain these bytes.
cdef struct TreeNode:
    cost_t lower         # lower bound of the subtree, where it is known
    int32_t feature      # of policy SPLIT; other policies: see get_split_index
    int32_t right        # offset of the right child from this node
    int32_t cut[8]       # change points as codes
    int8_t n_cuts        # change points
    int8_t missing_right  # side of the rows without a value
    int8_t policy        # LEAF, LOOKAHEAD, SOLVED or SPLIT
    int8_t depth         # depth left
    int8_t proven        # no better subtree exists in the space that is searched

# A data state: rows and depth left. lower <= optimum <= upper at all times, and lower never falls, upper never rises.
cdef struct DataState:
    Choice* parent       # NULL: the root
    Choice** choices     # shape functions that were opened and not freed
    Choice* best         # the choice of policy SPLIT
    TreeNode* tree       # of policy TREE
    Cut* cuts            # candidate cuts, kept for refinements
    Gap* gaps            # untried change points, where every cut is a candidate
    Depth2Solve* solve   # an unfinished solve
    Rows rows            # order is NULL while the rows are not in memory
    uint64_t hash[2]     # of the set of rows
    cost_t lower         # V: no tree of the state's space costs less
    cost_t relaxed       # a lower bound for min_rows = 1 and every cut, and so of every larger set of rows
    cost_t upper         # V-bar: cost of the tree of `policy`
    cost_t floor         # smallest lower bound among pruned choices and gaps
    double estimate      # V-tilde: the cost that the search expects; it orders the search and proves nothing
    double share         # of the searched space that lies below it: see _explored.pxd
    double explored      # part of `share` that is complete or pruned
    int32_t n            # rows
    int32_t n_choices
    int32_t choice_capacity  # allocated entries of `choices`
    int32_t n_tree       # nodes of `tree`
    int32_t split_index  # of policy SOLVED and depth left 2: index of the split among all candidates, -1: not known
    int32_t n_cuts
    int32_t n_gaps
    int32_t gap_capacity  # allocated entries of `gaps`
    int8_t depth         # depth left
    int8_t policy
    int8_t expanded      # its choices or gaps have been opened
    int8_t complete      # lower == upper: nothing is left to find

# A shape function at a data state, committed to its two children.
cdef struct Choice:
    DataState* owner
    Choice* prefix       # the choice that this one refines by one change point; NULL for the first
    DataState left
    DataState right
    Shape shape
    cost_t cost          # penalties of the split
    cost_t refine_lower  # no refinement costs less; read while `refinable`
    double refine_share  # of the searched space that its refinements are, while they have not been opened
    double impurity      # weight times Gini impurity of its children: the choices of least impurity get a lookahead
    int64_t round        # number of the last round of tasks that selected it
    bint estimated       # the lookahead of its children is done, or they get none
    bint refinable       # refinements have not been opened
    bint pruned          # nothing below it is searched, but the gaps beside it still read its children's bounds
    bint right_next      # round robin: it is the right child's turn

# A run of change points, none of which has been tried.
cdef struct Gap:
    Choice* prefix       # change points already chosen; NULL: none
    Choice* below        # the tried neighbours; NULL at the ends
    Choice* above
    double share         # of the searched space
    int32_t feature
    int32_t missing_right  # side of the rows without a value
    int32_t first        # positions in the order of the state's rows, both ends included
    int32_t last

# Choices that were made for a state and do not belong to it yet.
cdef struct Expansion:
    Choice** choices
    int32_t n_choices
    int32_t capacity     # allocated entries of `choices`
    Cut* cuts            # candidate cuts of the state; NULL: it has them already
    int32_t n_cuts

cdef inline int32_t get_split_index(const TreeNode* node) noexcept nogil:
    """Return the index of the split of a SOLVED node of depth left 2, -1 if it is not known.

    Saved searches of version 0.1.0 keep it in the place of the feature.
    """
    return node.feature

cdef inline void set_split_index(TreeNode* node, int32_t index) noexcept nogil:
    node.feature = index

cdef inline cost_t commit_lower(const Choice* c) noexcept nogil:
    """Return a lower bound of the choice without refinements: its penalties and the bounds of its children."""
    return c.cost + c.left.lower + c.right.lower

cdef inline cost_t choice_lower(const Choice* c) noexcept nogil:
    """Return a lower bound of the choice and all its refinements."""
    cdef cost_t commit = commit_lower(c)
    return c.refine_lower if c.refinable and c.refine_lower < commit else commit

cdef inline cost_t choice_upper(const Choice* c) noexcept nogil:
    return c.cost + c.left.upper + c.right.upper

cdef inline double choice_estimate(const Choice* c) noexcept nogil:
    return c.cost + c.left.estimate + c.right.estimate

# Functions that return False or NULL have found no memory and changed nothing.
cdef Choice* choice_new(Control* control, DataState* owner) noexcept nogil
cdef bint state_add_choice(Control* control, DataState* s, Choice* c) noexcept nogil
cdef bint expansion_add_choice(Control* control, Expansion* expansion, Choice* c) noexcept nogil
# Moves the choices and cuts of an expansion to the state, and leaves the expansion empty.
cdef bint state_take_expansion(Control* control, DataState* s, Expansion* expansion) noexcept nogil
cdef bint state_add_gap(Control* control, DataState* s, const Gap* gap) noexcept nogil
cdef void choice_free(Control* control, Choice* c) noexcept nogil
cdef void expansion_free(Control* control, Expansion* expansion) noexcept nogil
cdef void state_clear(Control* control, DataState* s) noexcept nogil
cdef void state_free(Control* control, DataState* s) noexcept nogil
cdef void state_discard_solve(Control* control, DataState* s) noexcept nogil

cdef bint state_keep_tree(Control* control, DataState* s) noexcept nogil
# Makes a compact tree that costs `upper` the state's own; the state frees it.
cdef void state_set_tree(Control* control, DataState* s, TreeNode* tree, int32_t n, cost_t upper) noexcept nogil
# Nodes of the tree of a state's upper bound.
cdef int32_t tree_size(const DataState* s) noexcept nogil
cdef int32_t tree_write(const DataState* s, TreeNode* out) noexcept nogil
