"""Best-first CART on presorted rows: candidate cuts and lookahead trees.

The same splits, with the same ties, serve as candidates and as lookahead, so a lookahead tree lies inside the adaptive
space and its cost is a true upper bound. Ties go to the lowest feature, then the lowest position.
"""

from libc.string cimport memcpy, memset

from literati._engine._cart_tree cimport add_node, bound_gain, purity
from literati._engine._memory cimport arena_malloc
from literati._engine._narrow_cart cimport (
    narrow_init, narrow_place_children, narrow_score_node, narrow_split_node, narrow_start,
)
from literati._engine._rows cimport count_classes, cut_at, partition_entries, position_of_cut
from literati._engine._scan cimport BestCut, Scan, scan_entropy, scan_missing
from literati._engine._types cimport (
    ENTROPY, LEGAL_CUT, MAX_CLASSES, NARROW_PAD, ROW_MASK, SHAPE, feature_order, int64_t, uint32_t, uint8_t,
)

cdef double ALMOST = 1.0 - 1e-14  # rounding of a product: one this close to the best is divided exactly


cdef void cart_init(const Dataset* data, Control* control, Arena* arena, Cart* cart, int32_t capacity) noexcept nogil:
    cdef int64_t n = data.n_rows, m = data.n_features, c = data.n_classes
    memset(cart, 0, sizeof(Cart))
    cart.capacity = capacity
    cart.nodes = <CartNode*>arena_malloc(control, arena, capacity * sizeof(CartNode))
    cart.counts = <double*>arena_malloc(control, arena, capacity * c * sizeof(double))
    cart.known = <int32_t*>arena_malloc(control, arena, capacity * m * sizeof(int32_t))
    cart.buffer[0] = <uint32_t*>arena_malloc(control, arena, m * (n + 1) * sizeof(uint32_t) + NARROW_PAD)
    cart.buffer[1] = <uint32_t*>arena_malloc(control, arena, m * (n + 1) * sizeof(uint32_t) + NARROW_PAD)
    cart.scratch = <double*>arena_malloc(control, arena, (2 * n + c + 16) * sizeof(double))
    cart.side = <uint8_t*>arena_malloc(control, arena, n)
    if data.min_rows > 1:
        cart.allowed = <uint32_t*>arena_malloc(control, arena, (n + 4) * sizeof(uint32_t))
    cart.below = <double*>arena_malloc(control, arena, 4 * c * sizeof(double))
    cart.above = cart.below + c
    cart.missing = cart.above + c
    cart.with_missing = cart.missing + c
    narrow_init(data, control, arena, cart)


# --- scores -----------------------------------------------------------------------------------------------------------


cdef inline bint offer_split(
    Split* best, double score, int32_t feature, int32_t at, int32_t missing_right
) noexcept nogil:
    if score > best.score:
        best[0] = Split(score, feature, at, missing_right)
        return True
    return False


cdef void scan_weighted(
    const Dataset* data, Cart* cart, const uint32_t* entries, int32_t n, const double* counts, int32_t feature,
    Split* best
) noexcept nogil:
    """Score all cuts by Gini, with weights, where every row has a value."""
    cdef int32_t i, c
    cdef uint32_t row
    cdef double na = 0.0, nb = 0.0, sa = 0.0, sb = 0.0, w, top, bottom, min_score = best.score * ALMOST
    cdef double* a = cart.below
    cdef double* b = cart.above
    for c in range(data.n_classes):
        a[c] = 0.0
        b[c] = counts[c]
        nb += counts[c]
        sb += counts[c] * counts[c]
    for i in range(n - 1):
        row = entries[i] & ROW_MASK
        c = data.label[row]
        w = data.real_weight[row]
        sa += w * (2.0 * a[c] + w)
        sb -= w * (2.0 * b[c] - w)
        a[c] += w
        b[c] -= w
        na += w
        nb -= w
        if entries[i] & LEGAL_CUT:
            top = sa * nb + sb * na
            bottom = na * nb
            if top > min_score * bottom:
                if offer_split(best, top / bottom, feature, i + 1, 1):
                    min_score = best.score * ALMOST


cdef const uint32_t* allowed_cuts(
    const Dataset* data, Cart* cart, const uint32_t* entries, int32_t known
) noexcept nogil:
    """Copy entries, but flag only the cuts that leave min_rows rows with a value on both sides."""
    cdef int64_t i
    memcpy(cart.allowed, entries, known * sizeof(uint32_t))
    for i in range(min(data.min_rows - 1, known)):
        cart.allowed[i] &= ROW_MASK
    for i in range(max(known - data.min_rows, 0), known):
        cart.allowed[i] &= ROW_MASK
    return cart.allowed


