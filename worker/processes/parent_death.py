"""Kill a process when the process that started it ends.

On Linux, `kill_with_parent(command)` returns a command that asks the kernel for a signal at the parent's
death and then becomes the given command. Other systems have no such signal and run the command as it is.
Start the command from a thread that lives as long as its process: the kernel watches the thread that forked.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1
# Running this file by its name, without site-packages, takes 10 ms; importing the package would take longer.
_LAUNCHER = [sys.executable, "-I", "-S", __file__]


def kill_with_parent(command: Sequence[str]) -> list[str]:
    """Return a command that runs the given one and is killed when this process ends."""
    if sys.platform != "linux":
        return list(command)
    return [*_LAUNCHER, str(os.getpid()), *command]


def set_parent_death_signal(parent: int) -> None:
    """Let this process be killed when its parent ends, or end it now if the parent already has ended.

    This does nothing on systems other than Linux.
    """
    if sys.platform != "linux":
        return
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:
        os._exit(1)


if __name__ == "__main__":
    set_parent_death_signal(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
