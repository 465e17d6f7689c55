"""What a search knows, as bytes from which another process goes on.

The graph itself is not written. A search that takes up a checkpoint opens the same states again, but finds their
values and lower bounds in the value cache, and does not count the steps it takes a second time. So an attempt that is
cut short after a few new steps has still made progress.
"""

import sys

import numpy as np

from libc.string cimport memcpy, memset

from literati._ao cimport Ao, ao_tree
from literati._states cimport RECENT, choice_key, state_key
from literati._graph cimport (
    LEAF, LOOKAHEAD, SOLVED, SPLIT, Choice, Data, Entry, TreeNode, cache_store, tree_size,
)
from literati._rows cimport grab
from literati._types cimport Problem, cost_t, int32_t, int64_t, uint64_t

VERSION = 1
HEADER = np.dtype([
    ("magic", "S4"), ("version", "<u4"), ("rows", "<i8"), ("features", "<i4"), ("classes", "<i4"), ("depth", "<i4"),
    ("changepoints", "<i4"), ("weight_cost", "<i8"), ("split_cost", "<i8"), ("refine_cost", "<i8"),
    ("options", "<u8"), ("hash", "<u8", (2,)), ("expansions", "<i8"),
    ("seconds", "<f8"), ("lower", "<i8"), ("upper", "<i8"),
    ("tree_nodes", "<i4"), ("warming", "<i4"), ("steps", "<i8"), ("values", "<i8"), ("nodes", "<i8"),
])
# What a checkpoint and the search that takes it up must agree on.
SAME = (
    "rows", "features", "classes", "depth", "changepoints", "weight_cost", "split_cost", "refine_cost", "options",
)
VALUE = np.dtype([
    ("hash", "<u8", (2,)), ("lower", "<i8"), ("tree_nodes", "<i4"), ("depth", "i1"), ("exact", "i1"),
])
NODE = np.dtype([
    ("lower", "<i8"), ("feature", "<i4"), ("right", "<i4"), ("cut", "<i4", (8,)), ("n_cuts", "i1"),
    ("missing_right", "i1"), ("policy", "i1"), ("depth", "i1"), ("proven", "i1"), ("pad", "V3"),
])

cdef packed struct Value:
    uint64_t hash[2]
    cost_t lower
    int32_t tree_nodes
    signed char depth
    signed char exact


cdef _header(Ao* ao):
    cdef Problem* p = ao.space.p
    head = np.zeros(1, dtype=HEADER)[0]
    head["magic"] = b"LTRK"
    head["version"] = VERSION
    head["rows"], head["features"], head["classes"] = p.n_rows, p.n_features, p.n_classes
    head["depth"], head["changepoints"] = p.max_depth, p.max_k
    head["weight_cost"], head["split_cost"], head["refine_cost"] = p.weight_cost, p.split_cost, p.refine_cost
    head["options"] = ao.space.options
    return head


cdef struct Writer:
    char* values
    int64_t n_values
    int64_t value_room
    char* nodes
    int64_t n_nodes
    uint64_t* steps
    int64_t n_steps
    int64_t step_room
    int64_t room         # bytes left


cdef void write_value(
    Writer* w, const uint64_t* hash, int32_t depth, cost_t lower, bint exact, const TreeNode* tree, int32_t n
) noexcept nogil:
    cdef Value value
    cdef int64_t size = sizeof(Value) + n * <int64_t>sizeof(TreeNode)
    if size > w.room:
        return
    w.room -= size
    value.hash[0] = hash[0]
    value.hash[1] = hash[1]
    value.lower = lower
    value.depth = depth
    value.exact = exact
    value.tree_nodes = n
    memcpy(w.values + w.n_values * sizeof(Value), &value, sizeof(Value))
    w.n_values += 1
    if n:
        memcpy(w.nodes + w.n_nodes * sizeof(TreeNode), tree, n * sizeof(TreeNode))
        w.n_nodes += n


cdef void write_step(Writer* w, uint64_t key) noexcept nogil:
    if w.room >= <int64_t>sizeof(uint64_t):
        w.room -= sizeof(uint64_t)
        w.steps[w.n_steps] = key
        w.n_steps += 1


