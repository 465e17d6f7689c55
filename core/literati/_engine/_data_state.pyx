"""States and what they share: working space, rows, first values, completion.

A state's rows are filtered from its parent's when they are needed; its values come from class weights or the cache.
"""

from libc.string cimport memcpy, memset

from literati._bounds cimport leaf_cost_of, lower_bound_of
from literati._cart cimport Cart, CartNode, cart_cut_room, cart_free, cart_init
from literati._graph cimport (
    LEAF, SOLVED, SPLIT, TREE, Choice, Data, Entry, TreeNode, cache_find, cache_free, cache_init, cache_store,
    data_clear, data_keep_tree, tree_write,
)
from literati._rows cimport apply_shape, drop, grab, rows_alloc, rows_filter, rows_free
from literati._sweep cimport sweep_free, sweep_init
from literati._types cimport MAX_K, Problem, Rows, Shape, int32_t, int64_t, uint8_t, uint64_t


cdef bint space_init(Space* space, Problem* p, int64_t cache_bytes) noexcept nogil:
    cdef int64_t positions = max(cart_cut_room(p), MAX_K) + 2, c = p.n_classes
    cdef int32_t capacity = 2 * cart_cut_room(p) + 2, whole = 2 << p.max_depth
    memset(space, 0, sizeof(Space))
    space.p = p
    if whole > 2 * <int64_t>p.n_rows + 2:
        whole = 2 * p.n_rows + 2
    space.sums.at = <int32_t*>grab(p, positions * sizeof(int32_t))
    space.sums.counts = <int64_t*>grab(p, positions * c * sizeof(int64_t))
    space.sums.doomed = <int64_t*>grab(p, positions * sizeof(int64_t))
    space.sums.hash = <uint64_t*>grab(p, 2 * positions * sizeof(uint64_t))
    space.side = <uint8_t*>grab(p, p.n_rows)
    space.recent = <uint64_t*>grab(p, RECENT * sizeof(uint64_t))
    # One after the other whether or not the one before got its memory: measuring counts all of them.
    cdef bint cart = cart_init(p, &space.cart, max(capacity, whole))
    cdef bint sweep = sweep_init(p, &space.sweep, &space.cart)
    cdef bint cache = cache_init(p, &space.cache, cache_bytes)
    cdef bint left = rows_alloc(p, &space.left, p.n_rows), right = rows_alloc(p, &space.right, p.n_rows)
    return (
        cart and sweep and cache and left and right and space.sums.at != NULL and space.sums.counts != NULL
        and space.sums.doomed != NULL and space.sums.hash != NULL and space.side != NULL and space.recent != NULL
    )


cdef void space_free(Space* space) noexcept nogil:
    cdef Problem* p = space.p
    cart_free(p, &space.cart)
    sweep_free(p, &space.sweep)
    cache_free(p, &space.cache)
    drop(p, space.left.order)
    drop(p, space.right.order)
    drop(p, space.all_rows.order)
    drop(p, space.sums.at)
    drop(p, space.sums.counts)
    drop(p, space.sums.doomed)
    drop(p, space.sums.hash)
    drop(p, space.side)
    drop(p, space.steps)
    drop(p, space.recent)


cdef int32_t leaves_at(const Problem* p, int32_t depth) noexcept nogil:
    cdef int32_t level = p.max_depth - depth
    return p.leaves[level if level < p.n_leaves else p.n_leaves - 1]


cdef uint64_t mix(uint64_t key, uint64_t more) noexcept nogil:
    key = (key ^ more) * <uint64_t>0x9E3779B97F4A7C15
    return key ^ (key >> 29)


cdef uint64_t state_key(const Data* s) noexcept nogil:
    return mix(mix(s.hash[0], s.hash[1]), s.depth)


cdef uint64_t choice_key(const Data* s, const Shape* shape, bint refined) noexcept nogil:
    cdef uint64_t key = mix(mix(state_key(s), 2 + refined), shape.feature)
    cdef int32_t i
    for i in range(shape.n_cuts):
        key = mix(key, shape.at[i])
    return mix(key, shape.missing_right)


