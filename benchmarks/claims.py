"""What the solver promises, as checks: each claim names the runs it needs and judges their results.

A claim is about one dataset where it can be. Judged are only runs of the same session: speed is a ratio of
two runs of one machine on one day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.report import markdown_table
from benchmarks.runs import Results, RunResult, RunSpec

Verdict = tuple[str, bool]


@dataclass(frozen=True)
class Claim:
    section: str
    dataset: str
    configuration: str
    peers: str
    criterion: str
    needs: tuple[RunSpec, ...]  # ours first
    judge: Callable[[Sequence[RunResult]], Verdict]


@dataclass(frozen=True)
class Judgement:
    claim: Claim
    measured: str
    passed: bool | None  # None: a run it needs is missing

    @property
    def word(self) -> str:
        return "–" if self.passed is None else "pass" if self.passed else "FAIL"


def judge(claims: Iterable[Claim], results: Results) -> list[Judgement]:
    return [_judge(claim, results) for claim in claims]


def _judge(claim: Claim, results: Results) -> Judgement:
    found = [results.get(spec) for spec in claim.needs]
    runs = [run for run in found if run is not None]
    if len(runs) < len(found):
        return Judgement(claim, "not run", None)
    absent = sorted({run.spec.solver for run in runs if run.status == "absent"})
    if absent:
        return Judgement(claim, f"not installed: {', '.join(absent)}", None)
    # A peer that was killed or died has no tree, which is judged; without ours there is nothing to judge.
    broken = [run for run in runs if run.error and run.spec.solver.startswith("literati")]
    if broken:
        return Judgement(claim, f"{broken[0].spec.label} {broken[0].status}: {broken[0].error}", False)
    measured, passed = claim.judge(runs)
    return Judgement(claim, measured, passed)


def needed_runs(claims: Iterable[Claim]) -> list[RunSpec]:
    """The runs of all the claims, each once, in order."""
    return list({spec.key: spec for claim in claims for spec in claim.needs}.values())


def claims_table(judgements: Iterable[Judgement]) -> str:
    header = ("section", "dataset", "configuration", "against", "criterion", "measured", "verdict")
    rows = [
        (
            judgement.claim.section,
            judgement.claim.dataset,
            judgement.claim.configuration,
            judgement.claim.peers,
            judgement.claim.criterion,
            judgement.measured,
            judgement.word,
        )
        for judgement in judgements
    ]
    return markdown_table(header, rows)


def summary(judgements: Sequence[Judgement]) -> str:
    passed = sum(judgement.passed is True for judgement in judgements)
    failed = sum(judgement.passed is False for judgement in judgements)
    return f"{passed} claims hold, {failed} do not, {len(judgements) - passed - failed} could not be judged."
