"""Scalar types and C structs shared by the solver's modules."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

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
    ctypedef struct lanes_t:
        walk_fn walk[3]
        classes_fn classes[3]
        gini_two_fn gini_two
        gini_many_fn gini_many
        const char* name

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

# How a solve that can be left half done came back.
cdef enum Outcome:
    DONE = 0
    TIME_UP = 1       # the slice is over; the solve goes on where it is when it is called again
    STOPPED = 2       # a stop was requested
    NO_MEMORY = 3     # an allocation failed, or would have passed the limit

cdef struct Problem:
    int32_t n_rows
    int32_t n_features
    int32_t n_classes
    int32_t max_depth
    int32_t max_k               # change points a shape function may have, K
    Mode mode
    Criterion criterion
    bint weighted
    bint every_cut              # candidates are all legal cuts: modes ALL and QUANTILE
    const int32_t* codes        # [feature][row]; a missing value has the code card[feature], so it sorts last
    const int32_t* card         # distinct values of each feature
    const double* values        # distinct values of all features, one after the other
    const int64_t* value_start  # [feature] index of its first value in `values`, and in `grid`
    const uint8_t* grid         # [value_start + code]: 1 where a cut may lie below that code; NULL: everywhere
    const int32_t* label        # [row]
    const int64_t* weight       # [row] integer weight
    int64_t heaviest            # largest weight of a row
    const double* real_weight   # [row] the same as doubles
    const int16_t* weight16     # [row] the same for lanes of 16 bits; clipped where a row does not fit
    const int32_t* weight32     # [row] likewise
    const int16_t* signed16     # [row] weight, negated for label 1: the walk of two-class data; clipped as above
    const int32_t* signed32
    const int64_t* signed64
    const uint64_t* row_hash    # [2 * row] two independent hashes; a set's hash is their sum
    const int64_t* doomed       # [row] weight if the row has the features of a heavier row of another class, else 0
    const int32_t* leaves       # candidate leaves by level
    int32_t n_leaves            # entries in `leaves`; the last one repeats
    cost_t weight_cost          # cost of one unit of weight
    cost_t split_cost
    cost_t refine_cost          # of every change point beyond the first
    const lanes_t* lanes
    volatile int32_t stop       # set from outside: leave as soon as possible
    int64_t bytes               # allocated by the search
    int64_t byte_limit          # 0: none
    int64_t work                # rows visited, summed over all passes: a clock that does not depend on the machine
    bint measuring              # count what would be allocated, and allocate nothing
    int64_t allocations_left    # for tests: after so many allocations ...
    int64_t allocations_failing  # ... this many fail

cdef struct Rows:
    int32_t n            # rows of the state
    int32_t* known       # [feature] how many of them have a value; the others come last in the order
    uint32_t* order      # [feature][n + 1]: a spare entry, then the rows by code, each with its cut flags

cdef struct Shape:
    int32_t feature
    int32_t n_cuts
    int32_t missing_right        # side of the rows without a value
    int32_t cut[8]               # code positions, ascending: see the shape functions in docs/decisions
    int32_t at[8]                # the same as positions in the order of the state's rows

cdef inline uint32_t* feature_order(const Rows* rows, int32_t feature) noexcept nogil:
    return rows.order + feature * (<int64_t>rows.n + 1) + 1

cdef inline cost_t min_cost(cost_t a, cost_t b) noexcept nogil:
    return a if a < b else b

cdef inline cost_t max_cost(cost_t a, cost_t b) noexcept nogil:
    return a if a > b else b
