"""The search as an object that is stepped: data in, bounds and trees out."""

from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcpy, memset

from hashlib import sha256

import numpy as np

from literati._ao cimport (
    ADMISSIBLE, INFORMATIVE, INTERRUPTED, OUT_OF_MEMORY, ROUND_ROBIN, WORST_HEURISTIC, WORST_PRIMAL, Ao, Step,
    ao_look_ahead, ao_lower, ao_make_room, ao_proven, ao_start, ao_step, ao_tree, ao_warmed,
)
from literati._checkpoint cimport load_search, save_search
from literati._emit cimport Node, emit_tree
from literati._states cimport CART_LOOKAHEAD, IMPURITY, PRIMAL, Space, space_free, space_init
from literati._graph cimport TreeNode, data_clear, data_free_values, tree_size
from literati._intervals cimport monotonic
from literati._rows cimport drop, grab, rows_alloc
from literati._types cimport (
    ADAPTIVE, ALL, ENTROPY, GINI, LEGAL_CUT, MAX_CLASSES, MAX_K, QUANTILE, SHAPE, Problem, Rows, feature_order,
    int16_t, int32_t, int64_t, lanes_t, uint8_t, uint32_t, uint64_t,
)

from literati._emit import NODE_DTYPE
from literati.costs import choose_scale, whole_weights

cdef extern from "_lanes_table.h" nogil:
    const lanes_t* lanes_table()

MODES = {"adaptive": ADAPTIVE, "shape": SHAPE, "quantile": QUANTILE, "all": ALL}
CRITERIA = {"gini": GINI, "entropy": ENTROPY}
OR_SELECTIONS = {"informative": INFORMATIVE, "admissible": ADMISSIBLE}
AND_SELECTIONS = {"round_robin": ROUND_ROBIN, "worst_primal": WORST_PRIMAL, "worst_heuristic": WORST_HEURISTIC}
HEURISTICS = {"cart": CART_LOOKAHEAD, "primal": PRIMAL, "impurity": IMPURITY}

TRACE_DTYPE = np.dtype([("seconds", "<f8"), ("expansions", "<i8"), ("upper", "<f8"), ("lower", "<f8")])

cdef enum:
    TRACE_ROOM = 1 << 14
    ROW_BYTES = 8 + 8 + 8 + 2 + 4 + 2 + 4 + 16 + 8  # of the arrays of weights and hashes, see _take_costs


# Why a run of the engine ended.
cpdef enum RunStatus:
    SLICE_OVER = 0
    PROVEN = 1
    GAP_REACHED = 2
    EXPANSION_LIMIT = 3
    MEMORY_LIMIT = 4
    STOP_REQUESTED = 5
    POLISH_DUE = 6       # a better tree than the caller has polished, and work enough done since


cdef packed struct TracePoint:
    double seconds
    int64_t expansions
    double upper
    double lower


cdef void sort_feature(const Problem* p, Rows* rows, int32_t feature, int64_t* place) noexcept nogil:
    """Sort the root's rows by their codes, which are ranks, and flag the cuts. `place` has a zero for every code."""
    cdef uint32_t* entries = feature_order(rows, feature)
    cdef const int32_t* codes = p.codes + feature * <int64_t>p.n_rows
    cdef const uint8_t* grid
    cdef int32_t i, known, above
    cdef bint legal
    for i in range(p.n_rows):
        place[codes[i] + 1] += 1
    for i in range(p.card[feature] + 1):
        place[i + 1] += place[i]
    known = <int32_t>place[p.card[feature]]
    for i in range(p.n_rows):
        entries[place[codes[i]]] = i
        place[codes[i]] += 1
    rows.known[feature] = known
    for i in range(known - 1):
        legal = codes[entries[i]] != codes[entries[i + 1]]
        if legal and p.grid != NULL:
            grid = p.grid + p.value_start[feature]
            above = codes[entries[i]] + 1
            while above < codes[entries[i + 1]] and not grid[above]:
                above += 1
            legal = grid[above]
        if legal:
            entries[i] |= LEGAL_CUT


