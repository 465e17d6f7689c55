"""The engine: one search over encoded data, which is run in slices."""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX
from libc.string cimport memcpy, memset

from hashlib import sha256

import numpy as np

from literati._engine._ao cimport (
    Ao, ao_change_costs, ao_end_warm_up, ao_explored, ao_free, ao_free_memory, ao_init, ao_look_ahead, ao_lower,
    ao_proven, ao_start, ao_start_over, ao_step, ao_tree,
)
from literati._engine._checkpoint cimport load_search, load_tree, save_search
from literati._engine._data_state cimport CART_LOOKAHEAD, IMPURITY, PRIMAL
from literati._engine._graph cimport TreeNode, tree_size
from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._polish cimport make_polisher
from literati._engine._round cimport helpers_end, helpers_start, helpers_stop
from literati._engine._select cimport ADMISSIBLE, INFORMATIVE, MIXED, ROUND_ROBIN, WORST_HEURISTIC, WORST_PRIMAL
from literati._engine._tree_writer cimport Node, write_nodes
from literati._engine._types cimport (
    ADAPTIVE, ALL, ENTROPY, GINI, LEGAL_CUT, MAX_CLASSES, MAX_K, NO_MEMORY, QUANTILE, SHAPE, Control, Costs, Dataset,
    Outcome, Rows, cost_t, feature_order, int16_t, int32_t, int64_t, lanes_t, long_lanes_t, monotonic, uint32_t,
    uint64_t, uint8_t,
)

from literati._engine._tree_writer import NODE_DTYPE

cdef extern from "_lanes_table.h" nogil:
    const lanes_t* lanes_table()
    const long_lanes_t* long_lanes_table()

MODES = {"adaptive": ADAPTIVE, "shape": SHAPE, "quantile": QUANTILE, "all": ALL}
CRITERIA = {"gini": GINI, "entropy": ENTROPY}
OR_SELECTIONS = {"informative": INFORMATIVE, "admissible": ADMISSIBLE, "mixed": MIXED}
AND_SELECTIONS = {"round_robin": ROUND_ROBIN, "worst_primal": WORST_PRIMAL, "worst_heuristic": WORST_HEURISTIC}
HEURISTICS = {"cart": CART_LOOKAHEAD, "primal": PRIMAL, "impurity": IMPURITY}

TRACE_DTYPE = np.dtype([
    ("seconds", "<f8"), ("expansions", "<i8"), ("upper", "<f8"), ("lower", "<f8"), ("explored", "<f8"),
    ("stage", "<i8"),
])
cdef double EXPLORED_STEP = 0.01  # by which the explored share grows until it makes a point of the trace by itself

cdef enum:
    MAX_TRACE_POINTS = 1 << 13                      # 384 KiB: enough for a plot at any size; a full trace is halved
    ROW_BYTES = 8 + 8 + 8 + 2 + 4 + 2 + 4 + 16 + 8  # of the arrays of weights and hashes, see _set_weights
    MAX_CACHE_BYTES = 256 << 20                     # safe default: the value cache of hours of search fits
    CACHE_SHARE = 4      # under a memory limit the cache gets a fourth of what the data leaves; safe default
    # Memory is freed when less than 1 / RESERVE_SHARE of what the data leaves is free, until 1 / FREE_SHARE is free.
    # Safe defaults: a single step takes less than the reserve, and freeing is rare.
    RESERVE_SHARE = 8
    FREE_SHARE = 2


# Why a run of the engine ended.
cpdef enum RunStatus:
    SLICE_OVER = 0       # the seconds are over
    PROVEN = 1           # the bounds have met
    GAP_REACHED = 2
    EXPANSION_LIMIT = 3
    MEMORY_LIMIT = 4
    STOP_REQUESTED = 5
    POLISH_DUE = 6       # there is a better tree than the caller has polished, and enough work was done since
    WORK_LIMIT = 7


# When a run of the engine ends before its seconds are over.
cdef struct RunLimits:
    int64_t max_expansions  # negative: no limit
    double gap              # relative gap
    double gap_absolute
    double polish_below     # a tree that costs less is due to be polished ...
    int64_t polish_work     # ... once the search has done this work
    int64_t max_work        # negative: no limit


cdef packed struct TracePoint:
    double seconds
    int64_t expansions
    double upper
    double lower
    double explored
    int64_t stage


