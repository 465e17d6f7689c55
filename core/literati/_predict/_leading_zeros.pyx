"""Find the columns of a CSV in which a whole number is written with leading zeros."""

cdef extern from "_leading_zeros.h" nogil:
    bint lit_may_have_leading_zeros(const unsigned char* data, Py_ssize_t size, unsigned char delimiter)


cdef inline bint is_digit(unsigned char c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef void mark_columns(
    const unsigned char* data, Py_ssize_t size, unsigned char delimiter, unsigned char* columns, Py_ssize_t width
) noexcept nogil:
    cdef Py_ssize_t i = 0, j = 0
    cdef bint quoted
    while i < size:
        # This is the start of a cell.
        while i < size and data[i] == c' ':
            i += 1
        quoted = i < size and data[i] == c'"'
        if quoted:
            i += 1
            while i < size and data[i] == c' ':
                i += 1
        if i + 1 < size and data[i] == c'0' and is_digit(data[i + 1]) and j < width:
            columns[j] = 1
        if quoted:
            while i < size:
                if data[i] == c'"':
                    if i + 1 < size and data[i + 1] == c'"':
                        i += 1
                    else:
                        break
                i += 1
        while i < size and data[i] != delimiter and data[i] != c'\n' and data[i] != c'\r':
            i += 1
        j = j + 1 if i < size and data[i] == delimiter else 0
        i += 1


def mark_leading_zeros(const unsigned char[::1] data, unsigned char delimiter, unsigned char[::1] columns):
    """Set `columns[j]` to 1 if a cell of column `j` begins with a zero and a digit, after optional blanks.

    `data` holds whole rows. Cells may be in quotation marks.
    """
    cdef Py_ssize_t size = data.shape[0]
    if size < 2 or columns.shape[0] == 0:
        return
    with nogil:
        # The first cell has no delimiter before it.
        if (data[0] == c'0' and is_digit(data[1])) or lit_may_have_leading_zeros(&data[0], size, delimiter):
            mark_columns(&data[0], size, delimiter, &columns[0], columns.shape[0])
