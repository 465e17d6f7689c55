"""Opening states: candidates, children, their first bounds and guesses.

A data state is expanded by opening choices: with one change point each where its children are expanded in turn, with
every shape function at once where its children are solved (depth left 2). Other choices come by refinement.
"""

from libc.string cimport memcpy, memset

from literati._bottom cimport ShapeWalk, shapes_next, shapes_start, solve_one, solve_two
from literati._bounds cimport lower_bound_of
from literati._cart cimport Cut, cart_cut_room, cart_cuts, cart_lookahead
from literati._gaps cimport expand_gaps, refine_gap
from literati._graph cimport (
    LEAF, LOOKAHEAD, SOLVED, SPLIT, TREE, Choice, Data, TreeNode, cache_store, choice_free, choice_new, data_add,
)
from literati._intervals cimport Deep, cut_at, deep_free, deep_init, deep_solve
from literati._rows cimport drop, grab
from literati._states cimport (
    CART_LOOKAHEAD, IMPURITY, Space, Sums, choice_key, count_step, data_clear_below, data_complete, data_start,
    leaves_at, part_rows, rows_ready, state_key,
)
from literati._sweep cimport BATCHES, Sweep, sweep_shapes
from literati._types cimport (
    DONE, LANES, MAX_CLASSES, NO_MEMORY, Outcome, ROW_MASK, Problem, Rows, Shape, cost_t, feature_order, int32_t,
    int64_t, max_cost, uint32_t, uint64_t,
)

cdef enum:
    MOST_AT_ONCE = 1 << 14  # choices that one expansion opens; the others come by refinement


cdef void sum_positions(Space* space, const Rows* rows, int32_t feature) noexcept nogil:
    """Fills space.sums at the positions it names; the last two are the rows with a value, and all rows."""
    cdef Problem* p = space.p
    cdef Sums* sums = &space.sums
    cdef int64_t counts[MAX_CLASSES]
    cdef int64_t doomed = 0
    cdef uint64_t h0 = 0, h1 = 0
    cdef int32_t i = 0, k, c
    cdef uint32_t row
    cdef const uint32_t* entries = feature_order(rows, feature)
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
    if space.p.stop:
        return True
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


cdef void guess_from(Space* space, Data* s, int32_t first) noexcept nogil:
    """Guesses for the choices of a state from the first one on, where their children are solved."""
    if s.depth != 3 or space.heuristic != CART_LOOKAHEAD:
        return
    while first < s.n_choices and not space.p.stop:
        guess_batch(space, s, first, min(BATCHES * LANES, s.n_choices - first))
        first += BATCHES * LANES


# --- expansion --------------------------------------------------------------------------------------------------------


cdef void sum_cuts(Space* space, Data* s, int32_t feature) noexcept nogil:
    cdef int32_t i
    space.sums.n = 0
    for i in range(s.n_cuts):
        if s.cuts[i].feature == feature and s.cuts[i].at < s.rows.known[feature]:
            space.sums.at[space.sums.n] = s.cuts[i].at
            space.sums.n += 1
    sum_positions(space, &s.rows, feature)


cdef int32_t eager_changepoints(const Problem* p, const Data* s) noexcept nogil:
    """How many change points the shape functions may have that are all opened at once, without too many of them."""
    cdef int32_t k, i, first, last
    cdef double functions = 0.0, ways
    for k in range(1, p.max_k + 1):
        last = 0
        while last < s.n_cuts:
            first = last
            while last < s.n_cuts and s.cuts[last].feature == s.cuts[first].feature:
                last += 1
            ways = 2.0 if s.rows.known[s.cuts[first].feature] < s.n else 1.0
            for i in range(k):
                ways *= <double>(last - first - i) / (i + 1)
            functions += ways
        if functions > MOST_AT_ONCE:
            return max(k - 1, 1)
    return p.max_k


cdef bint expand_data(Space* space, Data* s) noexcept nogil:
    cdef Problem* p = space.p
    cdef ShapeWalk walk
    cdef Shape shape
    cdef Choice* c
    cdef int32_t feature = -1, most = 1
    cdef bint fine = True
    if p.every_cut:
        return expand_gaps(space, s)
    if not rows_ready(space, s):
        return False
    s.cuts = <Cut*>grab(p, cart_cut_room(p) * sizeof(Cut))
    if s.cuts == NULL:
        return False
    s.n_cuts = cart_cuts(p, &space.cart, &s.rows, leaves_at(p, s.depth), s.cuts)
    if s.depth == 3:
        most = eager_changepoints(p, s)
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
        if p.byte_limit and p.bytes > p.byte_limit:
            fine = False
            break
        c.refinable = most < p.max_k and shape.n_cuts == most and shape.at[0] < s.rows.known[feature]
    if fine:
        guess_from(space, s, 0)
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
    if fine:
        guess_from(space, s, had)
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
    cdef int32_t number = -1
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
        if p.stop:
            return True
    if s.depth == 1:
        value = solve_one(p, &space.sweep.classes, rows, &shape)
    else:
        value = solve_two(p, &space.sweep, &space.cart, rows, leaves_at(p, s.depth), s.lower, &shape, &number)
    if p.stop:
        return True
    s.upper = s.lower = value
    s.policy = LEAF if shape.feature < 0 else SOLVED
    s.n_tree = number + 1
    count_step(space, state_key(s))
    data_complete(space, s)
    return True


cdef bint solve_deep(Space* space, Data* s, cost_t budget) noexcept nogil:
    """Depth left 2 over every cut, as far as the time allows; a half-done solve stays with the state."""
    cdef Problem* p = space.p
    cdef Choice* c = s.parent
    cdef Deep* deep = s.deep
    cdef Outcome outcome
    if deep == NULL:
        if c != NULL and not rows_ready(space, c.owner):
            return False
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
        elif s == &c.left:
            part_rows(space, c.owner, &c.shape, &deep.rows, NULL)
        else:
            part_rows(space, c.owner, &c.shape, NULL, &deep.rows)
        if p.stop:
            drop_deep(p, s)
            return True
    deep.least = s.lower
    outcome = deep_solve(p, &space.sweep, deep, budget, space.until)
    if outcome == NO_MEMORY:
        # Its intervals are no longer complete: begin again when there is room.
        drop_deep(p, s)
        return False
    # Half done, it has its best tree so far. Only the root shows it: elsewhere it would change the search's way,
    # which must not depend on when a slice ends.
    if (
        (outcome == DONE or c == NULL) and deep.value < s.upper and deep.best.feature >= 0
        and not take_deep_tree(space, s)
    ):
        drop_deep(p, s)
        return False
    if outcome != DONE:
        return True
    count_step(space, state_key(s))
    if deep.value >= budget and deep.value > s.lower and budget < s.upper:
        # Nothing below the budget: that is a bound, not the value.
        s.lower = max_cost(s.lower, budget)
        cache_store(p, &space.cache, s.hash, s.depth, s.lower, False, NULL, 0)
        drop_deep(p, s)
        return True
    drop_deep(p, s)
    data_complete(space, s)
    return True


cdef void drop_deep(Problem* p, Data* s) noexcept nogil:
    deep_free(p, s.deep)
    drop(p, s.deep)
    s.deep = NULL


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