cdef void count_step(Space* space, uint64_t key) noexcept nogil:
    """Counts an expansion, unless a checkpoint has counted it before."""
    cdef int64_t low = 0, high = space.n_steps, middle
    while low < high:
        middle = (low + high) // 2
        if space.steps[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low == space.n_steps or space.steps[low] != key:
        space.expansions += 1
        space.recent[space.n_recent & (RECENT - 1)] = key
        space.n_recent += 1


# --- rows -------------------------------------------------------------------------------------------------------------


cdef void part_rows(Space* space, Data* owner, const Shape* shape, Rows* left, Rows* right) noexcept nogil:
    """The rows of one or both children, in memory that has room for them; NULL: not wanted.

    After a stop request they are not there: the caller looks at p.stop before it uses them.
    """
    cdef int32_t n_left = apply_shape(space.p, &owner.rows, shape, space.side)
    if left != NULL:
        left.n = n_left
        left.known = <int32_t*>(left.order + space.p.n_features * (<int64_t>n_left + 1))
        rows_filter(space.p, &owner.rows, space.side, 0, left)
    if right != NULL:
        right.n = owner.rows.n - n_left
        right.known = <int32_t*>(right.order + space.p.n_features * (<int64_t>right.n + 1))
        rows_filter(space.p, &owner.rows, space.side, 1, right)


cdef bint rows_ready(Space* space, Data* s) noexcept nogil:
    """Brings the rows of a state to hand, from the nearest state above that has them."""
    cdef Choice* c = s.parent
    if s.rows.order != NULL:
        return True
    if c == NULL:
        s.rows = space.all_rows
        return True
    if not rows_ready(space, c.owner):
        return False
    # A single step may want the rows of a whole path.
    if space.p.byte_limit and space.p.bytes + 4 * space.p.n_features * (<int64_t>s.n + 2) > space.p.byte_limit:
        return False
    if not rows_alloc(space.p, &s.rows, s.n):
        return False
    if s == &c.left:
        part_rows(space, c.owner, &c.shape, &s.rows, NULL)
    else:
        part_rows(space, c.owner, &c.shape, NULL, &s.rows)
    if space.p.stop:
        rows_free(space.p, &s.rows)
        return False
    return True


# --- new states -------------------------------------------------------------------------------------------------------


cdef void data_start(
    Space* space, Data* s, int32_t depth, int32_t n, const int64_t* counts, int64_t doomed, const uint64_t* hash
) noexcept nogil:
    """First values of a data state, and what an earlier state with the same rows has left in the cache."""
    cdef Problem* p = space.p
    cdef Entry* known
    s.depth = depth
    s.n = n
    s.hash[0] = hash[0]
    s.hash[1] = hash[1]
    s.policy = LEAF
    s.upper = leaf_cost_of(p, counts)
    s.lower = lower_bound_of(p, counts, doomed, depth)
    s.floor = s.upper
    if s.lower < s.upper:
        known = cache_find(&space.cache, hash, depth)
        if known != NULL:
            space.cache.hits += 1
            if known.lower > s.lower:
                s.lower = known.lower
            if known.exact:
                recall(space, s, known)
            elif s.lower > s.upper:
                s.lower = s.upper
    s.complete = s.lower >= s.upper
    s.guess = <double>s.upper


cdef void recall(Space* space, Data* s, const Entry* known) noexcept nogil:
    """Takes over a value that was proven before, with the way to its tree."""
    if known.tree == NULL:
        s.policy = SOLVED
        s.n_tree = known.n_tree
    else:
        s.tree = <TreeNode*>grab(space.p, known.n_tree * sizeof(TreeNode))
        if s.tree == NULL:
            return
        memcpy(s.tree, known.tree, known.n_tree * sizeof(TreeNode))
        s.n_tree = known.n_tree
        s.policy = TREE
    s.upper = s.lower = known.lower


cdef void data_complete(Space* space, Data* s) noexcept nogil:
    """lower == upper: remembers the value and shrinks the state to it."""
    cdef TreeNode single
    s.complete = True
    s.lower = s.upper
    s.guess = <double>s.upper
    if not data_keep_tree(space.p, s):
        return
    if s.policy == TREE:
        s.tree.lower = s.lower
        s.tree.proven = True
        cache_store(space.p, &space.cache, s.hash, s.depth, s.lower, True, s.tree, s.n_tree)
    elif s.policy == SOLVED:
        cache_store(space.p, &space.cache, s.hash, s.depth, s.lower, True, NULL, s.n_tree)
    else:
        tree_write(s, &single)
        cache_store(space.p, &space.cache, s.hash, s.depth, s.lower, True, &single, 1)
    data_clear_below(space, s)


cdef void data_clear_below(Space* space, Data* s) noexcept nogil:
    if s.parent == NULL:
        s.rows.order = NULL  # the root only borrows its rows
    data_clear(space.p, &space.counters, s)


cdef void data_remember(Space* space, Data* s) noexcept nogil:
    """Keeps the lower bound of a state that is about to go."""
    if s.expanded and not s.complete:
        cache_store(space.p, &space.cache, s.hash, s.depth, s.lower, False, NULL, 0)


cdef void remember_all(Space* space, Data* s) noexcept nogil:
    """The lower bounds of a state and of all below it."""
    cdef int32_t i
    for i in range(s.n_choices):
        remember_all(space, &s.choices[i].left)
        remember_all(space, &s.choices[i].right)
    data_remember(space, s)


cdef void data_forget(Space* space, Data* s) noexcept nogil:
    """Turns an expanded state back into an unexpanded one that keeps its values and its tree."""
    if not s.expanded or not data_keep_tree(space.p, s):
        return
    remember_all(space, s)
    data_clear_below(space, s)
    s.floor = s.upper


cdef int32_t cart_tree(const Cart* cart, int32_t index, TreeNode* out) noexcept nogil:
    """Write the nodes of a CART as a compact tree of splits and leaves; returns its size."""
    cdef const CartNode* node = &cart.nodes[index]
    cdef int32_t n = 1
    memset(out, 0, sizeof(TreeNode))
    out.policy = LEAF
    out.feature = -1
    if node.left >= 0:
        out.policy = SPLIT
        out.feature = node.split.feature
        out.n_cuts = 1
        out.cut[0] = node.cut
        out.missing_right = node.split.missing_right
        n += cart_tree(cart, node.left, out + n)
        out.right = n
        n += cart_tree(cart, node.right, out + n)
    return n
