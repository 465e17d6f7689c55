"""Rank codes of a column of numbers, by a radix sort of their bits together with their rows."""

from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

cdef enum:
    DIGIT_BITS = 11
    N_DIGITS = 6           # 6 * 11 bits cover a key of 64 bits
    RADIX = 1 << DIGIT_BITS


cdef inline uint64_t to_key(double x) noexcept nogil:
    """Return an integer that orders as the number does; 0.0 and -0.0 have the same key."""
    cdef uint64_t bits
    x += 0.0  # turns -0.0 into 0.0
    memcpy(&bits, &x, sizeof(bits))
    return ~bits if bits >> 63 else bits | (<uint64_t>1 << 63)


cdef inline double to_number(uint64_t key) noexcept nogil:
    cdef uint64_t bits = key & ~(<uint64_t>1 << 63) if key >> 63 else ~key
    cdef double x
    memcpy(&x, &bits, sizeof(x))
    return x


cdef inline uint32_t digit_of(uint64_t key, int place) noexcept nogil:
    return <uint32_t>(key >> (place * DIGIT_BITS)) & (RADIX - 1)


cdef Py_ssize_t read_keys(const double[::1] values, uint64_t *keys, uint32_t *rows, uint32_t *counts) noexcept nogil:
    """Write the keys and rows of the known numbers, and count every digit. Return how many are known."""
    cdef Py_ssize_t row, n_known = 0
    cdef uint64_t key
    cdef int place
    memset(counts, 0, N_DIGITS * RADIX * sizeof(uint32_t))
    for row in range(values.shape[0]):
        if values[row] != values[row]:
            continue
        key = to_key(values[row])
        keys[n_known] = key
        rows[n_known] = <uint32_t>row
        n_known += 1
        for place in range(N_DIGITS):
            counts[place * RADIX + digit_of(key, place)] += 1
    return n_known


cdef void sort_by_digit(const uint64_t *keys, const uint32_t *rows, uint64_t *keys_out, uint32_t *rows_out,
                        Py_ssize_t n, int place, uint32_t *counts) noexcept nogil:
    """Sort stably by one digit. The digit's counts are overwritten."""
    cdef uint32_t start = 0, count, to, digit
    cdef Py_ssize_t k
    for digit in range(RADIX):
        count = counts[digit]
        counts[digit] = start
        start += count
    for k in range(n):
        digit = digit_of(keys[k], place)
        to = counts[digit]
        counts[digit] = to + 1
        keys_out[to] = keys[k]
        rows_out[to] = rows[k]


cdef Py_ssize_t write_ranks(const uint64_t *keys, const uint32_t *rows, Py_ssize_t n, int32_t[::1] codes,
                            double *distinct) noexcept nogil:
    """Write the code of every row and the distinct numbers. Return how many there are."""
    cdef Py_ssize_t k
    cdef int32_t code = -1
    for k in range(n):
        if k == 0 or keys[k] != keys[k - 1]:
            code += 1
            distinct[code] = to_number(keys[k])
        codes[rows[k]] = code
    return code + 1


def rank_numbers(const double[::1] values, int32_t[::1] codes):
    """Write the rank of each number among the distinct numbers into `codes`, -1 for NaN. Return these in order.

    The codes must be -1 at the start. There must be fewer than 2^31 numbers.
    """
    cdef Py_ssize_t n_known, n_distinct, n = values.shape[0]
    cdef int place
    if codes.shape[0] != n:
        raise ValueError("codes: expected one entry for each number")
    if n == 0:
        return np.empty(0)
    keys_array, rows_array = np.empty((2, n), dtype=np.uint64), np.empty((2, n), dtype=np.uint32)
    counts_array = np.empty(N_DIGITS * RADIX, dtype=np.uint32)
    cdef uint64_t[:, ::1] key_buffers = keys_array
    cdef uint32_t[:, ::1] row_buffers = rows_array
    cdef uint32_t[::1] digit_counts = counts_array
    cdef uint64_t *keys = &key_buffers[0, 0]
    cdef uint64_t *other_keys = &key_buffers[1, 0]
    cdef uint32_t *rows = &row_buffers[0, 0]
    cdef uint32_t *other_rows = &row_buffers[1, 0]
    cdef uint32_t *counts = &digit_counts[0]
    with nogil:
        n_known = read_keys(values, keys, rows, counts)
        for place in range(N_DIGITS):
            # A digit in which all keys agree needs no pass: whole numbers have many of these.
            if n_known == 0 or counts[place * RADIX + digit_of(keys[0], place)] == <uint32_t>n_known:
                continue
            sort_by_digit(keys, rows, other_keys, other_rows, n_known, place, counts + place * RADIX)
            keys, other_keys = other_keys, keys
            rows, other_rows = other_rows, rows
        n_distinct = write_ranks(keys, rows, n_known, codes, <double *>other_keys)
    return keys_array[0 if other_keys == &key_buffers[0, 0] else 1, :n_distinct].view(np.float64).copy()
