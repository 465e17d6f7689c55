"""Plots of cross-validation, with matplotlib, which is an optional dependency."""

from __future__ import annotations

from typing import Any

import numpy as np

from literati.tuning.fold_scores import Scorer


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "plots need matplotlib; install it with: pip install 'literati-trees[plot]'"
        ) from None
    return plt.subplots(figsize=(7, 4.5), layout="constrained")[1]


def _settings(results: dict[str, Any]) -> dict[tuple[int, int], Any]:
    """Return the rows of each setting, by depth and change points."""
    pairs = list(zip(results["param_max_depth"], results["param_max_changepoints"], strict=True))
    return {
        (int(depth), int(k)): np.array([pair == (depth, k) for pair in pairs])
        for depth, k in sorted(set(pairs))
    }


def _styles(classifier: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Return the rows of each setting and how to draw them: colour is depth, dashes are change points."""
    import matplotlib

    settings = _settings(classifier.cv_results_)
    depths, changepoints = (sorted({pair[i] for pair in settings}) for i in range(2))
    colors = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.85, len(depths)))
    dashes = ("-", "--", ":", "-.")
    return [
        (
            rows,
            {
                "color": colors[depths.index(depth)],
                "ls": dashes[changepoints.index(k) % len(dashes)],
                "label": f"depth {depth}, {k} change point{'s' if k > 1 else ''}",
                "lw": 1,
            },
        )
        for (depth, k), rows in settings.items()
    ]


def plot_cv(classifier: Any, ax: Any) -> Any:
    """Plot the best score of each number of leaves, with its standard error, for every setting."""
    ax = _axes(ax)
    results = classifier.cv_results_
    for rows, style in _styles(classifier):
        leaves, means = results["mean_leaves"][rows], results["mean_test_score"][rows]
        errors = results["standard_error"][rows]
        kept = [max(np.flatnonzero(leaves == n), key=lambda i: means[i]) for n in np.unique(leaves)]
        ax.errorbar(
            leaves[kept],
            means[kept],
            errors[kept],
            marker="o",
            markersize=3,
            elinewidth=0.5,
            capsize=2,
            **style,
        )
    at = classifier.best_index_
    chosen = {"markersize": 11, "fillstyle": "none", "color": "black", "label": "chosen"}
    ax.plot(results["mean_leaves"][at], results["mean_test_score"][at], "o", **chosen)
    ax.set_xscale("log")
    largest = results["mean_leaves"].max()
    ticks = [n for n in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if n <= 1.5 * largest]
    ax.set_xticks(ticks, [str(n) for n in ticks])
    ax.minorticks_off()
    ax.set(
        xlabel="leaves (mean over the folds)", ylabel=f"{Scorer(classifier.scoring).name} on held-out rows"
    )
    ax.legend(fontsize="small")
    return ax


def plot_path(classifier: Any, ax: Any) -> Any:
    """Plot the mean score as a step function of the penalty, for every setting."""
    ax = _axes(ax)
    results = classifier.cv_results_
    positive = results["penalty_from"][results["penalty_from"] > 0]
    end = 2 * positive.max() if len(positive) else 1.0
    for rows, style in _styles(classifier):
        starts, means = results["penalty_from"][rows], results["mean_test_score"][rows]
        ax.step([*starts, end], [*means, means[-1]], where="post", **style)
    ax.axvline(classifier.best_params_["split_penalty"], color="black", lw=1, label="chosen")
    ax.set_xscale("symlog", linthresh=float(positive.min()) if len(positive) else 1.0)
    ax.set_xlim(0, end)
    ax.set(xlabel="penalty of a split (rows)", ylabel=f"{Scorer(classifier.scoring).name} on held-out rows")
    ax.legend(fontsize="small")
    return ax
