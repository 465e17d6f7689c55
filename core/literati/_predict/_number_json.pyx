"""Read rows of numbers from JSON text without a Python object for each cell.

Only numbers, null and the expected names are read. For anything else the functions return None, and a complete parser
has to read the text. The text ends with a zero byte, as every bytes object does, and no step reads past it.
"""

from libc.math cimport NAN
from libc.stdint cimport uint64_t
from libc.string cimport memcmp

import numpy as np

cdef extern from "_decimal.h" nogil:
    int MAX_DIGITS
    int decimal_to_double(uint64_t digits, int exponent, double *out)

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0

cdef enum:
    MAX_EXPONENT = 100000  # with a larger one a number is 0 or infinite


cdef inline const char *skip_space(const char *p) noexcept nogil:
    while p[0] == c' ' or p[0] == c'\n' or p[0] == c'\r' or p[0] == c'\t':
        p += 1
    return p


cdef inline bint is_digit(char c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef inline const char *read_digits(const char *p, uint64_t *digits, int *n_digits) noexcept nogil:
    """Append digits to a number. Leading zeros do not count, and digits after the first MAX_DIGITS are only counted."""
    while is_digit(p[0]):
        if n_digits[0] or p[0] != c'0':
            n_digits[0] += 1
            if n_digits[0] <= MAX_DIGITS:
                digits[0] = 10 * digits[0] + <uint64_t>(p[0] - c'0')
        p += 1
    return p


cdef const char *read_number(const char *p, double *out) noexcept nogil:
    """Read a number as in RFC 8259, or null as NaN. Return the position after it, or NULL if there is none."""
    cdef const char *start = p
    cdef const char *fraction
    cdef uint64_t digits = 0
    cdef int n_digits = 0     # without leading zeros
    cdef int exponent = 0
    cdef int written = 0      # the exponent as written
    cdef bint negative = p[0] == c'-', down = False
    if p[0] == c'n':
        if p[1] == c'u' and p[2] == c'l' and p[3] == c'l':
            out[0] = NAN
            return p + 4
        return NULL
    p += negative
    if not is_digit(p[0]) or (p[0] == c'0' and is_digit(p[1])):
        return NULL
    p = read_digits(p, &digits, &n_digits)
    if p[0] == c'.':
        fraction = p + 1
        if not is_digit(fraction[0]):
            return NULL
        p = read_digits(fraction, &digits, &n_digits)
        exponent = -<int>min(p - fraction, MAX_EXPONENT)
    if p[0] == c'e' or p[0] == c'E':
        p += 1
        if p[0] == c'-' or p[0] == c'+':
            down = p[0] == c'-'
            p += 1
        if not is_digit(p[0]):
            return NULL
        while is_digit(p[0]):
            if written < MAX_EXPONENT:
                written = 10 * written + (p[0] - c'0')
            p += 1
        exponent += -written if down else written
    if n_digits <= MAX_DIGITS and decimal_to_double(digits, exponent, out):
        if negative:
            out[0] = -out[0]
        return p
    with gil:
        return read_slowly(start, p, out)


cdef const char *read_slowly(const char *start, const char *end, double *out) noexcept:
    """Convert with Python's own function, which must stop at the same place."""
    cdef char *stopped = NULL
    try:
        out[0] = PyOS_string_to_double(start, &stopped, NULL)
    except Exception:
        return NULL
    return end if stopped == end else NULL


cdef const char *read_arrays(const char *p, Py_ssize_t rows, Py_ssize_t width, double *cells) noexcept nogil:
    cdef Py_ssize_t row, column
    if p[0] != c'[':
        return NULL
    for row in range(rows):
        p = skip_space(p + 1)  # past [ or ,
        if p[0] != c'[':
            return NULL
        for column in range(width):
            p = read_number(skip_space(p + 1), cells)
            if p == NULL:
                return NULL
            p = skip_space(p)
            if p[0] != (c']' if column == width - 1 else c','):
                return NULL
            cells += 1
        p = skip_space(p + 1)
        if p[0] != (c']' if row == rows - 1 else c','):
            return NULL
    return p + 1


cdef struct Name:
    const char *text
    Py_ssize_t length
    bint taken


cdef inline bint is_name(const char *p, const char *end, const Name *name) noexcept nogil:
    """Return whether the string that begins after this quotation mark is the name."""
    return end - p > name.length and p[name.length] == c'"' and memcmp(p, name.text, name.length) == 0


cdef const char *read_records(const char *p, const char *end, Py_ssize_t rows, Py_ssize_t width, Name *names,
                              Py_ssize_t *order, double *cells) noexcept nogil:
    """Read records. The first may have the names in any order; the others must have the same order."""
    cdef Py_ssize_t row, place, k
    if p[0] != c'[':
        return NULL
    for row in range(rows):
        p = skip_space(p + 1)
        if p[0] != c'{':
            return NULL
        for place in range(width):
            p = skip_space(p + 1)
            if p[0] != c'"':
                return NULL
            p += 1
            if row == 0:
                k = 0
                while k < width and (names[k].taken or not is_name(p, end, &names[k])):
                    k += 1
                if k == width:
                    return NULL
                names[k].taken = True
                order[place] = k
            else:
                k = order[place]
                if not is_name(p, end, &names[k]):
                    return NULL
            p = skip_space(p + names[k].length + 1)
            if p[0] != c':':
                return NULL
            p = read_number(skip_space(p + 1), &cells[row * width + k])
            if p == NULL:
                return NULL
            p = skip_space(p)
            if p[0] != (c'}' if place == width - 1 else c','):
                return NULL
        p = skip_space(p + 1)
        if p[0] != (c']' if row == rows - 1 else c','):
            return NULL
    return p + 1


def numbers_in_arrays(bytes text, Py_ssize_t at, Py_ssize_t rows, Py_ssize_t width):
    """Return the matrix of `rows` arrays of `width` numbers at `at`, and where it ends; None if there is none."""
    cdef const char *start = text
    cdef const char *p
    if rows < 1 or width < 1 or not 0 <= at < len(text):
        return None
    matrix = np.empty((rows, width))
    cdef double[:, ::1] cells = matrix
    with nogil:
        p = read_arrays(start + at, rows, width, &cells[0, 0])
    return None if p == NULL else (matrix, p - start)


def numbers_in_records(bytes text, Py_ssize_t at, Py_ssize_t rows, list names):
    """Return the matrix of `rows` objects with these names, which have no quotation marks or backslashes."""
    cdef const char *start = text
    cdef const char *end = start + len(text)
    cdef const char *p
    cdef Py_ssize_t k, width = len(names)
    cdef bytes name
    if rows < 1 or width < 1 or not 0 <= at < len(text):
        return None
    cdef unsigned char[::1] known_bytes = np.zeros(width * sizeof(Name), dtype=np.uint8)
    cdef Name *known_names = <Name *>&known_bytes[0]
    cdef Py_ssize_t[::1] order = np.zeros(width, dtype=np.intp)
    for k in range(width):
        name = names[k]
        known_names[k].text = name
        known_names[k].length = len(name)
    matrix = np.empty((rows, width))
    cdef double[:, ::1] cells = matrix
    with nogil:
        p = read_records(start + at, end, rows, width, known_names, &order[0], &cells[0, 0])
    return None if p == NULL else (matrix, p - start)
