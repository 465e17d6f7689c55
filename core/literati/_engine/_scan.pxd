"""Scores of all cuts of a feature where rows lack a value, or by entropy. The time does not grow with the classes."""

from literati._engine._types cimport Control, Dataset, int32_t, uint32_t

cdef struct BestCut:
    double score                     # a cut replaces it only if it scores higher
    int32_t at                       # rows with a value that go left; 0: no cut did
    int32_t missing_right            # side of the rows without a value

# The rows of one node in the order of one feature. Rows without a value join either side of a cut, and where there are
# `min_missing` of them they may be alone on the right.
cdef struct Scan:
    const uint32_t* entries          # rows with a value, each with its cut flag
    int32_t known
    const uint32_t* missing_entries  # rows without a value
    int32_t n_missing
    int32_t min_missing
    const double* counts             # [class] weights of all of them
    double* below                    # [class] buffer: weights on the left of the current cut
    double* above                    # [class] buffer: weights on the right of the current cut
    double* missing                  # [class] buffer: weights of the rows without a value
    double* with_missing             # [class] buffer: sum of below and missing
    double* scratch                  # [2 * known] buffer

# What a node contributes by entropy to the score of the split that makes it.
cdef double entropy_purity(const Dataset* data, const double* counts) noexcept nogil

cdef void scan_missing(const Dataset* data, Control* control, const Scan* scan, BestCut* best) noexcept nogil
cdef void scan_entropy(const Dataset* data, Control* control, const Scan* scan, BestCut* best) noexcept nogil
