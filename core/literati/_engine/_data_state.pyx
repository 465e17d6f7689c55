"""Data states and what they share: buffers, rows, first values, completion.

A state's rows are filtered from its parent's when they are needed; its values come from class weights or the cache.
"""

from libc.string cimport memcpy, memset

from literati._engine._bounds cimport leaf_cost_of, lower_bound_of
from literati._engine._cache cimport Entry, cache_find, cache_store
from literati._engine._cart cimport CartNode, max_candidate_cuts, cart_init
from literati._engine._depth2_sweep cimport sweep_init
from literati._engine._envelope cimport EnvelopePoint, envelope_best, point_cost
from literati._engine._graph cimport (
    LEAF, SOLVED, SPLIT, TREE, Choice, set_split_index, state_clear, state_keep_tree, state_set_tree, tree_write,
)
from literati._engine._memory cimport Arena, arena_free, arena_malloc, tracked_free, tracked_malloc
from literati._engine._rows cimport apply_shape, rows_alloc, rows_filter, rows_free
from literati._engine._types cimport MAX_K, SHAPE


cdef bint buffers_init(SearchContext* context) noexcept nogil:
    cdef const Dataset* data = context.data
    cdef Control* control = context.control
    cdef Arena* arena = &context.arena
    cdef int64_t positions = max(max_candidate_cuts(data), MAX_K) + 2, c = data.n_classes
    cdef int32_t leaves = max_candidate_cuts(data), capacity, whole = 2 << data.max_depth
    if data.mode == SHAPE:
        leaves = max(leaves - data.n_features * (data.max_k + 1), data.max_k + 1)  # of one CART at a time
    capacity = 2 * leaves + 2
    if whole > 2 * <int64_t>data.n_rows + 2:
        whole = 2 * data.n_rows + 2
    if data.mode == SHAPE:
        positions = max(leaves + data.max_k + 1, MAX_K) + 2  # of one feature at a time
    context.sums.at = <int32_t*>arena_malloc(control, arena, positions * sizeof(int32_t))
    context.sums.counts = <int64_t*>arena_malloc(control, arena, positions * c * sizeof(int64_t))
    context.sums.unavoidable_error = <int64_t*>arena_malloc(control, arena, positions * sizeof(int64_t))
    context.sums.hash = <uint64_t*>arena_malloc(control, arena, 2 * positions * sizeof(uint64_t))
    context.side = <uint8_t*>arena_malloc(control, arena, data.n_rows)
    cart_init(data, control, arena, &context.cart, max(capacity, whole))
    sweep_init(data, control, arena, &context.sweep, &context.cart)
    # Both are tried, whether or not one failed: `measuring` counts what each would take.
    cdef bint left = rows_alloc(data, control, &context.left, data.n_rows)
    cdef bint right = rows_alloc(data, control, &context.right, data.n_rows)
    return left and right and not arena.failed


cdef void buffers_free(SearchContext* context) noexcept nogil:
    arena_free(context.control, &context.arena)
    rows_free(context.control, &context.left)
    rows_free(context.control, &context.right)


cdef int32_t leaves_at(const Dataset* data, int32_t depth) noexcept nogil:
    cdef int32_t level = data.max_depth - depth
    return data.candidate_leaves[level if level < data.n_candidate_leaves else data.n_candidate_leaves - 1]


cdef uint64_t mix(uint64_t key, uint64_t more) noexcept nogil:
    key = (key ^ more) * <uint64_t>0x9E3779B97F4A7C15
    return key ^ (key >> 29)


cdef uint64_t state_key(const DataState* s) noexcept nogil:
    return mix(mix(s.hash[0], s.hash[1]), s.depth)


cdef uint64_t choice_key(const DataState* s, const Shape* shape, bint refined) noexcept nogil:
    cdef uint64_t key = mix(mix(state_key(s), 2 + refined), shape.feature)
    cdef int32_t i
    for i in range(shape.n_cuts):
        key = mix(key, shape.at[i])
    return mix(key, shape.missing_right)


cdef bint counter_init(Control* control, StepCounter* counter) noexcept nogil:
    counter.recent = <uint64_t*>tracked_malloc(control, MAX_RECENT * sizeof(uint64_t))
    return counter.recent != NULL


cdef void counter_free(Control* control, StepCounter* counter) noexcept nogil:
    tracked_free(control, counter.recent)
    tracked_free(control, counter.steps)


