"""The scores of a baseline that may take longer to fit than the first trees take to find."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import structlog

log = structlog.get_logger(__name__)
LEAST_URGENT = 19


class Baseline:
    """Fitted at once where that takes milliseconds, else on a thread that gives way to the search."""

    def __init__(self, fit: Callable[[], dict[str, Any]], *, inline: bool) -> None:
        self._fit = fit
        self._inline = inline
        self._thread: threading.Thread | None = None
        self._scores: dict[str, Any] | None = None

    def scores(self) -> dict[str, Any] | None:
        """None as long as they are not known. The first call comes with the first tree, and begins it."""
        if self._thread is None:
            here = copy_context()  # so that its log lines name the job
            self._thread = threading.Thread(target=here.run, args=(self._run,), name="baseline", daemon=True)
            self._thread.start()
            if self._inline:
                self._thread.join()
        return self._scores

    def wait(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        if not self._inline:
            with suppress(
                OSError
            ):  # on Linux a thread has a priority of its own; elsewhere it keeps its process's
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LEAST_URGENT)
        try:
            self._scores = self._fit()
        except Exception:  # a job does not fail for want of a comparison
            log.exception("the baseline could not be fitted")
