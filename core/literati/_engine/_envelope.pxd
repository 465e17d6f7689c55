"""The best trees of depth left 2 for every penalty at once: the lower envelope of their costs.

With penalties in a fixed ratio, the cost of a tree is a line in the penalty. What a state of depth left 2 costs at any
penalty follows from the few trees on the lower envelope of these lines, so a state is solved once for a whole
regularization path.
"""

from literati._engine._cart cimport Cart
from literati._engine._depth2_sweep cimport Sweep
from literati._engine._types cimport Control, Dataset, Rows, cost_t, int32_t, int64_t

cdef enum:
    MAX_ENVELOPE_POINTS = 24  # an envelope with more is not kept; there are seldom more than eight

# A tree of the envelope.
cdef struct EnvelopePoint:
    int64_t error         # weight of the misclassified rows
    int32_t splits
    int32_t changepoints  # after the first one of each split
    int32_t split_index   # as in DataState; -1: a leaf

cdef struct Envelope:
    int32_t n                                   # points in use; 0: there is no envelope
    EnvelopePoint points[MAX_ENVELOPE_POINTS]   # from the smallest tree to the largest, the errors falling

# Returns the point that costs least now, the smallest of equal ones.
cdef const EnvelopePoint* envelope_best(const Dataset* data, const Envelope* envelope) noexcept nogil
cdef cost_t point_cost(const Dataset* data, const EnvelopePoint* point) noexcept nogil
# Returns the bytes that an envelope needs with its points in use.
cdef int64_t envelope_bytes(const Envelope* envelope) noexcept nogil
# Solves the rows over the cuts of a CART with `leaves` leaves, for every penalty. The envelope is empty if it would
# have too many points. After a stop request it means nothing.
cdef void solve_envelope(
    const Dataset* data, Control* control, Sweep* sweep, Cart* cart, const Rows* rows, int32_t leaves,
    Envelope* envelope
) noexcept nogil
