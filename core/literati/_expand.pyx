"""Opening states: candidates, children, their first bounds and guesses.

A data state is expanded by opening choices: with one change point each where its children are expanded in turn, with
every shape function at once where its children are solved (depth left 2). Other choices come by refinement.
"""

from libc.string cimport memcpy, memset

from literati._bottom cimport ShapeWalk, shapes_next, shapes_start, solve_one, solve_two
from literati._bounds cimport leaf_cost_of, lower_bound_of
from literati._cart cimport Cut, cart_cut_room, cart_cuts, cart_free, cart_init, cart_lookahead
from literati._gaps cimport expand_gaps, refine_gap
from literati._graph cimport (
    LEAF, LOOKAHEAD, SOLVED, SPLIT, TREE, Choice, Data, Entry, TreeNode, cache_find, cache_free, cache_init,
    cache_store, choice_free, choice_new, data_add, data_clear, data_keep_tree, tree_write,
)
from literati._intervals cimport Deep, cut_at, deep_free, deep_init, deep_solve
from literati._rows cimport apply_shape, drop, grab, rows_alloc, rows_filter
from literati._sweep cimport BATCHES, Sweep, sweep_free, sweep_init, sweep_shapes
from literati._types cimport (
    LANES, MAX_CLASSES, MAX_K, ROW_MASK, Problem, Rows, Shape, cost_t, int32_t, int64_t, max_cost,
    uint8_t, uint32_t, uint64_t,
)


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
    space.opened = <Choice**>grab(p, BATCHES * LANES * sizeof(Choice*))
    return (
        cart_init(p, &space.cart, max(capacity, whole)) and sweep_init(p, &space.sweep)
        and cache_init(p, &space.cache, cache_bytes) and rows_alloc(p, &space.left, p.n_rows)
        and rows_alloc(p, &space.right, p.n_rows) and space.sums.at != NULL and space.sums.counts != NULL
        and space.sums.doomed != NULL and space.sums.hash != NULL and space.side != NULL and space.opened != NULL
        and space.recent != NULL
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
    drop(p, space.opened)
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
    """The rows of one or both children, in memory that has room for them; NULL: not wanted."""
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
    if not rows_ready(space, c.owner) or not rows_alloc(space.p, &s.rows, s.n):
        return False
    if s == &c.left:
        part_rows(space, c.owner, &c.shape, &s.rows, NULL)
    else:
        part_rows(space, c.owner, &c.shape, NULL, &s.rows)
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
        cache_store(space.p, &space.cache, s.hash, s.depth, s.lower, True, NULL, 0)
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


cdef void data_forget(Space* space, Data* s) noexcept nogil:
    """Turns an expanded state back into an unexpanded one that keeps its values and its tree."""
    if not s.expanded or not data_keep_tree(space.p, s):
        return
    data_remember(space, s)
    data_clear_below(space, s)
    s.floor = s.upper


cdef void sum_positions(Space* space, const Rows* rows, int32_t feature) noexcept nogil:
    """Fills space.sums at the positions it names; the last two are the rows with a value, and all rows."""
    cdef Problem* p = space.p
    cdef Sums* sums = &space.sums
    cdef int64_t counts[MAX_CLASSES]
    cdef int64_t doomed = 0
    cdef uint64_t h0 = 0, h1 = 0
    cdef int32_t i = 0, k, c
    cdef uint32_t row
    cdef const uint32_t* entries = rows.order + feature * (<int64_t>rows.n + 1) + 1
    sums.at[sums.n] = rows.known[feature]
    sums.at[sums.n + 1] = rows.n
    sums.n += 2
    for c in range(p.n_classes):
        counts[c] = 0
    for k in range(sums.n):
        while i < sums.at[k]:
            row = entries[i] & ROW_MASK
            counts[p.label[row]] += p.weight[row]
            doomed += p.doomed[row]
            h0 += p.row_hash[2 * <int64_t>row]
            h1 += p.row_hash[2 * <int64_t>row + 1]
            i += 1
        for c in range(p.n_classes):
            sums.counts[k * <int64_t>p.n_classes + c] = counts[c]
        sums.doomed[k] = doomed
        sums.hash[2 * k] = h0
        sums.hash[2 * k + 1] = h1


cdef void add_piece(
    const Problem* p, const Sums* sums, int32_t before, int32_t upto, int32_t* n, int64_t* counts, int64_t* doomed,
    uint64_t* hash
) noexcept nogil:
    """Adds the rows between two positions (indices into sums; -1 is the start)."""
    cdef int32_t c
    n[0] += sums.at[upto]
    doomed[0] += sums.doomed[upto]
    hash[0] += sums.hash[2 * upto]
    hash[1] += sums.hash[2 * upto + 1]
    for c in range(p.n_classes):
        counts[c] += sums.counts[upto * <int64_t>p.n_classes + c]
    if before >= 0:
        n[0] -= sums.at[before]
        doomed[0] -= sums.doomed[before]
        hash[0] -= sums.hash[2 * before]
        hash[1] -= sums.hash[2 * before + 1]
        for c in range(p.n_classes):
            counts[c] -= sums.counts[before * <int64_t>p.n_classes + c]


cdef Choice* open_choice(Space* space, Data* s, Choice* prefix, const Shape* shape) noexcept nogil:
    """A choice with its two children, from space.sums of its feature; NULL when there is no memory."""
    cdef Problem* p = space.p
    cdef Sums* sums = &space.sums
    cdef Choice* c = choice_new(p, &space.counters, s)
    cdef int64_t counts[2][MAX_CLASSES]
    cdef int64_t doomed[2]
    cdef uint64_t hash[2][2]
    cdef int32_t n[2]
    cdef int32_t piece, side, before = -1, upto
    cdef cost_t sure = 0
    if c == NULL:
        return NULL
    c.prefix = prefix
    c.shape = shape[0]
    c.cost = p.split_cost + (shape.n_cuts - 1) * p.refine_cost
    for side in range(2):
        n[side] = 0
        doomed[side] = 0
        hash[side][0] = hash[side][1] = 0
        memset(counts[side], 0, p.n_classes * sizeof(int64_t))
    # Rows without a value stand between the last two positions.
    side = shape.missing_right
    add_piece(p, sums, sums.n - 2, sums.n - 1, &n[side], counts[side], &doomed[side], hash[side])
    for piece in range(shape.n_cuts + 1):
        side = piece & 1
        if piece < shape.n_cuts:
            upto = before + 1
            while sums.at[upto] != shape.at[piece]:
                upto += 1
        else:
            upto = sums.n - 2
            # A refinement moves only rows behind the last change point: what lies before it is sure.
            sure = lower_bound_of(p, counts[0], doomed[0], s.depth - 1)
            sure += lower_bound_of(p, counts[1], doomed[1], s.depth - 1)
        add_piece(p, sums, before, upto, &n[side], counts[side], &doomed[side], hash[side])
        before = upto
    c.refine_lower = c.cost + p.refine_cost + sure
    c.guessed = space.heuristic != CART_LOOKAHEAD or s.depth < 4
    data_start(space, &c.left, s.depth - 1, n[0], counts[0], doomed[0], hash[0])
    data_start(space, &c.right, s.depth - 1, n[1], counts[1], doomed[1], hash[1])
    if space.heuristic == IMPURITY:
        c.left.guess = impurity(p, counts[0], &c.left)
        c.right.guess = impurity(p, counts[1], &c.right)
    return c


cdef double impurity(const Problem* p, const int64_t* counts, const Data* s) noexcept nogil:
    """Weight times Gini impurity, in cost units."""
    cdef double total = 0.0, squares = 0.0
    cdef int32_t c
    if s.complete:
        return <double>s.upper
    for c in range(p.n_classes):
        total += counts[c]
        squares += <double>counts[c] * counts[c]
    return (total - squares / total) * p.weight_cost


cdef void look_ahead(Space* space, Data* s, const Rows* rows) noexcept nogil:
    """The CART of the state's depth lies inside its space: an upper bound, and the search's guess."""
    cdef cost_t cost = cart_lookahead(space.p, &space.cart, rows, s.depth)
    if space.p.stop:
        return
    if cost < s.upper:
        s.upper = cost
        s.floor = cost
        s.policy = LOOKAHEAD
    s.guess = <double>s.upper
    s.complete = s.lower >= s.upper


cdef bint guess_children(Space* space, Choice* c) noexcept nogil:
    """Lookahead for both children of a choice, where they are to be expanded. False when there was no memory for it.

    A step of its own: with a million rows the lookahead of all choices of a state takes half a minute.
    """
    cdef bint left = not c.left.complete, right = not c.right.complete
    if not (left or right):
        c.guessed = True
        return True
    if not rows_ready(space, c.owner):
        return False
    part_rows(space, c.owner, &c.shape, &space.left if left else NULL, &space.right if right else NULL)
    if left:
        look_ahead(space, &c.left, &space.left)
    if right and not space.p.stop:
        look_ahead(space, &c.right, &space.right)
    c.guessed = not space.p.stop
    return True


cdef void guess_batch(Space* space, Data* s, int32_t first, int32_t n) noexcept nogil:
    """Guesses for children of depth left 2: what they cost with one split, sixteen choices at a time."""
    cdef Sweep* sweep = &space.sweep
    cdef int32_t i
    for i in range(n):
        sweep.shapes[i] = s.choices[first + i].shape
    sweep_shapes(space.p, sweep, &s.rows, sweep.shapes, n, True)
    if space.p.stop:
        return
    for i in range(n):
        if not s.choices[first + i].left.complete:
            s.choices[first + i].left.guess = <double>sweep.left[i]
        if not s.choices[first + i].right.complete:
            s.choices[first + i].right.guess = <double>sweep.right[i]


# --- expansion --------------------------------------------------------------------------------------------------------


cdef void sum_cuts(Space* space, Data* s, int32_t feature) noexcept nogil:
    cdef int32_t i
    space.sums.n = 0
    for i in range(s.n_cuts):
        if s.cuts[i].feature == feature and s.cuts[i].at < s.rows.known[feature]:
            space.sums.at[space.sums.n] = s.cuts[i].at
            space.sums.n += 1
    sum_positions(space, &s.rows, feature)


cdef bint expand_data(Space* space, Data* s) noexcept nogil:
    cdef Problem* p = space.p
    cdef ShapeWalk walk
    cdef Shape shape
    cdef Choice* c
    cdef int32_t feature = -1, i, most = p.max_k if s.depth == 3 else 1
    cdef bint fine = True
    if p.every_cut:
        return expand_gaps(space, s)
    if not rows_ready(space, s):
        return False
    s.cuts = <Cut*>grab(p, cart_cut_room(p) * sizeof(Cut))
    if s.cuts == NULL:
        return False
    s.n_cuts = cart_cuts(p, &space.cart, &s.rows, leaves_at(p, s.depth), s.cuts)
    memset(&shape, 0, sizeof(Shape))
    shapes_start(&walk, s.n_cuts)
    while not p.stop and shapes_next(p, &s.rows, s.cuts, &walk, most, &shape):
        if shape.feature != feature:
            feature = shape.feature
            sum_cuts(space, s, feature)
        c = open_choice(space, s, NULL, &shape)
        if c == NULL or not data_add(p, s, c):
            choice_free(p, &space.counters, c)
            fine = False
            break
        c.refinable = most < p.max_k and shape.at[0] < s.rows.known[feature]
    if s.depth == 3 and space.heuristic == CART_LOOKAHEAD and fine:
        i = 0
        while i < s.n_choices and not p.stop:
            guess_batch(space, s, i, min(BATCHES * LANES, s.n_choices - i))
            i += BATCHES * LANES
    if p.stop or not fine:
        # Half an expansion would leave choices out of the bounds: undo it.
        data_clear_below(space, s)
        return fine
    s.expanded = True
    count_step(space, state_key(s))
    return True


cdef bint refine_choice(Space* space, Choice* c) noexcept nogil:
    """Opens the choices with one change point more than c, behind its last one."""
    cdef Problem* p = space.p
    cdef Data* s = c.owner
    cdef Shape shape
    cdef Choice* finer
    cdef int32_t i, k = c.shape.n_cuts, had = s.n_choices
    cdef bint fine = rows_ready(space, s)
    if p.every_cut:
        return refine_gap(space, c)
    if not fine:
        return False
    sum_cuts(space, s, c.shape.feature)
    for i in range(s.n_cuts):
        if p.stop or not fine:
            break
        if (
            s.cuts[i].feature != c.shape.feature or s.cuts[i].at <= c.shape.at[k - 1]
            or s.cuts[i].at >= s.rows.known[c.shape.feature]
        ):
            continue
        shape = c.shape
        shape.at[k] = s.cuts[i].at
        shape.cut[k] = s.cuts[i].cut
        shape.n_cuts = k + 1
        finer = open_choice(space, s, NULL, &shape)
        fine = finer != NULL and data_add(p, s, finer)
        if not fine:
            choice_free(p, &space.counters, finer)
            break
        finer.refinable = k + 1 < p.max_k
    if p.stop or not fine:
        while s.n_choices > had:
            s.n_choices -= 1
            choice_free(p, &space.counters, s.choices[s.n_choices])
        return fine
    c.refinable = False
    count_step(space, choice_key(s, &c.shape, True))
    return True


cdef bint solve_data(Space* space, Data* s, cost_t budget) noexcept nogil:
    """Depth left 1 or 2: exact, without opening anything."""
    cdef Problem* p = space.p
    cdef Rows* rows = &space.all_rows
    cdef Shape shape
    cdef Choice* c = s.parent
    cdef cost_t value
    if s.depth == 2 and p.every_cut:
        return solve_deep(space, s, budget)
    if c != NULL:
        if not rows_ready(space, c.owner):
            return False
        rows = &space.left
        if s == &c.left:
            part_rows(space, c.owner, &c.shape, rows, NULL)
        else:
            part_rows(space, c.owner, &c.shape, NULL, rows)
    if s.depth == 1:
        value = solve_one(p, rows, &shape)
    else:
        value = solve_two(p, &space.sweep, &space.cart, rows, leaves_at(p, s.depth), s.lower, &shape)
    if p.stop:
        return True
    s.upper = s.lower = value
    s.policy = LEAF if shape.feature < 0 else SOLVED
    count_step(space, state_key(s))
    data_complete(space, s)
    return True


cdef bint solve_deep(Space* space, Data* s, cost_t budget) noexcept nogil:
    """Depth left 2 over every cut, as far as the time allows; a half-done solve stays with the state."""
    cdef Problem* p = space.p
    cdef Choice* c = s.parent
    cdef Deep* deep = s.deep
    cdef bint done
    if deep == NULL:
        deep = <Deep*>grab(p, sizeof(Deep))
        if deep == NULL:
            return False
        if not deep_init(p, deep, s.n):
            drop(p, deep)
            return False
        s.deep = deep
        if c == NULL:
            memcpy(
                deep.rows.order, space.all_rows.order,
                p.n_features * (<int64_t>s.n + 1) * sizeof(uint32_t) + p.n_features * sizeof(int32_t),
            )
        elif not rows_ready(space, c.owner):
            return False
        elif s == &c.left:
            part_rows(space, c.owner, &c.shape, &deep.rows, NULL)
        else:
            part_rows(space, c.owner, &c.shape, NULL, &deep.rows)
    deep.least = s.lower
    done = deep_solve(p, &space.sweep, deep, budget, space.until)
    # Half done, it has its best tree so far. Only the root shows it: elsewhere it would change the search's way,
    # which must not depend on when a slice ends.
    if (done or c == NULL) and deep.value < s.upper and deep.best.feature >= 0 and not take_deep_tree(space, s):
        return False
    if not done:
        return True
    count_step(space, state_key(s))
    if deep.value >= budget and deep.value > s.lower and budget < s.upper:
        # Nothing below the budget: that is a bound, not the value.
        s.lower = max_cost(s.lower, budget)
        cache_store(p, &space.cache, s.hash, s.depth, s.lower, False, NULL, 0)
        deep_free(p, deep)
        drop(p, deep)
        s.deep = NULL
        return True
    deep_free(p, deep)
    drop(p, deep)
    s.deep = NULL
    data_complete(space, s)
    return True


cdef bint take_deep_tree(Space* space, Data* s) noexcept nogil:
    """The first split of a deep solve, above two leaves that the solver of depth left 1 splits."""
    cdef Problem* p = space.p
    cdef const Shape* best = &s.deep.best
    cdef int32_t i
    cdef TreeNode* tree = <TreeNode*>grab(p, 3 * sizeof(TreeNode))
    if tree == NULL:
        return False
    memset(tree, 0, 3 * sizeof(TreeNode))
    tree.policy = SPLIT
    tree.depth = 2
    tree.feature = best.feature
    tree.n_cuts = best.n_cuts
    tree.missing_right = best.missing_right
    for i in range(best.n_cuts):
        tree.cut[i] = cut_at(p, &s.deep.rows, best.feature, best.at[i])
    tree.right = 2
    for i in range(1, 3):
        tree[i].policy = SOLVED
        tree[i].depth = 1
        tree[i].proven = True
    drop(p, s.tree)
    s.tree = tree
    s.n_tree = 3
    s.policy = TREE
    s.upper = s.deep.value
    return True
