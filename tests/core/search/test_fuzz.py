"""Random fits of the public estimator: the same as `make fuzz`, which goes on for longer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from literati import StopReason
from tests.fuzz import checks
from tests.fuzz.__main__ import attempt
from tests.fuzz.cases import Case, draw
from tests.fuzz.checks import Finding, examine
from tests.fuzz.reproduction import minimal, script

BLOCK = 25


@pytest.mark.parametrize("block", range(20))
@pytest.mark.slow
def test_random_fits_keep_every_promise(block: int) -> None:
    failures: list[tuple[int, Finding]] = []
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        finding = attempt(seed)
        if finding.broken:
            failures.append((seed, finding))
            if "endless" in finding.kind():
                break  # each of them takes long
    if failures:
        seed, finding = failures[0]
        example = script(minimal(draw(seed), finding.kind(), 5.0))
        broken = "\n".join(f"{seed}: {finding.broken[0]}" for seed, finding in failures)
        raise AssertionError(f"{broken}\nthe first of them made smaller:\n{example}")


def proven_case() -> Case:
    return next(
        case
        for case in map(draw, range(200))
        if case.kind == "small"
        and case.parameter("candidates", "adaptive") == "shape"
        and not case.resumes
        and "solved by an oracle" in examine(case).words
    )


def test_a_case_is_made_from_its_seed_alone() -> None:
    for seed in (1, 2, 3):
        assert draw(seed) == draw(seed)
        assert draw(seed).parameters == draw(seed).parameters


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ({"lower_bound": 1e9}, "bounds"),
        ({"upper_bound": -1.0}, "bounds"),
        ({"objective": -1.0}, "tree"),
        ({"proven_optimal": False}, "proof"),
        ({"stop_reason": StopReason.GAP_REACHED}, "reason"),
        ({"upper_bound": 1e9, "lower_bound": 1e9}, "optimum"),
    ],
)
def test_a_false_claim_is_noticed(monkeypatch: pytest.MonkeyPatch, claim: dict[str, Any], kind: str) -> None:
    case, honest = proven_case(), checks.fit

    def lying(case: Case, patience: float) -> checks.Fit:
        fitted = honest(case, patience)
        return replace(fitted, reports=[*fitted.reports, replace(fitted.reports[-1], **claim)])

    assert examine(case).broken == []
    monkeypatch.setattr(checks, "fit", lying)
    assert kind in {broken.partition(":")[0] for broken in examine(case).broken}


def test_a_failing_case_is_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A made-up failure that needs one value and one parameter."""

    def broken(case: Case, patience: float) -> Finding:
        bad = 3.0 in case.columns[0] and "gap" in case.parameters
        return Finding(["made up: yes"] if bad else [], [])

    case = Case(
        0,
        "small",
        (tuple(float(i) for i in range(12)), tuple([True, False] * 6)),
        tuple([0, 1] * 6),
        tuple([2.0] * 12),
        {"gap": 0.1, "max_depth": 2},
    )
    monkeypatch.setattr("tests.fuzz.reproduction.examine", broken)
    found = minimal(case, "made up", 10.0)
    assert len(found.columns) == 1
    assert 3.0 in found.columns[0]
    assert found.n_rows == 2
    assert found.parameters == {"gap": 0.1}
    assert found.weights is None
    printed = script(found)
    compile(printed, "reproduction", "exec")
    assert "'gap': 0.1" in printed
