"""Allocations that are counted against the memory limit of a search."""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy


cdef enum:
    ALIGNMENT = 32  # bytes of a vector register
    OVERHEAD = 96   # bytes beside a block: its header, the alignment, and bytes that kernels may read behind the end
    MIN_CAPACITY = 16  # of an array that grows


cdef void* tracked_malloc(Control* control, int64_t size) noexcept nogil:
    cdef int64_t* block
    if control.measuring:
        control.bytes += size + OVERHEAD
        return NULL
    if control.allocations_failing > 0:
        if control.allocations_left == 0:
            control.allocations_failing -= 1
            return NULL
        control.allocations_left -= 1
    block = <int64_t*>malloc(size + OVERHEAD)
    if block == NULL:
        return NULL
    # The address of the whole block and its size are stored just before the address that is returned.
    cdef char* start = <char*>block + 2 * ALIGNMENT - (<size_t>block & (ALIGNMENT - 1))
    (<int64_t*>start - 1)[0] = size
    (<void**>start - 2)[0] = block
    control.bytes += size + OVERHEAD
    return start


cdef void tracked_free(Control* control, void* block) noexcept nogil:
    if block == NULL:
        return
    control.bytes -= (<int64_t*>block - 1)[0] + OVERHEAD
    free((<void**>block - 2)[0])


cdef void* tracked_append(Control* control, void* array, int32_t n, int32_t* capacity, int64_t item) noexcept nogil:
    cdef int32_t larger = 2 * capacity[0] if capacity[0] else MIN_CAPACITY
    cdef void* moved
    if n < capacity[0]:
        return array
    moved = tracked_malloc(control, larger * item)
    if moved == NULL:
        return NULL
    if n:
        memcpy(moved, array, n * item)
    tracked_free(control, array)
    capacity[0] = larger
    return moved


cdef void* arena_malloc(Control* control, Arena* arena, int64_t size) noexcept nogil:
    cdef void* block = tracked_malloc(control, size)
    if block == NULL or arena.n == MAX_BLOCKS:
        tracked_free(control, block)
        arena.failed = True
        return NULL
    arena.blocks[arena.n] = block
    arena.n += 1
    return block


cdef void arena_free(Control* control, Arena* arena) noexcept nogil:
    while arena.n:
        arena.n -= 1
        tracked_free(control, arena.blocks[arena.n])
