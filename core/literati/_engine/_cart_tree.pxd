"""The growing tree of a CART, which _cart.pyx and _narrow_cart.pyx share."""

from libc.string cimport memset

from literati._engine._scan cimport entropy_purity
from literati._engine._types cimport (
    ENTROPY, NARROW_CLASSES, Dataset, cost_t, int32_t, int64_t, uint16_t, uint32_t, uint8_t,
)

cdef struct Split:
    double score         # by the criterion; larger is better
    int32_t feature      # -1: none
    int32_t at           # rows with a value that go left
    int32_t missing_right  # side of the rows without a value

cdef struct CartNode:
    int32_t start        # position of its first row, the same in every feature's order
    int32_t n            # rows
    int32_t parent       # -1: the root
    int32_t left         # -1: a leaf
    int32_t right
    int32_t depth_left
    int32_t buffer       # which of the two buffers has its rows; -1: they are those of the state itself
    bint placed          # its rows have been written to the buffer
    bint scored          # `split` and the exact gain are known; else `gain` is an upper bound
    bint has_missing     # in a CART on one feature: the rows without a value belong to it
    double gain          # by which the best split improves the score
    Split split
    int32_t cut          # code position of the split
    cost_t cost          # of the tree below, after splits that do not pay were removed

# Buffers for one CART at a time, from an arena. Their sizes follow the dataset; nothing is allocated while fitting.
cdef struct Cart:
    int32_t capacity     # nodes
    int32_t n_nodes
    CartNode* nodes
    double* counts       # [node][class] weight
    int32_t* known       # [node][feature] rows with a value
    uint32_t* buffer[2]  # rows, partitioned from one buffer to the other as the tree grows: laid out as Rows.order
    double* scratch      # of the Gini scan
    uint32_t* allowed    # [row] the order of one feature without the cuts that min_rows forbids; NULL: it forbids none
    uint8_t* side        # [row] 0: left, 1: right
    double* below        # [class] weights on the left of the current cut
    double* above        # [class] weights on the right of the current cut
    double* missing      # [class] weights of the rows without a value
    double* with_missing  # [class] sum of below and missing
    # Where the fit works on narrow entries: see _narrow_cart.pyx.
    bint narrow          # this fit does
    uint16_t* number     # [row] its number within the state
    uint32_t* row_of     # [number] the row
    uint16_t* right_bits  # [number / 16] bits of the rows that go right
    int32_t class_first[NARROW_CLASSES + 1]  # [class] number of its first row in the state
    int32_t* before      # [node][class] rows on the left of the node's split


cdef inline double purity(const Dataset* data, const double* counts) noexcept nogil:
    """Return what a node contributes to the score of the split that makes it."""
    cdef double n = 0.0, total = 0.0
    cdef int32_t c
    if data.criterion == ENTROPY:
        return entropy_purity(data, counts)
    for c in range(data.n_classes):
        n += counts[c]
        total += counts[c] * counts[c]
    return total / n


cdef inline double best_purity(const Dataset* data, const double* counts) noexcept nogil:
    """Return the score that no split of the node exceeds: that of pure children."""
    cdef double n = 0.0
    cdef int32_t c
    if data.criterion == ENTROPY:
        return 0.0
    for c in range(data.n_classes):
        n += counts[c]
    return n


cdef inline int32_t add_node(Cart* cart, int32_t start, int32_t n, int32_t parent, int32_t depth) noexcept nogil:
    cdef int32_t index = cart.n_nodes
    cdef CartNode* node = &cart.nodes[index]
    memset(node, 0, sizeof(CartNode))
    node.start = start
    node.n = n
    node.parent = parent
    node.left = node.right = -1
    node.depth_left = depth
    node.placed = parent < 0
    node.buffer = -1 if parent < 0 else (0 if cart.nodes[parent].buffer != 0 else 1)
    node.split.feature = -1
    cart.n_nodes += 1
    return index


cdef inline void bound_gain(const Dataset* data, Cart* cart, int32_t index) noexcept nogil:
    """Set an upper bound of the gain from the class weights; a pure node is never split.

    Proof: no split scores higher than one with pure children.
    """
    cdef CartNode* node = &cart.nodes[index]
    cdef double* counts = cart.counts + <int64_t>index * data.n_classes
    cdef int32_t c, classes = 0
    for c in range(data.n_classes):
        classes += counts[c] > 0.0
    node.scored = classes < 2
    node.gain = best_purity(data, counts) - purity(data, counts) if classes > 1 else -1.0
