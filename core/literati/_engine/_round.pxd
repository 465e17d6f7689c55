"""Rounds of tasks: steps of the search that threads make side by side.

The search selects the tasks of a round one after the other, threads carry them out in any order, and the search merges
their results in the order of selection. A task reads the graph and the cache as they were when the round began, so the
result does not depend on the number of threads.
"""

from literati._engine._data_state cimport SearchContext, StepCounter
from literati._engine._graph cimport Choice, DataState, Expansion
from literati._engine._solve_state cimport Solution
from literati._engine._types cimport Control, Outcome, cost_t, int32_t, int64_t

cdef enum:
    # Tasks of one round. More keep more threads busy, but a round cannot use what its own tasks find.
    MAX_TASKS = 16

cdef enum TaskKind:
    LOOK_AHEAD = 0       # estimate the children of a choice
    EXPAND = 1           # open the choices of a state
    REFINE = 2           # open the refinements of a choice
    SOLVE = 3            # solve a state over candidate cuts
    # Where every cut is a candidate: these change the graph, so each is the only task of its round.
    EXPAND_GAPS = 4
    REFINE_GAP = 5
    OPEN_GAP = 6
    SOLVE_EVERY_CUT = 7

cdef struct Task:
    TaskKind kind
    DataState* state     # the state that is expanded, refined or solved, or has the gap
    Choice* choice       # of LOOK_AHEAD, REFINE and REFINE_GAP
    int32_t gap          # index of the gap, of OPEN_GAP
    cost_t budget        # what the state may cost, where every cut is a candidate
    Outcome outcome      # DONE, or why the task is not done yet
    bint begun           # `outcome` is set
    int64_t work         # rows visited
    Expansion expansion  # result of EXPAND and REFINE
    Solution solution    # result of SOLVE

cdef struct Round:
    int32_t n
    Task tasks[MAX_TASKS]
    int64_t expansions_left  # tasks that count as an expansion and may still be added
    int32_t n_closed
    DataState* closed[MAX_TASKS]  # expanded states below which the selection found nothing to do
    int32_t next         # the next task that a thread takes

# Threads that help the calling one with the tasks of a round.
cdef struct Helpers:
    int32_t n
    SearchContext* contexts  # [n]
    Control* controls        # [n]
    void* pool               # NULL: there are no threads

# Allocates the contexts of n helpers like `context`. Returns False when there is no memory.
cdef bint helpers_init(Helpers* helpers, int32_t n, const SearchContext* context) noexcept nogil
cdef void helpers_free(Helpers* helpers, Control* control) noexcept nogil
# Prepares the threads for a run. They are started if there are none in this process, and sleep between runs until they
# are ended. If they cannot be started, the calling thread does all tasks.
cdef void helpers_start(Helpers* helpers, const Control* control) noexcept nogil
cdef void helpers_end(Helpers* helpers) noexcept nogil
# Passes a stop request to all helpers, after the flag of the calling thread was set.
cdef void helpers_stop(Helpers* helpers, int32_t stop) noexcept nogil

# Adds a task, unless it counts as an expansion and no more may be counted. Its budget and gap are for some kinds only.
cdef void round_add(
    Round* tasks, TaskKind kind, DataState* state, Choice* choice, cost_t budget, int32_t gap
) noexcept nogil
cdef inline int32_t round_size(const Round* tasks) noexcept nogil:
    return tasks.n + tasks.n_closed
# Carries out all tasks that are not done. After TIME_UP or STOPPED another call continues. After NO_MEMORY the round
# has to be discarded.
cdef Outcome round_run(Round* tasks, SearchContext* context, StepCounter* counter, Helpers* helpers) noexcept nogil
# Frees the results of the tasks, which are not needed.
cdef void round_discard(Round* tasks, Control* control) noexcept nogil
