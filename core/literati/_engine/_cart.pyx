"""Best-first CART on presorted rows: candidate cuts and lookahead trees.

The same splits, with the same ties, serve as candidates and as lookahead, so a lookahead tree lies inside the adaptive
space and its cost is a true upper bound. Ties go to the lowest feature, then the lowest position.
"""

from libc.math cimport log2
from libc.string cimport memcpy, memset

from literati._rows cimport cut_between, drop, grab, part_entries, position_of_cut
from literati._types cimport (
    ENTROPY, ROW_MASK, SHAPE, LEGAL_CUT, Problem, Rows, cost_t, feature_order, int32_t, int64_t, uint8_t, uint32_t,
)

cdef double ALMOST = 1.0 - 1e-14  # a product this close to the best is worth an exact division


cdef bint cart_init(Problem* p, Cart* cart, int32_t capacity) noexcept nogil:
    cdef int64_t n = p.n_rows, m = p.n_features, c = p.n_classes
    memset(cart, 0, sizeof(Cart))
    cart.capacity = capacity
    cart.nodes = <CartNode*>grab(p, capacity * sizeof(CartNode))
    cart.counts = <double*>grab(p, capacity * c * sizeof(double))
    cart.known = <int32_t*>grab(p, capacity * m * sizeof(int32_t))
    cart.buffer[0] = <uint32_t*>grab(p, m * (n + 1) * sizeof(uint32_t))
    cart.buffer[1] = <uint32_t*>grab(p, m * (n + 1) * sizeof(uint32_t))
    cart.scratch = <double*>grab(p, (2 * n + c + 16) * sizeof(double))
    cart.side = <uint8_t*>grab(p, n)
    cart.below = <double*>grab(p, 4 * c * sizeof(double))
    if (
        cart.nodes == NULL or cart.counts == NULL or cart.known == NULL or cart.buffer[0] == NULL
        or cart.buffer[1] == NULL or cart.scratch == NULL or cart.side == NULL or cart.below == NULL
    ):
        return False
    cart.above = cart.below + c
    cart.missing = cart.above + c
    cart.with_missing = cart.missing + c
    return True


cdef void cart_free(Problem* p, Cart* cart) noexcept nogil:
    drop(p, cart.nodes)
    drop(p, cart.counts)
    drop(p, cart.known)
    drop(p, cart.buffer[0])
    drop(p, cart.buffer[1])
    drop(p, cart.scratch)
    drop(p, cart.side)
    drop(p, cart.below)
    memset(cart, 0, sizeof(Cart))


# --- scores -----------------------------------------------------------------------------------------------------------


cdef double purity(const Problem* p, const double* counts) noexcept nogil:
    """What a node contributes to the score of the split that makes it."""
    cdef double n = 0.0, total = 0.0
    cdef int32_t c
    for c in range(p.n_classes):
        n += counts[c]
        if p.criterion == ENTROPY:
            if counts[c] > 0.0:
                total += counts[c] * log2(counts[c])
        else:
            total += counts[c] * counts[c]
    if p.criterion == ENTROPY:
        return total - n * log2(n)
    return total / n


cdef double best_purity(const Problem* p, const double* counts) noexcept nogil:
    """The score that no split of the node exceeds: all children pure."""
    cdef double n = 0.0
    cdef int32_t c
    if p.criterion == ENTROPY:
        return 0.0
    for c in range(p.n_classes):
        n += counts[c]
    return n


cdef double score_of(const Problem* p, const double* a, const double* b) noexcept nogil:
    """Score of a split from the class weights of its sides; -1e300 where one is empty."""
    cdef double na = 0.0, nb = 0.0, sa = 0.0, sb = 0.0
    cdef int32_t c
    for c in range(p.n_classes):
        na += a[c]
        nb += b[c]
    if na == 0.0 or nb == 0.0:
        return -1e300
    if p.criterion == ENTROPY:
        return purity(p, a) + purity(p, b)
    for c in range(p.n_classes):
        sa += a[c] * a[c]
        sb += b[c] * b[c]
    return (sa * nb + sb * na) / (na * nb)