cdef void sort_feature(const Dataset* data, Rows* rows, int32_t feature, int64_t* place) noexcept nogil:
    """Sort the root's rows by their codes, which are ranks, and flag the cuts. `place` has a zero for every code."""
    cdef uint32_t* entries = feature_order(rows, feature)
    cdef const int32_t* codes = data.codes + feature * <int64_t>data.n_rows
    cdef const uint8_t* grid
    cdef int32_t i, known, above
    cdef bint legal
    for i in range(data.n_rows):
        place[codes[i] + 1] += 1
    for i in range(data.cardinality[feature] + 1):
        place[i + 1] += place[i]
    known = <int32_t>place[data.cardinality[feature]]
    for i in range(data.n_rows):
        entries[place[codes[i]]] = i
        place[codes[i]] += 1
    rows.known[feature] = known
    for i in range(known - 1):
        legal = codes[entries[i]] != codes[entries[i + 1]]
        if legal and data.grid != NULL:
            grid = data.grid + data.value_start[feature]
            above = codes[entries[i]] + 1
            while above < codes[entries[i + 1]] and not grid[above]:
                above += 1
            legal = grid[above]
        if legal:
            entries[i] |= LEGAL_CUT


def simd() -> str:
    """Return the instruction set that the lane kernels use on this machine."""
    return lanes_table().name.decode()


def starting_bytes(
    n_rows, cardinalities, n_classes, *, max_depth, max_changepoints, candidates, candidate_leaves, min_samples_leaf=1,
    n_threads=1,
):
    """Return how many bytes an Engine for data of this size takes before it runs.

    For one whose space is widened later, the candidates are those that need most memory (see Engine).
    """
    cdef Dataset data
    cdef Control control
    cdef Ao ao
    memset(&data, 0, sizeof(Dataset))
    memset(&control, 0, sizeof(Control))
    memset(&ao, 0, sizeof(Ao))
    leaves = np.ascontiguousarray(candidate_leaves, dtype=np.int32)
    control.measuring = True
    data.n_rows, data.n_features, data.n_classes = n_rows, len(cardinalities), n_classes
    data.max_depth, data.max_k, data.min_rows = max_depth, max_changepoints, min_samples_leaf
    data.mode = MODES[candidates]
    data.candidate_leaves = <const int32_t*><size_t>leaves.ctypes.data
    data.n_candidate_leaves = len(leaves)
    tracked_malloc(&control, MAX_TRACE_POINTS * sizeof(TracePoint))
    ao_init(&ao, &data, &control, 0, n_threads)
    values = sum(cardinalities) + data.n_features
    # The arrays of _set_data and of _set_weights: by cell, by feature, by value, by row.
    cells = 4 * data.n_features * <int64_t>data.n_rows
    held = cells + 12 * data.n_features + 8 + (8 + (data.mode == QUANTILE)) * values
    return control.bytes + held + (4 + ROW_BYTES) * <int64_t>data.n_rows + leaves.nbytes


