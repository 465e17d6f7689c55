"""What differs between the asynchronous and the synchronous client. This file has a twin written by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from literati.errors import LiteratiError

Result = TypeVar("Result")
Changed = Callable[[], None]
Current = Callable[[], dict[str, Any]]


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that reads a file or encodes a table."""
    return function(*arguments)


def interruptions() -> type[BaseException]:
    """Return the exception that ends `wait` from outside."""
    return KeyboardInterrupt


def detached(error: BaseException, message: str) -> BaseException:
    """Return the exception to raise. Python ends with the status of Ctrl-C only for this very class."""
    return KeyboardInterrupt(message)


def before_display(update: Callable[[], Any]) -> None:
    """Get the current state of a record before a notebook displays it, if that is possible."""
    with suppress(LiteratiError):
        update()
