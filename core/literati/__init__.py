"""Optimal shape-generalized decision trees."""

from ._version import __version__
from .errors import (
    CheckpointError,
    DataWarning,
    LiteratiError,
    ModelFormatError,
    SearchInvariantError,
)
from .estimator import LiteratiClassifier
from .model import ShapeTree
from .search import Search, SearchLimits, SearchReport, StopReason

__all__ = [
    "CheckpointError",
    "DataWarning",
    "LiteratiClassifier",
    "LiteratiError",
    "ModelFormatError",
    "Search",
    "SearchInvariantError",
    "SearchLimits",
    "SearchReport",
    "ShapeTree",
    "StopReason",
    "__version__",
]
