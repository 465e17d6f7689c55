"""The specification of a run and its result."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from benchmarks.datasets import TRAIN_SHARE

Status = Literal[
    "proven",  # ended with a proof of optimality in the solver's own space
    "finished",  # ended without claiming a proof
    "limit",  # reached its time limit; the tree is its best so far
    "killed",  # ignored its time limit, so the harness killed the process
    "failed",  # raised an error or crashed
    "absent",  # the solver is not installed
]


@dataclass(frozen=True)
class RunSpec:
    """One solver on one dataset. `options` are keyword arguments of the solver."""

    solver: str
    dataset: str
    depth: int
    time_limit: float = 60.0
    options: dict[str, Any] = field(default_factory=dict)
    # Seconds after time_limit at which the process is killed. Reading, imports and evaluation need time too.
    grace: float = 30.0
    train_share: float = TRAIN_SHARE  # of the rows; the others are for testing
    repetition: int = 0  # tells apart the runs of a spec that is measured several times
    fold: int | None = None  # seed of a split of 70/10/20 % instead of `train_share`
    copies: int = 1  # processes that do the same at the same time, each on a core of its own

    @property
    def key(self) -> str:
        """Identify the run: two specs with the same key measure the same thing."""
        parts: list[Any] = [self.solver, self.dataset, self.depth, self.time_limit, self.options]
        if self.train_share != TRAIN_SHARE:
            parts.append(self.train_share)
        if self.fold is not None:
            parts.append({"fold": self.fold})
        if self.repetition or self.copies > 1:
            parts.append({"repetition": self.repetition, "copies": self.copies})
        return json.dumps(parts, sort_keys=True)

    @property
    def label(self) -> str:
        """Return the solver with its options, as shown in tables."""
        shown = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.solver}({shown})" if shown else self.solver


@dataclass
class RunResult:
    """The measurements of one run. Values that could not be measured are None."""

    spec: RunSpec
    status: Status
    objective: int | None = None  # training errors, counted by the harness from the predictions
    train_accuracy: float | None = None
    test_accuracy: float | None = None
    seconds: float | None = None  # of the whole fit, from raw numbers to a fitted model
    cpu_seconds: float | None = None  # of the same fit; clearly less than `seconds` if the core was shared
    seconds_to_tree: float | None = None  # until the returned tree was found
    seconds_to_proof: float | None = None
    memory_before: int | None = None  # resident bytes just before the fit
    peak_memory: int | None = None  # highest number of resident bytes
    n_train: int | None = None
    version: str | None = None
    error: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def disturbed(self) -> bool:
        """Return whether the run had to share its core, so that its seconds are too high.

        It cannot be told of a run with several threads.
        """
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
    """The results of a session, by their spec."""

    def __init__(self, results: list[RunResult] | None = None) -> None:
        self._by_key = {result.spec.key: result for result in results or []}

    def add(self, result: RunResult) -> None:
        self._by_key[result.spec.key] = result

    def get(self, spec: RunSpec) -> RunResult | None:
        return self._by_key.get(spec.key)

    def all(self) -> list[RunResult]:
        return list(self._by_key.values())
