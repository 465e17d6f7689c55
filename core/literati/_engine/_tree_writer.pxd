"""Write the search's primal tree as an array of nodes."""

from literati._engine._data_state cimport SearchContext
from literati._engine._graph cimport TreeNode
from literati._engine._types cimport int32_t, int8_t

# A node of the finished tree, with the layout of NODE_DTYPE in _tree_writer.pyx.
cdef packed struct Node:
    int32_t feature           # -1: a leaf
    int32_t n_changepoints
    int32_t changepoints[8]   # as codes, ascending
    int8_t missing_right      # side of the rows without a value
    int8_t proven             # no better subtree exists in the space that is searched
    int32_t left              # index of the left child, -1 for a leaf
    int32_t right
    double lower_bound        # of the subtree, in misclassified rows

# Writes the tree down to its leaves to `out`, at most 2 << max_depth nodes. Returns their number, or -1 when memory ran
# out or a stop was requested.
cdef int32_t write_nodes(SearchContext* context, const TreeNode* tree, Node* out, double scale) noexcept nogil
