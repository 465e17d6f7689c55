"""Count the cores that this process may use, also in a container or under a CPU quota."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def usable_cores(mount: Path = CONTROL_GROUPS, own: Path = OWN_GROUPS) -> int:
    """Return the number of cores by CPU affinity and by the quota of the control group, at least 1.

    A quota of 2.5 cores counts as 2: a third process would only make the other two wait.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = float(len(os.sched_getaffinity(0)))
    else:
        cores = float(os.cpu_count() or 1)
    for folder in group_folders("cpu", mount, own):
        cores = min(cores, _quota(folder))
    return max(1, int(cores))


def group_folders(controller: str, mount: Path = CONTROL_GROUPS, own: Path = OWN_GROUPS) -> Iterator[Path]:
    """Yield the folders of the process's control groups that may limit `controller`, innermost first.

    A limit of an outer group holds for the inner ones. Version 1 mounts each controller at a folder of its
    own, version 2 all of them at one. In a container, outer groups are not visible and /proc may show a path
    outside of the container, so callers must skip folders that do not exist.
    """
    paths = dict(_own_groups(own))
    mounts = {mount: paths.get("", "/")}  # version 2
    for name in (controller, "cpu,cpuacct" if controller == "cpu" else controller):
        mounts[mount / name] = paths.get(controller, "/")
    for root, path in mounts.items():
        inner = root / path.lstrip("/")
        while inner != root and root in inner.parents:
            yield inner
            inner = inner.parent
        yield root


def _own_groups(own: Path) -> Iterator[tuple[str, str]]:
    """Yield each controller and the path of its group; version 2 has one line without a controller."""
    with suppress(OSError):
        for line in own.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                yield controller, path


def _quota(folder: Path) -> float:
    """Return the cores that a group allows; infinity if it sets no quota."""
    with suppress(OSError, ValueError):  # no such file, or "max"
        quota, period = (folder / "cpu.max").read_text().split()  # version 2
        return int(quota) / int(period)
    with suppress(OSError, ValueError):
        allowed = int((folder / "cpu.cfs_quota_us").read_text())  # version 1; -1 is no quota
        if allowed > 0:
            return allowed / int((folder / "cpu.cfs_period_us").read_text())
    return float("inf")


if __name__ == "__main__":  # for the Makefile
    print(usable_cores())
