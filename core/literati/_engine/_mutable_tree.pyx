"""A tree over encoded rows whose nodes can be changed in place.

Nodes live in a pool with free entries; the structured array of the search is read by `load` and written by
`dump`. What only reads or changes the few nodes holds the GIL; what visits every row does not.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from literati._intervals cimport monotonic

NODE_DTYPE = np.dtype([
    ("feature", "<i4"), ("n_changepoints", "<i4"), ("changepoints", "<i4", (8,)), ("missing_right", "i1"),
    ("proven", "i1"), ("left", "<i4"), ("right", "<i4"), ("lower_bound", "<f8"),
])


cdef class MutableTree:
    def __cinit__(self):
        self.nodes = NULL

    def __init__(
        self, codes, values, y, int n_classes, weights, double split_penalty, double changepoint_penalty,
        int max_depth,
    ):
        if not 1 <= max_depth <= 12:
            raise ValueError(f"max_depth must be 1..12, not {max_depth}")
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.y = np.ascontiguousarray(y, dtype=np.int32)
        self.n_features, self.n_rows = <int32_t>self.codes.shape[0], <int32_t>self.codes.shape[1]
        if self.n_rows == 0 or self.n_features == 0 or self.y.shape[0] != self.n_rows:
            raise ValueError("codes must be (features, rows), at least one of each, and y one label a row")
        if np.min(self.y) < 0 or np.max(self.y) >= n_classes:
            raise ValueError(f"y must lie in 0..{n_classes - 1}")
        self.cardinality = np.array([len(column) for column in values], dtype=np.int32)
        if (
            self.cardinality.shape[0] != self.n_features
            or np.any(np.max(self.codes, axis=1) >= self.cardinality)
            or np.min(self.codes) < -1
        ):
            raise ValueError("values must name every code of every feature")
        self.weight = NULL
        if weights is not None:
            self.weights = np.ascontiguousarray(weights, dtype=np.float64)
            if self.weights.shape[0] != self.n_rows:
                raise ValueError("weights must have one entry a row")
            self.weight = &self.weights[0]
        self.n_classes = n_classes
        self.max_depth = max_depth
        self.split_penalty = split_penalty
        self.changepoint_penalty = changepoint_penalty
        self.capacity = (2 << max_depth) + 1
        self.nodes = <Node*>malloc(self.capacity * sizeof(Node))
        if self.nodes == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.nodes)

    cdef bint over(self) noexcept nogil:
        """Whether a stop was requested or the time is up."""
        return self.stop or (self.until > 0.0 and monotonic() > self.until)

    cdef int load(self, nodes) except -1:
        cdef int32_t v
        if nodes.dtype != NODE_DTYPE:
            raise ValueError("nodes must be an array of the search's node type")
        for v in range(self.capacity):
            self.nodes[v].parent = -2
        self.unused = 0
        self.load_node(nodes, 0, -1)
        self.place()
        return 0

    cdef int32_t load_node(self, nodes, int index, int32_t parent) except -1:
        if not 0 <= index < len(nodes):
            raise ValueError(f"nodes: child {index} does not exist")
        given = nodes[index]
        cdef int32_t v = self.new_node(parent), i
        cdef Node* node = &self.nodes[v]
        node.origin, node.same = index, True
        if given["feature"] < 0:
            return v
        if node.depth >= self.max_depth:
            raise ValueError(f"nodes: deeper than max_depth={self.max_depth}")
        if not (given["feature"] < self.n_features and 1 <= given["n_changepoints"] <= MAX_CHANGEPOINTS):
            raise ValueError(f"nodes: node {index} has no such feature, or too many change points")
        node.function.feature, node.function.count = given["feature"], given["n_changepoints"]
        node.function.missing_right = given["missing_right"] != 0
        for i in range(node.function.count):
            node.function.cuts[i] = given["changepoints"][i]
        node.left = self.load_node(nodes, given["left"], v)
        node.right = self.load_node(nodes, given["right"], v)
        return v

    cdef int32_t new_node(self, int32_t parent) except -1:
        """A leaf in a free entry. Depth bounds the tree, so there always is one."""
        cdef int32_t v = self.unused
        while v < self.capacity and self.nodes[v].parent != -2:
            v += 1
        if v == self.capacity:
            raise ValueError("nodes: more nodes than a tree of this depth can have")
        self.unused = v + 1
        cdef Node* node = &self.nodes[v]
        memset(node, 0, sizeof(Node))
        node.function.feature = node.job = node.origin = -1
        node.parent = parent
        node.depth = 0 if parent < 0 else self.nodes[parent].depth + 1
        node.stale = True
        return v

    cdef void discard(self, int32_t v) noexcept:
        """Free the entries of a subtree."""
        if self.nodes[v].function.feature >= 0:
            self.discard(self.nodes[v].left)
            self.discard(self.nodes[v].right)
        self.release(v)

    cdef void release(self, int32_t v) noexcept:
        self.nodes[v].parent = -2
        self.unused = min(self.unused, v)

    cdef int32_t place(self) except -1:
        """Number the nodes and set depths and parents after a change; the depth of the tree."""
        cdef int32_t deepest = 0, slot = 0
        self.place_node(0, -1, &slot, &deepest)
        if self.counts is None or self.counts.shape[0] < slot * self.n_classes:
            self.counts = np.empty(2 * slot * self.n_classes)
        return deepest

    cdef void place_node(self, int32_t v, int32_t parent, int32_t* slot, int32_t* deepest) noexcept:
        cdef Node* node = &self.nodes[v]
        node.parent = parent
        node.depth = 0 if parent < 0 else self.nodes[parent].depth + 1
        node.slot = slot[0]
        slot[0] += 1
        deepest[0] = max(deepest[0], node.depth)
        if node.function.feature >= 0:
            self.place_node(node.left, v, slot, deepest)
            self.place_node(node.right, v, slot, deepest)

    cdef double relabel(self) except -1:
        """Give every leaf its majority label; the objective of the tree."""
        cdef int32_t v, row, k
        cdef double error = 0, most, everything
        cdef double* counts
        with nogil:
            memset(&self.counts[0], 0, self.counts.shape[0] * sizeof(double))
            for row in range(self.n_rows):
                if not row & ROWS_BETWEEN_LOOKS and self.over():
                    self.broken = True
                    break
                v = self.descend(0, row, self.max_depth)
                self.counts[self.nodes[v].slot * self.n_classes + self.y[row]] += (
                    1.0 if self.weight == NULL else self.weight[row]
                )
        for v in range(self.capacity):
            if self.nodes[v].parent == -2 or self.nodes[v].function.feature >= 0:
                continue
            counts = &self.counts[self.nodes[v].slot * self.n_classes]
            most, everything = counts[0], counts[0]
            self.nodes[v].label = 0
            for k in range(1, self.n_classes):
                everything += counts[k]
                if counts[k] > most:
                    most = counts[k]
                    self.nodes[v].label = k
            error += everything - most
        return error + self.penalties(0, NULL)

    cdef double penalties(self, int32_t v, int32_t* size) noexcept:
        """Of the subtree; `size` gets its splits and change points."""
        cdef Node* node = &self.nodes[v]
        cdef int32_t left = 0, right = 0
        if node.function.feature < 0:
            if size != NULL:
                size[0] = 0
            return 0
        cdef double total = self.split_penalty + self.changepoint_penalty * (node.function.count - 1)
        total += self.penalties(node.left, &left) + self.penalties(node.right, &right)
        if size != NULL:
            size[0] = left + right + 1 + node.function.count
        return total

    cdef int change(self, int32_t v, Change what, const Function* function) except -1:
        """Change one node; the caller calls `place` after its last change."""
        cdef Node* node = &self.nodes[v]
        cdef int32_t kept
        if what == NEW_FUNCTION:
            if node.function.feature < 0:
                node.left = self.new_node(v)
                node.right = self.new_node(v)
            elif function.swapped:
                node.left, node.right = node.right, node.left
            node.function = function[0]
        elif what == TO_LEAF:
            self.discard(node.left)
            self.discard(node.right)
            node.function.feature, node.function.count = -1, 0
        else:
            kept = node.left if what == TO_LEFT else node.right
            self.discard(node.right if what == TO_LEFT else node.left)
            node.function = self.nodes[kept].function
            node.left, node.right = self.nodes[kept].left, self.nodes[kept].right
            self.release(kept)
        # Other rows reach what is below, and what is above has another subtree.
        if node.function.feature >= 0:
            self.disown(node.left, v)
            self.disown(node.right, v)
        while v >= 0:
            self.nodes[v].same = False
            self.nodes[v].stale = True
            v = self.nodes[v].parent
        return 0

    cdef void disown(self, int32_t v, int32_t parent) noexcept:
        cdef Node* node = &self.nodes[v]
        node.parent, node.origin, node.same, node.stale = parent, -1, False, True
        if node.function.feature >= 0:
            self.disown(node.left, v)
            self.disown(node.right, v)

    cdef int tidy(self) except -1:
        """Drop change points and nodes that part no rows; put change points at codes that the rows have."""
        cdef int32_t n_nodes = 0, deepest = 0, i, v, row, code, segment
        cdef Segments* seen
        cdef Function* function
        self.place_node(0, -1, &n_nodes, &deepest)
        cdef Segments* all_seen = <Segments*>malloc(n_nodes * sizeof(Segments))
        if all_seen == NULL:
            raise MemoryError()
        for v in range(n_nodes):
            all_seen[v].missing = False
            for i in range(MAX_CHANGEPOINTS + 1):
                all_seen[v].low[i] = -1
        with nogil:
            for row in range(self.n_rows):
                if not row & ROWS_BETWEEN_LOOKS and self.over():
                    self.broken = True
                    break
                v = 0
                while self.nodes[v].function.feature >= 0:
                    function = &self.nodes[v].function
                    seen = &all_seen[self.nodes[v].slot]
                    code = self.codes[function.feature, row]
                    if code < 0:
                        seen.missing = True
                    else:
                        segment = 0
                        for i in range(function.count):
                            segment += function.cuts[i] <= code
                        if seen.low[segment] < 0 or code < seen.low[segment]:
                            seen.low[segment] = code
                    v = self.nodes[v].right if goes_right(function, code) else self.nodes[v].left
        if not self.broken:
            self.tidy_node(0, all_seen)
        free(all_seen)
        self.place()
        for v in range(self.capacity):
            self.nodes[v].stale = True
        return 0

    cdef void tidy_node(self, int32_t v, const Segments* all_seen) noexcept:
        cdef Node* node = &self.nodes[v]
        cdef Function* function = &node.function
        cdef const Segments* seen = &all_seen[node.slot]
        cdef int32_t i, first = -1, side = -1, count = 0, kept
        if function.feature < 0:
            return
        for i in range(function.count + 1):
            if seen.low[i] < 0 or (i & 1) == side:
                continue
            if side < 0:
                first = i & 1
            else:
                function.cuts[count] = seen.low[i]
                count += 1
            side = i & 1
        if count == 0 and first >= 0 and seen.missing and function.missing_right != first:
            function.cuts[0] = self.cardinality[function.feature]
            count = 1
        if count == 0:  # every row goes to one side
            kept = node.right if (function.missing_right if first < 0 else first) else node.left
            self.discard(node.left if kept == node.right else node.right)
            node.left, node.right = self.nodes[kept].left, self.nodes[kept].right
            node.function, node.label = self.nodes[kept].function, self.nodes[kept].label
            node.slot = self.nodes[kept].slot
            self.release(kept)
            self.tidy_node(v, all_seen)
            return
        function.count = count
        if not seen.missing:
            function.missing_right = 0
        elif first == 1:
            function.missing_right ^= 1
        if first == 1:  # a function sends its first stretch left
            node.left, node.right = node.right, node.left
        self.tidy_node(node.left, all_seen)
        self.tidy_node(node.right, all_seen)

    cdef object dump(self, given):
        """The tree as an array; a node that the same rows reach keeps its bound, if unchanged its proof."""
        cdef int32_t v, i
        cdef Node* node
        live = [v for v in range(self.capacity) if self.nodes[v].parent != -2]
        out = np.zeros(len(live), dtype=NODE_DTYPE)
        for v in live:
            node = &self.nodes[v]
            entry = out[node.slot]
            entry["feature"] = entry["left"] = entry["right"] = -1
            if node.function.feature >= 0:
                entry["feature"], entry["n_changepoints"] = node.function.feature, node.function.count
                entry["missing_right"] = node.function.missing_right
                entry["left"], entry["right"] = self.nodes[node.left].slot, self.nodes[node.right].slot
                for i in range(node.function.count):
                    entry["changepoints"][i] = node.function.cuts[i]
            if node.origin >= 0:
                entry["lower_bound"] = given[node.origin]["lower_bound"]
                entry["proven"] = node.same and given[node.origin]["proven"]
        return out
