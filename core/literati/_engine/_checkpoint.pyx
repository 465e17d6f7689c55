"""Save what a search knows as bytes, from which another process continues.

The graph itself is not written. A search that resumes from a checkpoint opens the same states again, but finds their
values and lower bounds in the value cache, and does not count the steps that it takes a second time. So an attempt that
is cut short after a few new steps has still made progress.
"""

import sys

import numpy as np

from libc.string cimport memcpy, memset

from literati._engine._ao cimport ao_tree
from literati._engine._cache cimport Entry, cache_store
from literati._engine._data_state cimport MAX_RECENT, choice_key, state_key
from literati._engine._graph cimport LEAF, LOOKAHEAD, SOLVED, SPLIT, Choice, DataState, TreeNode, tree_size
from literati._engine._memory cimport tracked_malloc
from literati._engine._types cimport Control, Dataset, cost_t, uint64_t

VERSION = 1
HEADER = np.dtype([
    ("magic", "S4"), ("version", "<u4"), ("rows", "<i8"), ("features", "<i4"), ("classes", "<i4"), ("depth", "<i4"),
    ("changepoints", "<i4"), ("weight_cost", "<i8"), ("split_cost", "<i8"), ("refine_cost", "<i8"),
    ("options", "<u8"), ("hash", "<u8", (2,)), ("expansions", "<i8"),
    ("seconds", "<f8"), ("lower", "<i8"), ("upper", "<i8"),
    ("tree_nodes", "<i4"), ("warming", "<i4"), ("steps", "<i8"), ("values", "<i8"), ("nodes", "<i8"),
])
# What a checkpoint and the search that resumes from it must agree on.
SAME = ("rows", "features", "classes", "depth", "changepoints", "weight_cost", "split_cost", "refine_cost", "options")
VALUE = np.dtype([("hash", "<u8", (2,)), ("lower", "<i8"), ("tree_nodes", "<i4"), ("depth", "i1"), ("exact", "i1")])
NODE = np.dtype([
    ("lower", "<i8"), ("feature", "<i4"), ("right", "<i4"), ("cut", "<i4", (8,)), ("n_cuts", "i1"),
    ("missing_right", "i1"), ("policy", "i1"), ("depth", "i1"), ("proven", "i1"), ("pad", "V3"),
])

# What is known about a set of rows, with the layout of VALUE.
cdef packed struct Value:
    uint64_t hash[2]
    cost_t lower
    int32_t tree_nodes   # nodes of its tree; 0: none
    signed char depth    # depth left
    signed char exact    # `lower` is the optimum


cdef _header(Ao* ao):
    cdef const Dataset* data = ao.context.data
    costs = (data.weight_cost, data.split_cost, data.changepoint_cost)
    sizes = (data.n_rows, data.n_features, data.n_classes, data.max_depth, data.max_k)
    head = np.zeros(1, dtype=HEADER)[0]
    head["magic"], head["version"] = b"LTRK", VERSION
    for name, value in zip(SAME, (*sizes, *costs, ao.options)):
        head[name] = value
    return head


cdef struct Writer:
    Value* values
    int64_t n_values
    TreeNode* nodes      # the trees of these values, one after the other
    int64_t n_nodes
    uint64_t* steps      # keys
    int64_t n_steps
    int64_t bytes_left


cdef void write_value(
    Writer* w, const uint64_t* hash, int32_t depth, cost_t lower, bint exact, const TreeNode* tree, int32_t n
) noexcept nogil:
    cdef Value* value = &w.values[w.n_values]
    cdef int64_t size = sizeof(Value) + n * <int64_t>sizeof(TreeNode)
    if size > w.bytes_left:
        return
    w.bytes_left -= size
    value.hash[0] = hash[0]
    value.hash[1] = hash[1]
    value.lower = lower
    value.depth = depth
    value.exact = exact
    value.tree_nodes = n
    w.n_values += 1
    if n:
        memcpy(&w.nodes[w.n_nodes], tree, n * sizeof(TreeNode))
        w.n_nodes += n


cdef void write_step(Writer* w, uint64_t key) noexcept nogil:
    if w.bytes_left >= <int64_t>sizeof(uint64_t):
        w.bytes_left -= sizeof(uint64_t)
        w.steps[w.n_steps] = key
        w.n_steps += 1


cdef void write_states(Ao* ao, Writer* w, const DataState* s, int32_t depth) noexcept nogil:
    """Write the expanded states of one depth left, and the steps taken at them."""
    cdef int32_t i
    cdef const Choice* c
    if not s.expanded:
        return
    if s.depth == depth:
        write_step(w, state_key(s))
        write_value(w, s.hash, s.depth, s.lower, False, NULL, 0)
        for i in range(s.n_choices):
            c = s.choices[i]
            if ao.context.every_cut:
                write_step(w, choice_key(s, &c.shape, False))
            if not c.refinable:
                write_step(w, choice_key(s, &c.shape, True))
        return
    for i in range(s.n_choices):
        write_states(ao, w, &s.choices[i].left, depth)
        write_states(ao, w, &s.choices[i].right, depth)


