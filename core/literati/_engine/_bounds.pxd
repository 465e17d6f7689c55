"""Admissible bounds from class weights."""

from literati._engine._types cimport MAX_CLASSES, Dataset, cost_t, int32_t, int64_t, uint64_t

# The bounds and the first values of a state follow from these sums.
cdef struct RowSummary:
    int32_t n                      # rows
    int64_t unavoidable_error      # weight of the rows that share all features with a heavier class
    uint64_t hash[2]               # of the set of rows
    int64_t counts[MAX_CLASSES]    # [class] weight; only the classes of the dataset are set

cdef void empty_summary(const Dataset* data, RowSummary* rows) noexcept nogil
# Cost of a leaf: the weight outside the heaviest class.
cdef cost_t leaf_cost_of(const Dataset* data, const int64_t* counts) noexcept nogil
# Returns a bound that no tree of at most this depth on these rows undercuts.
cdef cost_t lower_bound_of(const Dataset* data, const RowSummary* rows, int32_t depth) noexcept nogil
