"""Selection: which states the next round of tasks expands or solves."""

from literati._engine._data_state cimport SearchContext
from literati._engine._graph cimport DataState
from literati._engine._round cimport Round
from literati._engine._types cimport cost_t, int32_t, int64_t

cdef enum OrSelection:
    INFORMATIVE = 0      # by estimate
    ADMISSIBLE = 1       # by lower bound
    MIXED = 2            # primal rounds by estimate, dual rounds by lower bound

cdef enum AndSelection:
    ROUND_ROBIN = 0
    WORST_PRIMAL = 1     # the child with the larger upper bound
    WORST_HEURISTIC = 2  # the child with the larger estimate, or lower bound where OR selection is admissible

cdef struct Selection:
    SearchContext* context
    Round* tasks             # the round that is selected
    OrSelection or_selection
    AndSelection and_selection
    int64_t rounds           # rounds selected so far
    int64_t expansions       # in this space, when the round began
    int64_t improved_at      # expansions in this space when the last better tree was found
    int64_t round_work       # work of all rounds in this space
    int64_t improved_work    # round_work when the last better tree was found
    int64_t dual_balance     # per cent of work that dual rounds are owed; negative: they have had too much
    bint dual                # MIXED: the current round is a dual round
    bint low_memory          # memory has run short at some time
    bint single_task         # the next round has one task, because memory ran out

# Begins with a space whose first tree took `work` to find.
cdef void selection_start(Selection* selection, int64_t work) noexcept nogil
# Selects the tasks of the next round, after `expansions` in this space.
cdef void select_round(Selection* selection, DataState* root, int64_t expansions) noexcept nogil
# Notes what a round took, whether it found a better tree, and the expansions in this space after it.
cdef void note_round(Selection* selection, int64_t work, bint improved, int64_t expansions) noexcept nogil
