"""Run one spec in a new process with one core for each of its threads, and kill it after its time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.runs import RunResult, RunSpec

ROOT = Path(__file__).resolve().parent.parent
POLL_SECONDS = 0.5  # a program that runs more often disturbs runs that use every core
ERROR_TAIL = 800
CHILD = "benchmarks.child"  # the module that measures a run

# A solver has one core unless its options ask for threads, so numeric libraries must not start any.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "RAYON_NUM_THREADS",
    ),
    "1",
)


def default_core() -> int | None:
    """Return the last core that may be used, since core 0 handles most interrupts, or None if unknown."""
    if hasattr(os, "sched_getaffinity"):
        return max(os.sched_getaffinity(0))
    return None


def cores_of(spec: RunSpec, core: int | None) -> list[int] | None:
    """Return the cores of a run: the given one, and more for copies or for the option `n_threads`."""
    if core is None or not hasattr(os, "sched_getaffinity"):
        return None
    others = sorted(os.sched_getaffinity(0) - {core}, reverse=True)
    count = spec.copies if spec.copies > 1 else spec.options.get("n_threads", 1)
    return [core, *others][: count if count > 0 else None]


def run(
    spec: RunSpec,
    data: Path,
    core: int | None = None,
    tick: Callable[[float], None] | None = None,
    module: str = CHILD,
) -> RunResult:
    """Run the spec and return its result. `tick` is called every POLL_SECONDS with the elapsed seconds.

    Of several copies, the result of the slowest is returned.
    """
    if spec.copies > 1:
        single = replace(spec, copies=1)
        cores: Sequence[int | None] = cores_of(spec, core) or [None] * spec.copies
        with ThreadPoolExecutor(spec.copies) as pool:
            results = list(pool.map(lambda own: run(single, data, own, module=module), cores))
        return replace(max(results, key=lambda result: result.seconds or float("inf")), spec=spec)
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "result.json"
        task = {
            "spec": vars(spec),
            "data": str(data),
            "cores": cores_of(spec, core),
            "output": str(output),
        }
        with open(Path(scratch) / "stderr", "w+b") as errors:
            child = subprocess.Popen(
                [sys.executable, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,  # some solvers print
                stderr=errors,
                cwd=ROOT,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # so that a kill also reaches processes that the solver started
            )
            try:
                assert child.stdin is not None
                child.stdin.write(json.dumps(task).encode())
                child.stdin.close()
                in_time, peak = _wait(child, spec.time_limit + spec.grace, tick)
            finally:
                _kill(child)
            errors.seek(0)
            stderr = errors.read().decode(errors="replace")[-ERROR_TAIL:].strip()
        if output.exists():
            result = RunResult.from_dict(json.loads(output.read_text()))
        elif not in_time:
            result = RunResult(spec, "killed", error=f"killed {spec.grace:g} s after its time limit")
        else:
            result = RunResult(spec, "failed", error=stderr or f"exit code {child.returncode}")
    result.peak_memory = result.peak_memory or peak
    return result


def _wait(
    child: subprocess.Popen[bytes], limit: float, tick: Callable[[float], None] | None
) -> tuple[bool, int | None]:
    """Wait for the child. Return whether it ended within the limit, and its highest memory."""
    start = time.monotonic()
    peak: int | None = None
    while child.poll() is None:
        elapsed = time.monotonic() - start
        if elapsed > limit:
            return False, peak
        if tick is not None:
            tick(elapsed)
        peak = peak_memory(child.pid) or peak
        try:
            child.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    return True, peak


def _kill(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def peak_memory(pid: int | str = "self") -> int | None:
    """Return the highest resident memory of the process's program in bytes, or None if it is unknown."""
    return _status_bytes(pid, "VmHWM:")


def resident_memory(pid: int | str = "self") -> int | None:
    """Return the resident memory in bytes, or None if it is unknown."""
    return _status_bytes(pid, "VmRSS:")


def stolen_seconds() -> float:
    """Return the seconds that the host has taken from a virtual machine's cores, 0 if it is unknown."""
    try:
        total = Path("/proc/stat").read_text().splitlines()[0].split()
    except OSError:
        return 0.0
    return int(total[8]) / os.sysconf("SC_CLK_TCK")


def reset_peak_memory() -> None:
    """Reset the peak, so that it covers the fit and not reading the data. This works on Linux only."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _status_bytes(pid: int | str, field: str) -> int | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return None
