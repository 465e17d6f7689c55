"""The number of cores follows the CPU affinity and the quota of the control group."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from literati.cores import group_folders, usable_cores
from tests.support.paths import ROOT

AFFINITY = len(os.sched_getaffinity(0))


def count_with_affinity(cores: set[int], code: str) -> int:
    """Run code in a process of its own that may use these cores only."""
    pin = f"import os; os.sched_setaffinity(0, {cores!r}); "
    done = subprocess.run([sys.executable, "-c", pin + code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_the_affinity_counts() -> None:
    one = {max(os.sched_getaffinity(0))}
    assert count_with_affinity(one, "from literati.cores import usable_cores; print(usable_cores())") == 1


def test_a_worker_has_as_many_slots_as_usable_cores() -> None:
    one = {max(os.sched_getaffinity(0))}
    code = "from worker.settings import WorkerSettings; print(WorkerSettings().worker_concurrency)"
    assert count_with_affinity(one, code) == 1


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of eight cores whose control groups are in this folder."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    return tmp_path


def own_groups(folder: Path, *lines: str) -> Path:
    path = folder / "own"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_without_control_groups(pretend: Path) -> None:
    assert usable_cores(pretend, pretend / "absent") == 8


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("max 100000", 8),
        ("400000 100000", 4),
        ("250000 100000", 2),
        ("50000 100000", 1),
        ("1600000 100000", 8),
        ("", 8),
    ],
)
def test_version_2(pretend: Path, text: str, cores: int) -> None:
    (pretend / "cpu.max").write_text(f"{text}\n")
    assert usable_cores(pretend, own_groups(pretend, "0::/")) == cores


def test_an_outer_group_of_version_2_limits_an_inner_one(pretend: Path) -> None:
    """As a systemd service under a slice: the file of the root group does not exist."""
    inner = pretend / "work.slice" / "literati.service"
    inner.mkdir(parents=True)
    (inner / "cpu.max").write_text("max 100000\n")
    own = own_groups(pretend, "0::/work.slice/literati.service")
    assert usable_cores(pretend, own) == 8
    (inner.parent / "cpu.max").write_text("300000 100000\n")
    assert usable_cores(pretend, own) == 3
    (inner / "cpu.max").write_text("200000 100000\n")
    assert usable_cores(pretend, own) == 2


@pytest.mark.parametrize("name", ["cpu", "cpu,cpuacct"])
@pytest.mark.parametrize("path", ["", "docker/0123"])
def test_version_1(pretend: Path, name: str, path: str) -> None:
    """In a container the path may be the one outside, which does not exist here: the root is the limit."""
    own = own_groups(pretend, "4:memory:/", f"3:{name}:/docker/0123")
    group = pretend / name / path
    group.mkdir(parents=True)
    (group / "cpu.cfs_period_us").write_text("50000\n")
    (group / "cpu.cfs_quota_us").write_text("-1\n")
    assert usable_cores(pretend, own) == 8
    (group / "cpu.cfs_quota_us").write_text("150000\n")
    assert usable_cores(pretend, own) == 3


def test_a_path_that_leaves_the_mount_is_not_followed(pretend: Path) -> None:
    """A process outside of its control group's namespace has a path such as /../other."""
    own = own_groups(pretend, "0::/../other")
    assert all(pretend in (folder, *folder.parents) for folder in group_folders("cpu", pretend, own))
    assert usable_cores(pretend, own) == 8


def test_this_machine() -> None:
    assert 1 <= usable_cores() <= AFFINITY


def test_nothing_else_counts_cores() -> None:
    sources = [
        path for name in ("core", "worker", "service", "benchmarks") for path in ROOT.glob(f"{name}/**/*.py")
    ]
    counting = {path.name for path in sources if "cpu_count" in path.read_text()}
    assert counting == {"cores.py"}
