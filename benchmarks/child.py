"""Run one spec in the process that process.py starts: read it from stdin, fit, evaluate, write the result."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import numpy as np

from benchmarks import datasets, encoding, process
from benchmarks.runners import Fit, FitOnce, Solver, find
from benchmarks.runs import RunResult, RunSpec, Status

# A short fit of any solver is repeated and the fastest counts, because the first one pays for page faults.
REPEAT_BELOW_SECONDS = 1.0
REPEATS = 3


def main(measured_by: Callable[[RunSpec, Path], RunResult]) -> None:
    """Measure the spec that is on stdin."""
    task = json.load(sys.stdin)
    spec = RunSpec(**task["spec"])
    if task["cores"] is not None:
        os.sched_setaffinity(0, task["cores"])
    result = measured_by(spec, Path(task["data"]))
    output = Path(task["output"])
    partial = output.with_suffix(".partial")
    partial.write_text(json.dumps(result.to_dict()))
    partial.rename(output)  # an incomplete file must never be read


def measure(spec: RunSpec, data: Path) -> RunResult:
    """Fit the solver and return its measurements."""
    if spec.solver == encoding.SOLVER:
        return encoding.measure(spec)
    solver = find(spec.solver)
    try:
        version = metadata.version(solver.distribution)
    except metadata.PackageNotFoundError as error:
        return RunResult(spec, "absent", error=str(error))
    # Imports and parameters are not part of the measured time.
    fit_once = solver.prepare(spec.depth, spec.time_limit, spec.options)
    split = datasets.load(
        spec.dataset, data, categories=solver.categories, train_share=spec.train_share, fold=spec.fold
    )
    process.reset_peak_memory()
    before = process.resident_memory()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other solvers warn at their time limit, which the status also shows
        stolen = process.stolen_seconds()
        fit, timings = _repeated(fit_once, split)
        stolen = process.stolen_seconds() - stolen
    seconds, cpu_seconds = min(timings)
    peak = process.peak_memory()  # the evaluation must not count
    errors = int(np.sum(fit.predict(split.X_train) != split.y_train))
    return RunResult(
        spec,
        _status(fit, solver),
        objective=errors,
        train_accuracy=1 - errors / len(split.y_train),
        test_accuracy=(
            float(np.mean(fit.predict(split.X_test) == split.y_test)) if len(split.y_test) else None
        ),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        seconds_to_tree=seconds if fit.seconds_to_tree is None else min(fit.seconds_to_tree, seconds),
        seconds_to_proof=seconds if fit.proven else None,
        memory_before=before,
        peak_memory=peak,
        n_train=len(split.y_train),
        version=version,
        error=_contradiction(fit, errors),
        details={
            **fit.details,
            "fits": [wall for wall, _ in timings],
            "stolen_seconds": stolen,
            "leaf_accuracy": float(np.bincount(split.y_train).max() / len(split.y_train)),
        },
    )


def _repeated(fit_once: FitOnce, split: datasets.Split) -> tuple[Fit, list[tuple[float, float]]]:
    """Return the fastest fit, and the elapsed time and CPU time of every fit in order."""
    timings: list[tuple[float, float]] = []
    fastest: Fit | None = None
    for _ in range(REPEATS):
        start, cpu_start = time.perf_counter(), time.process_time()
        fit = fit_once(split.X_train, split.y_train)
        timings.append((time.perf_counter() - start, time.process_time() - cpu_start))
        if fastest is None or timings[-1] == min(timings):
            fastest = fit
        if timings[-1][0] > REPEAT_BELOW_SECONDS:
            break
    assert fastest is not None
    return fastest, timings


def _status(fit: Fit, solver: Solver) -> Status:
    if fit.proven:
        return "proven"
    return "limit" if solver.searches else "finished"


def _contradiction(fit: Fit, errors: int) -> str | None:
    if fit.claimed_errors is None or fit.claimed_errors == errors:
        return None
    return f"says {fit.claimed_errors:g} errors, but its predictions have {errors}"


if __name__ == "__main__":
    main(measure)