cdef void count_expansion(StepCounter* counter, uint64_t key) noexcept nogil:
    """Count an expansion, unless a checkpoint has counted it before."""
    cdef int64_t low = 0, high = counter.n_steps, middle
    while low < high:
        middle = (low + high) // 2
        if counter.steps[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low == counter.n_steps or counter.steps[low] != key:
        counter.expansions += 1
        counter.recent[counter.n_recent & (MAX_RECENT - 1)] = key
        counter.n_recent += 1


# --- rows -------------------------------------------------------------------------------------------------------------


cdef void split_rows(
    SearchContext* context, DataState* owner, const Shape* shape, Rows* left, Rows* right
) noexcept nogil:
    """Write the rows of one or both children into allocated memory; NULL: not needed."""
    cdef int32_t n_left = apply_shape(&owner.rows, shape, context.side)
    if left != NULL:
        left.n = n_left
        left.known = <int32_t*>(left.order + context.data.n_features * (<int64_t>n_left + 1))
        rows_filter(context.data, context.control, &owner.rows, context.side, 0, left)
    if right != NULL:
        right.n = owner.rows.n - n_left
        right.known = <int32_t*>(right.order + context.data.n_features * (<int64_t>right.n + 1))
        rows_filter(context.data, context.control, &owner.rows, context.side, 1, right)


cdef void filter_rows(SearchContext* context, DataState* s, Rows* rows) noexcept nogil:
    """Write the rows of a state whose parent has its rows in memory."""
    if s == &s.parent.left:
        split_rows(context, s.parent.owner, &s.parent.shape, rows, NULL)
    else:
        split_rows(context, s.parent.owner, &s.parent.shape, NULL, rows)


cdef bint rows_ready(SearchContext* context, DataState* s) noexcept nogil:
    """Load the rows of a state, if needed, by filtering those of the nearest state above that has its rows."""
    cdef Choice* c = s.parent
    cdef Control* control = context.control
    cdef int64_t work
    if s.rows.order != NULL:
        return True
    if c == NULL:
        s.rows = context.all_rows
        return True
    if not rows_ready(context, c.owner):
        return False
    # A single step may need the rows of a whole path.
    if control.byte_limit and control.bytes + 4 * context.data.n_features * (<int64_t>s.n + 2) > control.byte_limit:
        return False
    if not rows_alloc(context.data, control, &s.rows, s.n):
        return False
    work = control.work
    filter_rows(context, s, &s.rows)
    if control.stop:
        control.work = work  # they are filtered again
        rows_free(control, &s.rows)
        return False
    return True


# --- new states -------------------------------------------------------------------------------------------------------


cdef void state_start(SearchContext* context, DataState* s, int32_t depth, const RowSummary* rows) noexcept nogil:
    """Set the first values of a data state from its class weights, and from the cache."""
    cdef const Dataset* data = context.data
    s.depth = depth
    s.n = rows.n
    s.hash[0] = rows.hash[0]
    s.hash[1] = rows.hash[1]
    s.policy = LEAF
    s.upper = leaf_cost_of(data, rows.counts)
    s.lower = s.relaxed = lower_bound_of(data, rows, depth)
    if s.n < 2 * data.min_rows:
        s.lower = s.upper  # too few rows for two children
    s.floor = s.upper
    s.complete = s.lower >= s.upper
    if not s.complete:
        state_recall(context, s)
    s.estimate = <double>s.upper


cdef void state_recall(SearchContext* context, DataState* s) noexcept nogil:
    cdef const Entry* known = cache_find(context.cache, s.hash, s.depth)
    cdef const EnvelopePoint* best
    if known != NULL and known.envelope != NULL:
        context.cache_hits += 1
        best = envelope_best(context.data, known.envelope)
        s.upper = s.lower = point_cost(context.data, best)
        s.policy = LEAF if best.split_index < 0 else SOLVED
        s.split_index = best.split_index
        s.complete = True
        return
    if known == NULL or (known.lower <= s.lower and not known.exact):
        return
    context.cache_hits += 1
    s.lower = max(s.lower, known.lower)
    if known.exact:
        apply_cached(context, s, known)
    s.lower = min(s.lower, s.upper)
    s.complete = s.lower >= s.upper


cdef void apply_cached(SearchContext* context, DataState* s, const Entry* known) noexcept nogil:
    """Use a value that was proven before, and its tree."""
    cdef TreeNode* tree
    if known.tree == NULL:
        s.policy = SOLVED
        s.split_index = known.split_index
    else:
        tree = <TreeNode*>tracked_malloc(context.control, known.n_tree * sizeof(TreeNode))
        if tree == NULL:
            return
        memcpy(tree, known.tree, known.n_tree * sizeof(TreeNode))
        state_set_tree(context.control, s, tree, known.n_tree, known.lower)
    s.upper = s.lower = known.lower


cdef void state_complete(SearchContext* context, DataState* s) noexcept nogil:
    """Store the value of a state whose bounds have met, and free all below it."""
    cdef TreeNode single
    s.complete = True
    s.lower = s.upper
    s.estimate = <double>s.upper
    if not state_keep_tree(context.control, s):
        return
    if s.policy == TREE:
        s.tree.lower = s.lower
        s.tree.proven = True
        cache_store(context.control, context.cache, s.hash, s.depth, s.lower, True, s.tree, s.n_tree, -1)
    elif s.policy == SOLVED:
        cache_store(context.control, context.cache, s.hash, s.depth, s.lower, True, NULL, 0, s.split_index)
    else:
        tree_write(s, &single)
        cache_store(context.control, context.cache, s.hash, s.depth, s.lower, True, &single, 1, -1)
    state_clear(context.control, s)


cdef void state_cache_bound(SearchContext* context, DataState* s) noexcept nogil:
    """Store the lower bound of a state that is about to be freed."""
    if s.expanded and not s.complete:
        cache_store(context.control, context.cache, s.hash, s.depth, s.lower, False, NULL, 0, -1)


cdef void cache_bounds(SearchContext* context, DataState* s) noexcept nogil:
    """Store the lower bounds of a state and of all below it."""
    cdef int32_t i
    for i in range(s.n_choices):
        cache_bounds(context, &s.choices[i].left)
        cache_bounds(context, &s.choices[i].right)
    state_cache_bound(context, s)


cdef void state_collapse(SearchContext* context, DataState* s) noexcept nogil:
    """Turn an expanded state back into an unexpanded one that keeps its values and its tree."""
    if not s.expanded or not state_keep_tree(context.control, s):
        return
    cache_bounds(context, s)
    state_clear(context.control, s)
    s.floor = s.upper


cdef int32_t cart_tree(const Cart* cart, int32_t index, TreeNode* out) noexcept nogil:
    """Write the nodes of a CART as a compact tree of splits and leaves; return its size."""
    cdef const CartNode* node = &cart.nodes[index]
    cdef int32_t n = 1
    memset(out, 0, sizeof(TreeNode))
    out.policy = LEAF
    set_split_index(out, -1)
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
