"""From the search's primal tree to an array of nodes."""

from literati._states cimport Space
from literati._graph cimport TreeNode
from literati._types cimport int8_t, int32_t

cdef packed struct Node:   # the twin of NODE_DTYPE in _emit.pyx
    int32_t feature
    int32_t n_changepoints
    int32_t changepoints[8]
    int8_t missing_right
    int8_t proven
    int32_t left
    int32_t right
    double lower_bound

# Writes the tree, worked out down to its leaves, to `out` (room for 2 << max_depth nodes). Returns its size, or -1
# when memory ran out or a stop was requested.
cdef int32_t emit_tree(Space* space, const TreeNode* tree, Node* out, double scale) noexcept nogil
