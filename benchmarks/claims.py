"""Claims about the solver. Each claim names the runs that it needs and judges their results.

Most claims are about one dataset. Only runs of the same session are judged, because a ratio of times is
meaningful only if both runs were made on the same machine under the same conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.report import markdown_table
from benchmarks.runs import Results, RunResult, RunSpec

Verdict = tuple[str, bool]


@dataclass(frozen=True)
class Claim:
    """A claim, the runs that it needs and the function that judges them."""

    section: str
    dataset: str
    configuration: str
    peers: str
    criterion: str
    needs: tuple[RunSpec, ...]  # the run of Literati first
    judge: Callable[[Sequence[RunResult]], Verdict]


@dataclass(frozen=True)
class Judgement:
    """The result of a claim."""

    claim: Claim
    measured: str
    passed: bool | None  # None if a run that the claim needs is missing

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
    # A peer without a tree, because it was killed or failed, is judged as worse. Without a run of Literati,
    # the claim fails.
    broken = [run for run in runs if run.error and run.spec.solver.startswith("literati")]
    if broken:
        return Judgement(claim, f"{broken[0].spec.label} {broken[0].status}: {broken[0].error}", False)
    measured, passed = claim.judge(runs)
    return Judgement(claim, measured, passed)


def needed_runs(claims: Iterable[Claim]) -> list[RunSpec]:
    """Return the runs of all claims in order, each once."""
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
