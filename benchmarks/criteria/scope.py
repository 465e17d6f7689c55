"""The size of the claims, and functions that compare and show results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.report import MIB
from benchmarks.runs import RunResult

NUMERIC = (
    "bank",
    "bidding",
    "fault",
    "htru",
    "magic",
    "page",
    "pendigits",
    "raisin",
    "rice",
    "room",
    "segment",
    "wilt",
)
PEERS = (
    "cart",
    "streed",
    "contree",
    "shapecart",
    "shapecart+tao",
    "pytrees-dl85",
    "pytrees-lgdt",
    "pytrees-contree",
    "pytrees-contree-lds",
)


@dataclass(frozen=True)
class Scope:
    """The limits and datasets of the claims."""

    limit: float = 60.0
    datasets: tuple[str, ...] = NUMERIC
    deep: tuple[str, ...] = ("bank", "raisin", "rice", "page")  # datasets of the claim about proofs at D=6
    anytime_seconds: float = 10.0
    memory_limit: int = 512 * MIB
    memory_seconds: float = 120.0
    rows: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    encoding_rows: int = 300_000
    # The size (rows, columns, classes) from which each is doubled in turn, and the largest sizes.
    doubled: tuple[int, int, int] = (4_000, 250, 250)
    largest: tuple[tuple[int, int, int], ...] = (
        (10_000, 1_000, 2),
        (1_000, 10_000, 2),
        (1_000, 5_000, 2),
        (5_000, 1_000, 2),
        (100_000, 20, 1_000),
        (5_000_000, 20, 2),
    )

    def only(self, *names: str) -> list[str]:
        """Return the names that are in the scope."""
        return [name for name in names if name in self.datasets]


FULL = Scope()
QUICK = Scope(
    limit=4.0,
    datasets=("bank", "raisin", "segment", "magic"),
    deep=("bank",),  # the others need more time than the short limit
    anytime_seconds=2.0,
    memory_limit=64 * MIB,
    memory_seconds=6.0,
    rows=(10_000, 100_000),
    encoding_rows=50_000,
    doubled=(1_000, 100, 100),
    largest=((1_000, 1_000, 2),),
)


def proved_within(run: RunResult, limit: float) -> bool:
    return run.seconds_to_proof is not None and run.seconds_to_proof <= limit


def proof(run: RunResult, limit: float) -> str:
    return f"> {limit:g} s" if run.seconds_to_proof is None else f"{run.seconds_to_proof:.3g} s"


def not_above(mine: RunResult, peers: Sequence[RunResult]) -> bool:
    return all(compare(mine, peer) <= 0 for peer in peers)


def below(mine: RunResult, peers: Sequence[RunResult]) -> bool:
    return all(compare(mine, peer) < 0 for peer in peers)


def compare(mine: RunResult, peer: RunResult) -> int:
    assert mine.objective is not None
    if peer.objective is None:  # it has no tree
        return -1
    return mine.objective - peer.objective


def errors(runs: Sequence[RunResult]) -> str:
    return " / ".join("none" if run.objective is None else str(run.objective) for run in runs)


def each(peers: Sequence[RunResult]) -> str:
    return ", ".join(f"{peer.spec.solver} {errors([peer])}" for peer in peers)


def best(peers: Sequence[RunResult]) -> str:
    found = [peer for peer in peers if peer.objective is not None]
    if not found:
        return "none"
    best = min(found, key=lambda peer: peer.objective or 0)
    return f"{best.objective} ({best.spec.solver})"