cdef void scan(
    const Dataset* data, Control* control, Cart* cart, const uint32_t* entries, int32_t known, int32_t n_missing,
    const uint32_t* missing_entries, const double* counts, int32_t feature, Split* best
) noexcept nogil:
    cdef int32_t at
    cdef double score
    cdef BestCut found = BestCut(best.score, 0, 0)
    cdef Scan cuts
    if data.min_rows > 1:
        if known < data.min_rows or known + n_missing < 2 * data.min_rows:
            return
        entries = allowed_cuts(data, cart, entries, known)
    if n_missing > 0 or data.criterion == ENTROPY:
        cuts = Scan(
            entries, known, missing_entries, n_missing, data.min_rows, counts, cart.below, cart.above, cart.missing,
            cart.with_missing, cart.scratch,
        )
        if data.criterion == ENTROPY:
            scan_entropy(data, control, &cuts, &found)
        else:
            scan_missing(data, control, &cuts, &found)
        if found.at > 0:
            offer_split(best, found.score, feature, found.at, found.missing_right)
    elif data.weighted:
        scan_weighted(data, cart, entries, known, counts, feature, best)
    elif known > 1:
        if data.n_classes == 2:
            score = data.lanes.gini_two(entries, known, data.label, counts, cart.scratch, best.score, &at)
        else:
            score = data.lanes.gini_many(
                entries, known, data.label, counts, data.n_classes, cart.scratch, best.score, &at
            )
        if at > 0:
            offer_split(best, score, feature, at, 1)


# --- the growing tree -------------------------------------------------------------------------------------------------


cdef inline uint32_t* node_entries(Cart* cart, const Rows* rows, const CartNode* node, int32_t feature) noexcept nogil:
    cdef uint32_t* order = rows.order if node.buffer < 0 else cart.buffer[node.buffer]
    return order + feature * (<int64_t>rows.n + 1) + 1 + node.start


cdef inline void add_weights(const Dataset* data, const uint32_t* entries, int32_t n, double* counts) noexcept nogil:
    """Add the class weights of n entries."""
    cdef int32_t i
    cdef uint32_t row
    for i in range(n):
        row = entries[i] & ROW_MASK
        counts[data.label[row]] += data.real_weight[row]


cdef void start_root(const Dataset* data, Cart* cart, const Rows* rows, int32_t depth) noexcept nogil:
    """Start a tree whose nodes are not told how many rows have a value in each feature."""
    cdef int64_t counts[MAX_CLASSES]
    cdef int32_t c
    cart.n_nodes = 0
    add_node(cart, 0, rows.n, -1, depth)
    count_classes(data, rows, counts)
    for c in range(data.n_classes):
        cart.counts[c] = <double>counts[c]
    bound_gain(data, cart, 0)


cdef void start_tree(const Dataset* data, Cart* cart, const Rows* rows, int32_t depth) noexcept nogil:
    start_root(data, cart, rows, depth)
    memcpy(cart.known, rows.known, data.n_features * sizeof(int32_t))


cdef void place_children(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t index
) noexcept nogil:
    """Partition the rows of a split node in every feature's order."""
    cdef CartNode* node = &cart.nodes[index]
    cdef CartNode* left = &cart.nodes[node.left]
    cdef CartNode* right = &cart.nodes[node.right]
    cdef int32_t j, i, known, side_of_missing = node.split.missing_right
    cdef const int32_t* node_known = cart.known + <int64_t>index * data.n_features
    cdef int32_t* left_known = cart.known + <int64_t>node.left * data.n_features
    cdef int32_t* right_known = cart.known + <int64_t>node.right * data.n_features
    cdef const uint32_t* entries = node_entries(cart, rows, node, node.split.feature)
    cdef uint32_t* to_left
    cdef uint32_t* to_right
    known = node_known[node.split.feature]
    for i in range(node.split.at):
        cart.side[entries[i] & ROW_MASK] = 0
    for i in range(node.split.at, known):
        cart.side[entries[i] & ROW_MASK] = 1
    for i in range(known, node.n):
        cart.side[entries[i] & ROW_MASK] = side_of_missing
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += node.n
        entries = node_entries(cart, rows, node, j)
        known = node_known[j]
        to_left = node_entries(cart, rows, left, j)
        to_right = node_entries(cart, rows, right, j)
        right_known[j] = partition_entries(entries, known, cart.side, to_left, to_right)
        left_known[j] = known - right_known[j]
        if known < node.n:
            partition_entries(
                entries + known, node.n - known, cart.side, to_left + left_known[j], to_right + right_known[j]
            )
    left.placed = right.placed = True


