"""Ties a process to the one that started it: it is killed when that one ends, however that ends.

`tethered(command)` is the command to start instead; on Linux it sets the tie and becomes the command.
Elsewhere there is no such tie and the command runs as it is. Start it from a thread that lives as long as
the process: the kernel watches the thread that forked, not the process.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1
# Run by file name, without site-packages, so that the tie costs 10 ms and not the import of a package.
_LAUNCHER = [sys.executable, "-I", "-S", __file__]


def tethered(command: Sequence[str]) -> list[str]:
    if sys.platform != "linux":
        return list(command)
    return [*_LAUNCHER, str(os.getpid()), *command]


def die_with_parent(parent: int) -> None:
    """Be killed when the parent ends; at once if it already has. Does nothing where the system cannot."""
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
