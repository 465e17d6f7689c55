"""The rows of a state by class, each class in the order of every feature, so that two classes can be merged."""

from literati._engine._memory cimport Arena
from literati._engine._min_rows cimport IntervalScan
from literati._engine._types cimport Control, Dataset, Rows, int32_t, int64_t, uint32_t

# Sizes follow the dataset; nothing is allocated while a state is sorted.
cdef struct ClassOrder:
    int32_t n_present    # classes that the state has
    int32_t* present     # [n_present] these classes, the heaviest first, the lowest label among equals
    int32_t* start       # [class + 1] where the rows of a class begin in each feature's list
    int32_t* known       # [feature][class] how many of them have a value; the others come last
    int32_t* next        # [class] where the next row goes, while the lists are written
    uint32_t* rows       # [feature][n] rows, by class, then by value; borrowed
    int32_t* values      # [feature][n] legal cuts below each of these rows, or NO_VALUE; borrowed
    uint32_t* merged     # [n + 1] a spare entry, then two classes in the order of one feature
    IntervalScan scan    # for intervals of at least min_rows rows; it has memory only where min_rows exceeds 1

# Takes its memory from the arena; `rows` and `values` are borrowed arrays of [feature][row].
cdef void class_order_init(
    const Dataset* data, Control* control, Arena* arena, ClassOrder* order, uint32_t* rows, int32_t* values
) noexcept nogil

# Fills order.present: the classes that weigh something.
cdef void sort_classes(const Dataset* data, ClassOrder* order, const int64_t* weight) noexcept nogil
# Sorts the rows of a state by class. After a stop request the lists are not complete.
cdef void sort_rows_by_class(const Dataset* data, Control* control, ClassOrder* order, const Rows* rows) noexcept nogil
# Writes the rows of two classes in the order of a feature to order.merged + 1, each with its cut flag. Returns how many
# of them have a value.
cdef int32_t merge_classes(
    const Dataset* data, ClassOrder* order, const Rows* rows, int32_t feature, int32_t a, int32_t b
) noexcept nogil
cdef inline int32_t class_rows(const ClassOrder* order, int32_t c) noexcept nogil:
    """Return how many rows a class has."""
    return order.start[c + 1] - order.start[c]