cdef void score_node(const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t index) noexcept nogil:
    """Find the best split of a node and with it the exact gain."""
    cdef CartNode* node = &cart.nodes[index]
    cdef const double* counts = cart.counts + <int64_t>index * data.n_classes
    cdef const int32_t* known
    cdef const uint32_t* entries
    cdef int32_t j
    if cart.narrow:
        if not node.placed:
            narrow_place_children(data, control, cart, rows, node.parent)
        narrow_score_node(data, control, cart, rows, index)
        return
    if node.n < 2 * data.min_rows:
        node.scored = True
        node.gain = -1e300
        return
    if not node.placed:
        place_children(data, control, cart, rows, node.parent)
    known = cart.known + <int64_t>index * data.n_features
    node.split.score = -1e299
    for j in range(data.n_features):
        if control.stop:
            return
        control.work += node.n
        entries = node_entries(cart, rows, node, j)
        scan(data, control, cart, entries, known[j], node.n - known[j], entries + known[j], counts, j, &node.split)
    node.scored = True
    node.gain = node.split.score - purity(data, counts) if node.split.feature >= 0 else -1e300


cdef void add_children(
    const Dataset* data, Cart* cart, int32_t index, int32_t n_left, const uint32_t* entries, int32_t known,
    const uint32_t* missing_entries, int32_t n_missing
) noexcept nogil:
    """Add the two children of a node, with their class weights, given its rows in the order of the split's feature."""
    cdef CartNode* node = &cart.nodes[index]
    cdef const double* counts = cart.counts + <int64_t>index * data.n_classes
    cdef double* below
    cdef double* above
    cdef int32_t c
    node.cut = cut_at(data, node.split.feature, entries, known, node.split.at)
    node.left = add_node(cart, node.start, n_left, index, node.depth_left - 1)
    node.right = add_node(cart, node.start + n_left, node.n - n_left, index, node.depth_left - 1)
    below = cart.counts + <int64_t>node.left * data.n_classes
    above = cart.counts + <int64_t>node.right * data.n_classes
    memset(below, 0, data.n_classes * sizeof(double))
    add_weights(data, entries, node.split.at, below)
    if not node.split.missing_right:
        add_weights(data, missing_entries, n_missing, below)
    for c in range(data.n_classes):
        above[c] = counts[c] - below[c]
    bound_gain(data, cart, node.left)
    bound_gain(data, cart, node.right)


cdef void split_node(const Dataset* data, Cart* cart, const Rows* rows, int32_t index) noexcept nogil:
    cdef const CartNode* node = &cart.nodes[index]
    cdef int32_t known, n_missing, n_left
    cdef const uint32_t* entries
    if cart.narrow:
        narrow_split_node(data, cart, rows, index)
        return
    known = cart.known[<int64_t>index * data.n_features + node.split.feature]
    n_missing = node.n - known
    n_left = node.split.at + (0 if node.split.missing_right else n_missing)
    entries = node_entries(cart, rows, node, node.split.feature)
    add_children(data, cart, index, n_left, entries, known, entries + known, n_missing)


cdef int32_t best_leaf(const Dataset* data, Control* control, Cart* cart, const Rows* rows) noexcept nogil:
    """Return the leaf of largest gain, the earliest among equals; -1 when none can be split.

    A leaf is scored only when its upper bound reaches the best exact gain; most small ones never are.
    """
    cdef int32_t i, best
    cdef CartNode* node
    while True:
        best = -1
        for i in range(cart.n_nodes):
            node = &cart.nodes[i]
            if node.left >= 0 or (node.scored and node.split.feature < 0):
                continue
            if best < 0 or node.gain > cart.nodes[best].gain or (
                node.gain == cart.nodes[best].gain and cart.nodes[best].scored and not node.scored
            ):
                best = i
        if best < 0 or cart.nodes[best].scored:
            return best
        score_node(data, control, cart, rows, best)
        if control.stop:
            return -1


# --- candidates -------------------------------------------------------------------------------------------------------


cdef int32_t max_candidate_cuts(const Dataset* data) noexcept nogil:
    cdef int32_t i, n = 2
    for i in range(data.n_candidate_leaves):
        n = max(n, min(data.candidate_leaves[i], data.n_rows))  # no leaf is empty
    if data.mode == SHAPE:
        n += data.n_features * (data.max_k + 1)
    return n


cdef int32_t add_cut(
    const Dataset* data, const Rows* rows, Cut* cuts, int32_t n, int32_t feature, int32_t cut
) noexcept nogil:
    """Insert a cut by feature and position, unless another one separates the rows in the same way."""
    cdef int32_t at = position_of_cut(data, rows, feature, cut), i = n, j
    cdef int32_t known = rows.known[feature]
    if at == 0 or (at == known and known == rows.n):
        return n
    while i > 0 and (cuts[i - 1].feature > feature or (cuts[i - 1].feature == feature and cuts[i - 1].at >= at)):
        i -= 1
    if i < n and cuts[i].feature == feature and cuts[i].at == at:
        return n
    for j in range(n, i, -1):
        cuts[j] = cuts[j - 1]
    cuts[i] = Cut(feature, cut, at)
    return n + 1


