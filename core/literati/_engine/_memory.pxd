"""Allocations that are counted against the memory limit of a search."""

from literati._engine._types cimport Control, int32_t, int64_t

cdef enum:
    MAX_BLOCKS = 48

# Blocks that are freed together. Callers allocate all that they need and check `failed` once.
cdef struct Arena:
    void* blocks[MAX_BLOCKS]
    int32_t n            # blocks in use
    bint failed          # an allocation failed since the arena was set up

# Returns NULL when there is no memory. Blocks are aligned to 32 bytes, and up to 32 bytes behind the end may be read.
cdef void* tracked_malloc(Control* control, int64_t size) noexcept nogil
cdef void tracked_free(Control* control, void* block) noexcept nogil
# Returns an array with capacity for one more than its n items of `item` bytes. It may be a larger copy; the old array
# is then freed. Returns NULL when there is no memory; the old array is then unchanged.
cdef void* tracked_append(Control* control, void* array, int32_t n, int32_t* capacity, int64_t item) noexcept nogil
cdef void* arena_malloc(Control* control, Arena* arena, int64_t size) noexcept nogil
cdef void arena_free(Control* control, Arena* arena) noexcept nogil
