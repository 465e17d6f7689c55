"""Save what a search knows as bytes, from which another process continues."""

from literati._engine._ao cimport Ao
from literati._engine._types cimport int64_t

# Returns the best tree, the bounds, values and bounds of states, and the keys of the steps taken, as far as they fit
# into `max_bytes`.
cdef bytes save_search(Ao* ao, double seconds, int64_t max_bytes)
# Loads them into a search that has not started; returns the seconds spent before.
cdef double load_search(Ao* ao, bytes blob) except? -1.0
