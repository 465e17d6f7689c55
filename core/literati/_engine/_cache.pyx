"""The value cache: what is known about states by the hash of their rows and their depth left.

Two searches below the same rows with the same depth left have the same optimum, because candidates depend on nothing
else. So a value or a lower bound that one state has proven holds for every state with these rows.
"""

from libc.string cimport memcpy, memset

from literati._engine._envelope cimport envelope_bytes
from literati._engine._memory cimport tracked_free, tracked_malloc

cdef extern from *:
    ctypedef long long int128_t "__int128"  # a product of two costs

cdef enum:
    WAYS = 4             # entries that may hold a key: a safe default
    MIN_ENTRIES = 1024   # before the cache grows
    TREE_OVERHEAD = 64   # bytes counted for a tree beside its nodes


cdef bint cache_init(Control* control, Cache* cache, int64_t max_bytes) noexcept nogil:
    memset(cache, 0, sizeof(Cache))
    cache.max_bytes = max_bytes
    return cache_resize(control, cache, MIN_ENTRIES)


cdef bint cache_resize(Control* control, Cache* cache, int64_t size) noexcept nogil:
    cdef Entry* old = cache.entries
    cdef int64_t old_size = cache.size, i
    cdef Entry* slot
    cdef Entry* entries = <Entry*>tracked_malloc(control, size * sizeof(Entry))
    if entries == NULL:
        return False
    memset(entries, 0, size * sizeof(Entry))
    cache.entries = entries
    cache.size = size
    cache.bytes += (size - old_size) * sizeof(Entry)
    cache.used = 0
    for i in range(old_size):
        if old[i].depth:
            slot = cache_slot(control, cache, old[i].hash, old[i].depth)
            slot[0] = old[i]
            cache.used += 1
    tracked_free(control, old)
    return True


cdef void free_trees(Control* control, Cache* cache) noexcept nogil:
    cdef int64_t i
    for i in range(cache.size):
        tracked_free(control, cache.entries[i].tree)
        tracked_free(control, cache.entries[i].envelope)


cdef void cache_free(Control* control, Cache* cache) noexcept nogil:
    free_trees(control, cache)
    tracked_free(control, cache.entries)
    memset(cache, 0, sizeof(Cache))


cdef void cache_clear(Control* control, Cache* cache) noexcept nogil:
    free_trees(control, cache)
    memset(cache.entries, 0, cache.size * sizeof(Entry))
    cache.bytes = cache.size * sizeof(Entry)
    cache.used = 0


cdef inline uint64_t place_of(const uint64_t* hash, int32_t depth) noexcept nogil:
    """Return the first of the WAYS entries that may hold a key, to be taken modulo the size."""
    return hash[0] + depth * <uint64_t>0x9E3779B97F4A7C15


cdef inline int64_t tree_bytes(int32_t n) noexcept nogil:
    return n * <int64_t>sizeof(TreeNode) + TREE_OVERHEAD


cdef Entry* cache_find(const Cache* cache, const uint64_t* hash, int32_t depth) noexcept nogil:
    cdef uint64_t start = place_of(hash, depth)
    cdef int32_t i
    cdef Entry* entry
    for i in range(WAYS):
        entry = &cache.entries[(start + i) & (cache.size - 1)]
        if entry.depth == depth and entry.hash[0] == hash[0] and entry.hash[1] == hash[1]:
            return entry
    return NULL


cdef void remove_tree(Control* control, Cache* cache, Entry* entry) noexcept nogil:
    if entry.tree != NULL:
        cache.bytes -= tree_bytes(entry.n_tree)
        tracked_free(control, entry.tree)
        entry.tree = NULL
        entry.n_tree = 0


cdef Entry* cache_slot(Control* control, Cache* cache, const uint64_t* hash, int32_t depth) noexcept nogil:
    """Return an empty entry for a new key; if there is none, remove the entry of least depth left."""
    cdef uint64_t start = place_of(hash, depth)
    cdef int32_t i
    cdef Entry* entry
    cdef Entry* worst = NULL
    for i in range(WAYS):
        entry = &cache.entries[(start + i) & (cache.size - 1)]
        if entry.depth == 0:
            return entry
        if worst == NULL or entry.depth < worst.depth:
            worst = entry
    remove_tree(control, cache, worst)
    if worst.envelope != NULL:
        cache.bytes -= envelope_bytes(worst.envelope)
        tracked_free(control, worst.envelope)
    memset(worst, 0, sizeof(Entry))
    cache.used -= 1
    return worst


