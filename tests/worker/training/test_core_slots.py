"""Test that processes share the cores of a worker, and that a killed process releases its cores."""

from __future__ import annotations

import subprocess
import sys

# A worker's main process that forks children, as Celery does. Each says how many
# cores it found free, and keeps some.
WORKER = """
import os, signal, sys
from worker.training.core_slots import CoreSlots

slots = CoreSlots(4)

def child(kept, *, again=False):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with slots.reserve() as free:
            slots.keep(kept)
        if again:
            slots.release()
            with slots.reserve() as free:
                slots.keep(1)
        os.write(write, bytes([free]))
        signal.pause()
    print(os.read(read, 1)[0], end=" ")
    return pid

def kill(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)

wide = child(2)
narrow = child(1)
nothing = child(0)
last = child(1)
full = child(0)
kill(wide)
after = child(2, again=True)
for pid in (narrow, nothing, last, full, after):
    kill(pid)
kill(child(0))
busy = child(1)
print(slots.all_free(), end=" ")
kill(busy)
print(slots.all_free())
"""


def test_children_share_the_cores() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKER], capture_output=True, text=True, check=True, timeout=60
    )
    #          wide, narrow, nothing, last, full, after with two given back, none left, busy
    expected = ["4", "2", "1", "1", "0", "2", "4", "4"]
    assert done.stdout.split() == [*expected, "False", "True"]
