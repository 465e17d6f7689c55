"""What clients know to be true: the jobs that were accepted, and what was acknowledged of each."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from .rows import Rows

Json = dict[str, Any]


@dataclass
class Entry:
    """One accepted job. Written by its client, read by everyone."""

    id: str
    kind: str
    rows: Rows
    granted: set[str] = field(default_factory=set)  # verbs that were acknowledged
    told: list[Json] | None = None  # events as a stream told them, for jobs that are followed
    over: bool = False  # its client has seen its end


class Ledger:
    def __init__(self) -> None:
        self.closed = threading.Event()  # the time to end is over
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._datasets: dict[str, Rows] = {}

    def keep(self, dataset_id: str, rows: Rows) -> None:
        with self._lock:
            self._datasets[dataset_id] = rows

    def datasets(self) -> list[tuple[str, Rows]]:
        with self._lock:
            return list(self._datasets.items())

    def accept(self, entry: Entry) -> None:
        with self._lock:
            self._entries[entry.id] = entry

    def entries(self) -> list[Entry]:
        with self._lock:
            return list(self._entries.values())

    def counts(self) -> tuple[int, int]:
        """Accepted jobs, and those whose end was seen."""
        entries = self.entries()
        return len(entries), sum(entry.over for entry in entries)
