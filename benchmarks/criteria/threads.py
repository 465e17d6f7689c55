"""Claims about several threads: two threads reach the proof sooner than one, with the same search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from benchmarks.claims import Claim, Verdict
from benchmarks.criteria.scope import Scope
from benchmarks.criteria.speed import ADAPTIVE, ours
from benchmarks.runs import RunResult

RATIO = 1.7
REPETITIONS = 3  # runs with one and two threads take turns
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
        two, one = ([run.seconds_to_proof or 0.0 for run in runs[start::2]] for start in (0, 1))
        ratios = sorted(slow / fast for fast, slow in zip(two, one, strict=True))
        ratio = median(one) / median(two)
        seconds = f"{median(one):.3g} s / {median(two):.3g} s"
        text = f"{seconds} = {ratio:.2f} times ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        return text, ratio >= RATIO and len({run.objective for run in runs}) == 1

    return Claim(
        "9",
        dataset,
        f"K={changepoints}, D={depth}, adaptive, two threads",
        "one thread",
        f"proof {RATIO:g} times faster, the same errors; medians of {REPETITIONS} runs; needs two free cores",
        tuple(
            replace(
                ours(
                    dataset,
                    depth,
                    scope.limit,
                    max_changepoints=changepoints,
                    n_threads=n,
                    polish=False,
                    **ADAPTIVE,
                ),
                repetition=repetition,
            )
            for repetition in range(REPETITIONS)
            for n in (2, 1)
        ),
        judge,
    )
