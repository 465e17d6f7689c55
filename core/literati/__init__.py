"""Optimal shape-generalized decision trees."""

from importlib import import_module
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
    from literati.tuning.cross_validation import LiteratiClassifierCV

__all__ = [
    "CheckpointError",
    "DataWarning",
    "LiteratiClassifier",
    "LiteratiClassifierCV",
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


_ESTIMATORS = {
    "LiteratiClassifier": "literati.estimator",
    "LiteratiClassifierCV": "literati.tuning.cross_validation",
}


def __getattr__(name: str) -> Any:
    """Import an estimator when it is first used: scikit-learn takes two seconds to import."""
    if name in _ESTIMATORS:
        globals()[name] = getattr(import_module(_ESTIMATORS[name]), name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
