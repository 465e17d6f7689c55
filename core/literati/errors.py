"""Errors and warnings of the library.

Bad arguments are plain ``ValueError`` or ``TypeError`` whose message names the argument. The classes here are
for what those two cannot say: a damaged file, or a search that broke its own promise.
"""


class LiteratiError(Exception):
    """Base of every error that is the library's own."""


class ModelFormatError(LiteratiError, ValueError):
    """A model's JSON is damaged, of an unknown version, or inconsistent with itself."""


class CheckpointError(LiteratiError, ValueError):
    """A checkpoint is damaged, of an unknown version, or belongs to other data."""


class SearchInvariantError(LiteratiError, RuntimeError):
    """A search returned a tree that does not cost what the search said: a bug, please report it."""


class Interrupted(LiteratiError):
    """Work was broken off because a stop is wanted or the time is over."""


class DataWarning(UserWarning):
    """Something in the data was set aside, for example a constant column."""
