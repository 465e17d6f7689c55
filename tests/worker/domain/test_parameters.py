"""The parameters of the library as fields of messages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import BaseModel

from literati.search.options import SearchLimits, SolverOptions
from service.jobs.schemas import LimitsPatch
from service.settings import Settings
from worker.domain.parameters import DEFINITIONS, Limits, Parameters, unused_additions


@pytest.mark.parametrize(
    ("message", "group"),
    [
        (Parameters, SolverOptions),
        (Limits, SearchLimits),
        (LimitsPatch, SearchLimits),
    ],
)
def test_messages_have_the_fields_of_the_library(
    message: type[BaseModel], group: type[SolverOptions | SearchLimits]
) -> None:
    assert message.model_fields.keys() == group.definitions().keys()
    for name, field in message.model_fields.items():
        assert field.default == (None if message is LimitsPatch else group.definitions()[name].default)
        assert field.description == group.definitions()[name].sentences("null")


def test_the_default_time_limit_of_the_service_is_the_one_of_the_library() -> None:
    assert Settings.model_fields["default_time_limit"].default == SearchLimits().time_limit


def test_what_an_earlier_version_does_not_know_is_stored_only_if_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(DEFINITIONS, "max_depth", replace(DEFINITIONS["max_depth"], added="0.2.0"))
    added = {"max_depth", "min_samples_leaf", "n_threads", "probability_smoothing"}
    assert unused_additions(Parameters()) == added
    used = Parameters(max_depth=3, min_samples_leaf=2, n_threads=-1, probability_smoothing=0.0)
    assert unused_additions(used) == set()
