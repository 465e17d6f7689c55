"""Depth left 2 over every cut: intervals of positions instead of positions."""

from literati._sweep cimport Sweep
from literati._types cimport Outcome, Problem, Rows, Shape, cost_t, int32_t, int64_t

cdef struct Interval:    # untried positions of one change point, the others being fixed
    int32_t feature
    int32_t missing_right
    int32_t first        # positions in the order of the rows, both ends included
    int32_t last
    int32_t below_at     # the tried neighbours: where, the cost of the side that grows with the position up to there,
    int32_t above_at     # of the side that shrinks from there on, and the whole cost
    cost_t grown
    cost_t shrunk
    cost_t below_cost
    cost_t above_cost

cdef enum DeepStage:
    NOT_BEGUN = 0
    FIRST = 1              # a single change point is sought in `intervals`
    BETWEEN_PREFIXES = 2   # that is done, and so is everything up to `prefix`
    BEHIND_PREFIX = 3      # the last change point behind `prefix` is sought in `intervals`

# A solve that can be left and taken up again.
cdef struct Deep:
    Rows rows
    Shape best           # feature -1: a leaf
    cost_t value         # of `best`
    cost_t least         # a lower bound from outside: reaching it ends the solve
    Shape prefix         # the change points fixed at the moment
    DeepStage stage
    cost_t grown[8]      # [k] least cost of the side that grew when change point k was fixed
    Interval* intervals
    int32_t n_intervals
    int32_t room

cdef bint deep_init(Problem* p, Deep* deep, int32_t n) noexcept nogil
cdef void deep_free(Problem* p, Deep* deep) noexcept nogil
# Works until `until` (seconds of the monotonic clock; 0: no limit); what is TIME_UP or STOPPED goes on when it is
# called again, and every call that is not stopped gets further. When it is DONE, deep.value is the optimum, or at
# least `budget` where nothing cheaper than the budget exists. After NO_MEMORY it cannot go on.
cdef Outcome deep_solve(Problem* p, Sweep* sweep, Deep* deep, cost_t budget, double until) noexcept nogil
cdef double monotonic() noexcept nogil
cdef int32_t legal_near(const Rows* rows, int32_t feature, int32_t at, int32_t first, int32_t last) noexcept nogil
cdef int32_t cut_at(const Problem* p, const Rows* rows, int32_t feature, int32_t at) noexcept nogil