cdef Entry* cache_entry(Control* control, Cache* cache, const uint64_t* hash, int32_t depth) noexcept nogil:
    """Return the entry of a key. A new one has the lower bound 0."""
    cdef Entry* entry = cache_find(cache, hash, depth)
    if entry == NULL:
        if 2 * cache.used > cache.size and cache.bytes + cache.size * <int64_t>sizeof(Entry) <= cache.max_bytes:
            cache_resize(control, cache, 2 * cache.size)
        entry = cache_slot(control, cache, hash, depth)
        entry.hash[0] = hash[0]
        entry.hash[1] = hash[1]
        entry.depth = depth
        cache.used += 1
    return entry


cdef void cache_store(
    Control* control, Cache* cache, const uint64_t* hash, int32_t depth, cost_t lower, bint exact,
    const TreeNode* tree, int32_t n_tree, int32_t split_index
) noexcept nogil:
    """Keep a value, or a lower bound if it is not exact. A lost entry costs time but does not change any bound."""
    cdef Entry* entry = cache_entry(control, cache, hash, depth)
    if entry.exact:
        return
    if lower > entry.lower:
        entry.lower = lower
    if not exact:
        return
    if tree != NULL:
        if cache.bytes + tree_bytes(n_tree) > cache.max_bytes:
            return
        entry.tree = <TreeNode*>tracked_malloc(control, n_tree * sizeof(TreeNode))
        if entry.tree == NULL:
            return
        memcpy(entry.tree, tree, n_tree * sizeof(TreeNode))
        cache.bytes += tree_bytes(n_tree)
    entry.n_tree = n_tree
    entry.split_index = split_index
    entry.lower = lower
    entry.exact = True


cdef void cache_store_envelope(
    Control* control, Cache* cache, const uint64_t* hash, const Envelope* envelope
) noexcept nogil:
    cdef int64_t size = envelope_bytes(envelope)
    cdef Entry* entry
    if cache.bytes + size > cache.max_bytes:
        return
    entry = cache_entry(control, cache, hash, 2)
    if entry.envelope != NULL:
        return
    entry.envelope = <Envelope*>tracked_malloc(control, size)
    if entry.envelope != NULL:
        memcpy(entry.envelope, envelope, size)
        cache.bytes += size


cdef inline cost_t divide_up(int128_t numerator, cost_t divisor) noexcept nogil:
    """Divide and round up; the numerator is not negative."""
    return <cost_t>((numerator + divisor - 1) // divisor)


cdef cost_t changed_bound(const Entry* entry, const Costs* old, const Costs* new) noexcept nogil:
    """Return a lower bound at other costs, rounded up, because a cost is a whole number of units.

    Proof: every tree costs errors + penalty * size, so the least cost is concave in the penalty and does not fall. At a
    larger penalty the bound stays; between no penalty and the old one, the chord between both bounds is a bound.
    """
    cdef cost_t free = entry.free_lower * new.weight
    cdef int128_t rise = entry.lower - entry.free_lower * old.weight
    if <int128_t>new.split * old.weight >= <int128_t>old.split * new.weight:
        return divide_up(<int128_t>entry.lower * new.weight, old.weight)
    return free + divide_up(rise * new.split, old.split) if rise > 0 else free


cdef void cache_change_costs(Control* control, Cache* cache, const Costs* old, const Costs* new) noexcept nogil:
    cdef int64_t i
    cdef Entry* entry
    for i in range(cache.size):
        entry = &cache.entries[i]
        if entry.depth == 0:
            continue
        remove_tree(control, cache, entry)
        entry.exact = False
        if old.split == 0:
            entry.free_lower = entry.lower // old.weight
        entry.lower = changed_bound(entry, old, new)
