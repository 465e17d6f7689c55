"""Rules for every test."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

# scikit-learn skips its checks of array-API input unless SciPy was asked for it before it was imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """On a build machine everything a test needs is there: a skipped test is a failed one."""
    report = yield
    if os.environ.get("CI") == "true" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI=true does not allow: {report.longrepr}"
    return report
