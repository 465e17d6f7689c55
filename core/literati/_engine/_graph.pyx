"""The AND/OR graph: data states, the shape functions tried at them, primal trees, and the value cache.

States own what lies below them, so pruning is freeing. A completed state shrinks to its value and a compact tree.
"""

from libc.string cimport memcpy, memset

from literati._intervals cimport deep_free
from literati._rows cimport drop, grab, rows_free
from literati._types cimport Problem, Shape, cost_t, int32_t, int64_t, uint64_t

cdef enum:
    WAYS = 4  # entries of the cache in which a key may stand


# --- states -----------------------------------------------------------------------------------------------------------


cdef Choice* choice_new(Problem* p, Counters* counters, Data* owner) noexcept nogil:
    cdef Choice* c = <Choice*>grab(p, sizeof(Choice))
    if c == NULL:
        return NULL
    memset(c, 0, sizeof(Choice))
    c.owner = owner
    c.left.parent = c
    c.right.parent = c
    counters.live += 2
    return c


cdef bint data_add(Problem* p, Data* s, Choice* c) noexcept nogil:
    cdef int32_t room
    cdef Choice** larger
    if s.n_choices == s.choice_room:
        room = 16 if s.choice_room == 0 else 2 * s.choice_room
        larger = <Choice**>grab(p, room * sizeof(Choice*))
        if larger == NULL:
            return False
        if s.n_choices:
            memcpy(larger, s.choices, s.n_choices * sizeof(Choice*))
        drop(p, s.choices)
        s.choices = larger
        s.choice_room = room
    s.choices[s.n_choices] = c
    s.n_choices += 1
    return True


cdef void choice_free(Problem* p, Counters* counters, Choice* c) noexcept nogil:
    if c == NULL:
        return
    data_clear(p, counters, &c.left)
    data_clear(p, counters, &c.right)
    data_free_values(p, &c.left)
    data_free_values(p, &c.right)
    counters.live -= 2
    counters.freed += 2
    drop(p, c)


cdef void data_clear(Problem* p, Counters* counters, Data* s) noexcept nogil:
    """Frees all below a data state; its values and its compact tree stay. At most max_depth calls deep."""
    cdef int32_t i
    for i in range(s.n_choices):
        choice_free(p, counters, s.choices[i])
    drop(p, s.choices)
    drop(p, s.cuts)
    drop(p, s.gaps)
    rows_free(p, &s.rows)
    s.choices = NULL
    s.cuts = NULL
    s.gaps = NULL
    s.best = NULL
    s.n_choices = s.choice_room = 0
    s.n_cuts = s.n_gaps = s.gap_room = 0
    s.expanded = False


cdef void data_free_values(Problem* p, Data* s) noexcept nogil:
    """Frees what data_clear leaves: the compact tree and a half-done solve."""
    drop(p, s.tree)
    s.tree = NULL
    if s.deep != NULL:
        deep_free(p, s.deep)
        drop(p, s.deep)
        s.deep = NULL


cdef bint data_add_gap(Problem* p, Data* s, const Gap* gap) noexcept nogil:
    cdef int32_t room
    cdef Gap* larger
    if s.n_gaps == s.gap_room:
        room = 16 if s.gap_room == 0 else 2 * s.gap_room
        larger = <Gap*>grab(p, room * sizeof(Gap))
        if larger == NULL:
            return False
        if s.n_gaps:
            memcpy(larger, s.gaps, s.n_gaps * sizeof(Gap))
        drop(p, s.gaps)
        s.gaps = larger
        s.gap_room = room
    s.gaps[s.n_gaps] = gap[0]
    s.n_gaps += 1
    return True


# --- compact trees ----------------------------------------------------------------------------------------------------


cdef int32_t tree_size(const Data* s) noexcept nogil:
    if s.policy == TREE:
        return s.n_tree
    if s.policy == SPLIT:
        return 1 + tree_size(&s.best.left) + tree_size(&s.best.right)
    return 1


cdef int32_t tree_write(const Data* s, TreeNode* out) noexcept nogil:
    """Writes the tree of a state's upper bound; returns its size."""
    cdef int32_t n = 1, i
    cdef const Shape* shape
    if s.policy == TREE:
        memcpy(out, s.tree, s.n_tree * sizeof(TreeNode))
        out.lower = s.lower
        out.proven = s.complete
        return s.n_tree
    memset(out, 0, sizeof(TreeNode))
    out.lower = s.lower
    out.proven = s.complete
    out.depth = s.depth
    out.policy = s.policy
    out.feature = s.n_tree - 1 if s.policy == SOLVED else -1
    if s.policy == SPLIT:
        shape = &s.best.shape
        out.feature = shape.feature
        out.n_cuts = shape.n_cuts
        out.missing_right = shape.missing_right
        for i in range(shape.n_cuts):
            out.cut[i] = shape.cut[i]
        n += tree_write(&s.best.left, out + n)
        out.right = n
        n += tree_write(&s.best.right, out + n)
    return n


