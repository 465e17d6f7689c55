"""What a run is, and what comes back from it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Status = Literal[
    "proven",  # ended with a proof of optimality in the solver's own space
    "finished",  # ended by itself, without claiming a proof
    "limit",  # reached its own time limit; the tree is its best so far
    "killed",  # ignored its time limit until the harness ended the process
    "failed",  # raised an error, or died
    "absent",  # the peer is not installed
]


@dataclass(frozen=True)
class RunSpec:
    """One solver on one dataset. `options` go to the solver as keyword arguments."""

    solver: str
    dataset: str
    depth: int
    time_limit: float = 60.0
    options: dict[str, Any] = field(default_factory=dict)
    # Seconds beyond time_limit after which the process is killed: reading, imports, overshoot, evaluation.
    grace: float = 30.0

    @property
    def key(self) -> str:
        """Identifies the run: two specs with one key would measure the same thing."""
        return json.dumps(
            [self.solver, self.dataset, self.depth, self.time_limit, self.options], sort_keys=True
        )

    @property
    def label(self) -> str:
        """The solver with its options, as shown in tables and on the progress line."""
        shown = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.solver}({shown})" if shown else self.solver


@dataclass
class RunResult:
    """Measurements of one run. What could not be measured is None."""

    spec: RunSpec
    status: Status
    objective: int | None = None  # training errors, counted by the harness from the predictions
    train_accuracy: float | None = None
    test_accuracy: float | None = None
    seconds: float | None = None  # the whole fit, from raw numbers to a fitted model
    cpu_seconds: float | None = None  # of the same fit; clearly less than `seconds` when others used the core
    seconds_to_tree: float | None = None  # until the tree that was returned was found
    seconds_to_proof: float | None = None
    memory_before: int | None = None  # bytes resident just before the fit
    peak_memory: int | None = None  # highest number of bytes resident
    n_train: int | None = None
    version: str | None = None
    error: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def disturbed(self) -> bool:
        """Whether the run had to share its core, so that its seconds say too much."""
        if self.seconds is None or self.cpu_seconds is None:
            return False
        return self.seconds - self.cpu_seconds > max(0.1 * self.seconds, 0.02)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> RunResult:
        known = {entry.name for entry in fields(cls)}
        kept = {name: value for name, value in values.items() if name in known}
        kept["spec"] = RunSpec(**kept["spec"])
        return cls(**kept)


class Results:
    """Results of this session, found by their spec."""

    def __init__(self, results: list[RunResult] | None = None) -> None:
        self._by_key = {result.spec.key: result for result in results or []}

    def add(self, result: RunResult) -> None:
        self._by_key[result.spec.key] = result

    def get(self, spec: RunSpec) -> RunResult | None:
        return self._by_key.get(spec.key)

    def all(self) -> list[RunResult]:
        return list(self._by_key.values())
