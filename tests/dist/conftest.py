"""An environment for the tests of the service that `make dist` has built."""

from __future__ import annotations

import pytest

from tests.support.clean_environment import PYTHONS, VERSION, CleanEnvironment


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> CleanEnvironment:
    """Provide an environment with the extra `service`."""
    folder = tmp_path_factory.mktemp("clean") / "environment"
    return CleanEnvironment(folder, PYTHONS[0], f"literati-trees[service]=={VERSION}")
