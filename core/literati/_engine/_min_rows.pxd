"""Shape functions whose every interval holds at least `min_rows` of the rows with a value."""

from literati._engine._memory cimport Arena
from literati._engine._types cimport Control, Dataset, Rows, Shape, cost_t, int32_t, int64_t

# One feature's order, reduced to the positions where a change point may lie. P is as in _best_shape.pxd.
cdef struct IntervalScan:
    int32_t n                # positions
    int32_t* at              # [position] rows with a value before it, ascending
    int64_t* prefix          # [position] P before it
    int64_t total            # P over all rows with a value
    int64_t missing          # change of P over the rows without a value
    int64_t known            # rows with a value, whether or not they have a target
    int64_t n_missing        # rows without a value
    int64_t* gain[2]         # [position] of change points up to this one: two layers in turn
    int32_t* before          # [change point][position] index of the change point before it
    int64_t capacity         # entries of each array

# Takes memory for the positions among all rows of the dataset.
cdef void interval_scan_init(
    const Dataset* data, Control* control, Arena* arena, IntervalScan* scan
) noexcept nogil
# The same as offer_shapes (_best_shape.pxd), with at least min_rows rows in every interval.
cdef int32_t offer_intervals(
    const Dataset* data, IntervalScan* scan, cost_t all_left, cost_t* cost, int32_t n_cuts, Shape* shape
) noexcept nogil


cdef inline void start_intervals(IntervalScan* scan, int64_t known, int64_t n_missing) noexcept nogil:
    scan.n = 0
    scan.total = scan.missing = 0
    scan.known = known
    scan.n_missing = n_missing


cdef inline void add_position(const Dataset* data, IntervalScan* scan, int32_t at) noexcept nogil:
    """Allow a change point where scan.total is P, unless too few rows lie before or behind it."""
    if data.min_rows <= at <= scan.known - data.min_rows:
        scan.at[scan.n] = at
        scan.prefix[scan.n] = scan.total
        scan.n += 1


cdef inline bint holds_min_rows(const Dataset* data, const Rows* rows, const Shape* shape) noexcept nogil:
    """Return whether every interval of a shape holds min_rows of the rows, given its positions.

    Behind the cut above all values there are only the rows without a value.
    """
    cdef int64_t known = rows.known[shape.feature], before = 0
    cdef int32_t i
    if shape.at[0] == known:
        return known >= data.min_rows and rows.n - known >= data.min_rows
    for i in range(shape.n_cuts):
        if shape.at[i] - before < data.min_rows:
            return False
        before = shape.at[i]
    return known - before >= data.min_rows