cdef int32_t cart_cuts(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t leaves, Cut* cuts
) noexcept nogil:
    cdef int32_t n = 0, grown = 1, best, j
    start_tree(data, cart, rows, 0)
    narrow_start(data, cart, rows)
    while grown < leaves:
        best = best_leaf(data, control, cart, rows)
        if best < 0:
            break
        split_node(data, cart, rows, best)
        n = add_cut(data, rows, cuts, n, cart.nodes[best].split.feature, cart.nodes[best].cut)
        grown += 1
    if data.mode == SHAPE:
        for j in range(data.n_features):
            if control.stop:
                return n
            n = feature_cuts(data, control, cart, rows, j, cuts, n)
    return n


cdef int32_t feature_cuts(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t feature, Cut* cuts, int32_t n
) noexcept nogil:
    """Add the cuts of a CART with K + 1 leaves on one feature alone, whose nodes are ranges of the feature's order.

    Here node.n counts the rows with a value; those without one belong to the node with `has_missing`.
    """
    cdef int32_t grown = 1, i, best, leaves = data.max_k + 1
    cdef CartNode* node
    start_root(data, cart, rows, 0)
    cart.nodes[0].has_missing = rows.known[feature] < rows.n
    cart.nodes[0].n = rows.known[feature]
    while grown < leaves:
        best = -1
        for i in range(cart.n_nodes):
            node = &cart.nodes[i]
            if node.left >= 0:
                continue
            if not node.scored:
                score_range(data, control, cart, rows, feature, i)
            if node.split.feature >= 0 and (best < 0 or node.gain > cart.nodes[best].gain):
                best = i
        if best < 0:
            break
        split_range(data, cart, rows, feature, best)
        n = add_cut(data, rows, cuts, n, feature, cart.nodes[best].cut)
        grown += 1
    return n


cdef void score_range(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t feature, int32_t index
) noexcept nogil:
    """Find the best split of a range and its gain."""
    cdef CartNode* node = &cart.nodes[index]
    cdef const double* counts = cart.counts + <int64_t>index * data.n_classes
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef int32_t known = rows.known[feature]
    node.scored = True
    node.split.score = -1e299
    scan(
        data, control, cart, entries + node.start, node.n, rows.n - known if node.has_missing else 0, entries + known,
        counts, feature, &node.split,
    )
    node.gain = node.split.score - purity(data, counts) if node.split.feature >= 0 else -1e300


cdef void split_range(const Dataset* data, Cart* cart, const Rows* rows, int32_t feature, int32_t index) noexcept nogil:
    cdef const CartNode* node = &cart.nodes[index]
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef int32_t known = rows.known[feature], n_missing = rows.n - known if node.has_missing else 0
    add_children(data, cart, index, node.split.at, entries + node.start, node.n, entries + known, n_missing)
    cart.nodes[node.left].has_missing = node.has_missing and not node.split.missing_right
    cart.nodes[node.right].has_missing = node.has_missing and node.split.missing_right


# --- lookahead --------------------------------------------------------------------------------------------------------


cdef cost_t leaf_cost(const Dataset* data, const double* counts) noexcept nogil:
    cdef double total = 0.0, heaviest = 0.0
    cdef int32_t c
    for c in range(data.n_classes):
        total += counts[c]
        heaviest = max(heaviest, counts[c])
    return <cost_t>(total - heaviest) * data.weight_cost


cdef cost_t cart_lookahead(
    const Dataset* data, Control* control, Cart* cart, const Rows* rows, int32_t depth
) noexcept nogil:
    cdef int32_t i = 0
    cdef CartNode* node
    cdef cost_t split
    start_tree(data, cart, rows, depth)
    narrow_start(data, cart, rows)
    # Breadth first: children always come after their parent.
    while i < cart.n_nodes:
        node = &cart.nodes[i]
        if node.depth_left > 0 and not node.scored:
            score_node(data, control, cart, rows, i)
            if control.stop:
                return 0
            if node.split.feature >= 0 and cart.n_nodes + 2 <= cart.capacity:
                split_node(data, cart, rows, i)
        i += 1
    for i in range(cart.n_nodes - 1, -1, -1):
        node = &cart.nodes[i]
        node.cost = leaf_cost(data, cart.counts + <int64_t>i * data.n_classes)
        if node.left >= 0:
            split = data.split_cost + cart.nodes[node.left].cost + cart.nodes[node.right].cost
            if split < node.cost:
                node.cost = split
            else:
                node.left = node.right = -1
    return cart.nodes[0].cost
