"""Which settings a sweep tries."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from worker.domain.sweeps import RandomValues, Space, SweepSpec
from worker.sweeps.plan import PlanError, parse_constraint, settings_to_try, with_defaults


def spec(**fields: Any) -> SweepSpec:
    made = SweepSpec.model_validate(
        {
            "id": "swp_1",
            "tenant": "t",
            "dataset_id": "ds_1",
            "dataset_sha256": "",
            "space": {},
            "validation": {"folds": 5},
            "n_folds": 5,
            "engine_version": "0",
            **fields,
        }
    )
    return made.model_copy(update={"space": with_defaults(made.space, made.fixed)})


def test_the_default_is_every_depth_with_all_penalties() -> None:
    made = spec()
    assert made.is_path
    units = settings_to_try(made)
    assert len(units) == 12
    assert units[0] == {"max_depth": 2, "max_changepoints": 1}
    assert units[-1] == {"max_depth": 5, "max_changepoints": 3}
    sizes = [(unit["max_depth"], unit["max_changepoints"]) for unit in units]
    assert sizes == sorted(sizes)
    assert not made.parameters(units[0]).polish


def test_what_is_fixed_is_not_tried() -> None:
    made = spec(fixed={"max_depth": 3, "split_penalty": 2.0}, space={"max_changepoints": [2]})
    assert not made.is_path
    assert settings_to_try(made) == [{"max_changepoints": 2}]
    parameters = made.parameters({"max_changepoints": 2})
    assert (parameters.max_depth, parameters.split_penalty) == (3, 2.0)
    assert parameters.polish


def test_every_setting_comes_once() -> None:
    made = spec(space={"max_depth": [3, 3, 2], "max_changepoints": [1]})
    assert [unit["max_depth"] for unit in settings_to_try(made)] == [2, 3]
    random = spec(space={"max_depth": [1, 2, 3], "max_changepoints": [1, 2]}, strategy="RANDOM", seed=3)
    units = settings_to_try(random)
    assert len(units) == 6, "the whole space, though draws may repeat"
    assert units == settings_to_try(random)
    assert units != settings_to_try(random.model_copy(update={"seed": 4}))


def test_random_settings_of_intervals() -> None:
    made = spec(
        space={
            "split_penalty": {"low": 1, "high": 64, "log": True},
            "changepoint_penalty": {"low": 0, "high": 10},
            "min_samples_leaf": {"low": 1, "high": 30},
        },
        strategy="RANDOM",
        constraints=["changepoint_penalty <= split_penalty", "min_samples_leaf >= 2"],
        limits={"max_trials": 60},
    )
    units = settings_to_try(made)
    assert len(units) == 60
    for unit in units:
        assert 1 <= unit["split_penalty"] <= 64
        assert unit["changepoint_penalty"] <= unit["split_penalty"]
        assert isinstance(unit["min_samples_leaf"], int)
        assert unit["min_samples_leaf"] >= 2
    free = settings_to_try(made.model_copy(update={"constraints": []}))
    assert 20 < sum(unit["split_penalty"] < 8 for unit in free) < 40, "half of the logarithms are below 8"
    more = made.model_copy(update={"limits": made.limits.model_copy(update={"max_trials": 90})})
    assert settings_to_try(more)[:60] == units, "an extended sweep goes on"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "cannot be read"),
        ("depth <= 3", "'depth' is not a parameter"),
        ("max_depth <= shallow", "neither a parameter nor a number"),
        ("__import__('os') == 1", "cannot be read"),
        ("criterion == 3", "not numbers"),
    ],
)
def test_wrong_constraints(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        settings_to_try(spec(constraints=[text]))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("max_depth < 3", True),
        ("max_depth>=3", False),
        (" max_depth == 2 ", True),
        ("max_depth != 2.0", False),
        ("split_penalty > 1e-3", False),
        ("max_depth <= max_changepoints", False),
    ],
)
def test_constraints(text: str, holds: bool) -> None:
    values = {"max_depth": 2, "max_changepoints": 1, "split_penalty": 0.0}
    assert parse_constraint(text)(values) is holds


def test_spaces_that_cannot_be_tried() -> None:
    with pytest.raises(PlanError, match="no setting of the space meets all constraints"):
        settings_to_try(spec(constraints=["max_depth > 9"]))
    with pytest.raises(PlanError, match="GRID needs a list"):
        settings_to_try(spec(space={"split_penalty": {"low": 1, "high": 2}}))
    many = list(range(1, 51))
    with pytest.raises(PlanError, match="more than 20,000 points"):
        settings_to_try(
            spec(
                space={"min_samples_leaf": many, "split_penalty": many, "candidate_leaves": [8, 16, 32] * 20}
            )
        )
    for wrong in ({"low": 2, "high": 1}, {"low": 0, "high": 1, "log": True}):
        with pytest.raises(ValidationError):
            RandomValues.model_validate(wrong)
    with pytest.raises(ValidationError):
        Space.model_validate({"max_depth": [0]})
    for name in ("split_penalty", "min_samples_leaf", "probability_smoothing"):
        with pytest.raises(ValidationError):
            Space.model_validate({name: []})
    with pytest.raises(PlanError, match="a path tries every penalty"):
        settings_to_try(spec(constraints=["changepoint_penalty <= split_penalty"]))