cdef void write_states(Ao* ao, Writer* w, const Data* s, int32_t depth) noexcept nogil:
    """The expanded states of one depth left, and the steps taken at them."""
    cdef int32_t i
    cdef const Choice* c
    if not s.expanded:
        return
    if s.depth == depth:
        write_step(w, state_key(s))
        write_value(w, s.hash, s.depth, s.lower, False, NULL, 0)
        for i in range(s.n_choices):
            c = s.choices[i]
            if ao.space.p.every_cut:
                write_step(w, choice_key(s, &c.shape, False))
            if not c.refinable:
                write_step(w, choice_key(s, &c.shape, True))
        return
    for i in range(s.n_choices):
        write_states(ao, w, &s.choices[i].left, depth)
        write_states(ao, w, &s.choices[i].right, depth)


cdef bytes save_search(Ao* ao, double seconds, int64_t room):
    cdef Problem* p = ao.space.p
    cdef Writer w
    cdef int32_t depth, n_tree = tree_size(&ao.root)
    cdef int64_t i
    cdef const Entry* entry
    if sizeof(TreeNode) != NODE.itemsize or sys.byteorder != "little":
        raise NotImplementedError("checkpoints need a little-endian machine")
    memset(&w, 0, sizeof(Writer))
    tree = np.zeros(n_tree, dtype=NODE)
    ao_tree(ao, <TreeNode*><size_t>tree.ctypes.data)
    w.room = max(room - HEADER.itemsize - tree.nbytes, 0)
    # One block for each kind of record, each as large as the room: untouched pages cost nothing.
    values, nodes, steps = np.empty(w.room, np.uint8), np.empty(w.room, np.uint8), np.empty(w.room, np.uint8)
    w.values = <char*><size_t>values.ctypes.data
    w.nodes = <char*><size_t>nodes.ctypes.data
    w.steps = <uint64_t*><size_t>steps.ctypes.data
    with nogil:
        # The last steps may have led to nothing that is still there; they must not be counted again either.
        for i in range(min(ao.space.n_recent, RECENT)):
            write_step(&w, ao.space.recent[i])
        for i in range(min(ao.space.n_steps, RECENT)):
            write_step(&w, ao.space.steps[i])
        # What took longest to learn comes first.
        for depth in range(p.max_depth if not ao.warming else 0, 1, -1):
            write_states(ao, &w, &ao.root, depth)
            for i in range(ao.space.cache.size):
                entry = &ao.space.cache.entries[i]
                if entry.depth == depth:
                    write_value(
                        &w, entry.hash, depth, entry.lower, entry.exact, entry.tree,
                        entry.n_tree if entry.tree != NULL else 0,
                    )
    head = _header(ao)
    head["hash"] = (ao.root.hash[0], ao.root.hash[1])
    head["expansions"], head["seconds"] = ao.space.expansions, seconds
    # Values of the warming up belong to another space.
    head["lower"] = ao.least if ao.warming else ao.root.lower
    head["upper"], head["tree_nodes"], head["warming"] = ao.root.upper, n_tree, ao.warming
    taken = np.unique(steps[: w.n_steps * 8].view(np.uint64))
    head["steps"], head["values"], head["nodes"] = len(taken), w.n_values, w.n_nodes
    return b"".join((
        head.tobytes(), tree.tobytes(), taken.tobytes(),
        values[: w.n_values * VALUE.itemsize].tobytes(), nodes[: w.n_nodes * NODE.itemsize].tobytes(),
    ))