cdef bint data_keep_tree(Problem* p, Data* s) noexcept nogil:
    """Turns the policy into a compact tree, so that what lies below may be freed."""
    cdef int32_t n
    cdef TreeNode* tree
    if s.policy != SPLIT:
        return True
    n = tree_size(s)
    tree = <TreeNode*>grab(p, n * sizeof(TreeNode))
    if tree == NULL:
        return False
    tree_write(s, tree)
    drop(p, s.tree)
    s.tree = tree
    s.n_tree = n
    s.policy = TREE
    return True


# --- value cache ------------------------------------------------------------------------------------------------------


cdef bint cache_init(Problem* p, Cache* cache, int64_t most_bytes) noexcept nogil:
    memset(cache, 0, sizeof(Cache))
    cache.most_bytes = most_bytes
    return cache_resize(p, cache, 1 << 10)


cdef bint cache_resize(Problem* p, Cache* cache, int64_t size) noexcept nogil:
    cdef Entry* old = cache.entries
    cdef int64_t old_size = cache.size, i
    cdef Entry* slot
    cdef Entry* entries = <Entry*>grab(p, size * sizeof(Entry))
    if entries == NULL:
        return False
    memset(entries, 0, size * sizeof(Entry))
    cache.entries = entries
    cache.size = size
    cache.bytes += (size - old_size) * sizeof(Entry)
    cache.used = 0
    for i in range(old_size):
        if old[i].depth:
            slot = cache_slot(p, cache, old[i].hash, old[i].depth)
            slot[0] = old[i]
            cache.used += 1
    drop(p, old)
    return True


cdef void cache_free(Problem* p, Cache* cache) noexcept nogil:
    cdef int64_t i
    for i in range(cache.size):
        drop(p, cache.entries[i].tree)
    drop(p, cache.entries)
    memset(cache, 0, sizeof(Cache))


cdef void cache_clear(Problem* p, Cache* cache) noexcept nogil:
    cdef int64_t i
    for i in range(cache.size):
        drop(p, cache.entries[i].tree)
    memset(cache.entries, 0, cache.size * sizeof(Entry))
    cache.bytes = cache.size * sizeof(Entry)
    cache.used = 0


cdef Entry* cache_find(Cache* cache, const uint64_t* hash, int32_t depth) noexcept nogil:
    cdef uint64_t start = hash[0] + depth * <uint64_t>0x9E3779B97F4A7C15
    cdef int32_t i
    cdef Entry* entry
    for i in range(WAYS):
        entry = &cache.entries[(start + i) & (cache.size - 1)]
        if entry.depth == depth and entry.hash[0] == hash[0] and entry.hash[1] == hash[1]:
            return entry
    return NULL


cdef Entry* cache_slot(Problem* p, Cache* cache, const uint64_t* hash, int32_t depth) noexcept nogil:
    """Where a new key may stand: an empty place, or that of the least deep of its neighbours, which is dropped."""
    cdef uint64_t start = hash[0] + depth * <uint64_t>0x9E3779B97F4A7C15
    cdef int32_t i
    cdef Entry* entry
    cdef Entry* worst = NULL
    for i in range(WAYS):
        entry = &cache.entries[(start + i) & (cache.size - 1)]
        if entry.depth == 0:
            return entry
        if worst == NULL or entry.depth < worst.depth:
            worst = entry
    if worst.tree != NULL:
        cache.bytes -= worst.n_tree * sizeof(TreeNode) + 64
        drop(p, worst.tree)
    memset(worst, 0, sizeof(Entry))
    cache.used -= 1
    return worst


cdef void cache_store(
    Problem* p, Cache* cache, const uint64_t* hash, int32_t depth, cost_t lower, bint exact,
    const TreeNode* tree, int32_t n_tree
) noexcept nogil:
    """Remembers a value, or a lower bound where not exact. Losing it costs time, never truth."""
    cdef Entry* entry = cache_find(cache, hash, depth)
    cdef int64_t tree_bytes = n_tree * <int64_t>sizeof(TreeNode) + 64
    if entry == NULL:
        if 2 * cache.used > cache.size and cache.bytes + cache.size * <int64_t>sizeof(Entry) <= cache.most_bytes:
            cache_resize(p, cache, 2 * cache.size)
        entry = cache_slot(p, cache, hash, depth)
        entry.hash[0] = hash[0]
        entry.hash[1] = hash[1]
        entry.depth = depth
        entry.lower = lower
        cache.used += 1
    elif entry.exact:
        return
    if lower > entry.lower:
        entry.lower = lower
    if not exact:
        return
    if tree != NULL:
        if cache.bytes + tree_bytes > cache.most_bytes:
            return
        entry.tree = <TreeNode*>grab(p, n_tree * sizeof(TreeNode))
        if entry.tree == NULL:
            return
        memcpy(entry.tree, tree, n_tree * sizeof(TreeNode))
        cache.bytes += tree_bytes
    entry.n_tree = n_tree
    entry.lower = entry.upper = lower
    entry.exact = True
