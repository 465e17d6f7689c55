"""Parameters and limits: each is checked, by name."""

from __future__ import annotations

import math
import re
from dataclasses import FrozenInstanceError, asdict, dataclass
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from literati import Search, SearchLimits
from literati.search.options import ProgressOptions, SolverOptions
from literati.search.parameters import Choice, ParameterSet, Range, parameter


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("time_limit", 0, ValueError, "time_limit: expected None or a finite number > 0, got 0"),
        ("time_limit", math.inf, ValueError, "time_limit: expected None or a finite number"),
        ("time_limit", "1", TypeError, "time_limit: expected None or a finite number > 0, got '1'"),
        ("max_expansions", 0, ValueError, "max_expansions: expected None or an integer >= 1"),
        ("max_expansions", 1.5, TypeError, "max_expansions: expected None or an integer >= 1, got 1.5"),
        ("memory_limit", -1, ValueError, "memory_limit: expected None or an integer >= 1"),
        ("gap", -0.1, ValueError, "gap: expected a finite number >= 0 and < 1"),
        ("gap", 1, ValueError, "gap: expected a finite number >= 0 and < 1"),
        ("gap", math.nan, ValueError, "gap: expected"),
        ("gap_absolute", -1, ValueError, "gap_absolute: expected a finite number >= 0"),
        ("patience", 0, ValueError, "patience: expected None or a finite number > 0"),
        ("patience", True, TypeError, "patience: expected None or a finite number"),
    ],
)
def test_limits_are_checked(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SearchLimits(**{name: value})


def test_limits_are_plain_frozen_data() -> None:
    limits = SearchLimits(time_limit=3, max_expansions=np.int64(7))  # type: ignore[arg-type]
    assert asdict(limits)["time_limit"] == 3.0
    assert type(limits.max_expansions) is int
    with pytest.raises(FrozenInstanceError):
        limits.gap = 0.5  # type: ignore[misc]
    with pytest.raises(TypeError, match="limits: expected SearchLimits, got dict"):
        Search([[1], [2]], [0, 1], limits={"gap": 1})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="depth: not a parameter of Search"):
        Search([[1], [2]], [0, 1], depth=3)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("max_depth", 0, ValueError, "max_depth: expected an integer from 1 to 12, got 0"),
        ("max_depth", 13, ValueError, "max_depth: expected an integer from 1 to 12"),
        ("max_depth", 2.0, TypeError, "max_depth: expected an integer from 1 to 12, got 2.0"),
        ("max_depth", True, TypeError, "max_depth: expected an integer"),
        ("max_changepoints", 9, ValueError, "max_changepoints: expected an integer from 1 to 8"),
        ("min_samples_leaf", 0, ValueError, "min_samples_leaf: expected an integer from 1 to 2147483647"),
        ("min_samples_leaf", 0.1, TypeError, "min_samples_leaf: expected an integer from 1"),
        ("split_penalty", -1, ValueError, "split_penalty: expected a finite number >= 0"),
        ("split_penalty", math.nan, ValueError, "split_penalty: expected a finite number"),
        ("changepoint_penalty", "a", TypeError, "changepoint_penalty: expected a finite number >= 0"),
        (
            "candidates",
            "some",
            ValueError,
            "candidates: expected one of adaptive, shape, quantile, all, widening, got 'some'",
        ),
        ("candidate_leaves", 1, ValueError, "candidate_leaves: expected an integer from 2"),
        ("candidate_leaves", [], ValueError, "candidate_leaves: expected one integer or more"),
        (
            "candidate_leaves",
            [17, "a"],
            TypeError,
            "candidate_leaves: expected an integer from 2 to .*, got 'a'",
        ),
        ("candidate_leaves", "17", TypeError, "candidate_leaves: expected an integer or a list"),
        ("candidate_leaves", True, TypeError, "candidate_leaves: expected an integer or a list"),
        ("or_selection", "best", ValueError, "or_selection: expected one of informative"),
        ("and_selection", 1, ValueError, "and_selection: expected one of round_robin"),
        ("heuristic", None, ValueError, "heuristic: expected one of cart"),
        ("criterion", "mse", ValueError, "criterion: expected one of gini, entropy"),
        ("categories", "target", ValueError, "categories: expected one of ordered, one_hot"),
        ("polish", 1, TypeError, "polish: expected True or False"),
        ("class_weight", "even", ValueError, "class_weight: expected None, 'balanced' or a mapping"),
        ("class_weight", [1, 2], ValueError, "class_weight: expected None, 'balanced' or a mapping"),
        ("class_weight", np.ones(2), ValueError, "class_weight: expected None, 'balanced' or a mapping"),
        ("class_weight", {0: None}, ValueError, "class_weight: the weight of 0 must be .*, got None"),
        ("class_weight", {0: np.ones(2)}, ValueError, "class_weight: the weight of 0 must be a finite"),
        ("class_weight", {0: 0, 1: 0}, ValueError, "class_weight, sample_weight: together they give"),
        ("time_limit", 3, TypeError, r"time_limit: .*; expected limits=SearchLimits\(time_limit=...\)"),
        ("n_threads", 0, ValueError, "n_threads: expected -1 or an integer from 1 to 16, got 0"),
        ("n_threads", -2, ValueError, "n_threads: expected -1 or an integer from 1 to 16, got -2"),
        ("n_threads", 17, ValueError, "n_threads: expected -1 or an integer from 1 to 16, got 17"),
        ("n_threads", 2.0, TypeError, "n_threads: expected -1 or an integer from 1 to 16, got 2.0"),
        ("n_threads", True, TypeError, "n_threads: expected -1 or an integer from 1 to 16, got True"),
    ],
)
def test_parameters_are_checked(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Search([[1], [2]], [0, 1], **{name: value})


def test_quantiles_are_one_number() -> None:
    assert SolverOptions(candidates="quantile", candidate_leaves=[1]).leaves == (1,)
    with pytest.raises(ValueError, match="candidate_leaves: expected one integer with candidates='quantile'"):
        SolverOptions(candidates="quantile", candidate_leaves=[5, 3])


def test_options_through_json() -> None:
    options = SolverOptions(
        candidate_leaves=[9, 5], class_weight={"a": 2, ("b", 1): 0.5}, categories="one_hot"
    )
    assert SolverOptions.from_json(options.to_json()) == options
    limits = SearchLimits(time_limit=None, gap=0.5)
    assert SearchLimits.from_json(limits.to_json()) == limits


@pytest.mark.parametrize("group", [SolverOptions, SearchLimits])
def test_json_of_other_versions(group: type[ParameterSet]) -> None:
    """Absent values take their defaults; parameters of a later version are refused by name."""
    assert group.from_json({}) == group()
    with pytest.raises(ValueError, match="speed: this version of literati does not have this parameter"):
        group.from_json({"speed": 2})
    with pytest.raises(TypeError, match="expected an object, got list"):
        group.from_json([])


@dataclass(frozen=True)
class Later(ParameterSet):
    old: int = parameter(1, Range(int, ge=0), "Known to version 0.1.0.")
    new: int = parameter(2, Range(int, ge=0), "Added later.", added="0.2.0")


def test_later_parameters_are_written_only_if_they_are_used() -> None:
    """So that version 0.1.0, which refuses what it does not know, reads the others."""
    assert Later().to_json() == {"old": 1}
    assert Later(new=3).to_json() == {"old": 1, "new": 3}
    assert Later.from_json({"old": 1}) == Later()


def test_choices_are_those_of_the_types() -> None:
    hints = get_type_hints(SolverOptions)
    for name, definition in SolverOptions.definitions().items():
        if isinstance(definition.values, Choice):
            assert tuple(definition.values.meanings) == get_args(hints[name])


@pytest.mark.parametrize("group", [SolverOptions, SearchLimits, ProgressOptions])
def test_every_parameter_is_described_in_sentences(group: type[ParameterSet]) -> None:
    for definition in group.definitions().values():
        assert re.fullmatch(r"[A-Z].*\.", definition.sentences()), definition.name
        later = dict.fromkeys(("min_samples_leaf", "probability_smoothing"), "0.2.0")  # the others are older
        assert definition.added == later.get(definition.name)