cdef int32_t checked_tree(const Problem* p, const TreeNode* tree, int32_t n, int32_t depth) noexcept nogil:
    """Size of the tree that starts here, or -1 if these nodes are no tree of this problem."""
    cdef int32_t i, size, right
    if n < 1 or depth < 0 or tree.depth < 0 or tree.depth > depth:
        return -1
    if tree.policy == LEAF:
        return 1
    if tree.policy == LOOKAHEAD:
        return 1 if tree.depth > 0 else -1
    if tree.policy == SOLVED:
        return 1 if 1 <= tree.depth <= 2 else -1
    if tree.policy != SPLIT or depth == 0 or not 0 <= tree.feature < p.n_features or not 1 <= tree.n_cuts <= p.max_k:
        return -1
    if not 0 <= tree.missing_right <= 1:
        return -1
    for i in range(tree.n_cuts):
        if tree.cut[i] < 1 or tree.cut[i] > p.card[tree.feature] or (i and tree.cut[i] <= tree.cut[i - 1]):
            return -1
    size = checked_tree(p, tree + 1, n - 1, depth - 1)
    if size < 0 or tree.right != size + 1:
        return -1
    right = checked_tree(p, tree + tree.right, n - tree.right, depth - 1)
    return -1 if right < 0 else 1 + size + right


cdef double load_search(Ao* ao, bytes blob) except? -1.0:
    cdef Problem* p = ao.space.p
    cdef const Value* value
    cdef const TreeNode* node
    cdef int64_t i, used = 0, n_nodes
    cdef uint64_t key[2]
    cdef int32_t n
    damaged = ValueError("the checkpoint is damaged")
    if len(blob) < HEADER.itemsize:
        raise damaged
    head = np.frombuffer(blob, HEADER, 1)[0]
    mine = _header(ao)
    if head["magic"] != mine["magic"]:
        raise damaged
    if head["version"] != VERSION:
        raise ValueError(f"the checkpoint has version {head['version']}; this is version {VERSION}")
    for name in SAME:
        if head[name] != mine[name]:
            raise ValueError(f"the checkpoint belongs to another search: {name} {head[name]}, not {mine[name]}")
    counts = [int(head[name]) for name in ("tree_nodes", "steps", "values", "nodes")]
    sizes = [NODE.itemsize, 8, VALUE.itemsize, NODE.itemsize]
    if min(counts) < 0 or HEADER.itemsize + sum(c * s for c, s in zip(counts, sizes)) != len(blob):
        raise damaged
    start = HEADER.itemsize
    tree = np.frombuffer(blob, NODE, counts[0], start).copy()
    start += tree.nbytes
    steps = np.sort(np.frombuffer(blob, "<u8", counts[1], start))
    start += steps.nbytes
    values = np.frombuffer(blob, VALUE, counts[2], start).copy()
    nodes = np.frombuffer(blob, NODE, counts[3], start + values.nbytes).copy()
    n = counts[0]
    if checked_tree(p, <const TreeNode*><size_t>tree.ctypes.data, n, p.max_depth) != n:
        raise damaged
    value = <const Value*><size_t>values.ctypes.data
    node = <const TreeNode*><size_t>nodes.ctypes.data
    n_nodes = counts[3]
    for i in range(counts[2]):
        n = value[i].tree_nodes
        if not 2 <= value[i].depth <= p.max_depth or n < 0 or used + n > n_nodes:
            raise damaged
        if n and checked_tree(p, node + used, n, value[i].depth) != n:
            raise damaged
        if value[i].exact and n == 0 and value[i].depth > 2:
            raise damaged
        key[0] = value[i].hash[0]
        key[1] = value[i].hash[1]
        cache_store(
            p, &ao.space.cache, key, value[i].depth, value[i].lower, value[i].exact,
            node + used if n else NULL, n,
        )
        used += n
    ao.space.steps = <uint64_t*>grab(p, 8 * len(steps) + 8)
    ao.known_tree = <TreeNode*>grab(p, tree.nbytes)
    if ao.space.steps == NULL or ao.known_tree == NULL:
        raise MemoryError("no memory for the checkpoint")
    if len(steps):
        memcpy(ao.space.steps, <const void*><size_t>steps.ctypes.data, 8 * len(steps))
    ao.space.n_steps = len(steps)
    memcpy(ao.known_tree, <const void*><size_t>tree.ctypes.data, tree.nbytes)
    ao.n_known_tree = counts[0]
    ao.known_lower, ao.known_upper = head["lower"], head["upper"]
    if ao.warming and not head["warming"]:
        ao.warming = False
        p.every_cut = True
    ao.space.expansions = head["expansions"]
    return float(head["seconds"])