def simd() -> str:
    """The instruction set that the lane kernels use on this machine."""
    return lanes_table().name.decode()


def starting_bytes(n_rows, cardinalities, n_classes, *, max_depth, max_changepoints, candidates, candidate_leaves):
    """Return how many bytes an Engine for data of this size takes before it runs."""
    cdef Problem p
    cdef Space space
    cdef Rows rows
    memset(&p, 0, sizeof(Problem))
    leaves = np.ascontiguousarray(candidate_leaves, dtype=np.int32)
    p.measuring = True
    p.n_rows, p.n_features, p.n_classes = n_rows, len(cardinalities), n_classes
    p.max_depth, p.max_k = max_depth, max_changepoints
    p.mode = MODES[candidates]
    p.leaves = <const int32_t*><size_t>leaves.ctypes.data
    p.n_leaves = len(leaves)
    grab(&p, TRACE_ROOM * sizeof(TracePoint))
    space_init(&space, &p, 0)
    rows_alloc(&p, &rows, p.n_rows)
    values = sum(cardinalities) + p.n_features
    # The arrays of _take_data and of _take_costs: by cell, by feature, by value, by row.
    held = 4 * p.n_features * <int64_t>p.n_rows + 12 * p.n_features + 8 + (8 + (p.mode == QUANTILE)) * values
    return p.bytes + held + (4 + ROW_BYTES) * <int64_t>p.n_rows + leaves.nbytes


