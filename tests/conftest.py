"""Rules for every test: markers by what a test needs, and no skipped tests on a build machine."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

# scikit-learn skips its checks of array-API input unless SciPy was asked for it before it was imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Tests in `interop` need databases, compilers and packages that only `make test-interop` installs; tests in
# `dist` need what `make dist` builds, and tests in `upgrade` what `make test-upgrade` builds.
NEEDS = {"interop": "LITERATI_INTEROP", "dist": "LITERATI_DIST", "upgrade": "LITERATI_OLDER"}
collect_ignore = [folder for folder, variable in NEEDS.items() if not os.environ.get(variable)]

# A test that uses one of these fixtures, directly or through another fixture, gets the marker.
FIXTURES = {
    "browser": {"browser"},
    "stack": {
        "api_stack",
        "stack",
        "page_stack",
        "actor_stack",
        "server",
        "s3_server",
        "running_cluster",
        "address",
    },
}
# A module that imports one of these starts processes in fixtures of its own.
STACK_NAMES = {"Campaign", "Cluster", "Embedded", "Stack", "ValkeyServer"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures and by what their module imports."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        for marker, names in FIXTURES.items():
            if fixtures & names:
                item.add_marker(marker)
        if STACK_NAMES & vars(getattr(item, "module", object)).keys():
            item.add_marker("stack")
        if item.path.parent.name == "chaos" and item.get_closest_marker("stack"):
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a skipped test as failed where CI=true: a build machine has everything that a test needs."""
    report = yield
    if os.environ.get("CI") == "true" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI=true does not allow: {report.longrepr}"
    return report
