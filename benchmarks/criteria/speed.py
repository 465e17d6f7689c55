"""Claims about the time to a proof and the training errors at a given depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.claims import Claim, Verdict
from benchmarks.criteria.scope import PEERS, Scope, below, best, errors, not_above, proof, proved_within
from benchmarks.runs import RunResult, RunSpec

ADAPTIVE = {"candidates": "adaptive", "candidate_leaves": 17}  # 17 leaves are 16 thresholds
SHAPE = {"candidates": "shape", "candidate_leaves": 17}

STREED_RATIO = 20.0
CONTREE_GOAL = 5.0


def ours(dataset: str, depth: int, limit: float, **options: Any) -> RunSpec:
    """Return a run of Literati."""
    return RunSpec("literati", dataset, depth, limit, options)


def speed(scope: Scope) -> list[Claim]:
    """Return all claims of this module."""
    return [
        *_against_streed(scope),
        *_against_contree(scope),
        *_three_changepoints(scope),
        *_shape_mode(scope),
        *_deep(scope),
    ]


def _against_streed(scope: Scope) -> list[Claim]:
    def judge(runs: Sequence[RunResult]) -> Verdict:
        mine, peer = runs
        seconds = peer.seconds_to_proof or scope.limit  # without a proof, the limit counts
        if mine.seconds_to_proof is None:
            return f"no proof in {scope.limit:g} s", False
        ratio = seconds / mine.seconds_to_proof
        ratio_text = f"{mine.seconds_to_proof:.3g} s / {proof(peer, scope.limit)} = {ratio:.0f} times"
        text = f"{ratio_text}; errors {errors(runs)}"
        return text, ratio >= STREED_RATIO and not_above(mine, [peer])

    return [
        Claim(
            "3.1",
            dataset,
            "K=1, adaptive, 16 thresholds, D=4",
            "STreeD, 15 quantiles, D=4",
            f"proof {STREED_RATIO:g} times faster, errors not above",
            (
                ours(dataset, 4, scope.limit, max_changepoints=1, **ADAPTIVE),
                RunSpec("streed", dataset, 4, scope.limit),
            ),
            judge,
        )
        for dataset in scope.only("rice", "page", "fault", "segment")
    ]


def _against_contree(scope: Scope) -> list[Claim]:
    def judge(runs: Sequence[RunResult]) -> Verdict:
        mine, peer = runs
        if mine.seconds_to_proof is None:
            return f"no proof in {scope.limit:g} s; errors {errors(runs)}", False
        ratio = (peer.seconds_to_proof or scope.limit) / mine.seconds_to_proof
        ratio_text = f"{mine.seconds_to_proof:.3g} s / {proof(peer, scope.limit)} = {ratio:.1f} times"
        text = f"{ratio_text}; errors {errors(runs)}"
        # ConTree uses single precision, so its search space can be smaller and fewer errors are correct.
        return text, ratio > 1 and not_above(mine, [peer])

    return [
        Claim(
            "3.2",
            dataset,
            "K=1, all, D=3",
            "ConTree, D=3",
            f"same optimum, faster (goal: {CONTREE_GOAL:g} times)",
            (
                ours(dataset, 3, scope.limit, max_changepoints=1, candidates="all"),
                RunSpec("contree", dataset, 3, scope.limit),
            ),
            judge,
        )
        for dataset in scope.only("bank", "raisin", "rice", "wilt", "segment", "bidding")
    ]


def _three_changepoints(scope: Scope) -> list[Claim]:
    datasets = scope.only("bank", "raisin", "rice", "page", "fault", "segment")
    configuration = "K=3, adaptive, 16 thresholds, D=4"

    def needs(dataset: str) -> tuple[RunSpec, ...]:
        mine = ours(dataset, 4, scope.limit, max_changepoints=3, **ADAPTIVE)
        return (mine, *(RunSpec(peer, dataset, 4, scope.limit) for peer in PEERS))

    def judge(runs: Sequence[RunResult]) -> Verdict:
        mine, *peers = runs
        text = f"{proof(mine, scope.limit)}; errors {mine.objective}, best peer {best(peers)}"
        return text, proved_within(mine, scope.limit) and not_above(mine, peers)

    def judge_most(runs: Sequence[RunResult]) -> Verdict:
        size = 1 + len(PEERS)
        groups = [runs[start : start + size] for start in range(0, len(runs), size)]
        won = sum(below(group[0], group[1:]) for group in groups)
        return f"below every peer on {won} of {len(groups)}", 2 * won > len(groups)

    within = f"proof within {scope.limit:g} s, errors not above"
    each = [
        Claim("3.3", name, configuration, "every peer, D=4", within, needs(name), judge) for name in datasets
    ]
    everything = tuple(spec for dataset in datasets for spec in needs(dataset))
    most = Claim(
        "3.3",
        "all of these",
        configuration,
        "every peer, D=4",
        "errors below on most",
        everything,
        judge_most,
    )
    return [*each, most]


def _shape_mode(scope: Scope) -> list[Claim]:
    # The limit of the claim includes encoding and polishing.
    limit = scope.limit * 0.9

    def judge(runs: Sequence[RunResult]) -> Verdict:
        mine, greedy, refined, contree = runs
        rivals = [greedy, refined] + ([contree] if contree.status == "proven" else [])
        assert mine.seconds is not None
        shown = (
            f"{mine.objective} in {mine.seconds:.3g} s; ShapeCART {greedy.objective}, TAO {refined.objective}"
        )
        text = f"{shown}, ConTree {contree.objective} ({contree.status})"
        return text, mine.seconds <= scope.limit and not_above(mine, rivals)

    return [
        Claim(
            "3.4",
            dataset,
            "K=3, shape, D=3",
            "ShapeCART with and without TAO; ConTree if it is proven",
            f"errors not above, within {scope.limit:g} s",
            (
                ours(dataset, 3, limit, max_changepoints=3, **SHAPE),
                RunSpec("shapecart", dataset, 3, scope.limit),
                RunSpec("shapecart+tao", dataset, 3, scope.limit),
                RunSpec("contree", dataset, 3, scope.limit),
            ),
            judge,
        )
        for dataset in scope.datasets
    ]


def _deep(scope: Scope) -> list[Claim]:
    def judge(runs: Sequence[RunResult]) -> Verdict:
        mine = runs[0]
        return f"{proof(mine, scope.limit)}; errors {mine.objective}", proved_within(mine, scope.limit)

    return [
        Claim(
            "3.5",
            dataset,
            "K=1, adaptive, 16 thresholds, D=6",
            "–",
            f"proof within {scope.limit:g} s",
            (ours(dataset, 6, scope.limit, max_changepoints=1, **ADAPTIVE),),
            judge,
        )
        for dataset in scope.deep
    ]
