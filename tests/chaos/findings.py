"""What went wrong, and what was counted on the way."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

MOST_KEPT = 200


@dataclass(frozen=True)
class Violation:
    rule: str  # the promise that was broken, in a few words
    detail: str


class Findings:
    """Shared by all threads of a campaign."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._violations: list[Violation] = []
        self._count = 0
        self._counters: Counter[str] = Counter()
        self._most: dict[str, float] = {}

    def violation(self, rule: str, detail: str) -> None:
        with self._lock:
            self._count += 1
            if len(self._violations) < MOST_KEPT:
                self._violations.append(Violation(rule, detail))

    def count(self, name: str, by: int = 1) -> None:
        with self._lock:
            self._counters[name] += by

    def at_most(self, name: str, value: float) -> None:
        """Remember the largest."""
        with self._lock:
            self._most[name] = max(value, self._most.get(name, 0.0))

    def __len__(self) -> int:
        return self._count

    @property
    def violations(self) -> list[Violation]:
        with self._lock:
            return list(self._violations)

    @property
    def counters(self) -> dict[str, int]:
        with self._lock:
            return dict(sorted(self._counters.items()))

    @property
    def most(self) -> dict[str, float]:
        with self._lock:
            return dict(sorted(self._most.items()))
