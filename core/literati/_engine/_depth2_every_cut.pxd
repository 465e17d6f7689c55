"""The exact solver for depth left 2 over every cut: it searches intervals of positions instead of positions."""

from literati._engine._depth2_sweep cimport Sweep
from literati._engine._types cimport Control, Dataset, Outcome, Rows, Shape, cost_t, int32_t

# Untried positions of one change point, the others being fixed. Moving the change point towards higher positions makes
# one child of the split grow and the other shrink. A neighbour that was not tried has cost 0.
cdef struct Interval:
    int32_t feature
    int32_t missing_right    # side of the rows without a value
    int32_t first            # positions in the order of the rows, both ends included
    int32_t last
    int32_t below_at         # position of the tried neighbour below
    int32_t above_at         # position of the tried neighbour above
    cost_t grown             # lower bound of the growing child, from the neighbours below
    cost_t shrunk            # lower bound of the shrinking child, from the neighbours above
    cost_t below_cost        # cost of the split at below_at
    cost_t above_cost        # cost of the split at above_at

cdef enum SolveStage:
    NOT_BEGUN = 0
    FIRST = 1                # a single change point is searched in `intervals`
    BETWEEN_PREFIXES = 2     # that is done, and so is everything up to `prefix`
    BEHIND_PREFIX = 3        # the last change point behind `prefix` is searched in `intervals`

# A solve that can be interrupted and continued.
cdef struct Depth2Solve:
    Rows rows                # of the state
    Shape best               # first split of the best tree found; feature -1: a leaf
    cost_t value             # cost of that tree
    cost_t relaxed           # smallest cost of a split that was tried, for min_rows = 1
    cost_t known_lower       # lower bound known to the caller: reaching it ends the solve
    Shape prefix             # the change points that are fixed at the moment
    SolveStage stage
    cost_t grown[8]          # [k] cost of the child that grew when change point k of the prefix was fixed
    Interval* intervals      # positions to try; the front is tried first
    int32_t n_intervals
    int32_t capacity         # allocated entries of `intervals`

# Allocates a solve with memory for the n rows of a state. Returns NULL when there is no memory.
cdef Depth2Solve* solve_new(const Dataset* data, Control* control, int32_t n) noexcept nogil
cdef void solve_free(Control* control, Depth2Solve* solve) noexcept nogil
# Works until `until` (seconds of the monotonic clock; 0: no limit). After TIME_UP or STOPPED another call continues,
# and every call that is not stopped gets further. After DONE, solve.value is the optimum, or at least `budget` where
# nothing costs less than the budget. After NO_MEMORY the solve cannot be continued.
cdef Outcome solve_depth2_every_cut(
    const Dataset* data, Control* control, Sweep* sweep, Depth2Solve* solve, cost_t budget, double until
) noexcept nogil
# Returns the legal position nearest to `at` between first and last, 0 if there is none.
cdef int32_t legal_near(const Rows* rows, int32_t feature, int32_t at, int32_t first, int32_t last) noexcept nogil
