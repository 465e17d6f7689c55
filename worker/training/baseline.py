"""Fit a baseline classifier, in the background if that takes long."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import structlog

log = structlog.get_logger(__name__)
LOWEST_PRIORITY = 19


class Baseline:
    """The scores of a baseline. Unless it is fitted `inline`, a thread of low priority fits it."""

    def __init__(self, fit: Callable[[], dict[str, Any]], *, inline: bool) -> None:
        self._fit = fit
        self._inline = inline
        self._thread: threading.Thread | None = None
        self._scores: dict[str, Any] | None = None

    def scores(self) -> dict[str, Any] | None:
        """Return the scores, or None while they are not known. The first call starts the fit."""
        if self._thread is None:
            context = copy_context()  # so that log lines of the thread name the job
            self._thread = threading.Thread(
                target=context.run, args=(self._run,), name="baseline", daemon=True
            )
            self._thread.start()
            if self._inline:
                self._thread.join()
        return self._scores

    def wait(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        if not self._inline:
            with suppress(OSError):  # only on Linux does a thread have a priority of its own
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
        try:
            self._scores = self._fit()
        except Exception:  # a missing baseline is no reason to fail the job
            log.exception("the baseline could not be fitted")
