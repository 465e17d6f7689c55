"""Optimal shape-generalized decision trees."""

from typing import TYPE_CHECKING, Any

from ._version import __version__
from .errors import (
    CheckpointError,
    DataWarning,
    LiteratiError,
    ModelFormatError,
    SearchInvariantError,
)
from .model import ShapeTree
from .search import Search, SearchLimits, SearchReport, StopReason

if TYPE_CHECKING:
    from .estimator import LiteratiClassifier

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


def __getattr__(name: str) -> Any:
    """The estimator comes with scikit-learn, two seconds of import: who only predicts needs neither."""
    if name == "LiteratiClassifier":
        from .estimator import LiteratiClassifier

        globals()[name] = LiteratiClassifier
        return LiteratiClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
