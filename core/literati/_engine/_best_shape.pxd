"""Rows that wish to go left or right, and the shape function that grants the most weight of wishes."""

from libc.stdint cimport int16_t, int32_t, uint32_t

cdef enum:
    MAX_CHANGEPOINTS = 8

cdef enum:
    NEW_CODE = 0x80000000u      # flag of an order entry: its row has another code than the one before
    ROW_OF_ENTRY = 0x7fffffffu  # the row of an order entry

cdef struct Function:
    int32_t feature                     # -1: none
    int32_t count                       # change points
    int32_t cuts[MAX_CHANGEPOINTS]      # code positions, ascending
    int32_t missing_right               # 1: rows without a value go right
    int32_t swapped                     # 1: the function is for the children in the other order

cdef struct Wishes:
    # State of the scan over one feature, first what every row touches.
    double prefix                       # of the rows before: weight for right less weight for left
    double group                        # likewise of the rows with the code `last`
    int32_t last                        # code of the last row seen, -1: none yet
    int32_t rising                      # sign of the last group that had one
    # [change points][first side]: weight sent right less weight for left among it, less penalties
    double value[MAX_CHANGEPOINTS + 1][2]
    double missing                      # of the rows without a value: weight for right less weight for left
    bint any_missing                    # there is such a row
    int32_t cuts[MAX_CHANGEPOINTS + 1][2][MAX_CHANGEPOINTS]
    # Set by the caller before each round.
    bint active                         # takes part in this round
    double floor                        # cost even if every wish is granted
    double right                        # weight of the rows that wish to go right
    # The best function so far, over all rounds.
    double best_cost
    Function best

cdef struct Column:
    int32_t feature
    int32_t cardinality
    int32_t n_missing
    const uint32_t* order               # rows without a value, then the others by code with their flag

cdef void scan_feature(
    Wishes* jobs, int32_t n_jobs, const int16_t* want, const double* weight, const Column* column,
    int32_t n_rows, int32_t max_changepoints, double changepoint_penalty,
) noexcept nogil
