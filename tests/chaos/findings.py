"""Broken promises, and counts of what was done."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

MAX_VIOLATIONS_KEPT = 200


@dataclass(frozen=True)
class Violation:
    rule: str  # the promise that was broken
    detail: str


class Findings:
    """Collect violations and counts from all threads of a campaign."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._violations: list[Violation] = []
        self._count = 0
        self._counters: Counter[str] = Counter()
        self._slowest = (0.0, "")

    def violation(self, rule: str, detail: str) -> None:
        with self._lock:
            self._count += 1
            if len(self._violations) < MAX_VIOLATIONS_KEPT:
                self._violations.append(Violation(rule, detail))

    def count(self, name: str, by: int = 1) -> None:
        with self._lock:
            self._counters[name] += by

    def answered(self, request: str, seconds: float) -> None:
        """Count a response, and remember the slowest one."""
        with self._lock:
            self._counters["requests answered"] += 1
            if seconds > self._slowest[0]:
                self._slowest = (round(seconds, 3), request)

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
    def slowest(self) -> tuple[float, str]:
        with self._lock:
            return self._slowest
