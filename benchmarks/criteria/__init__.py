"""Claims about speed, anytime behaviour, memory, scale and encoding. A `Scope` sets their size."""

from benchmarks.criteria.encoding import encoding
from benchmarks.criteria.growth import growth
from benchmarks.criteria.limits import anytime, memory, scale
from benchmarks.criteria.scope import FULL, NUMERIC, PEERS, QUICK, Scope
from benchmarks.criteria.speed import speed
from benchmarks.criteria.threads import threads

__all__ = [
    "FULL",
    "NUMERIC",
    "PEERS",
    "QUICK",
    "Scope",
    "anytime",
    "encoding",
    "growth",
    "memory",
    "scale",
    "speed",
    "threads",
]
