"""Claims about speed, anytime behaviour, memory and scale. A `Scope` sets their size."""

from benchmarks.criteria.limits import anytime, memory, scale
from benchmarks.criteria.scope import FULL, NUMERIC, PEERS, QUICK, Scope
from benchmarks.criteria.speed import speed

__all__ = ["FULL", "NUMERIC", "PEERS", "QUICK", "Scope", "anytime", "memory", "scale", "speed"]
