"""A sweep scores many candidate splits at once: the best trees of depth 1 on both children of each."""

from literati._engine._cart cimport Cart, Cut
from literati._engine._class_order cimport ClassOrder
from literati._engine._memory cimport Arena
from literati._engine._types cimport (
    Control, Dataset, Rows, Shape, cost_t, int32_t, int64_t, uint16_t, uint32_t, uint8_t,
)

cdef enum:
    BATCHES = 8  # of LANES candidates each, in one sweep: a safe default, the lanes make the speed

# Buffers of the sweeps, from an arena. Their sizes follow the dataset; nothing is allocated while sweeping.
cdef struct Sweep:
    uint16_t* bits          # [batch][row] bit i is set if candidate i of the batch sends the row left
    void* best              # [batch][side][k][lane] result of the kernels, in the count type of the sweep
    int64_t* counts         # [batch][lane][side][class] weight; not filled where only totals are needed
    int64_t* totals         # [batch][lane][side] weight
    int64_t* piece_counts   # [piece of a feature's order][class] weight
    void* scratch           # prefix maxima of the kernel for many classes
    ClassOrder classes      # the rows by class; filled where pairs of labels are tried
    void* pair_weight       # [row] weight, negated for the second of two classes, in the count type of the sweep
    int64_t* min_weight     # [batch][lane][side] two labels can improve the child only if they weigh more than this
    Cut* cuts               # candidate cuts of the current state
    Shape* shapes           # [BATCHES * LANES] candidates; callers fill them
    cost_t* cost            # [candidate][side] cost of the child, for min_rows = 1 unless `long_intervals` is set
    bint by_size            # `errors` are written instead of `cost`
    int64_t* errors         # [candidate][side][k] fewest errors of the child with k change points; 0: of a leaf
    Cart* narrow            # a CART with the narrow entries of the rows that are swept; NULL: there is none
    uint32_t* children      # [number] see narrow_walk_fn
    bint long_intervals     # children have at least min_rows rows in every interval; only with one change point
    Rows child              # rows of one child; it has memory only where min_rows exceeds 1, as has the next
    uint8_t* side           # [row] 0: left, 1: right

# The lists by class are kept in the CART's buffers, since a sweep and a CART never work at the same time.
cdef void sweep_init(const Dataset* data, Control* control, Arena* arena, Sweep* sweep, const Cart* cart) noexcept nogil

# Fills sweep.cost, or sweep.errors, for n <= BATCHES * LANES shapes, which must be sorted by feature. With `quick` and
# more than two classes, several change points are not tried: the costs are then upper bounds. After a stop request the
# costs mean nothing.
cdef void sweep_shapes(
    const Dataset* data, Control* control, Sweep* sweep, const Rows* rows, const Shape* shapes, int32_t n, bint quick
) noexcept nogil
