"""Save what a search knows as bytes, from which another process continues."""

from literati._engine._ao cimport Ao
from literati._engine._graph cimport TreeNode
from literati._engine._types cimport int32_t, int64_t

# Returns the best tree, the bounds, values and bounds of states, and the keys of the steps taken, as far as they fit
# into `max_bytes`.
cdef bytes save_search(Ao* ao, double seconds, int64_t max_bytes)
# Loads them into a search that has not started; returns the seconds spent before.
cdef double load_search(Ao* ao, bytes blob) except? -1.0
# Returns a tree that the caller owns from an array of NODE_DTYPE, and its number of nodes.
cdef TreeNode* load_tree(Ao* ao, nodes, int32_t* n) except NULL
