"""The tables of the sections about optimization, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import geometric_mean

from benchmarks.paper import quoted
from benchmarks.paper.data import BY_NAME
from benchmarks.paper.plan import FIRST_FOLD, ON_GRID, STREED, Method, Scope
from benchmarks.paper.scores import Scores, Summary
from benchmarks.paper.statistics import mean_ranks
from benchmarks.report import markdown_table

NONE = "–"
MARK = "†"  # some runs have no tree


def optimization(
    scores: Scores, methods: Sequence[Method], quotes: tuple[quoted.Row, ...], others: Sequence[str] = ()
) -> str:
    """Return accuracy, seconds and proofs by depth. Below each row stands that of the paper, if it has one.

    `others` are methods of the paper that were not measured.
    """
    depths = scores.scope.depths
    measured, counts = _summaries(scores, methods)
    rows = []
    for method in methods:
        found = [measured.get((method.label, depth)) for depth in depths]
        if not any(found):
            continue
        rows.append([method.name, str(method.changepoints), "measured", *_cells(method, found)])
        if row := quoted.find(quotes, method.quoted, method.changepoints):
            rows.append([method.quoted, str(method.changepoints), "quoted", *_quoted_cells(row, depths)])
    rows += [
        [row.name, str(row.changepoints), "quoted", *_quoted_cells(row, depths)]
        for row in quotes
        if row.name in others
    ]
    names = [f"{what} D={depth}" for what in ("acc. %", "s", "proofs %") for depth in depths]
    says = ", ".join(f"{counts[depth]} at D={depth}" for depth in depths)
    table = markdown_table(("method", "K", "source", *names), rows)
    waiting = _waiting(scores, methods, measured)
    return f"Datasets in the measured averages: {says}.\n\n{table}{waiting}"


def _summaries(
    scores: Scores, methods: Sequence[Method]
) -> tuple[dict[tuple[str, int], Summary], dict[int, int]]:
    measured, counts = {}, {}
    for depth in scores.scope.depths:
        chosen, units = scores.compared(methods, depth)
        counts[depth] = len({dataset for dataset, _ in units})
        if units:
            measured.update(
                {(method.label, depth): scores.summary(method, depth, units) for method in chosen}
            )
    return measured, counts


def _cells(method: Method, found: Sequence[Summary | None]) -> list[str]:
    accuracy = [NONE if one is None else f"{one.accuracy:.2f}{MARK * bool(one.imputed)}" for one in found]
    seconds = [NONE if one is None else f"{one.seconds:.2f}" for one in found]
    proofs = [NONE if one is None or not method.searches else f"{one.proofs:.1f}" for one in found]
    return [*accuracy, *seconds, *proofs]


def _quoted_cells(row: quoted.Row, depths: Sequence[int]) -> list[str]:
    places = [quoted.DEPTHS.index(depth) for depth in depths]
    proofs = [NONE if row.proofs is None else f"{row.proofs[place]:.1f}" for place in places]
    return [
        *(f"{row.accuracy[place]:.2f}" for place in places),
        *(f"{row.seconds[place]:.2f}" for place in places),
        *proofs,
    ]


def _waiting(scores: Scores, methods: Sequence[Method], measured: dict[tuple[str, int], Summary]) -> str:
    """Name the methods that are not compared because they lack too many datasets."""
    planned = len(scores.scope.datasets)
    told = [
        f"{method.label} at D={depth} ({scores.datasets(method, depth)} of {planned} datasets)"
        for method in methods
        for depth in scores.scope.depths
        if (method.label, depth) not in measured
    ]
    return f"\nNot compared yet, or not installed: {'; '.join(told)}.\n" if told else ""


def ranks(scores: Scores, methods: Sequence[Method]) -> str:
    """Return the mean ranks by training accuracy at each depth."""
    by_depth = {depth: scores.table(methods, depth) for depth in scores.scope.depths}
    found = {depth: mean_ranks(table) for depth, table in by_depth.items() if len(table) > 1}
    counts = {depth: len(next(iter(by_depth[depth].values()))) for depth in found}
    labels = dict.fromkeys(label for known in found.values() for label in known)
    rows = [
        [label, *(f"{known[label]:.2f}" if label in known else NONE for known in found.values())]
        for label in labels
    ]
    return markdown_table(("method", *(f"D={depth} ({counts[depth]} datasets)" for depth in found)), rows)


def by_dataset(scores: Scores, methods: Sequence[Method], depth: int) -> str:
    """Return the training accuracy of each method on each dataset at a depth, as a mean over folds."""
    shown = [method for method in methods if scores.datasets(method, depth)]
    rows = [[dataset, *(_dataset_cell(scores, method, depth, dataset) for method in shown)] for dataset in
            scores.scope.datasets]  # fmt: skip
    return markdown_table(("dataset", *(method.label for method in shown)), rows)


def _dataset_cell(scores: Scores, method: Method, depth: int, dataset: str) -> str:
    units = [(dataset, fold) for fold in scores.scope.folds]
    found = [score for unit in units if (score := scores.of(method, depth, unit)) is not None]
    if not found:
        run = scores.run(method, depth, units[0])
        return NONE if run is None else run.status
    accuracy = sum(score.accuracy for score in found) / len(found)
    proven = "*" if all(score.proven for score in found) else ""
    return f"{accuracy:.2f}{proven}{MARK * any(score.imputed for score in found)}"


def native(scores: Scores, pairs: Iterable[tuple[Method, Method]]) -> str:
    """Compare native columns with dummy variables on the datasets where they differ."""
    rows = []
    for dataset in scores.scope.datasets:
        if not BY_NAME[dataset].encoded:
            continue
        for depth in scores.scope.depths:
            for numbers, as_is in pairs:
                found = [scores.of(method, depth, (dataset, FIRST_FOLD)) for method in (numbers, as_is)]
                if any(score is None for score in found):
                    continue
                cells = [
                    text
                    for score in found
                    if score is not None
                    for text in (f"{score.accuracy:.2f}{'*' * score.proven}", f"{score.seconds:.2f}")
                ]
                rows.append([dataset, str(depth), str(numbers.changepoints), *cells])
    header = ("dataset", "D", "K", "dummy variables, acc. %", "s", "native columns, acc. %", "s ")
    return markdown_table(header, rows)


def disagreements(scores: Scores) -> list[str]:
    """Return every run in which STreeD and our quantile mode prove different optima of the same grid."""
    told = []
    for depth in scores.scope.depths:
        for unit in sorted(scores.units(ON_GRID, depth) & scores.units(STREED, depth)):
            mine, peer = (scores.of(method, depth, unit) for method in (ON_GRID, STREED))
            assert mine is not None
            assert peer is not None
            if mine.proven and peer.proven and mine.errors != peer.errors:
                told.append(
                    f"{unit[0]}, fold {unit[1]}, D={depth}: {mine.errors} errors, STreeD {peer.errors}"
                )
    return told


def quantile(scores: Scores) -> str:
    """Compare our quantile mode with STreeD over the same thresholds."""
    rows = []
    for depth in scores.scope.depths:
        units = sorted(scores.units(ON_GRID, depth) & scores.units(STREED, depth))
        if not units:
            continue
        means = [scores.summary(method, depth, units) for method in (ON_GRID, STREED)]
        pairs = [(scores.of(ON_GRID, depth, unit), scores.of(STREED, depth, unit)) for unit in units]
        both = [(a, b) for a, b in pairs if a is not None and b is not None and a.proven and b.proven]
        ratio = geometric_mean([b.seconds / a.seconds for a, b in both]) if both else None
        rows.append(
            [
                str(depth),
                str(len({dataset for dataset, _ in units})),
                *(f"{one.accuracy:.2f}{MARK * bool(one.imputed)}" for one in means),
                *(f"{one.seconds:.2f}" for one in means),
                *(f"{one.proofs:.1f}" for one in means),
                str(len(both)),
                str(sum(a.errors == b.errors for a, b in both)),
                NONE if ratio is None else f"{ratio:.1f}",
            ]
        )
    header = (
        "D",
        "datasets",
        "Literati, acc. %",
        "STreeD, acc. %",
        "Literati, s",
        "STreeD, s",
        "Literati, proofs %",
        "STreeD, proofs %",
        "both proven",
        "equal errors",
        "times faster to the proof",
    )
    return markdown_table(header, rows)


def datasets(scope: Scope) -> str:
    """Return the datasets of the paper: which are there, and what differs."""
    rows = [
        [
            one.name,
            one.quoted_name or one.name,
            f"{one.rows:,}",
            f"{one.columns:,}",
            str(one.classes),
            "yes" if one.name in scope.datasets else "**no**",
            one.note,
        ]
        for one in BY_NAME.values()
    ]
    header = ("dataset", "in the paper", "rows", "columns in the paper", "classes", "used here", "remark")
    return markdown_table(header, rows)
