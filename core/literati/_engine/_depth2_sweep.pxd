"""Many candidate splits swept at once: the best trees of depth 1 on both children of each."""

from literati._cart cimport Cart, Cut
from literati._class_order cimport ClassOrder
from literati._types cimport Problem, Rows, Shape, cost_t, int32_t, int64_t, uint16_t

cdef enum:
    BATCHES = 8  # of LANES candidates each, swept in one call

# Buffers of the sweeps. Sizes follow the problem; nothing is allocated while sweeping.
cdef struct Sweep:
    uint16_t* bits          # [batch][row] which candidates send the row left
    void* best              # [batch][side][k][lane], in the count type of the sweep
    int64_t* counts         # [batch][lane][side][class] weight; not filled where only totals are wanted
    int64_t* totals         # [batch][lane][side] weight
    int64_t* piece_counts   # [piece of a feature's order][class]
    uint16_t* piece_bits    # [piece]
    void* scratch           # prefix maxima of the sweep over many classes
    ClassOrder classes      # the rows by class; filled where pairs of labels are tried
    void* pair_weight       # [row] the weights of two classes, one of them negated
    int64_t* needs          # [batch][lane][side] two labels must weigh more than this to be of use
    Cut* cuts
    Shape* shapes           # [BATCHES * LANES]
    cost_t* left            # [BATCHES * LANES] cost of the left child of each shape
    cost_t* right

# A sweep and a CART are never at work at the same time: the lists by class stand in the CART's buffers.
cdef bint sweep_init(Problem* p, Sweep* sweep, const Cart* cart) noexcept nogil
cdef void sweep_free(Problem* p, Sweep* sweep) noexcept nogil

# Costs of the best trees of depth 1 on both children of n <= BATCHES * LANES shapes, sorted by feature.
# With `quick` several change points are not tried where there are more than two classes: an estimate, never too low.
cdef void sweep_shapes(
    Problem* p, Sweep* sweep, const Rows* rows, const Shape* shapes, int32_t n, bint quick
) noexcept nogil
