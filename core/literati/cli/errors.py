"""Errors of commands, and the exit code of every error."""

from __future__ import annotations

from enum import IntEnum

from literati.cli import INTERRUPTED
from literati.errors import LiteratiError


class ExitCode(IntEnum):
    """What the exit code of a command says."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    AUTH = 4
    CONFLICT = 5
    JOB_FAILED = 6
    CANCELLED = 7
    NETWORK = 8
    NOT_PROVEN = 9
    INTERRUPTED = INTERRUPTED


class InputError(LiteratiError):
    """An option or a file cannot be used. The message names the place and the remedy."""


class NotInstalledError(LiteratiError):
    """A command needs a package that is not installed."""


class NotProvenError(LiteratiError):
    """`--require-proof` was given, and the tree is not proven optimal."""


def library_sentence(message: object) -> str:
    """Return a message of the library about its argument `X` as a sentence about the table."""
    text = str(message)
    if not text.startswith("X: "):
        return text
    return f"{text[3].upper()}{text[4:].rstrip('.')}."


# The exit code of an error's class, or of its nearest base class. The classes are given by name, because most
# of them are those of the client, which only some commands import.
EXIT_CODES = {
    "InputError": ExitCode.USAGE,
    "ModelFormatError": ExitCode.USAGE,
    "ConfigurationError": ExitCode.USAGE,
    "InvalidIdError": ExitCode.USAGE,
    "InvalidRequestError": ExitCode.USAGE,
    "NotFoundError": ExitCode.NOT_FOUND,
    "AuthenticationError": ExitCode.AUTH,
    "PermissionDeniedError": ExitCode.AUTH,
    "ConflictError": ExitCode.CONFLICT,
    "FailedError": ExitCode.JOB_FAILED,
    "CancelledError": ExitCode.CANCELLED,
    "ConnectionFailedError": ExitCode.NETWORK,
    "UnavailableError": ExitCode.NETWORK,
    "NotProvenError": ExitCode.NOT_PROVEN,
    "KeyboardInterrupt": ExitCode.INTERRUPTED,
    "BaseException": ExitCode.FAILED,
}


def exit_code(error: BaseException) -> ExitCode:
    """Return the exit code of an error."""
    names = (cls.__name__ for cls in type(error).__mro__)
    return next(EXIT_CODES[name] for name in names if name in EXIT_CODES)
