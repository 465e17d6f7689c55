"""CART on narrow entries: the same splits as in _cart.pyx, with less memory to read.

A narrow entry has 16 bits instead of 32: the number of a row within its state, and a flag that a cut may lie before it.
The kernels (_narrow_kernels.h) need AVX-512; they score by Gini and know neither weights nor missing values, so
_cart.pyx does what they cannot. Scores that may be the best are computed as there, so the splits are the same, ties
included.
"""

from libc.string cimport memset

from literati._engine._cart_tree cimport CartNode, Split, add_node, bound_gain, purity
from literati._engine._memory cimport arena_malloc
from literati._engine._rows cimport cut_between
from literati._engine._types cimport (
    GINI, NARROW_CLASSES, NARROW_ROWS, ROW_MASK, feature_order, int64_t, narrow_class, uint16_t, uint32_t,
)

cdef enum:
    NUMBER_MASK = 0x7fff    # the number of a narrow entry; the other bit is the flag
    TABLE_WORDS = 64        # right_bits is read in whole tables of so many words


cdef bint narrow_data(const Dataset* data) noexcept nogil:
    """Return whether any state of the data can be fitted with narrow entries."""
    return (
        data.lanes != NULL and data.lanes.narrow_gini != NULL and data.n_classes <= NARROW_CLASSES
        and data.criterion == GINI and not data.weighted and data.min_rows <= 1
    )


cdef void narrow_init(const Dataset* data, Control* control, Arena* arena, Cart* cart) noexcept nogil:
    cdef int64_t n = min(data.n_rows, <int32_t>NARROW_ROWS)
    cdef int64_t tables = n // (16 * TABLE_WORDS) + 1
    # The few classes of narrow data, whatever the instruction set: the memory of a search is the same everywhere.
    cart.number = <uint16_t*>arena_malloc(control, arena, data.n_rows * sizeof(uint16_t))
    cart.row_of = <uint32_t*>arena_malloc(control, arena, n * sizeof(uint32_t))
    cart.right_bits = <uint16_t*>arena_malloc(control, arena, tables * TABLE_WORDS * sizeof(uint16_t))
    cart.before = <int32_t*>arena_malloc(control, arena, cart.capacity * NARROW_CLASSES * sizeof(int32_t))


cdef inline uint16_t* narrow_entries(
    const Dataset* data, Cart* cart, const Rows* rows, const CartNode* node, int32_t feature
) noexcept nogil:
    """Return the entries of a node: the state's own are in the first buffer, those of deeper nodes in the second."""
    cdef int64_t half = 0 if node.buffer < 1 else data.n_features * <int64_t>rows.n
    return <uint16_t*>cart.buffer[0 if node.buffer < 0 else 1] + half + feature * <int64_t>rows.n + node.start


cdef void narrow_start(const Dataset* data, Cart* cart, const Rows* rows) noexcept nogil:
    cdef int32_t next_number[NARROW_CLASSES]
    cdef int32_t c, i, j, number
    cdef uint32_t row, flag
    cdef const uint32_t* entries = rows.order + 1
    cdef uint16_t* out
    cart.narrow = rows.n <= NARROW_ROWS and narrow_data(data)
    if not cart.narrow:
        return
    for j in range(data.n_features):
        if rows.known[j] < rows.n:
            cart.narrow = False
            return
    cart.class_first[0] = 0
    for c in range(data.n_classes):
        next_number[c] = cart.class_first[c]
        cart.class_first[c + 1] = cart.class_first[c] + <int32_t>cart.counts[c]
    for i in range(rows.n):
        row = entries[i] & ROW_MASK
        c = data.label[row]
        number = next_number[c]
        next_number[c] = number + 1
        cart.number[row] = <uint16_t>number
        cart.row_of[number] = row
    for j in range(data.n_features):
        entries = feature_order(rows, j)
        out = <uint16_t*>cart.buffer[0] + j * <int64_t>rows.n
        flag = 0
        for i in range(rows.n):
            row = entries[i] & ROW_MASK
            out[i] = <uint16_t>(cart.number[row] | flag)
            flag = (entries[i] ^ row) >> 16  # a cut behind a row lies before the next one