cdef inline bint offer(Split* best, double score, int32_t feature, int32_t at, int32_t missing_right) noexcept nogil:
    if score > best.score:
        best.score = score
        best.feature = feature
        best.at = at
        best.missing_right = missing_right
        return True
    return False


cdef void scan_weighted(
    const Problem* p, Cart* cart, const uint32_t* entries, int32_t n, const double* counts, int32_t feature, Split* best
) noexcept nogil:
    """Gini, any classes and weights, every row with a value."""
    cdef int32_t i, c
    cdef uint32_t row
    cdef double na = 0.0, nb = 0.0, sa = 0.0, sb = 0.0, w, top, bottom, bar = best.score * ALMOST
    cdef double* a = cart.below
    cdef double* b = cart.above
    for c in range(p.n_classes):
        a[c] = 0.0
        b[c] = counts[c]
        nb += counts[c]
        sb += counts[c] * counts[c]
    for i in range(n - 1):
        row = entries[i] & ROW_MASK
        c = p.label[row]
        w = p.real_weight[row]
        sa += w * (2.0 * a[c] + w)
        sb -= w * (2.0 * b[c] - w)
        a[c] += w
        b[c] -= w
        na += w
        nb -= w
        if entries[i] & LEGAL_CUT:
            top = sa * nb + sb * na
            bottom = na * nb
            if top > bar * bottom:
                if offer(best, top / bottom, feature, i + 1, 1):
                    bar = best.score * ALMOST


cdef void scan_general(
    const Problem* p, Cart* cart, const uint32_t* entries, int32_t known, int32_t n_missing,
    const uint32_t* missing_entries, const double* counts, int32_t feature, Split* best
) noexcept nogil:
    """Any criterion, with rows that have no value: they join either side, or stand alone against all the others."""
    cdef int32_t i, c
    cdef uint32_t row
    cdef double* a = cart.below
    cdef double* b = cart.above
    cdef double* missing = cart.missing
    for c in range(p.n_classes):
        missing[c] = 0.0
        a[c] = 0.0
    for i in range(n_missing):
        row = missing_entries[i] & ROW_MASK
        missing[p.label[row]] += p.real_weight[row]
    for i in range(known):
        row = entries[i] & ROW_MASK
        a[p.label[row]] += p.real_weight[row]
        if i == known - 1 and n_missing == 0:
            return
        if i < known - 1 and not entries[i] & LEGAL_CUT:
            continue
        if p.stop:
            return
        for c in range(p.n_classes):
            b[c] = counts[c] - a[c]
        offer(best, score_of(p, a, b), feature, i + 1, 1)
        if n_missing > 0 and i < known - 1:
            for c in range(p.n_classes):
                cart.with_missing[c] = a[c] + missing[c]
                b[c] -= missing[c]
            offer(best, score_of(p, cart.with_missing, b), feature, i + 1, 0)


cdef void scan(
    const Problem* p, Cart* cart, const uint32_t* entries, int32_t known, int32_t n_missing,
    const uint32_t* missing_entries, const double* counts, int32_t feature, Split* best
) noexcept nogil:
    cdef int32_t at
    cdef double score
    if n_missing > 0 or p.criterion == ENTROPY:
        scan_general(p, cart, entries, known, n_missing, missing_entries, counts, feature, best)
    elif p.weighted:
        scan_weighted(p, cart, entries, known, counts, feature, best)
    elif known > 1:
        if p.n_classes == 2:
            score = p.lanes.gini_two(entries, known, p.label, counts, cart.scratch, best.score, &at)
        else:
            score = p.lanes.gini_many(entries, known, p.label, counts, p.n_classes, cart.scratch, best.score, &at)
        if at > 0:
            offer(best, score, feature, at, 1)


# --- the growing tree -------------------------------------------------------------------------------------------------


cdef inline uint32_t* node_entries(Cart* cart, const Rows* rows, const CartNode* node, int32_t feature) noexcept nogil:
    cdef uint32_t* order = rows.order if node.home < 0 else cart.buffer[node.home]
    return order + feature * (<int64_t>rows.n + 1) + 1 + node.start


