"""How much memory a job may take on this worker, whatever it asks for.

A search that has reached its limit goes on within it; a process that the system kills begins again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from literati.cores import CONTROL_GROUPS, group_folders

from .messages import Limits
from .settings import WorkerSettings

SHARE = 0.7  # of what there is; the rest is for the processes themselves and the rows they read


def memory_of_this_machine(control_group: Path = CONTROL_GROUPS) -> int:
    """Or of the container, in bytes."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for folder in group_folders("memory", control_group):
        for name in ("memory.max", "memory.limit_in_bytes"):  # version 2, version 1
            with suppress(OSError, ValueError):  # not there, or "max"
                total = min(total, int((folder / name).read_text()))
    return total


def limit_of_a_job(settings: WorkerSettings) -> int:
    if settings.worker_memory_limit is not None:
        return settings.worker_memory_limit
    return int(SHARE * memory_of_this_machine() / settings.worker_concurrency)


def within(limits: Limits, most: int) -> Limits:
    """Lower the memory limit to what this worker has. The job's record keeps what its owner asked for."""
    wanted = limits.memory_limit
    if wanted is not None and wanted <= most:
        return limits
    return limits.model_copy(update={"memory_limit": most})
