"""Rounds of tasks: steps of the search that threads make side by side."""

from libc.string cimport memset

from literati._engine._data_state cimport buffers_free, buffers_init, rows_ready
from literati._engine._expand cimport estimate_children, expand_state, refine_choice
from literati._engine._gaps cimport expand_gaps, open_gap, refine_gap
from literati._engine._graph cimport expansion_free
from literati._engine._memory cimport tracked_free, tracked_malloc
from literati._engine._solve_state cimport solve_every_cut, solve_state
from literati._engine._types cimport DONE, NO_MEMORY, STOPPED, TIME_UP, monotonic

cdef extern from "_thread_pool.h" nogil:
    ctypedef struct thread_pool:
        pass
    ctypedef void (*pool_fn)(void*, int32_t) noexcept nogil
    thread_pool* pool_new(int32_t n)
    void pool_run(thread_pool* pool, pool_fn function, void* state)
    void pool_free(thread_pool* pool)
    bint pool_is_here(const thread_pool* pool)
    int32_t pool_take(int32_t* counter)
    void pool_fence()


# Relative time of a task for each row of its state, by TaskKind: averages over five searches, K = 1 and K = 3. Only the
# balance between threads depends on it.
cdef int32_t* TIME_PER_ROW = [2, 6, 0, 4, 1, 1, 1, 1]

# What the threads of a round share.
cdef struct SharedRound:
    Round* tasks
    int32_t order[MAX_TASKS]  # in which tasks are taken: the longest first, so that threads end at about the same time
    SearchContext* context   # of the calling thread
    StepCounter* counter
    Helpers* helpers


# --- helpers ----------------------------------------------------------------------------------------------------------


cdef bint helpers_init(Helpers* helpers, int32_t n, const SearchContext* context) noexcept nogil:
    """Allocate the buffers of the helpers, and count them as the calling thread's memory."""
    cdef Control* control = context.control
    cdef SearchContext* own
    cdef SearchContext measured
    cdef int64_t before
    cdef int32_t i
    cdef bint ok = True
    helpers.contexts = <SearchContext*>tracked_malloc(control, n * sizeof(SearchContext))
    helpers.controls = <Control*>tracked_malloc(control, n * sizeof(Control))
    if control.measuring:
        memset(&measured, 0, sizeof(SearchContext))
        measured.data = context.data
        measured.control = control
        before = control.bytes
        buffers_init(&measured)
        control.bytes += (n - 1) * (control.bytes - before)
    if helpers.contexts == NULL or helpers.controls == NULL:
        return False
    memset(helpers.contexts, 0, n * sizeof(SearchContext))
    memset(helpers.controls, 0, n * sizeof(Control))
    for i in range(n):
        own = &helpers.contexts[i]
        own.data = context.data
        own.control = control
        helpers.n = i + 1
        ok = buffers_init(own) and ok
        own.control = &helpers.controls[i]
        own.cache = context.cache
        own.all_rows = context.all_rows
    return ok


cdef void helpers_free(Helpers* helpers, Control* control) noexcept nogil:
    cdef int32_t i
    helpers_end(helpers)
    for i in range(helpers.n):
        helpers.contexts[i].control = control
        buffers_free(&helpers.contexts[i])
    tracked_free(control, helpers.contexts)
    tracked_free(control, helpers.controls)
    memset(helpers, 0, sizeof(Helpers))


cdef void helpers_start(Helpers* helpers, const Control* control) noexcept nogil:
    helpers_stop(helpers, 0)
    # A stop request sets the flag of the calling thread first. One that comes now sets the helpers' flags later.
    pool_fence()
    if control.stop:
        helpers_stop(helpers, 1)
    if helpers.n and not pool_is_here(<thread_pool*>helpers.pool):
        helpers.pool = pool_new(helpers.n)


cdef void helpers_end(Helpers* helpers) noexcept nogil:
    pool_free(<thread_pool*>helpers.pool)
    helpers.pool = NULL


cdef void helpers_stop(Helpers* helpers, int32_t stop) noexcept nogil:
    cdef int32_t i
    pool_fence()
    for i in range(helpers.n):
        helpers.controls[i].stop = stop