cdef int32_t add_node(Problem* p, Cart* cart, int32_t start, int32_t n, int32_t parent, int32_t depth) noexcept nogil:
    cdef int32_t index = cart.n_nodes
    cdef CartNode* node = &cart.nodes[index]
    memset(node, 0, sizeof(CartNode))
    node.start = start
    node.n = n
    node.parent = parent
    node.left = node.right = -1
    node.depth_left = depth
    node.placed = parent < 0
    node.home = -1 if parent < 0 else (0 if cart.nodes[parent].home != 0 else 1)
    node.split.feature = -1
    cart.n_nodes += 1
    return index


cdef void start_tree(Problem* p, Cart* cart, const Rows* rows, int32_t depth) noexcept nogil:
    cdef int32_t i
    cdef uint32_t row
    cdef double* counts = cart.counts
    cdef const uint32_t* entries = rows.order + 1
    cart.n_nodes = 0
    add_node(p, cart, 0, rows.n, -1, depth)
    memset(counts, 0, p.n_classes * sizeof(double))
    for i in range(rows.n):
        row = entries[i] & ROW_MASK
        counts[p.label[row]] += p.real_weight[row]
    memcpy(cart.known, rows.known, p.n_features * sizeof(int32_t))
    rate_node(p, cart, 0)


cdef void rate_node(Problem* p, Cart* cart, int32_t index) noexcept nogil:
    """An upper bound on the gain, from the class weights alone; a pure node is never split."""
    cdef CartNode* node = &cart.nodes[index]
    cdef double* counts = cart.counts + <int64_t>index * p.n_classes
    cdef int32_t c, classes = 0
    for c in range(p.n_classes):
        classes += counts[c] > 0.0
    node.scored = classes < 2
    node.gain = best_purity(p, counts) - purity(p, counts) if classes > 1 else -1.0


cdef void place_children(Problem* p, Cart* cart, const Rows* rows, int32_t index) noexcept nogil:
    """Partitions the rows of a split node in every feature's order."""
    cdef CartNode* node = &cart.nodes[index]
    cdef CartNode* left = &cart.nodes[node.left]
    cdef CartNode* right = &cart.nodes[node.right]
    cdef int32_t j, i, known, side_of_missing = node.split.missing_right
    cdef const int32_t* node_known = cart.known + <int64_t>index * p.n_features
    cdef int32_t* left_known = cart.known + <int64_t>node.left * p.n_features
    cdef int32_t* right_known = cart.known + <int64_t>node.right * p.n_features
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
    for j in range(p.n_features):
        if p.stop:
            return
        p.work += node.n
        entries = node_entries(cart, rows, node, j)
        known = node_known[j]
        to_left = node_entries(cart, rows, left, j)
        to_right = node_entries(cart, rows, right, j)
        right_known[j] = part_entries(entries, known, cart.side, to_left, to_right)
        left_known[j] = known - right_known[j]
        if known < node.n:
            part_entries(
                entries + known, node.n - known, cart.side, to_left + left_known[j], to_right + right_known[j]
            )
    left.placed = right.placed = True


cdef void score_node(Problem* p, Cart* cart, const Rows* rows, int32_t index) noexcept nogil:
    """Finds the best split and with it the exact gain."""
    cdef CartNode* node = &cart.nodes[index]
    cdef const double* counts = cart.counts + <int64_t>index * p.n_classes
    cdef const int32_t* known
    cdef const uint32_t* entries
    cdef int32_t j
    if not node.placed:
        place_children(p, cart, rows, node.parent)
    known = cart.known + <int64_t>index * p.n_features
    node.split.score = -1e299
    for j in range(p.n_features):
        if p.stop:
            return
        p.work += node.n
        entries = node_entries(cart, rows, node, j)
        scan(p, cart, entries, known[j], node.n - known[j], entries + known[j], counts, j, &node.split)
    node.scored = True
    node.gain = node.split.score - purity(p, counts) if node.split.feature >= 0 else -1e300


