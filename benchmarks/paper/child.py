"""Search hyperparameters on the validation rows of a fold, in the process that process.py starts.

Every trial is fitted to the training rows (70 %) and measured on the validation rows (10 %) and on the test
rows (20 %). Nothing is chosen here: the page chooses by the mean validation accuracy over folds, as the
paper does.
"""

from __future__ import annotations

import time
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np

from benchmarks import child, datasets, process
from benchmarks.paper.spaces import SPACES
from benchmarks.runs import RunResult, RunSpec

TRIAL_COLUMNS = ["trial", "validation errors", "test errors", "seconds"]
# Of the budget: the longest trial of a solver with a time limit. The paper has 200 trials, so many short
# trials come closer to it than few long ones.
TRIAL_SHARE = 0.025
MIN_SECONDS = 0.01  # of a trial


def measure(spec: RunSpec, data: Path) -> RunResult:
    """Try hyperparameters until the budget is over, and return the errors of every trial."""
    space = SPACES[spec.solver]
    try:
        version = metadata.version(space.distribution)
    except metadata.PackageNotFoundError as error:
        return RunResult(spec, "absent", error=str(error))
    build = space.load()
    assert spec.fold is not None
    X, y = datasets.read_for_fold(spec.dataset, data, categories=space.categories)
    rows = datasets.fold_rows(y, spec.fold)
    (X_train, y_train), *held_out = ((X[part], y[part]) for part in rows)
    trials: list[list[float]] = []
    failures: list[str] = []
    process.reset_peak_memory()
    before = process.resident_memory()
    start, cpu_start = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other packages warn at their time limit
        for number, parameters in enumerate(space.trials()):
            left = spec.time_limit - (time.perf_counter() - start)
            if left <= 0:
                break
            begun = time.perf_counter()
            try:
                seconds = max(min(TRIAL_SHARE * spec.time_limit, left), MIN_SECONDS)
                model = build(parameters, len(y_train), seconds).fit(X_train, y_train)
                fitted = time.perf_counter() - begun
                errors = [int(np.sum(model.predict(rows) != labels)) for rows, labels in held_out]
            except Exception as error:  # some parameters may suit a package, and others not
                failures.append(f"{parameters}: {error}")
                continue
            trials.append([number, *errors, float(f"{fitted:.3g}")])
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    return RunResult(
        spec,
        "finished" if trials else "failed",
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        memory_before=before,
        peak_memory=process.peak_memory(),
        n_train=len(y_train),
        version=version,
        error=failures[0] if failures and not trials else None,
        details={
            "trials": trials,
            "trial_columns": TRIAL_COLUMNS,
            "rows": [len(part) for part in rows],
            "failed_trials": len(failures),
            "first_failure": failures[0] if failures else None,
        },
    )


if __name__ == "__main__":
    child.main(measure)
