"""Room taken from running processes: files cannot grow, memory cannot be had. Needs no privilege."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import psutil


@contextmanager
def full_disk(pids: Iterable[int], size: int = 0) -> Iterator[None]:
    """No file of theirs may grow beyond this size: writing fails as on a full disk (with EFBIG)."""
    with _limited(resource.RLIMIT_FSIZE, dict.fromkeys(pids, size)):
        yield


@contextmanager
def little_memory(processes: Iterable[psutil.Process], more: int) -> Iterator[None]:
    """Each may have so many bytes more than it has now."""
    with _limited(resource.RLIMIT_AS, {p.pid: p.memory_info().vms + more for p in processes}):
        yield


@contextmanager
def _limited(kind: int, by_pid: dict[int, int]) -> Iterator[None]:
    """Soft limits; as before afterwards, for processes that live."""
    before = {pid: resource.prlimit(pid, kind) for pid in by_pid}
    for pid, value in by_pid.items():
        resource.prlimit(pid, kind, (value, before[pid][1]))
    try:
        yield
    finally:
        for pid, both in before.items():
            with suppress(ProcessLookupError):
                resource.prlimit(pid, kind, both)
