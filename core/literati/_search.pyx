"""The search as an object that is stepped: data in, bounds and trees out."""

from libc.string cimport memcpy, memset

from hashlib import sha256

from libc.math cimport floor
import numpy as np

from literati._ao cimport (
    ADMISSIBLE, INFORMATIVE, OUT_OF_MEMORY, ROUND_ROBIN, WORST_HEURISTIC, WORST_PRIMAL, Ao, Step,
    ao_make_room, ao_start, ao_step, ao_warmed,
)
from literati._checkpoint cimport load_search, save_search
from literati._emit cimport Node, emit_tree
from literati._states cimport CART_LOOKAHEAD, IMPURITY, PRIMAL, space_free, space_init
from literati._graph cimport TreeNode, data_clear, data_free_values, tree_size, tree_write
from literati._intervals cimport monotonic
from literati._rows cimport drop, grab, rows_alloc
from literati._types cimport (
    ADAPTIVE, ALL, ENTROPY, GINI, LEGAL_CUT, MAX_CLASSES, MAX_K, QUANTILE, SHAPE, Problem, cost_t, int16_t,
    int32_t, int64_t, lanes_t, min_cost, uint8_t, uint32_t, uint64_t,
)

from literati._emit import NODE_DTYPE

cdef extern from "_lanes_table.h" nogil:
    const lanes_t* lanes_table()

MODES = {"adaptive": ADAPTIVE, "shape": SHAPE, "quantile": QUANTILE, "all": ALL}
CRITERIA = {"gini": GINI, "entropy": ENTROPY}
OR_SELECTIONS = {"informative": INFORMATIVE, "admissible": ADMISSIBLE}
AND_SELECTIONS = {"round_robin": ROUND_ROBIN, "worst_primal": WORST_PRIMAL, "worst_heuristic": WORST_HEURISTIC}
HEURISTICS = {"cart": CART_LOOKAHEAD, "primal": PRIMAL, "impurity": IMPURITY}

TRACE_DTYPE = np.dtype([("seconds", "<f8"), ("expansions", "<i8"), ("upper", "<f8"), ("lower", "<f8")])

SLICE_OVER, PROVEN, GAP_REACHED, EXPANSION_LIMIT, MEMORY_LIMIT, STOPPED, TARGET_REACHED = range(7)

cdef enum:
    TRACE_ROOM = 1 << 14


cdef packed struct TracePoint:
    double seconds
    int64_t expansions
    double upper
    double lower


def simd() -> str:
    """The instruction set that the lane kernels use on this machine."""
    return lanes_table().name.decode()


def cost_bits(weights, penalties, total):
    """Binary places that make all weights and penalties whole, as far as sums stay exact in 50 bits.

    Returns whether they all are, too: weights and penalties that are not are rounded.
    """
    most = 50 - int(np.ceil(np.log2(total)))
    for bits in range(min(most, 0), most + 1):
        scale = 2.0**bits
        if all(float(x * scale).is_integer() for x in penalties) and (
            weights is None or bool(np.all(weights * scale == np.floor(weights * scale)))
        ):
            return bits, True
    return most, False


