"""The rows of a state by class, each class in the order of every feature, so that two classes can be merged."""

from literati._types cimport Problem, Rows, int32_t, int64_t, uint32_t

# Sizes follow the problem; nothing is allocated while a state is sorted. The lists are lent by somebody who does not
# need that memory at the same time.
cdef struct ClassOrder:
    int32_t n_present    # classes that the state has
    int32_t* present     # [n_present] these classes, the heaviest first, the lowest label among equals
    int32_t* start       # [class + 1] where the rows of a class begin in each feature's list
    int32_t* known       # [feature][class] how many of them have a value; the others come last
    int32_t* next        # [class] where the next row goes, while the lists are written
    uint32_t* rows       # [feature][n] rows, by class, then by value: lent
    int32_t* values      # [feature][n] the number of legal cuts below each of these; NO_VALUE where it is missing: lent
    uint32_t* merged     # room for the order of one feature, with a spare entry before it

cdef bint class_order_init(Problem* p, ClassOrder* order, uint32_t* rows, int32_t* values) noexcept nogil
cdef void class_order_free(Problem* p, ClassOrder* order) noexcept nogil

# Fills order.present: the classes that weigh something.
cdef void sort_classes(const Problem* p, ClassOrder* order, const int64_t* weight) noexcept nogil
# Sorts the rows of a state by class, and fills order.present. Unfinished after a stop request.
cdef void class_order_sort(
    Problem* p, ClassOrder* order, const Rows* rows, const int64_t* class_weight
) noexcept nogil
# Writes the rows of two classes in the order of a feature to order.merged + 1, each with its cut flag. Returns how many
# of them have a value.
cdef int32_t class_order_merge(
    const Problem* p, ClassOrder* order, const Rows* rows, int32_t feature, int32_t a, int32_t b
) noexcept nogil
cdef inline int32_t class_rows(const ClassOrder* order, int32_t c) noexcept nogil:
    return order.start[c + 1] - order.start[c]
