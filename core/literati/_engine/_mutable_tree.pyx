"""A tree over the engine's rows whose nodes can be changed in place.

Nodes live in a pool with free entries. `load` reads and `dump` writes the engine's array of nodes. Methods that visit
every row release the GIL.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from literati._engine._tree_writer cimport Node
from literati._engine._types cimport MAX_K, monotonic

from literati._engine._tree_writer import NODE_DTYPE


cdef struct SeenCodes:                  # of the rows that reach a node
    int32_t lowest[MAX_K + 1]           # in each segment between change points, -1: no row
    bint missing                        # a row has no value


cdef class MutableTree:
    def __dealloc__(self):
        free(self.nodes)

    cdef bint should_stop(self) noexcept nogil:
        return self.stop or (self.deadline > 0.0 and monotonic() > self.deadline)

    # --- reading and writing ------------------------------------------------------------------------------------------

    cdef int load(self, nodes) except -1:
        cdef int32_t v
        if nodes.dtype != NODE_DTYPE:
            raise ValueError("nodes must be an array of the search's node type")
        for v in range(self.capacity):
            self.nodes[v].parent = -2
        self.first_unused = 0
        self.load_node(np.ascontiguousarray(nodes), 0, -1)
        self.number_nodes()
        return 0

    cdef int32_t load_node(self, nodes, int32_t index, int32_t parent) except -1:
        if not 0 <= index < len(nodes):
            raise ValueError(f"nodes: child {index} does not exist")
        cdef const Node* given = <const Node*><size_t>nodes.ctypes.data + index
        cdef int32_t v = self.new_node(parent), i
        cdef MutableNode* node = &self.nodes[v]
        node.origin, node.unchanged = index, True
        if given.feature < 0:
            return v
        if node.depth >= self.data.max_depth:
            raise ValueError(f"nodes: deeper than max_depth={self.data.max_depth}")
        if not (given.feature < self.data.n_features and 1 <= given.n_changepoints <= MAX_K):
            raise ValueError(f"nodes: node {index} has no such feature, or too many change points")
        node.shape.feature, node.shape.n_cuts = given.feature, given.n_changepoints
        node.shape.missing_right = given.missing_right != 0
        for i in range(given.n_changepoints):
            node.shape.cut[i] = given.changepoints[i]
        node.left = self.load_node(nodes, given.left, v)
        node.right = self.load_node(nodes, given.right, v)
        return v

    cdef object dump(self, given):
        """Return the tree as an array.

        A node that the same rows reach as before keeps its bound; if its subtree is unchanged, it keeps its proof.
        """
        cdef int32_t v, i, n_nodes = 0
        cdef MutableNode* node
        cdef Node* out
        for v in range(self.capacity):
            n_nodes += self.nodes[v].parent != -2
        nodes = np.zeros(n_nodes, dtype=NODE_DTYPE)
        for v in range(self.capacity):
            node = &self.nodes[v]
            if node.parent == -2:
                continue
            out = <Node*><size_t>nodes.ctypes.data + node.index
            out.feature = out.left = out.right = -1
            if node.shape.feature >= 0:
                out.feature, out.n_changepoints = node.shape.feature, node.shape.n_cuts
                out.missing_right = node.shape.missing_right
                out.left, out.right = self.nodes[node.left].index, self.nodes[node.right].index
                for i in range(node.shape.n_cuts):
                    out.changepoints[i] = node.shape.cut[i]
            if node.origin >= 0:
                out.lower_bound = given[node.origin]["lower_bound"]
                out.proven = node.unchanged and given[node.origin]["proven"]
        return nodes

    # --- the pool of nodes --------------------------------------------------------------------------------------------

    cdef int32_t new_node(self, int32_t parent) except -1:
        """Make a leaf in a free entry."""
        cdef int32_t v = self.first_unused
        while v < self.capacity and self.nodes[v].parent != -2:
            v += 1
        if v == self.capacity:
            raise ValueError("nodes: more nodes than a tree of this depth can have")
        self.first_unused = v + 1
        cdef MutableNode* node = &self.nodes[v]
        memset(node, 0, sizeof(MutableNode))
        node.shape.feature = node.fit = node.origin = -1
        node.parent = parent
        node.depth = 0 if parent < 0 else self.nodes[parent].depth + 1
        node.stale = True
        return v

    cdef void free_subtree(self, int32_t v) noexcept:
        if self.nodes[v].shape.feature >= 0:
            self.free_subtree(self.nodes[v].left)
            self.free_subtree(self.nodes[v].right)
        self.free_node(v)

    cdef void free_node(self, int32_t v) noexcept:
        self.nodes[v].parent = -2
        self.first_unused = min(self.first_unused, v)

    cdef int32_t number_nodes(self) except -1:
        """Set index, depth and parent of every node after a change; return the depth of the tree."""
        cdef int32_t depth = 0, n_nodes = 0
        self.number_subtree(0, -1, &n_nodes, &depth)
        if self.counts is None or self.counts.shape[0] < n_nodes * self.data.n_classes:
            self.counts = np.empty(2 * n_nodes * self.data.n_classes, dtype=np.int64)
        return depth

    cdef void number_subtree(self, int32_t v, int32_t parent, int32_t* n_nodes, int32_t* depth) noexcept:
        cdef MutableNode* node = &self.nodes[v]
        node.parent = parent
        node.depth = 0 if parent < 0 else self.nodes[parent].depth + 1
        node.index = n_nodes[0]
        n_nodes[0] += 1
        depth[0] = max(depth[0], node.depth)
        if node.shape.feature >= 0:
            self.number_subtree(node.left, v, n_nodes, depth)
            self.number_subtree(node.right, v, n_nodes, depth)

    # --- costs and changes --------------------------------------------------------------------------------------------

    cdef void label_leaves(self) noexcept nogil:
        """Give every leaf its majority label."""
        cdef int32_t v, row, k, n_classes = self.data.n_classes
        cdef int64_t* counts
        memset(&self.counts[0], 0, self.counts.shape[0] * sizeof(int64_t))
        for row in range(self.data.n_rows):
            if not row & STOP_CHECK_MASK and self.should_stop():
                self.interrupted = True
                return
            v = self.descend(0, row, self.data.max_depth)
            self.counts[self.nodes[v].index * n_classes + self.data.label[row]] += self.data.weight[row]
        for v in range(self.capacity):
            if self.nodes[v].parent == -2 or self.nodes[v].shape.feature >= 0:
                continue
            counts = &self.counts[self.nodes[v].index * n_classes]
            self.nodes[v].label = 0
            for k in range(1, n_classes):
                if counts[k] > counts[self.nodes[v].label]:
                    self.nodes[v].label = k

    cdef cost_t penalties(self, int32_t v) noexcept:
        """Return the penalties of a subtree."""
        cdef MutableNode* node = &self.nodes[v]
        if node.shape.feature < 0:
            return 0
        return (
            self.data.split_cost + (node.shape.n_cuts - 1) * self.data.changepoint_cost
            + self.penalties(node.left) + self.penalties(node.right)
        )

    cdef int32_t size(self, int32_t v) noexcept:
        """Return the number of splits and change points of a subtree."""
        cdef MutableNode* node = &self.nodes[v]
        if node.shape.feature < 0:
            return 0
        return 1 + node.shape.n_cuts + self.size(node.left) + self.size(node.right)

    cdef int change(self, int32_t v, Change change, const Shape* shape, bint swapped) except -1:
        """Change one node; `number_nodes` must follow the last change."""
        cdef MutableNode* node = &self.nodes[v]
        if change == NEW_SHAPE:
            if node.shape.feature < 0:
                node.left = self.new_node(v)
                node.right = self.new_node(v)
            elif swapped:
                node.left, node.right = node.right, node.left
            node.shape = shape[0]
        elif change == TO_LEAF:
            self.free_subtree(node.left)
            self.free_subtree(node.right)
            node.shape.feature, node.shape.n_cuts = -1, 0
        else:
            self.replace_by_child(v, change == TO_RIGHT_CHILD)
        # Other rows reach the nodes below, and the nodes above have another subtree.
        if node.shape.feature >= 0:
            self.reset_origin(node.left, v)
            self.reset_origin(node.right, v)
        while v >= 0:
            self.nodes[v].unchanged = False
            self.nodes[v].stale = True
            v = self.nodes[v].parent
        return 0

    cdef void replace_by_child(self, int32_t v, bint right) noexcept:
        """Put the subtree of one child in the place of the node."""
        cdef MutableNode* node = &self.nodes[v]
        cdef int32_t kept = node.right if right else node.left
        cdef MutableNode* child = &self.nodes[kept]
        self.free_subtree(node.left if right else node.right)
        node.shape, node.left, node.right = child.shape, child.left, child.right
        node.label, node.index = child.label, child.index
        self.free_node(kept)

    cdef void reset_origin(self, int32_t v, int32_t parent) noexcept:
        cdef MutableNode* node = &self.nodes[v]
        node.parent, node.origin, node.unchanged, node.stale = parent, -1, False, True
        if node.shape.feature >= 0:
            self.reset_origin(node.left, v)
            self.reset_origin(node.right, v)

    # --- simplifying --------------------------------------------------------------------------------------------------

    cdef int simplify(self) except -1:
        """Remove change points and nodes that separate no rows; move change points to codes that the rows have."""
        cdef int32_t n_nodes = 0, depth = 0, i, v, row, code, segment
        cdef SeenCodes* seen
        cdef Shape* shape
        self.number_subtree(0, -1, &n_nodes, &depth)
        cdef SeenCodes* all_seen = <SeenCodes*>malloc(n_nodes * sizeof(SeenCodes))
        if all_seen == NULL:
            raise MemoryError("no memory to simplify a tree")
        for v in range(n_nodes):
            all_seen[v].missing = False
            for i in range(MAX_K + 1):
                all_seen[v].lowest[i] = -1
        with nogil:
            for row in range(self.data.n_rows):
                if not row & STOP_CHECK_MASK and self.should_stop():
                    self.interrupted = True
                    break
                v = 0
                while self.nodes[v].shape.feature >= 0:
                    shape = &self.nodes[v].shape
                    seen = &all_seen[self.nodes[v].index]
                    code = self.data.codes[shape.feature * <int64_t>self.data.n_rows + row]
                    if code == self.data.cardinality[shape.feature]:
                        seen.missing = True
                    else:
                        segment = 0
                        for i in range(shape.n_cuts):
                            segment += shape.cut[i] <= code
                        if seen.lowest[segment] < 0 or code < seen.lowest[segment]:
                            seen.lowest[segment] = code
                    v = self.nodes[v].right if self.goes_right(shape, row) else self.nodes[v].left
        if not self.interrupted:
            self.simplify_node(0, all_seen)
        free(all_seen)
        self.number_nodes()
        for v in range(self.capacity):
            self.nodes[v].stale = True
        return 0

    cdef void simplify_node(self, int32_t v, const void* all_seen) noexcept:
        cdef MutableNode* node = &self.nodes[v]
        cdef Shape* shape = &node.shape
        cdef const SeenCodes* seen = <const SeenCodes*>all_seen + node.index
        cdef int32_t i, first = -1, side = -1, n_cuts = 0
        if shape.feature < 0:
            return
        for i in range(shape.n_cuts + 1):
            if seen.lowest[i] < 0 or (i & 1) == side:
                continue
            if side < 0:
                first = i & 1
            else:
                shape.cut[n_cuts] = seen.lowest[i]
                n_cuts += 1
            side = i & 1
        if n_cuts == 0 and first >= 0 and seen.missing and shape.missing_right != first:
            shape.cut[0] = self.data.cardinality[shape.feature]
            n_cuts = 1
        if n_cuts == 0:  # every row goes to one side
            self.replace_by_child(v, shape.missing_right if first < 0 else first)
            self.simplify_node(v, all_seen)
            return
        shape.n_cuts = n_cuts
        if first == 1:  # a shape sends its first segment left
            node.left, node.right = node.right, node.left
            shape.missing_right ^= 1
        shape.missing_right &= seen.missing
        self.simplify_node(node.left, all_seen)
        self.simplify_node(node.right, all_seen)