cdef class Engine:
    """One search over encoded data. Only request_stop may be called from another thread."""

    cdef Dataset data
    cdef Control control
    cdef Ao ao
    cdef object arrays          # keeps what `data` points to alive
    cdef bint defer_stop        # a tree is being written: stop requests wait in `deferred_stop`
    cdef int32_t deferred_stop
    cdef bint running           # in one thread; others may only read values and request a stop
    cdef bint ready             # `ao` has memory to be freed
    cdef readonly int64_t fixed_bytes  # of data and buffers, which cannot be freed while the search runs
    cdef double scale           # cost units of one misclassified row
    cdef bint has_run
    cdef TracePoint* points     # the trace
    cdef int64_t n_points
    cdef object criterion
    cdef object min_samples_leaf
    cdef readonly int64_t stage  # index of the space that is searched
    cdef readonly int64_t improvements  # better trees found by the last run
    cdef readonly double improved_at    # time of the trace at which the last of them was found

    def __init__(
        self, codes, values, y, n_classes, weights=None, *, max_depth, max_changepoints, candidates, candidate_leaves,
        split_cost=0, changepoint_cost=0, scale=1.0, or_selection="mixed", and_selection="round_robin",
        heuristic="cart", criterion="gini", memory_limit=0, grid=None, poll=None, min_samples_leaf=1,
        largest_space=None, stage=0, n_threads=1, complexities=(0, 0),
    ):
        """Encode the data and set up the root state.

        Weights and costs are whole numbers of units (see literati.search.costs), of which one misclassified row of
        weight 1 costs `scale`. `poll` is called between features while the rows are sorted, and may raise. If the space
        is widened later, `largest_space` has the candidates and their leaves that need most memory, and the number of
        the first stage is `stage`. If the penalties change later (see change_costs), they are multiples of
        `complexities`, of a split and of a change point; (0, 0) if they do not.
        """
        cdef Dataset* data = &self.data
        cdef Control* control = &self.control
        if not 1 <= n_classes <= MAX_CLASSES:
            raise ValueError(f"n_classes must be 1..{MAX_CLASSES}, got {n_classes}")
        if not 1 <= max_changepoints <= MAX_K:
            raise ValueError(f"max_changepoints must be 1..{MAX_K}, got {max_changepoints}")
        if min_samples_leaf < 1:
            raise ValueError(f"min_samples_leaf must be 1 or more, got {min_samples_leaf}")
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        n_features, n_rows = codes.shape
        data.n_rows, data.n_features, data.n_classes = n_rows, n_features, n_classes
        data.max_depth, data.max_k = max_depth, max_changepoints
        data.min_rows = min(min_samples_leaf, n_rows)  # beyond half of the rows there is no split
        self.min_samples_leaf = min_samples_leaf
        data.criterion = CRITERIA[criterion]
        self.criterion, self.stage = criterion, stage
        self._set_space(*(largest_space or (candidates, candidate_leaves)))
        control.byte_limit = memory_limit
        data.lanes, data.long_lanes = lanes_table(), long_lanes_table()
        self.ao.selection.or_selection = OR_SELECTIONS[or_selection]
        self.ao.selection.and_selection = AND_SELECTIONS[and_selection]
        self.points = <TracePoint*>tracked_malloc(control, MAX_TRACE_POINTS * sizeof(TracePoint))
        if self.points == NULL:
            raise MemoryError("no memory for the trace of the search")
        self.scale = scale
        data.split_cost, data.changepoint_cost = split_cost, changepoint_cost
        if data.min_rows == 1 and candidates in ("adaptive", "shape"):  # otherwise states have no envelopes
            data.split_complexity, data.changepoint_complexity = complexities
        self._set_data(codes, values, np.ascontiguousarray(y, dtype=np.int32), grid)
        self._set_weights(weights)
        control.bytes += sum(a.nbytes for a in self.arrays.values())
        self._sort_rows(poll, n_threads)
        self.ao.context.heuristic = HEURISTICS[heuristic]
        every_cut = self._set_space(candidates, candidate_leaves, grid)
        # Threshold trees of depth 3 are proven fast; anything larger needs a good tree first.
        self.ao.in_warm_up = every_cut and (data.max_k > 1 or data.max_depth > 3)
        self.ao.context.every_cut = every_cut and not self.ao.in_warm_up
        ao_start(&self.ao)

    def __cinit__(self, *args, **kwargs):
        memset(&self.data, 0, sizeof(Dataset))
        memset(&self.control, 0, sizeof(Control))
        memset(&self.ao, 0, sizeof(Ao))
        self.arrays = {}

    def __dealloc__(self):
        if self.ready:
            ao_free(&self.ao)
        tracked_free(&self.control, self.points)

    # --- data ---------------------------------------------------------------------------------------------------------

    def _hold(self, name, array):
        """Keep an array alive and return its address."""
        self.arrays[name] = array
        return array.ctypes.data

    def _set_space(self, candidates, candidate_leaves, grid=None):
        """Set the candidates of the space that is searched, and return whether they are every cut."""
        cdef Dataset* data = &self.data
        leaves = np.ascontiguousarray(candidate_leaves, dtype=np.int32)
        data.mode = MODES[candidates]
        data.candidate_leaves = <const int32_t*><size_t>self._hold("leaves", leaves)
        data.n_candidate_leaves = len(leaves)
        shape_of_space = (candidates, self.criterion, leaves.tolist(), [list(map(int, g)) for g in grid or ()])
        if self.min_samples_leaf > 1:  # version 0.1.0 did not have it
            shape_of_space += (int(self.min_samples_leaf),)
        self.ao.options = int.from_bytes(sha256(repr(shape_of_space).encode()).digest()[:8], "little")
        return data.mode == ALL or data.mode == QUANTILE

    def _set_data(self, codes, values, y, grid):
        cdef Dataset* data = &self.data
        n_features = len(codes)
        cardinality = np.array([len(v) for v in values], dtype=np.int32)
        starts = np.zeros(n_features + 1, dtype=np.int64)
        np.cumsum(cardinality + 1, out=starts[1:])
        flat = np.concatenate([np.append(np.asarray(v, dtype=np.float64), np.inf) for v in values])
        codes = np.where(codes < 0, cardinality[:, None], codes).astype(np.int32)
        data.codes = <const int32_t*><size_t>self._hold("codes", codes)
        data.cardinality = <const int32_t*><size_t>self._hold("cardinality", cardinality)
        data.value_start = <const int64_t*><size_t>self._hold("starts", starts)
        data.values = <const double*><size_t>self._hold("values", flat)
        data.label = <const int32_t*><size_t>self._hold("label", y)
        if data.mode == QUANTILE:
            allowed = np.zeros(int(starts[n_features]), dtype=np.uint8)
            for j, positions in enumerate(grid):
                allowed[starts[j] + np.asarray(positions, dtype=np.int64)] = 1
            data.grid = <const uint8_t*><size_t>self._hold("grid", allowed)

    def _set_weights(self, weights):
        """Lay the weights of the rows out for all kernels. Without weights a row weighs 1, which costs `scale`."""
        cdef Dataset* data = &self.data
        n, y = data.n_rows, self.arrays["label"]
        data.weighted = weights is not None
        data.weight_cost = 1 if data.weighted else int(self.scale)
        whole = np.asarray(weights).astype(np.int64) if data.weighted else np.ones(n, dtype=np.int64)
        data.max_weight = int(whole.max())
        # A lane of b bits must hold twice the weight of the rows in it; each row at least has to fit.
        small = np.clip(whole, None, 2**15 - 1).astype(np.int16)
        middle = np.clip(whole, None, 2**31 - 1).astype(np.int32)
        data.weight = <const int64_t*><size_t>self._hold("weight", whole)
        data.real_weight = <const double*><size_t>self._hold("real", whole.astype(np.float64))
        data.weight16 = <const int16_t*><size_t>self._hold("small", small)
        data.weight32 = <const int32_t*><size_t>self._hold("middle", middle)
        data.signed16 = <const int16_t*><size_t>self._hold("signed16", np.where(y == 1, -small, small))
        data.signed32 = <const int32_t*><size_t>self._hold("signed32", np.where(y == 1, -middle, middle))
        data.signed64 = <const int64_t*><size_t>self._hold("signed", np.where(y == 1, -whole, whole))
        data.row_hash = <const uint64_t*><size_t>self._hold("hashes", _row_hashes(n))
        errors = _unavoidable_errors(self.arrays["codes"], y, whole, data.n_classes)
        data.unavoidable_error = <const int64_t*><size_t>self._hold("errors", errors)

    def _sort_rows(self, poll, n_threads):
        """Put the root's rows in the order of every feature, with the flags of the cuts."""
        cdef Dataset* data = &self.data
        cdef Control* control = &self.control
        cdef int64_t[::1] place
        cdef int32_t j
        cdef int64_t cache_bytes = MAX_CACHE_BYTES
        if control.byte_limit:
            cache_bytes = min(cache_bytes, control.byte_limit // CACHE_SHARE)
        self.ready = True
        if not ao_init(&self.ao, data, control, cache_bytes, n_threads):
            raise MemoryError("not enough memory for the buffers of the search")
        if control.byte_limit and control.bytes > control.byte_limit:
            raise ValueError(
                f"memory_limit: the search needs {control.bytes} bytes to start, but the limit leaves "
                f"{control.byte_limit} for it"
            )
        self.fixed_bytes = control.bytes
        if control.byte_limit:
            # What the data leaves is mostly for the graph.
            self.ao.cache.max_bytes = min(
                cache_bytes, self.ao.cache.bytes + (control.byte_limit - control.bytes) // CACHE_SHARE
            )
        for j in range(data.n_features):
            PyErr_CheckSignals()
            if poll is not None:
                poll()
            place = np.zeros(data.cardinality[j] + 2, dtype=np.int64)
            with nogil:
                sort_feature(data, &self.ao.context.all_rows, j, &place[0])

    # --- running ------------------------------------------------------------------------------------------------------

    def run(
        self, double seconds, int64_t max_expansions=-1, double gap=0.0, double gap_absolute=0.0, *,
        double clock=0.0, double best=INFINITY, double polish_below=-1.0, int64_t polish_work=0, int64_t max_work=-1,
    ):
        """Search for about `seconds` and return why the run ended, as a RunStatus.

        `clock` is the time of the trace when the run begins, and `best` the cost that a tree must undercut to count as
        an improvement. The run ends early when a tree costs less than `polish_below` and the search has done
        `polish_work`.
        """
        cdef RunLimits limits = RunLimits(max_expansions, gap, gap_absolute, polish_below, polish_work, max_work)
        cdef RunStatus status = RunStatus.SLICE_OVER
        cdef Control* control = &self.control
        cdef double start, now
        self.improvements = 0
        if control.stop:
            control.stop = 0
            return RunStatus.STOP_REQUESTED
        self._begin()
        self.has_run = True
        with nogil:
            start = now = monotonic()
            self.ao.context.until = start + seconds
            self.record(clock)
            helpers_start(&self.ao.helpers, control)
            while not control.stop:
                status = self.status_now(&limits)
                if status == RunStatus.SLICE_OVER and self.step(&limits) == NO_MEMORY:
                    status = RunStatus.MEMORY_LIMIT
                if status != RunStatus.SLICE_OVER:
                    break
                now = monotonic()
                self.record(clock + now - start)
                if self.upper_now() < best:
                    best = self.upper_now()
                    self.improvements += 1
                    self.improved_at = clock + now - start
                if now >= self.ao.context.until:
                    break
        self.running = False
        if control.stop:
            control.stop = 0
            if status == RunStatus.SLICE_OVER:
                return RunStatus.STOP_REQUESTED
        return status

    def end_threads(self):
        """End the threads that help the search, which sleep between runs. The next run starts them again."""
        self._begin()
        with nogil:
            helpers_end(&self.ao.helpers)
        self.running = False

    cdef RunStatus status_now(self, const RunLimits* limits) noexcept nogil:
        """Return why the run ends here, SLICE_OVER if it goes on. Frees memory when little is left."""
        cdef Ao* ao = &self.ao
        cdef Control* control = &self.control
        cdef int64_t spare = control.byte_limit - self.fixed_bytes
        cdef double upper = self.upper_now(), gap
        if ao_proven(ao):
            return RunStatus.PROVEN
        if ao.tasks.n:
            return RunStatus.SLICE_OVER  # where a slice ends must not decide when the search ends, or polishes a tree
        if ao.looked_ahead and ao.in_warm_up and not ao_end_warm_up(ao):
            return RunStatus.MEMORY_LIMIT
        gap = upper - self.lower_now()
        if (limits.gap > 0.0 or limits.gap_absolute > 0.0) and gap <= max(limits.gap_absolute, limits.gap * upper):
            return RunStatus.GAP_REACHED
        if control.work >= limits.polish_work and upper < limits.polish_below:
            return RunStatus.POLISH_DUE
        if 0 <= limits.max_expansions <= ao.counter.expansions and ao.looked_ahead:
            return RunStatus.EXPANSION_LIMIT
        if 0 <= limits.max_work <= control.work and ao.looked_ahead:
            return RunStatus.WORK_LIMIT
        if control.byte_limit and control.bytes > control.byte_limit - spare // RESERVE_SHARE:
            ao_free_memory(ao, control.byte_limit - spare // FREE_SHARE)
            if control.bytes > control.byte_limit - spare // RESERVE_SHARE:
                return RunStatus.MEMORY_LIMIT
        return RunStatus.SLICE_OVER

    cdef Outcome step(self, const RunLimits* limits) noexcept nogil:
        """Make one step; if memory runs out, free half of it and try again."""
        cdef Ao* ao = &self.ao
        cdef Outcome outcome = self.try_step(limits)
        if outcome == NO_MEMORY:
            ao_free_memory(ao, self.control.bytes // 2)
            outcome = self.try_step(limits)
        return outcome

    cdef Outcome try_step(self, const RunLimits* limits) noexcept nogil:
        cdef int64_t left = INT64_MAX
        if not self.ao.looked_ahead:
            return ao_look_ahead(&self.ao)
        if limits.max_expansions >= 0:
            left = limits.max_expansions - self.ao.counter.expansions
        return ao_step(&self.ao, left)

    def request_stop(self):
        """Make run() return soon. May be called from any thread."""
        if self.defer_stop:
            self.deferred_stop = 1
        else:
            self.control.stop = 1
            helpers_stop(&self.ao.helpers, 1)

    def widen(self, candidates, candidate_leaves, nodes, upper, stage):
        """Search a space that contains the one searched before, as stage `stage`.

        `nodes` is a tree of this space that costs `upper`, as an array of NODE_DTYPE in preorder; its cost is not
        checked. The bounds and values of the narrower space are forgotten; work, expansions and the trace continue. The
        new space may not need more memory than `largest_space`.
        """
        cdef TreeNode* tree
        cdef int32_t n
        self._begin()
        try:
            tree = load_tree(&self.ao, nodes, &n)
            every_cut = self._set_space(candidates, candidate_leaves)
            # The same states are expanded again, and counted, since their space is another one.
            self.ao.counter.n_steps = self.ao.counter.n_recent = 0
            self.ao.selection.low_memory = False
            self.ao.looked_ahead = True
            self.ao.started_at = self.ao.counter.expansions
            self.ao.selection.improved_at = self.ao.counter.expansions
            ao_start_over(&self.ao, every_cut, tree, n, <cost_t>round(upper * self.scale))
            self.stage = stage
        finally:
            self.running = False

    def change_costs(self, weight_cost, split_cost, changepoint_cost, scale, nodes, upper, heuristic):
        """Search with other penalties. Costs and `upper` are in units, of which a row of weight 1 costs `scale`.

        `nodes` is a tree of this space that costs `upper` now, as in `widen`. Work and expansions continue; the trace
        and the costs that the engine tells are in the new units.
        """
        cdef TreeNode* tree
        cdef int32_t n
        cdef Dataset* data = &self.data
        cdef Costs old = Costs(data.weight_cost, data.split_cost, data.changepoint_cost)
        cdef Costs new = Costs(weight_cost, split_cost, changepoint_cost)
        self._begin()
        try:
            tree = load_tree(&self.ao, nodes, &n)
            data.weight_cost, data.split_cost, data.changepoint_cost = weight_cost, split_cost, changepoint_cost
            self.scale = scale
            self.ao.context.heuristic = HEURISTICS[heuristic]
            self.ao.counter.n_steps = self.ao.counter.n_recent = 0
            self.ao.selection.low_memory = False
            self.ao.started_at = self.ao.selection.improved_at = self.ao.counter.expansions
            ao_change_costs(&self.ao, &old, &new, tree, n, upper)
        finally:
            self.running = False

    def change_memory_limit(self, int64_t limit):
        """Set how many bytes the search may take from the next run() on; 0 for no limit."""
        self.control.byte_limit = limit

    cdef double upper_now(self) noexcept nogil:
        return self.ao.root.upper / self.scale

    cdef double lower_now(self) noexcept nogil:
        return ao_lower(&self.ao) / self.scale

    cdef void record(self, double seconds) noexcept nogil:
        """Add a point to the trace when a bound or the explored share has moved. A full trace keeps every second."""
        cdef double upper = self.upper_now(), lower = self.lower_now(), explored = ao_explored(&self.ao)
        cdef TracePoint* last = &self.points[self.n_points - 1]
        cdef int64_t i
        if (
            self.n_points and last.upper == upper and last.lower == lower and last.stage == self.stage
            and (explored < last.explored + EXPLORED_STEP or self.ao.tasks.n)  # points do not depend on slices
        ):
            return
        if self.n_points == MAX_TRACE_POINTS:
            for i in range(MAX_TRACE_POINTS // 2):
                self.points[i] = self.points[2 * i + 1]
            self.n_points = MAX_TRACE_POINTS // 2
        self.points[self.n_points] = TracePoint(
            seconds, self.ao.counter.expansions, upper, lower, explored, self.stage
        )
        self.n_points += 1

    # --- results ------------------------------------------------------------------------------------------------------

    @property
    def upper(self):
        return self.upper_now()

    @property
    def lower(self):
        return self.lower_now()

    @property
    def explored(self):
        """Explored share of the space, from 0 to 1."""
        return ao_explored(&self.ao)

    @property
    def first_lower(self):
        """A lower bound from the class weights alone, which holds in every space."""
        return self.ao.initial_lower / self.scale

    @property
    def proven(self):
        return bool(ao_proven(&self.ao))

    @property
    def work(self):
        """Rows visited so far, a clock that does not depend on the machine."""
        return self.control.work

    @property
    def expansions(self):
        return self.ao.counter.expansions

    @property
    def states_live(self):
        return self.control.states_live + 1

    @property
    def states_freed(self):
        return self.control.states_freed

    @property
    def cache_hits(self):
        return self.ao.context.cache_hits

    @property
    def bytes(self):
        return self.control.bytes

    def trace(self):
        out = np.empty(self.n_points, dtype=TRACE_DTYPE)
        memcpy(<void*><size_t>out.ctypes.data, self.points, out.nbytes)
        return out

    def _begin(self):
        """Mark the search as running; what changes it belongs to one thread at a time."""
        if self.running:
            raise RuntimeError("this search is running in another thread: wait until run() has returned")
        self.running = True

    def checkpoint(self, max_bytes=16 << 20, seconds=0.0):
        """Return what the search knows, in at most `max_bytes` or, if that is more, in what its tree needs."""
        self._begin()
        try:
            return save_search(&self.ao, seconds, max_bytes)
        finally:
            self.running = False

    def restore(self, blob):
        """Continue from a checkpoint of the same data and options, before the first run; return its seconds."""
        if self.has_run:
            raise ValueError("a search that has run cannot resume from a checkpoint")
        seconds = load_search(&self.ao, bytes(blob))
        ao_start(&self.ao)
        return seconds

    def nodes(self, *, interruptible=False):
        """Return the tree that costs `upper` as an array of NODE_DTYPE.

        An interruptible call returns None if a stop was requested.
        """
        cdef Dataset* data = &self.data
        cdef Control* control = &self.control
        cdef int32_t n = -1
        cdef TreeNode* tree = NULL
        cdef Node* nodes
        cdef int64_t work = control.work
        self._begin()
        if not interruptible:
            # A stop request is meant for run(): it is kept, and the tree is written.
            self.deferred_stop, control.stop, self.defer_stop = control.stop, 0, True
        try:
            out = np.zeros(min(2 << data.max_depth, 2 * data.n_rows + 1), dtype=NODE_DTYPE)
            tree = <TreeNode*>tracked_malloc(control, tree_size(&self.ao.root) * sizeof(TreeNode))
            if tree == NULL:
                raise MemoryError("no memory for the tree")
            ao_tree(&self.ao, tree)
            nodes = <Node*><size_t>out.ctypes.data
            with nogil:
                n = write_nodes(&self.ao.context, tree, nodes, self.scale)
            if n < 0 and not control.stop:
                raise MemoryError("no memory for the tree")
        finally:
            tracked_free(control, tree)
            control.stop = 0 if interruptible else self.deferred_stop
            control.work = work  # writing a tree is no progress of the search
            self.defer_stop = self.running = False
        return out[:n].copy() if n >= 0 else None

    def polisher(self):
        """Return a Polisher that reads this engine's data and its sorted rows; it keeps the engine alive."""
        return make_polisher(&self.data, &self.ao.context.all_rows, self)

    def clear_stop(self):
        """Forget a stop request that came too late for the call it was meant for."""
        self.control.stop = 0

    def fail_allocations(self, after, count=1):
        """Let `count` allocations fail after some that do not. This is for tests."""
        self.control.allocations_left, self.control.allocations_failing = after, count

    @property
    def allocations_left(self):
        return self.control.allocations_left


def _row_hashes(n):
    """Return two 64-bit hashes for every row, the same in every process (splitmix64)."""
    with np.errstate(over="ignore"):
        x = (np.arange(1, 2 * n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.ascontiguousarray(x ^ (x >> np.uint64(31)))


def _unavoidable_errors(codes, y, weight, n_classes):
    """Return the weight of each row that shares all features with a heavier class, which no tree gets right; else 0."""
    # Rows with equal features have equal hashes; whether equal hashes mean equal features is checked.
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
    unavoidable_error = np.zeros(len(y), dtype=np.int64)
    if fresh.all():
        return unavoidable_error
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(fresh) - 1
    key = group * n_classes + y
    pairs, where = np.unique(key, return_inverse=True)
    sums = np.bincount(where, weights=weight.astype(np.float64)).astype(np.int64)
    # The heaviest class of each group comes first, the lowest label among equals, because the sort is stable.
    order = np.lexsort((-sums, pairs // n_classes))
    first = np.unique(pairs[order] // n_classes, return_index=True)[1]
    wrong = np.ones(len(pairs), dtype=bool)
    wrong[order[first]] = False
    return np.where(wrong[where], weight, 0)
