"""`beyond_space`: true exactly where the objective is below the upper bound; one sentence explains it."""

from __future__ import annotations

import copy
import json
import pickle
from html import unescape
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from literati import LiteratiClassifier, ModelFormatError, Search, SearchLimits, SearchReport, ShapeTree
from literati.tree.model_json import with_bounds
from literati.tree.nodes import BEYOND_SPACE

BEYOND: dict[str, Any] = {
    "max_depth": 3,
    "candidate_leaves": 2,
    "max_expansions": 200,
}  # proven at 11, polished to 9


def fitted(**changes: Any) -> LiteratiClassifier:
    X, y = load_breast_cancer(return_X_y=True)
    return LiteratiClassifier(**{**BEYOND, **changes}).fit(X, y)


def test_a_polished_tree_carries_the_flag_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    estimator = fitted(verbose=1)
    assert estimator.objective_ < estimator.lower_bound_ == estimator.upper_bound_
    assert estimator.beyond_space_ is True
    assert estimator.report_.beyond_space is True
    assert estimator.report_.to_dict()["beyond_space"] is True
    assert estimator.tree_.proof.beyond_space is True
    assert estimator.tree_.to_dict()["proof"]["beyond_space"] is True
    assert BEYOND_SPACE in estimator.tree_.to_text()
    assert BEYOND_SPACE in unescape(estimator.tree_.to_svg())
    assert capsys.readouterr().err.endswith(f"{BEYOND_SPACE}\n")


@pytest.mark.parametrize("changes", [{"polish": False}, {"candidate_leaves": 17}])
def test_a_tree_of_the_space_does_not(changes: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    estimator = fitted(verbose=1, **changes)
    assert estimator.objective_ == estimator.upper_bound_
    assert estimator.beyond_space_ is False
    assert estimator.report_.to_dict()["beyond_space"] is False
    assert estimator.tree_.to_dict()["proof"]["beyond_space"] is False
    for text in (estimator.tree_.to_text(), estimator.tree_.to_svg(), capsys.readouterr().err):
        assert "beyond" not in text


def test_a_tree_that_is_not_proven_is_explained_too() -> None:
    tree = fitted().tree_.with_proof(11.0, 2.0, False)
    assert tree.proof.statement().startswith("Not proven optimal: this tree costs 9; ")
    assert tree.proof.statement().endswith(f"costs between 2 and 11. {BEYOND_SPACE}")


@pytest.mark.parametrize("seed", range(60))
def test_rounding_is_not_taken_for_polish(seed: int) -> None:
    """Weights and penalties without a finite binary form are rounded in the engine (decision 4)."""
    rng = np.random.RandomState(seed)
    X, y = rng.randint(0, 6, (30, 3)).astype(float), rng.randint(0, 3, 30)
    weights = rng.random_sample(30) if seed % 2 else None
    penalty = (0.1, 1 / 3, 0.123456789)[seed % 3]
    mode = ("adaptive", "all")[seed // 2 % 2]
    search = Search(
        X, y, sample_weight=weights, max_depth=3, split_penalty=penalty, candidates=mode, polish=False
    )
    for _ in range(3):
        report, tree = search.run(0.001), search.incumbent()
        assert report.objective == report.upper_bound
        assert tree.objective == report.objective
        assert not report.beyond_space
        assert not tree.proof.beyond_space
        assert tree.objective == pytest.approx(tree.evaluate(X, y, weights), rel=0, abs=1e-8)
    again = Search.resume(X, y, search.checkpoint(), sample_weight=weights)
    assert not again.report().beyond_space
    assert not again.adopt(tree), "the same tree is no better tree"
    assert not again.incumbent().proof.beyond_space


def test_exact_costs_are_never_rounded() -> None:
    """A small gain on weights of a wide range is a gain: here no cost is rounded."""
    rng = np.random.RandomState(0)
    X, y = load_breast_cancer(return_X_y=True)
    weights = np.where(rng.random_sample(len(y)) < 0.02, 2.0**30, 1.0)
    estimator = LiteratiClassifier(**BEYOND).fit(X, y, weights)
    assert estimator.tree_.evaluate(X, y, weights) == estimator.objective_


def test_what_version_0_1_0_wrote_still_opens() -> None:
    estimator = fitted()
    data = estimator.tree_.to_dict()
    del data["proof"]["beyond_space"]
    assert ShapeTree.from_dict(data) == estimator.tree_
    state = json.loads(estimator.__getstate__()["json"])
    del state["fitted"]["tree"]["proof"]["beyond_space"]
    del state["fitted"]["report"]["beyond_space"]
    old = LiteratiClassifier.__new__(LiteratiClassifier)
    old.__setstate__({"json": json.dumps(state)})
    assert old.beyond_space_ is True
    assert old.report_ == estimator.report_
    assert pickle.loads(pickle.dumps(estimator)).report_ == estimator.report_
    assert SearchReport.from_dict(estimator.report_.to_dict()) == estimator.report_


def test_a_flag_that_contradicts_the_numbers_is_refused() -> None:
    for tree, wrong in ((fitted().tree_, False), (fitted(polish=False).tree_, True)):
        data = copy.deepcopy(tree.to_dict())
        data["proof"]["beyond_space"] = wrong
        with pytest.raises(ModelFormatError, match=r"proof\.beyond_space: expected true exactly if"):
            ShapeTree.from_dict(data)


def test_new_bounds_in_the_json_form_are_those_of_with_proof() -> None:
    tree = fitted().tree_
    before = copy.deepcopy(tree.to_dict())
    for upper, lower, proven in ((11.0, 3.0, False), (9.0, 9.0, True), (10.0, 10.0, True)):
        changed = with_bounds(tree.to_dict(), upper, lower, proven)
        assert changed == tree.with_proof(upper, lower, proven).to_dict()
        assert changed["proof"]["beyond_space"] is (upper > 9.0)
    assert tree.to_dict() == before


def test_the_flag_follows_the_bounds_of_a_running_search() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    search = Search(X, y, max_depth=3, candidate_leaves=2, limits=SearchLimits(max_expansions=200))
    report = search.run(0.0)
    while True:
        assert report.beyond_space is (report.objective < report.upper_bound)
        assert search.incumbent().proof.beyond_space is report.beyond_space
        if report.stop_reason != "RUNNING":
            break
        report = search.run(0.001)
    assert report.beyond_space
