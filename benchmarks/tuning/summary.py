"""The page of the form: tables by dataset, and a summary."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks.report import markdown_table, versions
from benchmarks.runs import Results
from benchmarks.tuning.protocol import CART, CEILINGS, LITERATI, MAX_ROWS, OURS, OURS_BEST, SPLIT_SEEDS, TREES
from benchmarks.tuning.scores import MEASURES, Comparison

HALF_A_POINT = 0.005
FORMATS = {
    "accuracy": ".4f",
    "balanced accuracy": ".4f",
    "log loss": ".3f",
    "leaves": ".1f",
    "leaves on folds": ".1f",
    "seconds": ".1f",
    "trials": ".0f",
}


def table(results: Results, datasets: Iterable[str], limit: float) -> str:
    """Return the tables by dataset and the summary as Markdown."""
    compared = Comparison(results, datasets, limit)
    return "\n".join(
        [
            *_unfinished(compared),
            "## Test accuracy\n",
            f"Mean over the splits. The best tree is bold. {' and '.join(CEILINGS)} are no trees.\n",
            _by_dataset(compared, (*TREES, *CEILINGS), "accuracy", best_of=TREES),
            "## Leaves\n",
            "Mean over the splits.\n",
            _by_dataset(compared, TREES, "leaves"),
            "## Summary\n",
            *_summary(compared),
            "## Versions\n",
            versions(compared.all_runs()),
        ]
    )


def _unfinished(compared: Comparison) -> list[str]:
    """Say which splits are left out because they were not run with every method on every dataset."""
    done, planned = len(compared.splits), len(SPLIT_SEEDS)
    if done == planned:
        return []
    return [f"Finished so far, and counted here: {done} of {planned} splits.\n"]


def about(limit: float) -> str:
    """Return how the numbers were measured."""
    return (
        f"Every method chooses its hyperparameters within {limit:g} s on the same five folds and is then "
        f"fitted to all training rows. Test rows are a fifth, in {len(SPLIT_SEEDS)} stratified splits; "
        f"datasets have at most {MAX_ROWS:,} rows."
    )


def _by_dataset(
    compared: Comparison, methods: tuple[str, ...], measure: str, best_of: tuple[str, ...] = ()
) -> str:
    rows = []
    for dataset in compared.datasets:
        means = {method: compared.of(dataset, method).mean(measure) for method in methods}
        known = [mean for method in best_of if (mean := means[method]) is not None]
        cells = []
        for method, mean in means.items():
            cell = _shown(mean, measure)
            is_best = method in best_of and mean == max(known, default=None)
            problem = compared.of(dataset, method).problem
            cells.append((f"**{cell}**" if is_best else cell) + (f" ({problem})" if problem else ""))
        rows.append([dataset, *cells])
    return markdown_table(("dataset", *methods), rows)


def _shown(value: float | None, measure: str) -> str:
    return "–" if value is None else format(value, FORMATS[measure])


def _summary(compared: Comparison) -> list[str]:
    counted, known = compared.counted, compared.datasets
    left_out = [name for name in known if name not in counted]
    says = (
        f"{len(counted)} of {len(known)} datasets count: every tree method was measured on all their splits."
    )
    if left_out:
        says += f" These do not: {', '.join(left_out)}."
    if not counted:
        return [f"{says}\n"]
    sentences = [*_against_cart(compared), _against_next(compared), _against_best(compared)]
    told = "\n".join(f"- {sentence}" for sentence in [*sentences, _disturbed(compared)])
    return [f"{says} Means over the datasets that count:\n", _by_method(compared), f"{told}\n"]


def _by_method(compared: Comparison) -> str:
    ranks = compared.ranks()
    rows = []
    for method in (*TREES, *CEILINGS):
        means = {measure: compared.means(method, measure) for measure in MEASURES}
        cells = [_shown(None if found is None else float(np.mean(found)), m) for m, found in means.items()]
        rows.append([method, f"{ranks[method]:.2f}" if method in ranks else "–", *cells])
    return markdown_table(("method", "rank among trees", *MEASURES), rows)


def _accuracies(compared: Comparison, method: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(compared.means(method, "accuracy"))


def _points(difference: float) -> str:
    return f"{100 * difference:+.2f} points"


def _against_cart(compared: Comparison) -> list[str]:
    """Return for each selection on how many datasets it is clearly below tuned CART."""
    sentences = []
    for name in LITERATI:
        behind = _accuracies(compared, CART) - _accuracies(compared, name)
        losses = [
            f"{dataset} ({_points(-loss)})"
            for dataset, loss in zip(compared.counted, behind, strict=True)
            if loss > HALF_A_POINT
        ]
        listed = f": {', '.join(losses)}" if losses else ""
        sentences.append(
            f"{name} is more than half a point below tuned CART on {len(losses)} of {len(behind)} datasets"
            f"{listed}. On average it differs by {_points(-float(np.mean(behind)))}."
        )
    return sentences


def _against_next(compared: Comparison) -> str:
    """Return the mean difference to the other tree method with the highest mean accuracy."""
    others = {tree: float(np.mean(_accuracies(compared, tree))) for tree in TREES if tree not in LITERATI}
    best = max(others, key=lambda tree: others[tree])
    differences = [
        f"{name} differs from it by {_points(float(np.mean(_accuracies(compared, name))) - others[best])}"
        for name in LITERATI
    ]
    return f"The best other tree method on average is {best}; {' and '.join(differences)}."


def _against_best(compared: Comparison) -> str:
    """Compare the two ways to select a tree."""
    leaves = [np.array(compared.means(name, "leaves")) for name in (OURS, OURS_BEST)]
    ratio = float(np.exp(np.mean(np.log(leaves[0] / leaves[1]))))
    difference = float(np.mean(_accuracies(compared, OURS) - _accuracies(compared, OURS_BEST)))
    return (
        f'select="one_standard_error" has {ratio:.2f} times the leaves of select="best" (geometric mean over '
        f"datasets), and its accuracy differs by {_points(difference)}."
    )


def _disturbed(compared: Comparison) -> str:
    runs = compared.all_runs()
    return f"{sum(run.disturbed for run in runs)} of {len(runs)} runs had to share their core."
