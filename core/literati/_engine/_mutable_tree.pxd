"""A tree over encoded rows whose nodes can be changed in place."""

from libc.stdint cimport int32_t

from literati._wishes cimport MAX_CHANGEPOINTS, Function

cdef enum:
    ROWS_BETWEEN_LOOKS = (1 << 16) - 1  # a mask: how many rows are visited before the next look at the stop flag

cdef enum Change:
    KEEP = 0
    TO_LEAF = 1
    TO_LEFT = 2
    TO_RIGHT = 3
    NEW_FUNCTION = 4

cdef struct Node:
    Function function     # feature -1: leaf
    int32_t left
    int32_t right
    int32_t parent        # -1: root, -2: entry not in use
    int32_t depth
    int32_t slot          # place in the preorder: where its class weights are summed
    int32_t label         # of a leaf
    int32_t job           # the caller's
    int32_t origin        # node of the loaded tree that the same rows reach, -1: none
    bint same             # the subtree is still the one of `origin`
    bint stale            # its rows or its subtree changed since the caller last looked at it

cdef struct Segments:                   # what a node's rows look like to its function
    int32_t low[MAX_CHANGEPOINTS + 1]   # lowest code in a stretch between change points, -1: no row
    bint missing                        # some row has no value

cdef inline bint goes_right(const Function* function, int32_t code) noexcept nogil:
    cdef int32_t i, passed = 0
    if code < 0:
        return function.missing_right
    for i in range(function.count):
        passed += function.cuts[i] <= code
    return passed & 1

cdef class MutableTree:
    cdef const int32_t[:, ::1] codes    # [feature][row], -1: missing
    cdef const int32_t[::1] y
    cdef const double[::1] weights
    cdef const double* weight           # NULL: every row weighs 1
    cdef int32_t[::1] cardinality
    cdef double[::1] counts             # [slot][class] weight
    cdef int32_t n_rows, n_features, n_classes, max_depth
    cdef double split_penalty, changepoint_penalty
    cdef Node* nodes
    cdef int32_t capacity               # entries of `nodes`; entry 0 is the root
    cdef int32_t unused                 # no entry below this one is free
    cdef volatile int32_t stop          # set from outside: leave as soon as possible
    cdef double until                   # seconds of the monotonic clock; 0: no limit
    cdef bint broken                    # a pass over the rows was left early: what it sums up is not to be used

    cdef int load(self, nodes) except -1
    cdef object dump(self, given)
    cdef int32_t place(self) except -1
    cdef double relabel(self) except -1
    cdef double penalties(self, int32_t v, int32_t* size) noexcept
    cdef int change(self, int32_t v, Change what, const Function* function) except -1
    cdef int tidy(self) except -1
    cdef bint over(self) noexcept nogil
    # Parts of the above.
    cdef int32_t load_node(self, nodes, int index, int32_t parent) except -1
    cdef int32_t new_node(self, int32_t parent) except -1
    cdef void discard(self, int32_t v) noexcept
    cdef void release(self, int32_t v) noexcept
    cdef void place_node(self, int32_t v, int32_t parent, int32_t* slot, int32_t* deepest) noexcept
    cdef void disown(self, int32_t v, int32_t parent) noexcept
    cdef void tidy_node(self, int32_t v, const Segments* all_seen) noexcept

    cdef inline int32_t descend(self, int32_t v, int32_t row, int32_t depth) noexcept nogil:
        """The node at this depth on the row's way down from v, or the leaf above it."""
        cdef Node* node = &self.nodes[v]
        cdef int32_t code
        while node.function.feature >= 0 and node.depth < depth:
            code = self.codes[node.function.feature, row]
            v = node.right if goes_right(&node.function, code) else node.left
            node = &self.nodes[v]
        return v