cdef void split_node(Problem* p, Cart* cart, const Rows* rows, int32_t index) noexcept nogil:
    """Adds the two children, with their class weights."""
    cdef CartNode* node = &cart.nodes[index]
    cdef int32_t j = node.split.feature, i, n_missing, n_left, left, right, c
    cdef int32_t known = cart.known[<int64_t>index * p.n_features + j]
    cdef const uint32_t* entries = node_entries(cart, rows, node, j)
    cdef const int32_t* codes = p.codes + j * <int64_t>p.n_rows
    cdef const double* counts = cart.counts + <int64_t>index * p.n_classes
    cdef double* below
    cdef double* above
    cdef uint32_t row
    if node.split.at < known:
        node.cut = cut_between(
            p, j, codes[entries[node.split.at - 1] & ROW_MASK], codes[entries[node.split.at] & ROW_MASK]
        )
    else:
        node.cut = p.card[j]
    n_missing = node.n - known
    n_left = node.split.at + (0 if node.split.missing_right else n_missing)
    left = add_node(p, cart, node.start, n_left, index, node.depth_left - 1)
    right = add_node(p, cart, node.start + n_left, node.n - n_left, index, node.depth_left - 1)
    node.left = left
    node.right = right
    below = cart.counts + <int64_t>left * p.n_classes
    above = cart.counts + <int64_t>right * p.n_classes
    memset(below, 0, p.n_classes * sizeof(double))
    for i in range(node.split.at):
        row = entries[i] & ROW_MASK
        below[p.label[row]] += p.real_weight[row]
    if not node.split.missing_right:
        for i in range(known, node.n):
            row = entries[i] & ROW_MASK
            below[p.label[row]] += p.real_weight[row]
    for c in range(p.n_classes):
        above[c] = counts[c] - below[c]
    rate_node(p, cart, left)
    rate_node(p, cart, right)


cdef int32_t best_leaf(Problem* p, Cart* cart, const Rows* rows) noexcept nogil:
    """The leaf of largest gain, the earliest among equals; -1 when none can be split.

    A leaf is scored only when its upper bound reaches the best exact gain: most small ones never are.
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
        score_node(p, cart, rows, best)
        if p.stop:
            return -1


# --- candidates -------------------------------------------------------------------------------------------------------


cdef int32_t cart_cut_room(const Problem* p) noexcept nogil:
    cdef int32_t i, most = 2
    for i in range(p.n_leaves):
        most = max(most, min(p.leaves[i], p.n_rows))  # no leaf is empty
    if p.mode == SHAPE:
        most += p.n_features * (p.max_k + 1)
    return most


cdef int32_t add_cut(
    const Problem* p, const Rows* rows, Cut* cuts, int32_t n, int32_t feature, int32_t cut
) noexcept nogil:
    """Keeps the cuts sorted by feature and position; leaves out one that parts the rows as another does."""
    cdef int32_t at = position_of_cut(p, rows, feature, cut), i = n, j
    cdef int32_t known = rows.known[feature]
    if at == 0 or (at == known and known == rows.n):
        return n
    while i > 0 and (cuts[i - 1].feature > feature or (cuts[i - 1].feature == feature and cuts[i - 1].at >= at)):
        i -= 1
    if i < n and cuts[i].feature == feature and cuts[i].at == at:
        return n
    for j in range(n, i, -1):
        cuts[j] = cuts[j - 1]
    cuts[i].feature = feature
    cuts[i].cut = cut
    cuts[i].at = at
    return n + 1


cdef int32_t cart_cuts(Problem* p, Cart* cart, const Rows* rows, int32_t leaves, Cut* cuts) noexcept nogil:
    cdef int32_t n = 0, grown = 1, best, j
    start_tree(p, cart, rows, 0)
    while grown < leaves:
        best = best_leaf(p, cart, rows)
        if best < 0:
            break
        split_node(p, cart, rows, best)
        n = add_cut(p, rows, cuts, n, cart.nodes[best].split.feature, cart.nodes[best].cut)
        grown += 1
    if p.mode == SHAPE:
        for j in range(p.n_features):
            if p.stop:
                return n
            n = own_cuts(p, cart, rows, j, cuts, n)
    return n


cdef int32_t own_cuts(Problem* p, Cart* cart, const Rows* rows, int32_t feature, Cut* cuts, int32_t n) noexcept nogil:
    """The cuts of a CART with K + 1 leaves on one feature alone: its nodes are ranges of the feature's order."""
    cdef int32_t grown = 1, i, best, left, right, at, known = rows.known[feature], leaves = p.max_k + 1, c
    cdef const uint32_t* entries = feature_order(rows, feature)
    cdef const int32_t* codes = p.codes + feature * <int64_t>p.n_rows
    cdef CartNode* node
    cdef double* counts
    start_tree(p, cart, rows, 0)
    cart.nodes[0].placed = known < rows.n  # here: the rows without a value belong to this node
    while grown < leaves:
        best = -1
        for i in range(cart.n_nodes):
            node = &cart.nodes[i]
            if node.left >= 0:
                continue
            if not node.scored:
                node.scored = True
                counts = cart.counts + <int64_t>i * p.n_classes
                node.split.score = -1e299
                # node.n counts rows with a value here
                scan(
                    p, cart, entries + node.start, node.n if i else known, rows.n - known if node.placed else 0,
                    entries + known, counts, feature, &node.split,
                )
                node.gain = node.split.score - purity(p, counts) if node.split.feature >= 0 else -1e300
            if node.split.feature >= 0 and (best < 0 or node.gain > cart.nodes[best].gain):
                best = i
        if best < 0:
            break
        node = &cart.nodes[best]
        if best == 0:
            node.n = known
        at = node.start + node.split.at
        if node.split.at < node.n:
            node.cut = cut_between(p, feature, codes[entries[at - 1] & ROW_MASK], codes[entries[at] & ROW_MASK])
        else:
            node.cut = p.card[feature]
        left = add_node(p, cart, node.start, node.split.at, best, 0)
        right = add_node(p, cart, at, node.n - node.split.at, best, 0)
        node.left = left
        node.right = right
        cart.nodes[left].placed = node.placed and not node.split.missing_right
        cart.nodes[right].placed = node.placed and node.split.missing_right
        count_range(p, cart, entries, left, known, rows.n)
        for c in range(p.n_classes):
            cart.counts[<int64_t>right * p.n_classes + c] = (
                cart.counts[<int64_t>best * p.n_classes + c] - cart.counts[<int64_t>left * p.n_classes + c]
            )
        rate_node(p, cart, left)
        rate_node(p, cart, right)
        n = add_cut(p, rows, cuts, n, feature, node.cut)
        grown += 1
    return n


