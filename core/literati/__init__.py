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

if TYPE_CHECKING:
    from literati.estimator import LiteratiClassifier
    from literati.search.search import Search, SearchLimits, SearchReport, StopReason
    from literati.tree.model import ShapeTree
    from literati.tuning.cross_validation import LiteratiClassifierCV
    from literati.tuning.path import PathSegment, RegularizationPath, regularization_path

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

# Where each name is defined. Pickles refer to the classes as `literati.Name`, so that modules may move.
_MODULES = {
    "LiteratiClassifier": "literati.estimator",
    "LiteratiClassifierCV": "literati.tuning.cross_validation",
    "PathSegment": "literati.tuning.path",
    "RegularizationPath": "literati.tuning.path",
    "Search": "literati.search.search",
    "SearchLimits": "literati.search.options",
    "SearchReport": "literati.search.report",
    "ShapeTree": "literati.tree.model",
    "StopReason": "literati.search.report",
    "regularization_path": "literati.tuning.path",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that commands start quickly: scikit-learn takes two seconds."""
    if name in _MODULES:
        globals()[name] = getattr(import_module(_MODULES[name]), name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
