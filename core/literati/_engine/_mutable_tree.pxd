"""A tree over the engine's rows whose nodes can be changed in place."""

from literati._engine._types cimport Dataset, Rows, Shape, cost_t, int32_t, int64_t

cdef enum:
    STOP_CHECK_MASK = (1 << 16) - 1  # rows visited between two checks of the stop flag, less one

cdef enum Change:
    KEEP
    TO_LEAF
    TO_LEFT_CHILD
    TO_RIGHT_CHILD
    NEW_SHAPE

cdef struct MutableNode:
    Shape shape           # feature -1: a leaf; `at` is not used
    int32_t left
    int32_t right
    int32_t parent        # -1: root, -2: entry not in use
    int32_t depth
    int32_t index         # in preorder
    int32_t label         # of a leaf
    int32_t fit           # of the caller: where it examines the node, -1: nowhere
    int32_t origin        # node of the loaded tree that the same rows reach, -1: none
    bint unchanged        # the subtree is still the one of `origin`
    bint stale            # its rows or its subtree changed since the caller last examined it

cdef class MutableTree:
    cdef const Dataset* data                     # borrowed from `owner`, as are the rows
    cdef const Rows* rows
    cdef object owner
    cdef int64_t[::1] counts            # [node in preorder][class] weight
    cdef MutableNode* nodes
    cdef int32_t capacity               # entries of `nodes`; entry 0 is the root
    cdef int32_t first_unused           # no entry below this one is free
    cdef volatile int32_t stop          # set from outside: return as soon as possible
    cdef double deadline                # seconds of the monotonic clock, 0: none
    cdef bint interrupted               # a pass over the rows was left early: its sums must not be used

    cdef bint should_stop(self) noexcept nogil
    cdef int load(self, nodes) except -1
    cdef object dump(self, given)
    cdef int32_t number_nodes(self) except -1
    cdef void label_leaves(self) noexcept nogil
    cdef cost_t penalties(self, int32_t v) noexcept
    cdef int32_t size(self, int32_t v) noexcept
    cdef int change(self, int32_t v, Change change, const Shape* shape, bint swapped) except -1
    cdef int simplify(self) except -1
    # Parts of the methods above.
    cdef int32_t load_node(self, nodes, int32_t index, int32_t parent) except -1
    cdef int32_t new_node(self, int32_t parent) except -1
    cdef void free_subtree(self, int32_t v) noexcept
    cdef void free_node(self, int32_t v) noexcept
    cdef void number_subtree(self, int32_t v, int32_t parent, int32_t* n_nodes, int32_t* depth) noexcept
    cdef void replace_by_child(self, int32_t v, bint right) noexcept
    cdef void reset_origin(self, int32_t v, int32_t parent) noexcept
    cdef void simplify_node(self, int32_t v, const void* seen) noexcept

    cdef inline bint goes_right(self, const Shape* shape, int32_t row) noexcept nogil:
        cdef int32_t code = self.data.codes[shape.feature * <int64_t>self.data.n_rows + row]
        cdef int32_t i, passed = 0
        if code == self.data.cardinality[shape.feature]:
            return shape.missing_right
        for i in range(shape.n_cuts):
            passed += shape.cut[i] <= code
        return passed & 1

    cdef inline int32_t descend(self, int32_t v, int32_t row, int32_t depth) noexcept nogil:
        """Return the node at this depth on the row's path down from v, or the leaf above it."""
        cdef MutableNode* node = &self.nodes[v]
        while node.shape.feature >= 0 and node.depth < depth:
            v = node.right if self.goes_right(&node.shape, row) else node.left
            node = &self.nodes[v]
        return v
