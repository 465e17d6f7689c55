"""The short form of `make chaos`."""

from __future__ import annotations

from pathlib import Path

from tests.chaos.campaign import Campaign, Plan

SHORT = Plan(seed=20, jobs=12, kills=15, zombies=2, seconds=22.0, sweeps=3, quiet_seconds=60.0)


def test_no_promise_is_broken_while_everything_is_killed(tmp_path: Path) -> None:
    found = Campaign(SHORT, tmp_path).run()
    assert found["violation_list"] == []
    assert found["jobs"] >= SHORT.jobs
    assert found["sweeps"] >= SHORT.sweeps
    assert found["kills"] >= SHORT.kills
    assert found["zombies"] >= SHORT.zombies
    assert found["counts"]["trees evaluated"] > 0
