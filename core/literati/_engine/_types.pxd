"""Scalar types and C structs shared by the solver's modules."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

ctypedef int64_t cost_t  # whole units of cost (costs.py): exact, so no comparison needs a tolerance

cdef extern from "_lanes.h" nogil:
    enum:
        LANES       # candidates swept at once
        MAX_K       # change points a shape function may have
        LEGAL_CUT   # flag of an order entry: a cut may lie behind this row
        ROW_MASK    # the row of an order entry
    ctypedef void (*walk_fn)(
        const uint32_t*, int32_t, int32_t, const uint16_t*, const void*, int, void*, const volatile int32_t*
    ) noexcept nogil
    ctypedef void (*classes_fn)(
        const uint32_t*, int32_t, int32_t, const uint16_t*, const void*, const int32_t*, int32_t, void*, void*,
        const volatile int32_t*
    ) noexcept nogil
    ctypedef double (*gini_two_fn)(
        const uint32_t*, int32_t, const int32_t*, const double*, double*, double, int32_t*
    ) noexcept nogil
    ctypedef double (*gini_many_fn)(
        const uint32_t*, int32_t, const int32_t*, const double*, int32_t, double*, double, int32_t*
    ) noexcept nogil
    enum:
        NARROW_ROWS
        NARROW_CLASSES
        NARROW_PAD
    ctypedef struct narrow_class:
        int32_t first
        int32_t length
        int32_t total
    ctypedef double (*narrow_gini_fn)(
        const uint16_t*, int32_t, const narrow_class*, int32_t, double, double, int32_t*, int32_t*
    ) noexcept nogil
    ctypedef int32_t (*narrow_partition_fn)(
        const uint16_t*, int32_t, const uint16_t*, int32_t, uint16_t*, uint16_t*
    ) noexcept nogil
    ctypedef void (*narrow_walk_fn)(const uint16_t*, int32_t, const uint32_t*, int32_t, int, void*) noexcept nogil
    ctypedef int32_t (*keep_side_fn)(const uint32_t*, int32_t, const uint8_t*, uint8_t, uint32_t*) noexcept nogil
    ctypedef struct lanes_t:
        walk_fn walk[3]
        classes_fn classes[3]
        gini_two_fn gini_two
        gini_many_fn gini_many
        const char* name
        narrow_gini_fn narrow_gini
        narrow_partition_fn narrow_partition
        narrow_walk_fn narrow_walk
        keep_side_fn keep_side
    ctypedef void (*long_walk_fn)(
        const uint32_t*, int32_t, int32_t, const uint16_t*, const void*, int64_t, void*, const volatile int32_t*
    ) noexcept nogil
    ctypedef void (*long_classes_fn)(
        const uint32_t*, int32_t, int32_t, const uint16_t*, const void*, const int32_t*, int32_t, int64_t, void*, void*,
        const volatile int32_t*
    ) noexcept nogil
    ctypedef struct long_lanes_t:
        long_walk_fn walk[3]
        long_classes_fn classes[3]

cdef enum:
    MAX_CLASSES = 1024

cdef enum Mode:
    ADAPTIVE = 0
    SHAPE = 1
    QUANTILE = 2
    ALL = 3

cdef enum Criterion:
    GINI = 0
    ENTROPY = 1

# How a step of the search, or a solve that can be continued later, ended.
cdef enum Outcome:
    DONE = 0
    TIME_UP = 1       # the slice is over; the next call continues
    STOPPED = 2       # a stop was requested; nothing was lost
    NO_MEMORY = 3     # an allocation failed, or would have exceeded the limit

# What a tree costs, in units.
cdef struct Costs:
    cost_t weight        # of one unit of weight that is misclassified
    cost_t split
    cost_t changepoint   # of every change point beyond the first one of a split

# The data of a search and what it minimises. Only the costs and the candidates can change while no run is active.
cdef struct Dataset:
    int32_t n_rows
    int32_t n_features
    int32_t n_classes
    int32_t max_depth
    int32_t max_k                   # K: change points that a shape function may have
    int64_t min_rows                # that every interval of a shape function holds; rows without a value do not count
    Mode mode                       # where change points may lie
    Criterion criterion             # of CART
    bint weighted                   # rows have weights of their own; otherwise each weighs 1
    const int32_t* codes            # [feature][row] rank of the value; cardinality[feature] where it is missing
    const int32_t* cardinality      # [feature] number of distinct values
    const double* values            # distinct values of all features, one feature after the other
    const int64_t* value_start      # [feature] index of its first value in `values`, and in `grid`
    const uint8_t* grid             # [value_start + code] 1 where a cut may lie below that code; NULL: everywhere
    const int32_t* label            # [row] class
    const int64_t* weight           # [row] whole number of weight units
    int64_t max_weight              # largest weight of a row
    const double* real_weight       # [row] weight as a double
    const int16_t* weight16         # [row] weight for lanes of 16 bits; clipped where it does not fit
    const int32_t* weight32         # [row] weight for lanes of 32 bits; clipped where it does not fit
    const int16_t* signed16         # [row] weight16, negated for label 1: the sweep over two classes sums it
    const int32_t* signed32         # [row] weight32, negated for label 1
    const int64_t* signed64         # [row] weight, negated for label 1
    const uint64_t* row_hash        # [2 * row] two independent hashes; the hash of a set of rows is their sum
    const int64_t* unavoidable_error  # [row] its weight if a heavier class has the same features, else 0
    const int32_t* candidate_leaves  # [level] leaves of the CART that proposes candidate cuts; the last entry repeats
    int32_t n_candidate_leaves      # entries of `candidate_leaves`
    cost_t weight_cost              # cost of one unit of weight
    cost_t split_cost               # cost of a split
    cost_t changepoint_cost         # cost of every change point beyond the first
    int64_t split_complexity        # penalties keep this ratio when they change: see _envelope.pxd; 0: they do not
    int64_t changepoint_complexity
    const lanes_t* lanes            # kernels for the instruction set of this machine
    const long_lanes_t* long_lanes  # the same for intervals of min_rows rows

# The running state of a search that every part of it reads or counts in.
cdef struct Control:
    volatile int32_t stop           # set by another thread: return as soon as possible
    int64_t bytes                   # allocated by the search
    int64_t byte_limit              # 0: no limit
    int64_t work                    # rows visited, summed over all passes: a clock that is the same on every machine
    int64_t states_live             # states in memory, without the root
    int64_t states_freed            # states that were freed
    bint measuring                  # count allocations, but make none
    int64_t allocations_left        # for tests: after this many allocations ...
    int64_t allocations_failing     # ... this many fail

# The rows of a state, sorted by every feature.
cdef struct Rows:
    int32_t n            # number of rows
    int32_t* known       # [feature] how many of them have a value; the others come last in the order
    uint32_t* order      # [feature][n + 1] a spare entry, then the rows by code, each with its cut flag

# A shape function: rows before the first change point go left, and each change point switches the side.
cdef struct Shape:
    int32_t feature              # -1: none, the node is a leaf
    int32_t n_cuts               # change points
    int32_t missing_right        # 1: rows without a value go right
    int32_t cut[8]               # change points as codes, ascending: rows with a lower code lie before it
    int32_t at[8]                # change points as positions in the order of the state's rows

cdef inline uint32_t* feature_order(const Rows* rows, int32_t feature) noexcept nogil:
    return rows.order + feature * (<int64_t>rows.n + 1) + 1

cdef inline double monotonic() noexcept nogil:
    """Return the seconds of the monotonic clock."""
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return t.tv_sec + 1e-9 * t.tv_nsec
