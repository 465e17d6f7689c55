"""Optimal shape-generalized decision trees."""

from typing import TYPE_CHECKING, Any

from literati._version import __version__
from literati.errors import (
    CheckpointError,
    DataWarning,
    LiteratiError,
    ModelFormatError,
    SearchInvariantError,
)
from literati.search.search import Search, SearchLimits, SearchReport, StopReason
from literati.tree.model import ShapeTree
from literati.tuning.path import PathSegment, RegularizationPath, regularization_path

if TYPE_CHECKING:
    from literati.estimator import LiteratiClassifier

__all__ = [
    "CheckpointError",
    "DataWarning",
    "LiteratiClassifier",
    "LiteratiError",
    "ModelFormatError",
    "PathSegment",
    "RegularizationPath",
    "Search",
    "SearchInvariantError",
    "SearchLimits",
    "SearchReport",
    "ShapeTree",
    "StopReason",
    "__version__",
    "regularization_path",
]

# Pickles refer to the classes by these names, so that modules may move.
for _class in (PathSegment, RegularizationPath, Search, SearchLimits, SearchReport, ShapeTree, StopReason):
    _class.__module__ = __name__


def __getattr__(name: str) -> Any:
    """Import the estimator when it is first used: scikit-learn takes two seconds to import."""
    if name == "LiteratiClassifier":
        from literati.estimator import LiteratiClassifier

        globals()[name] = LiteratiClassifier
        return LiteratiClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