cdef class Engine:
    """One search over encoded data. Not thread-safe, but for request_stop."""

    cdef Problem problem
    cdef Ao ao
    cdef object arrays          # keeps what the problem points to alive
    cdef bint started
    cdef bint deaf              # a tree is being written: stop requests wait in `asked`
    cdef int32_t asked
    cdef bint running           # in one thread; others may only read values and request a stop
    cdef bint ready             # ao has memory to be freed
    cdef int64_t fixed_bytes    # of data and buffers: what cannot be freed while it runs
    cdef double unit            # objective of one cost unit
    cdef int decimals           # places of the objective that are reported; -1: all
    cdef double elapsed
    cdef TracePoint* points
    cdef int64_t n_points

    def __init__(
        self, codes, values, y, n_classes, weights=None, *, max_depth, max_changepoints, split_penalty,
        changepoint_penalty, candidates, candidate_leaves, or_selection="informative", and_selection="round_robin",
        heuristic="cart", criterion="gini", memory_limit=0, grid=None,
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
        self._take_costs(weights, split_penalty, changepoint_penalty)
        leaves = np.ascontiguousarray(candidate_leaves, dtype=np.int32)
        self._hold("leaves", leaves)
        p.leaves = <const int32_t*><size_t>leaves.ctypes.data
        p.n_leaves = len(leaves)
        p.bytes += sum(a.nbytes for a in self.arrays.values())
        self._sort_rows()
        self.ao.space.heuristic = HEURISTICS[heuristic]
        shape_of_space = (candidates, criterion, leaves.tolist(), [list(map(int, g)) for g in grid or ()])
        self.ao.space.options = int.from_bytes(sha256(repr(shape_of_space).encode()).digest()[:8], "little")

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

    def _take_costs(self, weights, split_penalty, changepoint_penalty):
        cdef Problem* p = &self.problem
        n = p.n_rows
        y = self.arrays["label"]
        p.weighted = weights is not None
        total = float(np.sum(weights)) if weights is not None else float(n)
        bits, exact = cost_bits(weights, (split_penalty, changepoint_penalty), total)
        scale = 2.0**bits
        # Rounded penalties show in the last places of a sum over all nodes of a tree: those are not reported.
        self.decimals = -1 if exact else int(np.floor(np.log10(scale / 2.0 ** (p.max_depth + 2))))
        self.unit = 1.0 / scale
        if weights is None:
            whole = np.ones(n, dtype=np.int64)
            p.weight_cost = int(scale)
        else:
            whole = np.maximum(np.rint(np.asarray(weights, dtype=np.float64) * scale), 1).astype(np.int64)
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

    def _sort_rows(self):
        """The root's rows in the order of every feature, with the flags of the cuts."""
        cdef Problem* p = &self.problem
        cdef uint32_t* entries
        cdef int64_t[::1] place
        cdef int32_t j, i, known, above
        cdef const int32_t* codes
        cdef const uint8_t* grid
        cdef bint legal
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
            entries = self.ao.space.all_rows.order + j * (<int64_t>p.n_rows + 1) + 1
            codes = p.codes + j * <int64_t>p.n_rows
            # A counting sort: the codes are ranks.
            place = np.zeros(p.card[j] + 2, dtype=np.int64)
            for i in range(p.n_rows):
                place[codes[i] + 1] += 1
            for i in range(p.card[j] + 1):
                place[i + 1] += place[i]
            known = <int32_t>place[p.card[j]]
            for i in range(p.n_rows):
                entries[place[codes[i]]] = i
                place[codes[i]] += 1
            self.ao.space.all_rows.known[j] = known
            for i in range(known - 1):
                legal = codes[entries[i]] != codes[entries[i + 1]]
                if legal and p.grid != NULL:
                    grid = p.grid + p.value_start[j]
                    above = codes[entries[i]] + 1
                    while above < codes[entries[i + 1]] and not grid[above]:
                        above += 1
                    legal = grid[above]
                if legal:
                    entries[i] |= LEGAL_CUT

    # --- running ------------------------------------------------------------------------------------------------------

    def run(
        self, double seconds, int64_t max_expansions=-1, double gap=0.0, double gap_absolute=0.0, double target=-1.0
    ):
        """Searches for about so long, or until a tree costs no more than the target; returns why it stopped."""
        cdef double start, until
        cdef int status = SLICE_OVER
        cdef Ao* ao = &self.ao
        cdef Problem* p = &self.problem
        cdef Step step
        cdef int64_t spare = p.byte_limit - self.fixed_bytes
        if p.stop:
            p.stop = 0
            return STOPPED
        self._take()
        with nogil:
            start = monotonic()
            until = start + seconds
            ao.space.until = until
            if not self.started:
                self.started = ao_start(ao)
                self.record(monotonic() - start)
            while not p.stop:
                if ao.warming and not ao_warmed(ao):
                    status = 4
                    break
                if ao.root.complete and not ao.warming:
                    status = 1
                    break
                if self.gap_met(gap, gap_absolute):
                    status = 2
                    break
                if self.upper_now() <= target:
                    status = 6
                    break
                if max_expansions >= 0 and ao.space.expansions >= max_expansions:
                    status = 3
                    break
                if p.byte_limit and p.bytes > p.byte_limit - spare // 8:
                    ao_make_room(ao, p.byte_limit - spare // 2)
                    if p.bytes > p.byte_limit - spare // 8:
                        status = 4
                        break
                step = ao_step(ao)
                if step == OUT_OF_MEMORY:
                    ao_make_room(ao, p.bytes // 2)
                    step = ao_step(ao)
                    if step == OUT_OF_MEMORY:
                        status = 4
                        break
                self.record(monotonic() - start)
                if monotonic() >= until:
                    break
            self.elapsed += monotonic() - start
        self.running = False
        if p.stop:
            p.stop = 0
            if status == SLICE_OVER:
                return STOPPED
        return status

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

    cdef double objective_of(self, cost_t cost) noexcept nogil:
        cdef double places
        if self.decimals < 0:
            return cost * self.unit
        places = 10.0 ** self.decimals
        return floor(cost * self.unit * places + 0.5) / places

    cdef double upper_now(self) noexcept nogil:
        return self.objective_of(self.ao.root.upper)

    cdef double lower_now(self) noexcept nogil:
        if self.ao.warming:
            return self.objective_of(self.ao.least)
        if self.ao.root.complete:
            return self.objective_of(self.ao.root.upper)
        return self.objective_of(min_cost(self.ao.root.lower, self.ao.root.upper))

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
        self.points[self.n_points].seconds = self.elapsed + seconds
        self.points[self.n_points].expansions = self.ao.space.expansions
        self.points[self.n_points].upper = upper
        self.points[self.n_points].lower = lower
        self.n_points += 1

    # --- results ------------------------------------------------------------------------------------------------------

    @property
    def upper(self):
        self._begin()
        return self.upper_now()

    @property
    def lower(self):
        self._begin()
        return self.lower_now()

    @property
    def proven(self):
        self._begin()
        return bool(self.ao.root.complete) and not self.ao.warming

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

    @property
    def seconds(self):
        return self.elapsed

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

    def _begin(self):
        """Makes the first incumbent, if no run has."""
        cdef bint asked = False
        if self.started or self.running:
            return
        self._take()
        with nogil:
            # A stop request is for run(), and is kept for it.
            while not self.started:
                asked = asked or self.problem.stop
                self.problem.stop = 0
                self.started = ao_start(&self.ao)
            self.record(0.0)
        if asked:
            self.problem.stop = 1
        self.running = False

    def checkpoint(self, max_bytes=16 << 20):
        """What the search knows, in at most so many bytes (and never less than its tree needs)."""
        self._begin()
        self._take()
        try:
            return save_search(&self.ao, self.elapsed, max_bytes)
        finally:
            self.running = False

    def restore(self, blob):
        """Goes on from a checkpoint of the same data and options; before the first run."""
        if self.started:
            raise ValueError("a search that has run cannot take up a checkpoint")
        self.elapsed = load_search(&self.ao, bytes(blob))

    def nodes(self):
        """The tree whose cost is `upper`, as an array of NODE_DTYPE."""
        cdef Problem* p = &self.problem
        cdef int32_t n, size
        cdef TreeNode* tree
        cdef Node* nodes
        self._begin()
        self._take()
        size = tree_size(&self.ao.root)
        tree = <TreeNode*>grab(p, size * sizeof(TreeNode))
        if tree == NULL:
            self.running = False
            raise MemoryError("no memory for the tree")
        room = min(2 << p.max_depth, 2 * p.n_rows + 1)
        out = np.zeros(room, dtype=NODE_DTYPE)
        tree_write(&self.ao.root, tree)
        nodes = <Node*><size_t>out.ctypes.data
        # A stop request is for run(): the tree is wanted all the same, and the request is kept.
        self.asked, p.stop, self.deaf = p.stop, 0, True
        with nogil:
            n = emit_tree(&self.ao.space, tree, nodes, self.unit)
        self.deaf, p.stop = False, self.asked
        drop(p, tree)
        self.running = False
        if n < 0:
            raise MemoryError("no memory for the tree")
        return out[:n].copy()


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
