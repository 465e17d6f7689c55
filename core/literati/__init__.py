"""Optimal shape-generalized decision trees."""

__version__ = "0.1.0"
