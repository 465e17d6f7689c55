"""The service is upgraded without a failed request."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.upgrade.rolling import RollingUpgrade, write

HAS_HAPROXY = shutil.which("haproxy") is not None


@pytest.mark.skipif(not HAS_HAPROXY, reason="needs HAProxy (Debian: haproxy)")
def test_nothing_fails_while_all_processes_are_replaced(tmp_path: Path) -> None:
    figures = RollingUpgrade(tmp_path).run()
    write(figures)
    assert figures["failed"] == []
    assert figures["jobs_not_succeeded"] == []
    assert figures["jobs"] == figures["jobs_in_store"] > 0, "no job was lost or submitted twice"
    assert figures["jobs_with_other_events"] == [], "every event was seen once, in its order"
    assert figures["streams_continued"] > 0, "a stream was moved"
    assert min(figures["requests"].values()) > 0
