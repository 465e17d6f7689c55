"""Plots of cross-validation, with matplotlib, which is an optional dependency."""

from __future__ import annotations

from typing import Any

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install 'literati-trees[plot]'") from None
    return plt.subplots(figsize=(7, 4.5), layout="constrained")[1]


def _settings(results: dict[str, Any]) -> dict[tuple[int, int], Any]:
    """Return the rows of each setting, by depth and change points."""
    pairs = list(zip(results["param_max_depth"], results["param_max_changepoints"], strict=True))
    return {
        (int(depth), int(k)): np.array([pair == (depth, k) for pair in pairs])
        for depth, k in sorted(set(pairs))
    }


def _label(depth: int, changepoints: int) -> str:
    return f"depth {depth}, {changepoints} change point{'s' if changepoints > 1 else ''}"


def plot_cv(classifier: Any, ax: Any) -> Any:
    """Plot the best score of each number of leaves, with its standard error, for every setting."""
    ax = _axes(ax)
    results = classifier.cv_results_
    for (depth, k), rows in _settings(results).items():
        leaves, means = results["mean_leaves"][rows], results["mean_test_score"][rows]
        errors = results["standard_error"][rows]
        kept = [max(np.flatnonzero(leaves == n), key=lambda i: means[i]) for n in np.unique(leaves)]
        ax.errorbar(
            leaves[kept], means[kept], yerr=errors[kept], marker="o", markersize=3, lw=1, elinewidth=0.6,
            capsize=2, label=_label(depth, k),
        )
    at = classifier.best_index_
    ax.plot(
        results["mean_leaves"][at], results["mean_test_score"][at], "o", markersize=11, fillstyle="none",
        color="black", label="chosen",
    )
    ax.set_xscale("log")
    ax.set(xlabel="leaves (mean over the folds)", ylabel=f"{classifier.scoring} on held-out rows")
    ax.legend(fontsize="small")
    return ax


def plot_path(classifier: Any, ax: Any) -> Any:
    """Plot the mean score as a step function of the penalty, for every setting."""
    ax = _axes(ax)
    results = classifier.cv_results_
    for (depth, k), rows in _settings(results).items():
        starts, means = results["penalty_from"][rows], results["mean_test_score"][rows]
        ax.step([*starts, 2 * starts[-1] + 1], [*means, means[-1]], where="post", lw=1, label=_label(depth, k))
    ax.axvline(classifier.best_params_["split_penalty"], color="black", lw=1, ls="--", label="chosen")
    positive = results["penalty_from"][results["penalty_from"] > 0]
    ax.set_xscale("symlog", linthresh=float(positive.min()) if len(positive) else 1.0)
    ax.set(xlabel="penalty of a split (rows)", ylabel=f"{classifier.scoring} on held-out rows")
    ax.legend(fontsize="small")
    return ax
