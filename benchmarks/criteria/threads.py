"""Claims about several threads: two threads reach the proof sooner than one, with the same search."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.claims import Claim, Verdict
from benchmarks.criteria.scope import Scope
from benchmarks.criteria.speed import ADAPTIVE, ours
from benchmarks.runs import RunResult

RATIO = 1.7
# (dataset, depth, change points) of proofs that take several seconds, too long for the quick form.
PROBLEMS = (("rice", 6, 1), ("page", 6, 1), ("magic", 5, 1), ("magic", 4, 3))


def threads(scope: Scope) -> list[Claim]:
    """Return a claim for each problem whose dataset is in the scope."""
    if scope.limit < 60:
        return []
    return [_twice(scope, *problem) for problem in PROBLEMS if scope.only(problem[0])]


def _twice(scope: Scope, dataset: str, depth: int, changepoints: int) -> Claim:
    def judge(runs: Sequence[RunResult]) -> Verdict:
        two, one = runs
        if two.seconds_to_proof is None or one.seconds_to_proof is None:
            return f"no proof in {scope.limit:g} s", False
        ratio = one.seconds_to_proof / two.seconds_to_proof
        text = f"{one.seconds_to_proof:.3g} s / {two.seconds_to_proof:.3g} s = {ratio:.2f} times"
        return text, ratio >= RATIO and two.objective == one.objective

    two, one = (
        ours(
            dataset,
            depth,
            scope.limit,
            max_changepoints=changepoints,
            n_threads=n,
            polish=False,
            **ADAPTIVE,
        )
        for n in (2, 1)
    )
    return Claim(
        "9",
        dataset,
        f"K={changepoints}, D={depth}, adaptive, two threads",
        "one thread",
        f"proof {RATIO:g} times faster, the same errors; needs two free cores",
        (two, one),
        judge,
    )
