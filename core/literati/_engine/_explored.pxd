"""The explored share: how much of the space of trees is complete or pruned, from 0 to 1.

The root has the whole share. An expansion divides the share of its state equally among the choices; a choice whose
refinements are not opened keeps half for them; each child of a choice gets half of the rest. A gap divides its share by
positions. A share is divided once and never again, so the explored share never falls: what is complete or pruned is
added to all states above. A state that is freed and expanded again divides only what was not explored before.
"""

from literati._engine._graph cimport Choice, DataState


cdef inline void add_explored(DataState* s, double share) noexcept nogil:
    """Count a part of a state's share as explored, there and in all states above."""
    while True:
        s.explored += share
        if s.parent == NULL:
            return
        s = s.parent.owner


cdef inline double unexplored(const DataState* s) noexcept nogil:
    return s.share - s.explored if s.share > s.explored else 0.0


cdef inline void explore_child(DataState* child) noexcept nogil:
    """Count all of a state below the root as explored."""
    cdef double rest = unexplored(child)
    if rest > 0.0:
        child.explored = child.share
        add_explored(child.parent.owner, rest)


cdef inline void explore_choice(Choice* c) noexcept nogil:
    """Count a choice and its refinements as explored, because it is pruned."""
    explore_child(&c.left)
    explore_child(&c.right)
    add_explored(c.owner, c.refine_share)
    c.refine_share = 0.0


cdef inline void share_choice(Choice* c, double share) noexcept nogil:
    """Give a new choice its share."""
    c.refine_share = share / 2 if c.refinable else 0.0
    c.left.share = c.right.share = (share - c.refine_share) / 2
