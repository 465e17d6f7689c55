"""Connections of one server: when there are too many, those that only sit there make room."""

from __future__ import annotations

import resource
from typing import Protocol

_SPARE_FILES = 256  # for the store, the blobs and the rest of the process


class Guest(Protocol):
    def leave(self) -> None:
        """Close without a word."""


class Crowd:
    """Those who idle wait for a request, for the rest of its head, or for a client that does not read."""

    def __init__(self, most: int) -> None:
        self.most = min(most, _allowed_files() - _SPARE_FILES)
        self._present: set[Guest] = set()
        self._idle: dict[Guest, None] = {}  # in the order in which they began to

    def enter(self, guest: Guest) -> bool:
        """False: nobody could make room, and this one is not in."""
        if len(self._present) >= self.most:
            longest = next(iter(self._idle), None)
            if longest is None:
                return False
            self.exit(longest)
            longest.leave()
        self._present.add(guest)
        self._idle[guest] = None
        return True

    def idle(self, guest: Guest) -> None:
        if guest in self._present:
            self._idle.pop(guest, None)
            self._idle[guest] = None

    def busy(self, guest: Guest) -> None:
        self._idle.pop(guest, None)

    def exit(self, guest: Guest) -> None:
        self._present.discard(guest)
        self._idle.pop(guest, None)

    def __len__(self) -> int:
        return len(self._present)


def _allowed_files() -> int:
    """As many as the system lets this process have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard > soft:
        wanted = 1 << 20 if hard == resource.RLIM_INFINITY else min(hard, 1 << 20)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        except (OSError, ValueError):
            wanted = soft
        return max(soft, wanted)
    return soft
