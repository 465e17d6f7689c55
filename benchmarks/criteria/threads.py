"""Claims about several threads: two threads reach the proof sooner than one, with the same search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.claims import Claim, Verdict
from benchmarks.criteria.scope import Scope
from benchmarks.criteria.speed import ADAPTIVE, ours
from benchmarks.runs import RunResult, RunSpec

RATIO = 1.7
SHARE = (
    0.9  # of the speed of two processes; it counts where that is less, as on cores that share their caches
)
KINDS = ((1, 1), (2, 1), (1, 2))  # threads and processes of the runs that take turns
REPETITIONS = 5  # of which the one counts from which the host of a virtual machine took the least time
# (dataset, depth, change points) of proofs that take several seconds, too long for the quick form.
PROBLEMS = (("rice", 6, 1), ("page", 6, 1), ("magic", 5, 1), ("magic", 4, 3))


def threads(scope: Scope) -> list[Claim]:
    """Return a claim for each problem whose dataset is in the scope."""
    if scope.limit < 60:
        return []
    return [_twice(scope, *problem) for problem in PROBLEMS if scope.only(problem[0])]


def _twice(scope: Scope, dataset: str, depth: int, changepoints: int) -> Claim:
    def judge(runs: Sequence[RunResult]) -> Verdict:
        if any(run.seconds_to_proof is None for run in runs):
            return f"no proof in {scope.limit:g} s", False
        one, two, beside = (_least_disturbed(runs[start :: len(KINDS)]) for start in range(len(KINDS)))
        together = 2 * one / beside
        text = f"{one:.3g} s / {two:.3g} s = {one / two:.2f} times; two processes: {together:.2f} times"
        needed = min(RATIO, SHARE * together)
        return text, one / two >= needed and len({run.objective for run in runs}) == 1

    return Claim(
        "9",
        dataset,
        f"K={changepoints}, D={depth}, adaptive, two threads",
        "one thread",
        f"proof {RATIO:g} times faster, or {SHARE:g} of what two processes reach together, the same errors; "
        f"of {REPETITIONS} runs each, the least disturbed one; needs two free cores",
        tuple(
            replace(_spec(scope, dataset, depth, changepoints, threads), repetition=repetition, copies=copies)
            for repetition in range(REPETITIONS)
            for threads, copies in KINDS
        ),
        judge,
    )


def _least_disturbed(runs: Sequence[RunResult]) -> float:
    """Return the seconds to the proof of the run that lost the smallest share of its time to the host."""

    def disturbance(run: RunResult) -> tuple[float, float]:
        seconds = run.seconds_to_proof or 0.0
        return run.details.get("stolen_seconds", 0.0) / seconds, seconds

    return min(runs, key=disturbance).seconds_to_proof or 0.0


def _spec(scope: Scope, dataset: str, depth: int, changepoints: int, threads: int) -> RunSpec:
    options = {"max_changepoints": changepoints, "n_threads": threads, "polish": False}
    return ours(dataset, depth, scope.limit, **options, **ADAPTIVE)