cdef class Engine:
    """One search over encoded data. Not thread-safe, but for request_stop."""

    cdef Problem problem
    cdef Ao ao
    cdef object arrays          # keeps what the problem points to alive
    cdef bint deaf              # a tree is being written: stop requests wait in `asked`
    cdef int32_t asked
    cdef bint running           # in one thread; others may only read values and request a stop
    cdef bint ready             # ao has memory to be freed
    cdef readonly int64_t fixed_bytes    # of data and buffers: what cannot be freed while it runs
    cdef double scale           # cost units of one misclassified row
    cdef bint has_run
    cdef TracePoint* points
    cdef int64_t n_points

    def __init__(
        self, codes, values, y, n_classes, weights=None, *, max_depth, max_changepoints, split_penalty,
        changepoint_penalty, candidates, candidate_leaves, or_selection="informative", and_selection="round_robin",
        heuristic="cart", criterion="gini", memory_limit=0, grid=None, scale=None, poll=None,
    ):
        cdef Problem* p = &self.problem
        if not 1 <= n_classes <= MAX_CLASSES:
            raise ValueError(f"n_classes must be 1..{MAX_CLASSES}, got {n_classes}")
        if not 1 <= max_changepoints <= MAX_K:
            raise ValueError(f"max_changepoints must be 1..{MAX_K}, got {max_changepoints}")
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        n_features, n_rows = codes.shape
        p.n_rows, p.n_features, p.n_classes = n_rows, n_features, n_classes
        p.max_depth, p.max_k = max_depth, max_changepoints
        p.mode = MODES[candidates]
        p.every_cut = p.mode == ALL or p.mode == QUANTILE
        # Threshold trees of depth 3 are proven in a moment; for anything larger a good tree has to come first.
        self.ao.warming = p.every_cut and (p.max_k > 1 or p.max_depth > 3)
        if self.ao.warming:
            p.every_cut = False
        p.criterion = CRITERIA[criterion]
        p.byte_limit = memory_limit
        p.lanes = lanes_table()
        self.ao.or_selection = OR_SELECTIONS[or_selection]
        self.ao.and_selection = AND_SELECTIONS[and_selection]
        self.points = <TracePoint*>grab(p, TRACE_ROOM * sizeof(TracePoint))
        if self.points == NULL:
            raise MemoryError("no memory for the trace of the search")
        self._take_data(codes, values, np.ascontiguousarray(y, dtype=np.int32), weights, grid)
        self._take_costs(weights, split_penalty, changepoint_penalty, scale)
        leaves = np.ascontiguousarray(candidate_leaves, dtype=np.int32)
        self._hold("leaves", leaves)
        p.leaves = <const int32_t*><size_t>leaves.ctypes.data
        p.n_leaves = len(leaves)
        p.bytes += sum(a.nbytes for a in self.arrays.values())
        self._sort_rows(poll)
        self.ao.space.heuristic = HEURISTICS[heuristic]
        shape_of_space = (candidates, criterion, leaves.tolist(), [list(map(int, g)) for g in grid or ()])
        self.ao.space.options = int.from_bytes(sha256(repr(shape_of_space).encode()).digest()[:8], "little")
        ao_start(&self.ao)

    def __cinit__(self, *args, **kwargs):
        memset(&self.problem, 0, sizeof(Problem))
        memset(&self.ao, 0, sizeof(Ao))
        self.arrays = {}

    def __dealloc__(self):
        if self.ready:
            self.ao.root.rows.order = NULL
            data_clear(&self.problem, &self.ao.space.counters, &self.ao.root)
            data_free_values(&self.problem, &self.ao.root)
            drop(&self.problem, self.ao.known_tree)
            space_free(&self.ao.space)
        drop(&self.problem, self.points)

    # --- data ---------------------------------------------------------------------------------------------------------

    def _hold(self, name, array):
        self.arrays[name] = array

    def _take_data(self, codes, values, y, weights, grid):
        cdef Problem* p = &self.problem
        n_features = len(codes)
        card = np.array([len(v) for v in values], dtype=np.int32)
        starts = np.zeros(n_features + 1, dtype=np.int64)
        np.cumsum(card + 1, out=starts[1:])
        flat = np.concatenate([np.append(np.asarray(v, dtype=np.float64), np.inf) for v in values])
        codes = np.where(codes < 0, card[:, None], codes).astype(np.int32)
        self._hold("codes", codes)
        self._hold("card", card)
        self._hold("starts", starts)
        self._hold("values", flat)
        self._hold("label", y)
        p.codes = <const int32_t*><size_t>codes.ctypes.data
        p.card = <const int32_t*><size_t>card.ctypes.data
        p.value_start = <const int64_t*><size_t>starts.ctypes.data
        p.values = <const double*><size_t>flat.ctypes.data
        p.label = <const int32_t*><size_t>y.ctypes.data
        if p.mode == QUANTILE:
            allowed = np.zeros(int(starts[n_features]), dtype=np.uint8)
            for j, positions in enumerate(grid):
                allowed[starts[j] + np.asarray(positions, dtype=np.int64)] = 1
            self._hold("grid", allowed)
            p.grid = <const uint8_t*><size_t>allowed.ctypes.data

    def _take_costs(self, weights, split_penalty, changepoint_penalty, scale):
        cdef Problem* p = &self.problem
        n = p.n_rows
        y = self.arrays["label"]
        p.weighted = weights is not None
        self.scale = scale or choose_scale(weights, n, (split_penalty, changepoint_penalty))
        scale = self.scale
        if weights is None:
            whole = np.ones(n, dtype=np.int64)
            p.weight_cost = int(scale)
        else:
            whole = whole_weights(np.asarray(weights, dtype=np.float64), scale).astype(np.int64)
            p.weight_cost = 1
        p.heaviest = int(whole.max())
        p.split_cost = round(split_penalty * scale)
        p.refine_cost = round(changepoint_penalty * scale)
        signed = np.where(y == 1, -whole, whole)
        real = whole.astype(np.float64)
        # A lane of b bits must hold twice the weight of the rows in it; each row at least has to fit.
        small = np.clip(whole, None, 2**15 - 1).astype(np.int16)
        middle = np.clip(whole, None, 2**31 - 1).astype(np.int32)
        signed16, signed32 = np.where(y == 1, -small, small), np.where(y == 1, -middle, middle)
        hashes = _row_hashes(n)
        doomed = _doomed(self.arrays["codes"], y, whole, p.n_classes)
        for name, array in (
            ("weight", whole), ("signed", signed), ("real", real), ("small", small), ("middle", middle),
            ("signed16", signed16), ("signed32", signed32), ("hashes", hashes), ("doomed", doomed),
        ):
            self._hold(name, array)
        p.weight = <const int64_t*><size_t>whole.ctypes.data
        p.real_weight = <const double*><size_t>real.ctypes.data
        p.weight16 = <const int16_t*><size_t>small.ctypes.data
        p.weight32 = <const int32_t*><size_t>middle.ctypes.data
        p.signed16 = <const int16_t*><size_t>signed16.ctypes.data
        p.signed32 = <const int32_t*><size_t>signed32.ctypes.data
        p.signed64 = <const int64_t*><size_t>signed.ctypes.data
        p.row_hash = <const uint64_t*><size_t>hashes.ctypes.data
        p.doomed = <const int64_t*><size_t>doomed.ctypes.data

    def _sort_rows(self, poll):
        """Put the root's rows in the order of every feature, with the flags of the cuts."""
        cdef Problem* p = &self.problem
        cdef int64_t[::1] place
        cdef int32_t j
        cdef int64_t cache_bytes = 256 << 20
        if p.byte_limit:
            cache_bytes = min(cache_bytes, p.byte_limit // 4)
        self.ready = True
        if not space_init(&self.ao.space, p, cache_bytes) or not rows_alloc(p, &self.ao.space.all_rows, p.n_rows):
            raise MemoryError("not enough memory for the search's working space")
        if p.byte_limit and p.bytes > p.byte_limit:
            raise MemoryError(f"the search takes {p.bytes} to start with, and {p.byte_limit} are left for it")
        self.fixed_bytes = p.bytes
        if p.byte_limit:
            # What the data leaves is for the graph first.
            self.ao.space.cache.most_bytes = min(
                cache_bytes, self.ao.space.cache.bytes + (p.byte_limit - p.bytes) // 4
            )
        for j in range(p.n_features):
            PyErr_CheckSignals()
            if poll is not None:
                poll()
            place = np.zeros(p.card[j] + 2, dtype=np.int64)
            with nogil:
                sort_feature(p, &self.ao.space.all_rows, j, &place[0])

    # --- running ------------------------------------------------------------------------------------------------------

    def run(
        self, double seconds, int64_t max_expansions=-1, double gap=0.0, double gap_absolute=0.0, *,
        double clock=0.0, double polish_below=-1.0, int64_t polish_work=0,
    ):
        """Search for about so long and return why it ended, a RunStatus.

        `clock` is the time of the trace when the run begins. The run ends early when a tree costs less than
        `polish_below` and the search has done `polish_work`.
        """
        cdef double start, until
        cdef RunStatus status = RunStatus.SLICE_OVER
        cdef Ao* ao = &self.ao
        cdef Problem* p = &self.problem
        cdef Step step
        cdef int64_t spare = p.byte_limit - self.fixed_bytes, work
        if p.stop:
            p.stop = 0
            return RunStatus.STOP_REQUESTED
        self._take()
        self.has_run = True
        with nogil:
            start = monotonic()
            until = start + seconds
            ao.space.until = until
            self.record(clock)
            while not p.stop:
                if ao_proven(ao):
                    status = RunStatus.PROVEN
                    break
                if ao.looked_ahead and ao.warming and not ao_warmed(ao):
                    status = RunStatus.MEMORY_LIMIT
                    break
                if self.gap_met(gap, gap_absolute):
                    status = RunStatus.GAP_REACHED
                    break
                # Not in the middle of a solve: where a slice ends must not decide which trees are polished.
                if p.work >= polish_work and self.upper_now() < polish_below and ao.pending == NULL:
                    status = RunStatus.POLISH_DUE
                    break
                if max_expansions >= 0 and ao.space.expansions >= max_expansions and ao.looked_ahead:
                    status = RunStatus.EXPANSION_LIMIT
                    break
                if p.byte_limit and p.bytes > p.byte_limit - spare // 8:
                    ao_make_room(ao, p.byte_limit - spare // 2)
                    if p.bytes > p.byte_limit - spare // 8:
                        status = RunStatus.MEMORY_LIMIT
                        break
                work = p.work
                step = self.step()
                if step == OUT_OF_MEMORY:
                    ao_make_room(ao, p.bytes // 2)
                    step = self.step()
                    if step == OUT_OF_MEMORY:
                        status = RunStatus.MEMORY_LIMIT
                        break
                if step == INTERRUPTED and ao.pending == NULL:
                    p.work = work  # what is done again is not counted twice: work decides when a tree is polished
                self.record(clock + monotonic() - start)
                if monotonic() >= until:
                    break
        self.running = False
        if p.stop:
            p.stop = 0
            if status == RunStatus.SLICE_OVER:
                return RunStatus.STOP_REQUESTED
        return status

    cdef Step step(self) noexcept nogil:
        return ao_step(&self.ao) if self.ao.looked_ahead else ao_look_ahead(&self.ao)

    def request_stop(self):
        """Makes run() return soon; may be called from any thread."""
        if self.deaf:
            self.asked = 1
        else:
            self.problem.stop = 1

    def change_memory_limit(self, int64_t limit):
        """Sets how many bytes the search may take from the next run() on; 0 for no limit."""
        self.problem.byte_limit = limit

    cdef bint gap_met(self, double gap, double gap_absolute) noexcept nogil:
        cdef double upper = self.upper_now(), lower = self.lower_now()
        if gap <= 0.0 and gap_absolute <= 0.0:
            return False
        return upper - lower <= gap_absolute or upper - lower <= gap * upper

    cdef double upper_now(self) noexcept nogil:
        return self.ao.root.upper / self.scale

    cdef double lower_now(self) noexcept nogil:
        return ao_lower(&self.ao) / self.scale

    cdef void record(self, double seconds) noexcept nogil:
        """Adds a point to the trace when a bound has moved. A full trace keeps every second point."""
        cdef double upper = self.upper_now(), lower = self.lower_now()
        cdef TracePoint* last = &self.points[self.n_points - 1]
        cdef int64_t i
        if self.n_points and last.upper == upper and last.lower == lower:
            return
        if self.n_points == TRACE_ROOM:
            for i in range(TRACE_ROOM // 2):
                self.points[i] = self.points[2 * i + 1]
            self.n_points = TRACE_ROOM // 2
        self.points[self.n_points].seconds = seconds
        self.points[self.n_points].expansions = self.ao.space.expansions
        self.points[self.n_points].upper = upper
        self.points[self.n_points].lower = lower
        self.n_points += 1

    # --- results ------------------------------------------------------------------------------------------------------

    @property
    def upper(self):
        return self.upper_now()

    @property
    def lower(self):
        return self.lower_now()

    @property
    def proven(self):
        return bool(ao_proven(&self.ao))

    @property
    def work(self):
        """Rows visited so far: a clock that does not depend on the machine."""
        return self.problem.work

    @property
    def expansions(self):
        return self.ao.space.expansions

    @property
    def states_live(self):
        return self.ao.space.counters.live + 1

    @property
    def states_freed(self):
        return self.ao.space.counters.freed

    @property
    def cache_hits(self):
        return self.ao.space.cache.hits

    @property
    def bytes(self):
        return self.problem.bytes

    @property
    def improvements(self):
        return self.ao.improvements

    def trace(self):
        cdef int64_t n = self.n_points
        out = np.empty(n, dtype=TRACE_DTYPE)
        if n:
            memcpy(<void*><size_t>out.ctypes.data, self.points, n * sizeof(TracePoint))
        return out

    def _take(self):
        """What changes the search belongs to one thread at a time."""
        if self.running:
            raise RuntimeError("this search is running in another thread")
        self.running = True

    def checkpoint(self, max_bytes=16 << 20, seconds=0.0):
        """What the search knows, in at most so many bytes (and never less than its tree needs)."""
        self._take()
        try:
            return save_search(&self.ao, seconds, max_bytes)
        finally:
            self.running = False

    def restore(self, blob):
        """Goes on from a checkpoint of the same data and options; before the first run. Returns its seconds."""
        if self.has_run:
            raise ValueError("a search that has run cannot take up a checkpoint")
        seconds = load_search(&self.ao, bytes(blob))
        ao_start(&self.ao)
        return seconds

    def nodes(self, *, interruptible=False):
        """The tree whose cost is `upper`, as an array of NODE_DTYPE; None if it is interruptible and was stopped."""
        cdef Problem* p = &self.problem
        cdef int32_t n = -1
        cdef TreeNode* tree = NULL
        cdef Node* nodes
        cdef int64_t work = p.work
        self._take()
        if not interruptible:
            # A stop request is for run(): the tree is wanted all the same, and the request is kept.
            self.asked, p.stop, self.deaf = p.stop, 0, True
        try:
            out = np.zeros(min(2 << p.max_depth, 2 * p.n_rows + 1), dtype=NODE_DTYPE)
            tree = <TreeNode*>grab(p, tree_size(&self.ao.root) * sizeof(TreeNode))
            if tree == NULL:
                raise MemoryError("no memory for the tree")
            ao_tree(&self.ao, tree)
            nodes = <Node*><size_t>out.ctypes.data
            with nogil:
                n = emit_tree(&self.ao.space, tree, nodes, self.scale)
            if n < 0 and not p.stop:
                raise MemoryError("no memory for the tree")
        finally:
            drop(p, tree)
            p.stop = 0 if interruptible else self.asked
            p.work = work  # looking at a tree does not move the search on
            self.deaf = self.running = False
        return out[:n].copy() if n >= 0 else None

    def clear_stop(self):
        """Forget a stop request that came too late for the call it was meant for."""
        self.problem.stop = 0

    def fail_allocations(self, after, count=1):
        """Let so many allocations fail after some that do not: for tests."""
        self.problem.allocations_left, self.problem.allocations_failing = after, count

    @property
    def allocations_left(self):
        return self.problem.allocations_left


def _row_hashes(n):
    """Two 64-bit hashes a row, the same in every process (splitmix64)."""
    with np.errstate(over="ignore"):
        x = (np.arange(1, 2 * n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.ascontiguousarray(x ^ (x >> np.uint64(31)))


def _doomed(codes, y, weight, n_classes):
    """Weight of the rows that share all features with a heavier class: no tree gets them right."""
    # Rows with equal features have equal hashes; that equal hashes mean equal features is checked.
    keys = np.zeros(len(y), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column, factor in zip(codes, _row_hashes(len(codes))[::2]):
            keys += column.astype(np.uint64) * (factor | np.uint64(1))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    same = keys[1:] == keys[: len(keys) - 1]
    where = np.flatnonzero(same)
    same[where] = np.all(codes[:, order[where]] == codes[:, order[where + 1]], axis=0)
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = ~same
    doomed = np.zeros(len(y), dtype=np.int64)
    if fresh.all():
        return doomed
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(fresh) - 1
    key = group * n_classes + y
    pairs, where = np.unique(key, return_inverse=True)
    sums = np.bincount(where, weights=weight.astype(np.float64)).astype(np.int64)
    # The heaviest class of each group, the lowest label among equals.
    best = np.lexsort((pairs % n_classes, -sums, pairs // n_classes))
    first = np.ones(len(pairs), dtype=bool)
    first[1:] = np.diff(pairs[best] // n_classes) != 0
    winner = np.zeros(len(pairs), dtype=bool)
    winner[best[first]] = True
    return np.where(winner[where], 0, weight).astype(np.int64)