cdef void narrow_place_children(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t index
) noexcept nogil:
    cdef CartNode* node = &cart.nodes[index]
    cdef CartNode* left = &cart.nodes[node.left]
    cdef CartNode* right = &cart.nodes[node.right]
    cdef const uint16_t* entries = narrow_entries(data, cart, rows, node, node.split.feature)
    cdef uint16_t* bits = cart.right_bits
    cdef int64_t words = (rows.n // (16 * TABLE_WORDS) + 1) * TABLE_WORDS
    cdef bint few_left = left.n < right.n
    cdef int32_t i, j, number
    # The bits of the smaller side are changed from what the others have.
    memset(bits, 0xff if few_left else 0, words * sizeof(uint16_t))
    for i in range(0 if few_left else left.n, left.n if few_left else node.n):
        number = entries[i] & NUMBER_MASK
        bits[number >> 4] ^= <uint16_t>(1 << (number & 15))
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += node.n
        data.lanes.narrow_partition(
            narrow_entries(data, cart, rows, node, j), node.n, bits, rows.n,
            narrow_entries(data, cart, rows, left, j), narrow_entries(data, cart, rows, right, j),
        )
    left.placed = right.placed = True


cdef void narrow_score_node(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t index
) noexcept nogil:
    cdef CartNode* node = &cart.nodes[index]
    cdef const double* counts = cart.counts + <int64_t>index * data.n_classes
    cdef int32_t* node_before = cart.before + <int64_t>index * NARROW_CLASSES
    cdef narrow_class classes[NARROW_CLASSES]
    cdef int32_t label[NARROW_CLASSES]
    cdef int32_t before[NARROW_CLASSES]
    cdef int32_t c, j, n = 0, at = -1
    cdef double base = purity(data, counts), score
    for c in range(data.n_classes):
        if counts[c] > 0.0:
            label[n] = c
            classes[n].first = cart.class_first[c]
            classes[n].length = cart.class_first[c + 1] - cart.class_first[c]
            classes[n].total = <int32_t>counts[c]
            n += 1
    node.split.score = -1e299
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += node.n
        score = data.lanes.narrow_gini(
            narrow_entries(data, cart, rows, node, j), node.n, classes, 1 if n == 2 else n, base, node.split.score, &at,
            before,
        )
        if at > 0:
            node.split = Split(score, j, at, 1)
            if n == 2:
                before[1] = at - before[0]
            for c in range(n):
                node_before[label[c]] = before[c]
    node.scored = True
    node.gain = node.split.score - base if node.split.feature >= 0 else -1e300


cdef void narrow_split_node(const Dataset* data, Cart* cart, const Rows* rows, int32_t index) noexcept nogil:
    cdef CartNode* node = &cart.nodes[index]
    cdef const double* counts = cart.counts + <int64_t>index * data.n_classes
    cdef const int32_t* before = cart.before + <int64_t>index * NARROW_CLASSES
    cdef int32_t j = node.split.feature, at = node.split.at, c
    cdef const uint16_t* entries = narrow_entries(data, cart, rows, node, j)
    cdef const int32_t* codes = data.codes + j * <int64_t>data.n_rows
    cdef double* below
    cdef double* above
    node.cut = cut_between(
        data, j, codes[cart.row_of[entries[at - 1] & NUMBER_MASK]], codes[cart.row_of[entries[at] & NUMBER_MASK]]
    )
    node.left = add_node(cart, node.start, at, index, node.depth_left - 1)
    node.right = add_node(cart, node.start + at, node.n - at, index, node.depth_left - 1)
    below = cart.counts + <int64_t>node.left * data.n_classes
    above = cart.counts + <int64_t>node.right * data.n_classes
    for c in range(data.n_classes):
        below[c] = before[c] if counts[c] > 0.0 else 0.0
        above[c] = counts[c] - below[c]
    bound_gain(data, cart, node.left)
    bound_gain(data, cart, node.right)
