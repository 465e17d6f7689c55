"""Errors and warnings of the library.

A wrong argument raises ``ValueError`` or ``TypeError`` with a message that names the argument. The classes
here are for other errors, such as a damaged file.
"""


class LiteratiError(Exception):
    """Base class of the library's own errors."""


class ModelFormatError(LiteratiError, ValueError):
    """The JSON of a model is damaged, of an unknown version, or contradicts itself."""


class CheckpointError(LiteratiError, ValueError):
    """A checkpoint is damaged, of an unknown version, or belongs to other data."""


class SearchInvariantError(LiteratiError, RuntimeError):
    """A tree does not cost what the search says. This is a bug; please report it."""


class Interrupted(LiteratiError):
    """Work was stopped because a stop was requested or the time limit was reached."""


class DataWarning(UserWarning):
    """A part of the data is ignored, for example a constant column, or too small to be split."""
