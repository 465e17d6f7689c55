"""A store with an API server of each version. Tests start the workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.paths import ROOT
from tests.support.stack.stack import Stack
from tests.upgrade.older import OLDER

ROOTS = {"older": OLDER, "newer": ROOT}


class TwoVersions:
    """A stack with an API server of each version, and a client of each."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.clients: dict[str, httpx.Client] = {}
        for version, root in ROOTS.items():
            stack.start_api(root)
            self.clients[version] = stack.client()

    def dataset(self, version: str, cells: dict[str, Any]) -> str:
        """Upload a table at the API server of this version."""
        rows = zip(*cells.values(), strict=True)
        text = "\n".join([",".join(cells), *(",".join(map(str, row)) for row in rows)])
        answer = self.clients[version].post(
            "/v1/datasets", params={"target": "label"}, headers={"Content-Type": "text/csv"}, content=text
        )
        assert answer.is_success, answer.text
        return str(answer.json()["id"])

    def get(self, version: str, path: str, **headers: str) -> Any:
        answer = self.clients[version].get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, version: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self.clients[version].post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoVersions]:
    folder = tmp_path_factory.mktemp("upgrade")
    with Stack(folder, LITERATI_LEASE_SECONDS="3", LITERATI_RECONCILE_SECONDS="0.5") as stack:
        two = TwoVersions(stack)
        yield two
        for client in two.clients.values():
            client.close()