cdef bytes save_search(Ao* ao, double seconds, int64_t max_bytes):
    cdef const Dataset* data = ao.context.data
    cdef Writer w
    cdef int32_t depth, n_tree = tree_size(&ao.root)
    cdef int64_t i
    cdef const Entry* entry
    if sizeof(TreeNode) != NODE.itemsize or sys.byteorder != "little":
        raise NotImplementedError("checkpoints need a little-endian machine")
    memset(&w, 0, sizeof(Writer))
    tree = np.zeros(n_tree, dtype=NODE)
    ao_tree(ao, <TreeNode*><size_t>tree.ctypes.data)
    w.bytes_left = max(max_bytes - HEADER.itemsize - tree.nbytes, 0)
    # Every kind of record may take all bytes: pages that are not touched cost nothing.
    values, nodes, steps = (np.empty(w.bytes_left // kind.itemsize, kind) for kind in (VALUE, NODE, np.dtype("<u8")))
    w.values = <Value*><size_t>values.ctypes.data
    w.nodes = <TreeNode*><size_t>nodes.ctypes.data
    w.steps = <uint64_t*><size_t>steps.ctypes.data
    with nogil:
        # What the last steps opened may be gone, but they must not be counted again either.
        for i in range(min(ao.counter.n_recent, MAX_RECENT)):
            write_step(&w, ao.counter.recent[i])
        for i in range(min(ao.counter.n_steps, MAX_RECENT)):
            write_step(&w, ao.counter.steps[i])
        # Large depths come first: their bounds took longest to prove.
        for depth in range(data.max_depth if not ao.in_warm_up else 0, 1, -1):
            write_states(ao, &w, &ao.root, depth)
            for i in range(ao.cache.size):
                entry = &ao.cache.entries[i]
                if entry.depth == depth:
                    write_value(
                        &w, entry.hash, depth, entry.lower, entry.exact, entry.tree,
                        entry.n_tree if entry.tree != NULL else 0,
                    )
    head = _header(ao)
    head["hash"] = (ao.root.hash[0], ao.root.hash[1])
    head["expansions"], head["seconds"] = ao.counter.expansions, seconds
    # Values of the warm-up belong to another space.
    head["lower"] = ao.initial_lower if ao.in_warm_up else ao.root.lower
    head["upper"], head["tree_nodes"], head["warming"] = ao.root.upper, n_tree, ao.in_warm_up
    taken = np.unique(steps[:w.n_steps])
    head["steps"], head["values"], head["nodes"] = len(taken), w.n_values, w.n_nodes
    parts = (head, tree, taken, values[:w.n_values], nodes[:w.n_nodes])
    return b"".join(part.tobytes() for part in parts)


cdef int32_t checked_tree(const Dataset* data, const TreeNode* tree, int32_t n, int32_t depth) noexcept nogil:
    """Return the size of the tree that starts here, -1 if these nodes are no tree of this dataset."""
    cdef int32_t i, size, right
    if n < 1 or depth < 0 or tree.depth < 0 or tree.depth > depth:
        return -1
    if tree.policy == LEAF:
        return 1
    if tree.policy == LOOKAHEAD:
        return 1 if tree.depth > 0 else -1
    if tree.policy == SOLVED:
        return 1 if 1 <= tree.depth <= 2 else -1
    if tree.policy != SPLIT or depth == 0 or not 0 <= tree.feature < data.n_features:
        return -1
    if not 1 <= tree.n_cuts <= data.max_k or not 0 <= tree.missing_right <= 1:
        return -1
    for i in range(tree.n_cuts):
        if tree.cut[i] < 1 or tree.cut[i] > data.cardinality[tree.feature] or (i and tree.cut[i] <= tree.cut[i - 1]):
            return -1
    size = checked_tree(data, tree + 1, n - 1, depth - 1)
    if size < 0 or tree.right != size + 1:
        return -1
    right = checked_tree(data, tree + tree.right, n - tree.right, depth - 1)
    return -1 if right < 0 else 1 + size + right


def compact_tree(nodes, max_depth):
    """Return an array of NODE from one of NODE_DTYPE, whose nodes are in preorder. `checked_tree` checks the result."""
    tree = np.zeros(len(nodes), dtype=NODE)
    depth = np.full(len(nodes), max_depth)
    tree["feature"] = -1
    for i, node in enumerate(nodes):
        tree[i]["depth"] = depth[i]
        tree[i]["policy"] = LEAF
        if node["feature"] < 0:
            continue
        if node["left"] != i + 1 or not i + 1 < node["right"] < len(nodes):
            raise ValueError("nodes: expected a tree in preorder")
        depth[node["left"]] = depth[node["right"]] = depth[i] - 1
        n = node["n_changepoints"]
        tree[i]["policy"] = SPLIT
        tree[i]["feature"], tree[i]["right"] = node["feature"], node["right"] - i
        tree[i]["cut"][:n], tree[i]["n_cuts"] = node["changepoints"][:n], n
        tree[i]["missing_right"] = node["missing_right"]
    return tree


cdef TreeNode* load_tree(Ao* ao, nodes, int32_t* n) except NULL:
    cdef const Dataset* data = ao.context.data
    cdef TreeNode* tree
    array = compact_tree(nodes, data.max_depth)
    n[0] = len(array)
    if n[0] != checked_tree(data, <const TreeNode*><size_t>array.ctypes.data, n[0], data.max_depth):
        raise ValueError("nodes: they are no tree of this search")
    tree = <TreeNode*>tracked_malloc(ao.context.control, array.nbytes)
    if tree == NULL:
        raise MemoryError("no memory for the tree")
    memcpy(tree, <const void*><size_t>array.ctypes.data, array.nbytes)
    return tree


def _damaged():
    return ValueError("the checkpoint is damaged")


cdef _check_header(Ao* ao, bytes blob):
    """Return the header of a checkpoint that belongs to this search; raise ValueError otherwise."""
    if len(blob) < HEADER.itemsize:
        raise _damaged()
    head = np.frombuffer(blob, HEADER, 1)[0]
    mine = _header(ao)
    if head["magic"] != mine["magic"]:
        raise _damaged()
    if head["version"] != VERSION:
        raise ValueError(f"the checkpoint has version {head['version']}; this is version {VERSION}")
    for name in SAME:
        if head[name] != mine[name]:
            raise ValueError(f"the checkpoint belongs to another search: {name} {head[name]}, not {mine[name]}")
    return head


def _parts(blob, head):
    """Return copies of the arrays behind the header: the tree, the steps, the values and their trees."""
    kinds = (("tree_nodes", NODE), ("steps", np.dtype("<u8")), ("values", VALUE), ("nodes", NODE))
    counts = [int(head[name]) for name, _ in kinds]
    sizes = [count * dtype.itemsize for count, (_, dtype) in zip(counts, kinds)]
    if min(counts) < 0 or HEADER.itemsize + sum(sizes) != len(blob):
        raise _damaged()
    starts = np.cumsum([HEADER.itemsize, *sizes])
    return [np.frombuffer(blob, dtype, n, start).copy() for n, start, (_, dtype) in zip(counts, starts, kinds)]


cdef _load_values(Ao* ao, values, nodes):
    """Put values and lower bounds into the cache, after their trees have been checked."""
    cdef const Dataset* data = ao.context.data
    cdef const Value* value = <const Value*><size_t>values.ctypes.data
    cdef const TreeNode* node = <const TreeNode*><size_t>nodes.ctypes.data
    cdef int64_t i, used = 0, n_nodes = len(nodes)
    cdef uint64_t key[2]
    cdef int32_t n
    for i in range(len(values)):
        n = value[i].tree_nodes
        if not 2 <= value[i].depth <= data.max_depth or n < 0 or used + n > n_nodes:
            raise _damaged()
        if n and checked_tree(data, node + used, n, value[i].depth) != n:
            raise _damaged()
        if value[i].exact and n == 0 and value[i].depth > 2:
            raise _damaged()
        key[0] = value[i].hash[0]
        key[1] = value[i].hash[1]
        cache_store(
            ao.context.control, &ao.cache, key, value[i].depth, value[i].lower, value[i].exact,
            node + used if n else NULL, n, -1,
        )
        used += n


cdef double load_search(Ao* ao, bytes blob) except? -1.0:
    cdef Control* control = ao.context.control
    head = _check_header(ao, blob)
    tree, steps, values, nodes = _parts(blob, head)
    steps.sort()
    if checked_tree(
        ao.context.data, <const TreeNode*><size_t>tree.ctypes.data, len(tree), ao.context.data.max_depth
    ) != len(tree):
        raise _damaged()
    _load_values(ao, values, nodes)
    ao.counter.steps = <uint64_t*>tracked_malloc(control, steps.nbytes + 8)
    ao.saved_tree = <TreeNode*>tracked_malloc(control, tree.nbytes)
    if ao.counter.steps == NULL or ao.saved_tree == NULL:
        raise MemoryError("no memory for the checkpoint")
    memcpy(ao.counter.steps, <const void*><size_t>steps.ctypes.data, steps.nbytes)
    ao.counter.n_steps = len(steps)
    memcpy(ao.saved_tree, <const void*><size_t>tree.ctypes.data, tree.nbytes)
    ao.n_saved_tree = len(tree)
    ao.saved_lower, ao.saved_upper = head["lower"], head["upper"]
    if ao.in_warm_up and not head["warming"]:
        ao.in_warm_up = False
        ao.context.every_cut = True
    ao.counter.expansions = head["expansions"]
    return float(head["seconds"])
