"""A small table with numbers, text, booleans and missing values, and classifiers that are fitted at once."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from literati import LiteratiClassifier, LiteratiClassifierCV
from tests.support.paths import ROOT


@pytest.fixture(scope="session")
def loans() -> pd.DataFrame:
    return pd.read_csv(ROOT / "examples" / "loans.csv").head(240)


@pytest.fixture
def rows(loans: pd.DataFrame) -> pd.DataFrame:
    return loans.drop(columns="repaid")


@pytest.fixture
def repaid(loans: pd.DataFrame) -> pd.Series:
    return loans["repaid"]


@pytest.fixture
def classifier() -> LiteratiClassifier:
    return LiteratiClassifier(max_depth=2, split_penalty=2.0, max_expansions=200, time_limit=None)


def small_cv(**options: Any) -> LiteratiClassifierCV:
    defaults: dict[str, Any] = {"max_depth": 2, "max_changepoints": 2, "cv": 3, "select": "best"}
    return LiteratiClassifierCV(max_expansions=200, time_limit=None, **(defaults | options))


@pytest.fixture(params=["LiteratiClassifier", "LiteratiClassifierCV"])
def either(request: pytest.FixtureRequest, classifier: LiteratiClassifier) -> Any:
    """Provide both classifiers, one after the other."""
    return classifier if request.param == "LiteratiClassifier" else small_cv()
