"""What differs between the asynchronous and the synchronous client. This file has a twin written by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from anyio.to_thread import run_sync

Result = TypeVar("Result")
Changed = Callable[[], Awaitable[None]]
Current = Callable[[], Awaitable[dict[str, Any]]]


async def sleep(seconds: float) -> None:
    await anyio.sleep(seconds)


async def in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function that reads a file or encodes a table, without blocking the event loop."""
    return await run_sync(function, *arguments)


def interruptions() -> type[BaseException]:
    """Return the exception that ends `wait` from outside: Ctrl-C cancels the task."""
    return anyio.get_cancelled_exc_class()


def detached(error: BaseException, message: str) -> BaseException:
    """Return the exception to raise. A cancellation must stay one, so it only gets a note."""
    error.add_note(message)
    return error


def before_display(update: Callable[[], Any]) -> None:
    """Do nothing: a notebook cannot wait for a coroutine while it displays a record."""