cdef void lend(Helpers* helpers, SearchContext* context) noexcept nogil:
    """Give every helper the options of the calling thread and its part of the memory that is left."""
    cdef Control* control = context.control
    cdef int64_t left = max(control.byte_limit - control.bytes, 1)
    cdef int32_t i
    for i in range(helpers.n):
        helpers.contexts[i].every_cut = context.every_cut
        helpers.contexts[i].heuristic = context.heuristic
        helpers.contexts[i].until = context.until
        # 0 would mean that there is no limit.
        helpers.controls[i].byte_limit = max(1, left // (helpers.n + 1)) if control.byte_limit else 0


cdef void settle(Helpers* helpers, SearchContext* context) noexcept nogil:
    """Add what the helpers have counted to the counts of the calling thread."""
    cdef Control* control = context.control
    cdef Control* own
    cdef int32_t i
    for i in range(helpers.n):
        own = &helpers.controls[i]
        control.bytes += own.bytes
        control.states_live += own.states_live
        control.states_freed += own.states_freed
        own.bytes = own.states_live = own.states_freed = 0
        context.cache_hits += helpers.contexts[i].cache_hits
        helpers.contexts[i].cache_hits = 0


# --- tasks ------------------------------------------------------------------------------------------------------------


cdef void round_add(
    Round* tasks, TaskKind kind, DataState* state, Choice* choice, cost_t budget, int32_t gap
) noexcept nogil:
    cdef Task* task = &tasks.tasks[tasks.n]
    if kind != LOOK_AHEAD and kind != REFINE_GAP:
        if tasks.expansions_left <= 0:
            return
        tasks.expansions_left -= 1
    memset(task, 0, sizeof(Task))
    task.kind = kind
    task.state = state
    task.choice = choice
    task.budget = budget
    task.gap = gap
    tasks.n += 1


cdef Outcome outcome_of(const SearchContext* context, bint done) noexcept nogil:
    """Return the outcome of a step. One that is done stays done when a stop is requested: it must not run twice."""
    if done:
        return DONE
    return STOPPED if context.control.stop else NO_MEMORY


cdef Outcome run_task(SearchContext* context, StepCounter* counter, Task* task) noexcept nogil:
    cdef bint ok
    if task.kind == SOLVE:
        return solve_state(context, task.state, &task.solution)
    if task.kind == LOOK_AHEAD:
        ok = estimate_children(context, task.choice)
        return outcome_of(context, ok and task.choice.estimated)
    if task.kind == EXPAND:
        ok = expand_state(context, task.state, &task.expansion)
        return outcome_of(context, ok and task.expansion.cuts != NULL)
    if task.kind == REFINE:
        ok = refine_choice(context, task.choice, &task.expansion)
        if context.control.stop:
            expansion_free(context.control, &task.expansion)  # it may be complete or not
            return STOPPED
        return outcome_of(context, ok)
    if task.kind == SOLVE_EVERY_CUT:
        return solve_every_cut(context, task.state, task.budget)
    # A stop request makes these return False before they have changed anything.
    if task.kind == OPEN_GAP:
        return outcome_of(context, open_gap(context, counter, task.state, task.gap, task.budget))
    if task.kind == REFINE_GAP:
        return outcome_of(context, refine_gap(context, task.choice))
    return outcome_of(context, expand_gaps(context, task.state))


cdef inline bint is_done(const Task* task) noexcept nogil:
    return task.begun and task.outcome == DONE


cdef void work_in_thread(void* state, int32_t thread) noexcept nogil:
    """Carry out tasks until none is left, the time is over, or a stop is requested."""
    cdef SharedRound* shared = <SharedRound*>state
    cdef SearchContext* context = shared.context if thread == 0 else &shared.helpers.contexts[thread - 1]
    cdef Control* control = context.control
    cdef Task* task
    cdef int64_t work
    cdef bint worked = False
    cdef int32_t i
    while not control.stop and not (worked and monotonic() > context.until):
        i = pool_take(&shared.tasks.next)
        if i >= shared.tasks.n:
            return
        task = &shared.tasks.tasks[shared.order[i]]
        if is_done(task):
            continue
        work = control.work
        task.outcome = run_task(context, shared.counter, task)
        task.begun = True
        # What is done again is not counted twice. An unfinished solve over every cut continues where it was.
        if task.outcome != STOPPED or task.kind == SOLVE_EVERY_CUT:
            task.work += control.work - work
        control.work = work
        worked = True


cdef inline int64_t expected_time(const Task* task) noexcept nogil:
    return TIME_PER_ROW[<int32_t>task.kind] * <int64_t>task.state.n


cdef void sort_tasks(const Round* tasks, int32_t* order) noexcept nogil:
    """Write the indices of the tasks, the one with the longest expected time first."""
    cdef int32_t i, place
    for i in range(tasks.n):
        place = i
        while place and expected_time(&tasks.tasks[order[place - 1]]) < expected_time(&tasks.tasks[i]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


cdef Outcome prepare(Round* tasks, SearchContext* context) noexcept nogil:
    """Load the rows that tasks share: those of the states above the ones that are solved or expanded."""
    cdef int32_t i
    cdef Task* task
    cdef DataState* s
    for i in range(tasks.n):
        task = &tasks.tasks[i]
        if is_done(task):
            continue
        s = task.state
        if task.kind != LOOK_AHEAD and task.kind != REFINE:
            if s.parent == NULL:
                continue
            s = s.parent.owner
        if not rows_ready(context, s):
            return STOPPED if context.control.stop else NO_MEMORY
    return DONE


cdef Outcome round_run(Round* tasks, SearchContext* context, StepCounter* counter, Helpers* helpers) noexcept nogil:
    cdef SharedRound shared
    cdef Control* control = context.control
    cdef int64_t byte_limit = control.byte_limit
    cdef int32_t i
    cdef Outcome outcome = prepare(tasks, context)
    if outcome != DONE:
        return outcome
    tasks.next = 0
    shared.tasks, shared.context, shared.counter, shared.helpers = tasks, context, counter, helpers
    sort_tasks(tasks, shared.order)
    if helpers.pool == NULL or tasks.n == 1:
        work_in_thread(&shared, 0)
    else:
        lend(helpers, context)
        if byte_limit:
            control.byte_limit = control.bytes + max(byte_limit - control.bytes, 1) // (helpers.n + 1)
        pool_run(<thread_pool*>helpers.pool, work_in_thread, &shared)
        control.byte_limit = byte_limit
        settle(helpers, context)
    for i in range(tasks.n):
        if tasks.tasks[i].begun and tasks.tasks[i].outcome == NO_MEMORY:
            return NO_MEMORY
    for i in range(tasks.n):
        if not is_done(&tasks.tasks[i]):
            return STOPPED if control.stop else TIME_UP
    return DONE


cdef void round_discard(Round* tasks, Control* control) noexcept nogil:
    cdef int32_t i
    for i in range(tasks.n):
        expansion_free(control, &tasks.tasks[i].expansion)
    tasks.n = tasks.n_closed = 0
