"""`literati fit --tune`: choose the size of the tree by cross-validation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from literati.cli.errors import InputError
from literati.cli.interrupts import StopRequest
from literati.cli.output import progress_is_shown
from literati.cli.search_run import Fitted, facts_of
from literati.cli.tables.training import TrainingFile
from literati.progress_line import ProgressLine

if TYPE_CHECKING:
    from literati import LiteratiClassifierCV
    from literati.cli.cart_baseline import HeldOutAccuracy
    from literati.tuning.cross_validation import CVProgress

FOLDS = 5  # the default of LiteratiClassifierCV
LISTS = ("max_depth", "max_changepoints")  # parameters of which several values can be tried
# Parameters of LiteratiClassifierCV that LiteratiClassifier does not have, with the click type and the help.
_PARAMETERS: dict[str, tuple[Any, str]] = {
    "cv": (click.IntRange(min=2), f"Number of folds (default {FOLDS})."),
    "select": (
        click.Choice(["one_standard_error", "best"]),
        "The smallest tree within one standard error of the best one (default), or the best one.",
    ),
    "scoring": (str, "Score of scikit-learn to compare trees by (default accuracy)."),
    "max_leaves": (click.IntRange(min=1), "Largest number of leaves of the tree."),
    "changepoint_ratio": (
        click.FloatRange(min=0),
        "Penalty of a change point as a multiple of that of a split (default 0.5).",
    ),
    "random_state": (int, "Seed of the folds (default 0)."),
    "n_jobs": (int, "Number of paths that are computed at the same time; -1: one for each core."),
}
TUNE_OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--tune", "tuned"],
        is_flag=True,
        help="Choose the depth, the change points and the penalty by cross-validation, and tell how good the "
        "tree is on rows that it has not seen. --max-depth and --max-changepoints then take several values "
        "(default 2,3,4,5,10 and 1,2,3), and --time-limit is that of everything (default 300).",
    ),
    *(
        click.Option(["--" + name.replace("_", "-")], type=kind, help=f"With --tune: {text}")
        for name, (kind, text) in _PARAMETERS.items()
    ),
)


def check_tune_options(tuned: bool, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Raise UsageError for options that do not go together."""
    if not tuned:
        wrong = [name for name in _PARAMETERS if options[name] is not None]
        reason = "needs --tune"
    else:
        wrong = [name for name in parameters if name not in _accepted()]
        reason = "cannot be combined with --tune"
    if wrong:
        raise click.UsageError(f"--{wrong[0].replace('_', '-')} {reason}.")


def _accepted() -> set[str]:
    from literati.tuning.cross_validation import LiteratiClassifierCV  # imports scikit-learn

    return set(signature(LiteratiClassifierCV).parameters)


def tune(table: TrainingFile, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> Fitted:
    """Fit a LiteratiClassifierCV."""
    from literati.cli.cart_baseline import compare_with_cart
    from literati.tuning.cross_validation import LiteratiClassifierCV

    given = {name: options[name] for name in _PARAMETERS if options[name] is not None}
    _check_folds(table, given.get("cv", FOLDS))
    line = ProgressLine() if progress_is_shown() else None
    with StopRequest() as stop:

        def show(progress: CVProgress) -> bool:
            if line is not None:
                line.show(_progress_text(progress))
            return stop.requested

        classifier = LiteratiClassifierCV(**parameters, **given, callback=show)
        try:
            classifier.fit(table.X, table.y, sample_weight=table.weights)
        except RuntimeError:
            if not stop.requested:
                raise
            raise KeyboardInterrupt("Stopped before there was a tree.") from None
        baseline = None if stop.requested else compare_with_cart(classifier, table)
    if line is not None:
        line.close()
    return _fitted(classifier, baseline, stopped=stop.requested)


def _check_folds(table: TrainingFile, folds: int) -> None:
    if max(Counter(table.y.tolist()).values()) < folds:
        raise InputError(f"No class has as many rows as there are folds, {folds}; use fewer folds with --cv.")


def _progress_text(progress: CVProgress) -> str:
    parts = [f"{progress.paths_done} of {progress.paths} paths"]
    if progress.paths_done:
        parts.append(f"best score {progress.best_score:.4f} with {progress.leaves:.3g} leaves")
    parts.append(f"{progress.elapsed_seconds:.0f} s")
    if progress.paths_done == progress.paths:
        parts.append("fitting the choice to all rows")
    return "  ".join(parts)


def _fitted(classifier: LiteratiClassifierCV, baseline: HeldOutAccuracy | None, *, stopped: bool) -> Fitted:
    results, place = classifier.cv_results_, classifier.best_index_
    error = float(results["standard_error"][place])
    tree = classifier.tree_
    tuning = {
        "scoring": classifier.scoring,
        "score": float(classifier.best_score_),
        "standard_error": error,
        "folds": classifier.n_splits_,
        "mean_leaves": float(results["mean_leaves"][place]),
        "parameters": classifier.best_params_,
        "choice": classifier.choice_,
        "held_out_accuracy": None if baseline is None else asdict(baseline),
    }
    chosen = ", ".join(f"{name}={value:g}" for name, value in classifier.best_params_.items())
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    compared = ""
    if baseline is not None:
        compared = (
            f"Accuracy on held-out rows: {baseline.tree:.4f}; that of scikit-learn's CART with depth "
            f"{classifier.best_params_['max_depth']} on the same folds: {baseline.cart:.4f}.\n"
        )
    summary = (
        f"{classifier.choice_}\n"
        f"Cross-validated {classifier.scoring}: {classifier.best_score_:.4f} with a standard error of "
        f"{error:.4f} ({classifier.n_splits_} folds). The tree has {leaves}.\n"
        f"{compared}"
        f"Parameters: {chosen}. {'Stopped after ' if stopped else ''}{classifier.fit_seconds_:.1f} s."
    )
    return Fitted(tree, {**facts_of(tree), "seconds": classifier.fit_seconds_, "tuning": tuning}, summary)
