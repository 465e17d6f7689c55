"""Rows that wish to go left or right, and the shape function that grants the most weight of wishes."""

from libc.stdint cimport int32_t

cdef enum:
    MAX_CHANGEPOINTS = 8

cdef struct Function:
    int32_t feature                     # -1: none
    int32_t count                       # change points
    int32_t cuts[MAX_CHANGEPOINTS]      # code positions, ascending
    int32_t missing_right               # 1: rows without a value go right
    int32_t swapped                     # 1: the function is for the children in the other order

cdef struct Wishes:
    # Set by the caller before each round.
    bint active                         # takes part in this round
    double floor                        # cost even if every wish is granted
    double right                        # weight of the rows that wish to go right
    # The best function so far, over all rounds.
    double best_cost
    Function best
    # State of the scan over one feature.
    int32_t last                        # code of the last row seen, -1: none yet
    bint any_missing                    # a row that wishes has no value
    double missing                      # of the rows without a value: weight for right less weight for left
    double prefix                       # likewise, of the rows seen so far
    # [first side][change points]: weight sent right less weight for left among it, less penalties
    double value[2][MAX_CHANGEPOINTS + 1]
    int32_t cuts[2][MAX_CHANGEPOINTS + 1][MAX_CHANGEPOINTS]

cdef void scan_feature(
    Wishes* jobs, int32_t n_jobs, const int32_t* want, const double* weight, const int32_t* codes,
    const int32_t* order, int32_t n_rows, int32_t n_missing, int32_t feature, int32_t cardinality,
    int32_t max_changepoints, double changepoint_penalty,
) noexcept nogil
