"""The best trees of depth left 2 for every penalty at once: the lower envelope of their costs."""

from libc.stdint cimport INT64_MAX

from literati._engine._bounds cimport leaf_cost_of
from literati._engine._cart cimport cart_cuts
from literati._engine._depth2 cimport ShapeIterator, next_shapes, shapes_start
from literati._engine._depth2_sweep cimport sweep_shapes
from literati._engine._rows cimport count_classes
from literati._engine._types cimport MAX_CLASSES, MAX_K

cdef enum:
    MAX_SPLITS = 3                         # of a tree of depth 2
    SIZES = MAX_SPLITS * (MAX_K - 1) + 1   # numbers of change points after the first that such a tree can have


# The fewest errors of a tree with some splits and change points, and the index of its first split.
cdef struct BestBySize:
    int64_t error[MAX_SPLITS + 1][SIZES]
    int32_t split_index[MAX_SPLITS + 1][SIZES]


cdef cost_t point_cost(const Dataset* data, const EnvelopePoint* point) noexcept nogil:
    return (
        point.error * data.weight_cost + point.splits * data.split_cost + point.changepoints * data.changepoint_cost
    )


cdef const EnvelopePoint* envelope_best(const Dataset* data, const Envelope* envelope) noexcept nogil:
    cdef const EnvelopePoint* best = &envelope.points[0]
    cdef int32_t i
    for i in range(1, envelope.n):
        if point_cost(data, &envelope.points[i]) < point_cost(data, best):
            best = &envelope.points[i]
    return best


cdef int64_t envelope_bytes(const Envelope* envelope) noexcept nogil:
    return sizeof(Envelope) - (MAX_ENVELOPE_POINTS - envelope.n) * <int64_t>sizeof(EnvelopePoint)


cdef void offer_sizes(
    const Dataset* data, const Sweep* sweep, int32_t index, int32_t seen, BestBySize* best
) noexcept nogil:
    """Offer the trees that begin with one swept shape, for each number of change points of both children."""
    cdef int32_t a, b, splits, changepoints, width = data.max_k + 1
    cdef const int64_t* left = sweep.errors + 2 * <int64_t>index * width
    cdef const int64_t* right = left + width
    for a in range(width):
        for b in range(width):
            splits = 1 + (a > 0) + (b > 0)
            changepoints = sweep.shapes[index].n_cuts - 1 + max(a - 1, 0) + max(b - 1, 0)
            if left[a] + right[b] < best.error[splits][changepoints]:
                best.error[splits][changepoints] = left[a] + right[b]
                best.split_index[splits][changepoints] = seen + index


cdef inline int64_t complexity(const Dataset* data, const EnvelopePoint* point) noexcept nogil:
    return point.splits * data.split_complexity + point.changepoints * data.changepoint_complexity


cdef bint lies_above(
    const Dataset* data, const EnvelopePoint* before, const EnvelopePoint* point, const EnvelopePoint* after
) noexcept nogil:
    """Return whether a point costs as much as one of its neighbours, or more, at every penalty."""
    cdef int64_t c = complexity(data, point)
    return (point.error - after.error) * (c - complexity(data, before)) >= (
        (before.error - point.error) * (complexity(data, after) - c)
    )


cdef void make_envelope(const Dataset* data, const BestBySize* best, Envelope* envelope) noexcept nogil:
    """Write the lower envelope of the best trees of each size; the first point is a leaf and has been written."""
    cdef EnvelopePoint point
    cdef EnvelopePoint* last
    cdef int32_t splits, changepoints
    cdef int64_t size, next_size, reached = 0
    while True:
        # The next larger size, and the fewest errors of it.
        next_size = INT64_MAX
        point.error = INT64_MAX
        for splits in range(1, MAX_SPLITS + 1):
            for changepoints in range(SIZES):
                size = splits * data.split_complexity + changepoints * data.changepoint_complexity
                if best.error[splits][changepoints] == INT64_MAX or size <= reached or size > next_size:
                    continue
                if size < next_size or best.error[splits][changepoints] < point.error:
                    next_size = size
                    point.error = best.error[splits][changepoints]
                    point.splits, point.changepoints = splits, changepoints
                    point.split_index = best.split_index[splits][changepoints]
        if next_size == INT64_MAX:
            return
        reached = next_size
        last = &envelope.points[envelope.n - 1]
        if point.error >= last.error:
            continue
        while envelope.n > 1 and lies_above(data, last - 1, last, &point):
            envelope.n -= 1
            last -= 1
        if envelope.n == MAX_ENVELOPE_POINTS:
            envelope.n = 0
            return
        envelope.points[envelope.n] = point
        envelope.n += 1


cdef void solve_envelope(
    const Dataset* data, Control* control, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves,
    Envelope* envelope
) noexcept nogil:
    cdef int64_t counts[MAX_CLASSES]
    cdef BestBySize best
    cdef ShapeIterator iterator
    cdef int32_t splits, changepoints, n, i, seen = 0
    for splits in range(MAX_SPLITS + 1):
        for changepoints in range(SIZES):
            best.error[splits][changepoints] = INT64_MAX
    count_classes(data, rows, counts)
    envelope.n = 1
    envelope.points[0] = EnvelopePoint(leaf_cost_of(data, counts) // data.weight_cost, 0, 0, -1)
    shapes_start(&iterator, cart_cuts(data, control, cart, rows, leaves, sweep.cuts))
    sweep.narrow = cart if cart.narrow else NULL
    sweep.by_size = True
    while not control.stop:
        n = next_shapes(data, rows, sweep, &iterator)
        if n == 0:
            break
        sweep_shapes(data, control, sweep, rows, sweep.shapes, n, False)
        if control.stop:
            break
        for i in range(n):
            offer_sizes(data, sweep, i, seen, &best)
        seen += n
    sweep.by_size = False
    sweep.narrow = NULL
    make_envelope(data, &best, envelope)