cdef void count_range(
    Problem* p, Cart* cart, const uint32_t* entries, int32_t index, int32_t known, int32_t n
) noexcept nogil:
    cdef CartNode* node = &cart.nodes[index]
    cdef double* counts = cart.counts + <int64_t>index * p.n_classes
    cdef int32_t i
    cdef uint32_t row
    memset(counts, 0, p.n_classes * sizeof(double))
    for i in range(node.start, node.start + node.n):
        row = entries[i] & ROW_MASK
        counts[p.label[row]] += p.real_weight[row]
    if node.placed:
        for i in range(known, n):
            row = entries[i] & ROW_MASK
            counts[p.label[row]] += p.real_weight[row]


# --- lookahead --------------------------------------------------------------------------------------------------------


cdef cost_t leaf_cost(const Problem* p, const double* counts) noexcept nogil:
    cdef double total = 0.0, most = 0.0
    cdef int32_t c
    for c in range(p.n_classes):
        total += counts[c]
        most = max(most, counts[c])
    return <cost_t>(total - most) * p.weight_cost


cdef cost_t cart_lookahead(Problem* p, Cart* cart, const Rows* rows, int32_t depth) noexcept nogil:
    cdef int32_t i = 0
    cdef CartNode* node
    cdef cost_t split
    start_tree(p, cart, rows, depth)
    # Breadth first: children always stand behind their parent.
    while i < cart.n_nodes:
        node = &cart.nodes[i]
        if node.depth_left > 0 and not node.scored:
            score_node(p, cart, rows, i)
            if p.stop:
                return 0
            if node.split.feature >= 0 and cart.n_nodes + 2 <= cart.capacity:
                split_node(p, cart, rows, i)
        i += 1
    for i in range(cart.n_nodes - 1, -1, -1):
        node = &cart.nodes[i]
        node.cost = leaf_cost(p, cart.counts + <int64_t>i * p.n_classes)
        if node.left >= 0:
            split = p.split_cost + cart.nodes[node.left].cost + cart.nodes[node.right].cost
            if split < node.cost:
                node.cost = split
            else:
                node.left = node.right = -1
    return cart.nodes[0].cost
