"""Limit the disk space and the memory of running processes. This needs no privilege."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil


@contextmanager
def full_disk(pids: Iterable[int], size: int = 0) -> Iterator[None]:
    """Let no file of these processes grow beyond a size: writing fails (with EFBIG) as on a full disk."""
    with _limited(resource.RLIMIT_FSIZE, dict.fromkeys(pids, size)):
        yield


@contextmanager
def little_memory(processes: Iterable[psutil.Process], more: int) -> Iterator[None]:
    """Let each process allocate at most `more` bytes beyond what it has now."""
    with _limited(resource.RLIMIT_AS, {p.pid: p.memory_info().vms + more for p in processes}):
        yield


@contextmanager
def _limited(kind: int, by_pid: dict[int, int]) -> Iterator[None]:
    """Set soft limits, and restore them afterwards for processes that are still alive."""
    before = {pid: resource.prlimit(pid, kind) for pid in by_pid}
    for pid, value in by_pid.items():
        resource.prlimit(pid, kind, (value, before[pid][1]))
    try:
        yield
    finally:
        for pid, both in before.items():
            with suppress(ProcessLookupError):
                resource.prlimit(pid, kind, both)
