"""Tune one method on one split, in the process that process.py starts."""

from __future__ import annotations

import time
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, log_loss

from benchmarks import child, process
from benchmarks.datasets import Split
from benchmarks.runs import RunResult, RunSpec
from benchmarks.tuning import splits
from benchmarks.tuning.methods import METHODS, Tuned


def measure(spec: RunSpec, data: Path) -> RunResult:
    """Tune the method on the training rows, and return its measurements on the test rows."""
    method = METHODS[spec.solver]
    try:
        version = metadata.version(method.distribution)
    except metadata.PackageNotFoundError as error:
        return RunResult(spec, "absent", error=str(error))
    tune = method.prepare()  # imports are not part of the measured time
    seed = spec.options["split"]  # of the search too, so that few trials are not the same on every split
    split = splits.load(spec.dataset, data, seed, categories=method.categories)
    folds = splits.inner_folds(split.y_train)
    process.reset_peak_memory()
    before = process.resident_memory()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other packages warn at their time limit
        start, cpu_start = time.perf_counter(), time.process_time()
        tuned = tune(split.X_train, split.y_train, folds, spec.time_limit, seed)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
        peak = process.peak_memory()
        errors = int(np.sum(tuned.model.predict(split.X_train) != split.y_train))
        test_accuracy, details = _on_test_rows(tuned, split)
    return RunResult(
        spec,
        "finished",
        objective=errors,
        train_accuracy=1 - errors / len(split.y_train),
        test_accuracy=test_accuracy,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        memory_before=before,
        peak_memory=peak,
        n_train=len(split.y_train),
        version=version,
        details=details,
    )


def _on_test_rows(tuned: Tuned, split: Split) -> tuple[float, dict[str, Any]]:
    """Return the accuracy, and everything that a RunResult has no field for."""
    predictions = tuned.model.predict(split.X_test)
    return float(np.mean(predictions == split.y_test)), {
        "balanced_accuracy": float(balanced_accuracy_score(split.y_test, predictions)),
        "log_loss": _log_loss(tuned.model, split),
        "leaves": tuned.leaves,
        "trials": tuned.trials,
        "parameters": tuned.parameters,
        "fold_accuracy": tuned.fold_accuracy,
        "fold_leaves": tuned.fold_leaves,
        **tuned.details,
    }


def _log_loss(model: Any, split: Split) -> float | None:
    """Return the log loss with scikit-learn's clipping, or None if the model has no probabilities."""
    try:
        shares = model.predict_proba(split.X_test)
    except (AttributeError, AssertionError):  # pycontree asserts that training rows reach every leaf
        return None
    return float(log_loss(split.y_test, shares, labels=np.unique(split.y_train)))


if __name__ == "__main__":
    child.main(measure)
