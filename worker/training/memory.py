"""The memory limit of jobs on this worker.

A search that reaches its limit continues within it. A process that the system kills for its memory would have
to start again, so no job may use more than this worker has.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from literati.cores import CONTROL_GROUPS, group_folders
from worker.domain.parameters import Limits
from worker.settings import WorkerSettings

SEARCH_SHARE = 0.7  # of the memory; the rest is for the processes themselves and the rows that they read


def available_memory(control_group: Path = CONTROL_GROUPS) -> int:
    """Return the memory of this machine or container in bytes."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for folder in group_folders("memory", control_group):
        for name in ("memory.max", "memory.limit_in_bytes"):  # version 2, version 1
            with suppress(OSError, ValueError):  # there is no such file, or it says "max"
                total = min(total, int((folder / name).read_text()))
    return total


def job_memory_limit(settings: WorkerSettings, cores: int = 1) -> int:
    """Return how many bytes the search of a job that uses this many cores may use."""
    if settings.worker_memory_limit is not None:
        return settings.worker_memory_limit
    return int(SEARCH_SHARE * available_memory() * cores / settings.worker_concurrency)


def cap_memory_limit(limits: Limits, max_bytes: int) -> Limits:
    """Lower the memory limit to what this worker has. The job's record keeps the limit of its owner."""
    wanted = limits.memory_limit
    if wanted is not None and wanted <= max_bytes:
        return limits
    return limits.model_copy(update={"memory_limit": max_bytes})
