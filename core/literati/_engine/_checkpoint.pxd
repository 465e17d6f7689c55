"""What a search knows, as bytes from which another process goes on."""

from literati._ao cimport Ao
from literati._types cimport cost_t, int64_t

# The best tree, the bounds, the values and bounds of states, and which steps were taken, as far as `room` bytes allow.
cdef bytes save_search(Ao* ao, double seconds, int64_t room)
# Takes them up in a search that has not started; returns the seconds spent before.
cdef double load_search(Ao* ao, bytes blob) except? -1.0
