"""Compare candidates="widening" with every single mode and with the peers, with the same limit and all rows.

Every solver gets the same numbers: text columns are one-hot for Literati too. A loss is a run in which
another solver, or another mode, ends with fewer training errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import markdown_table
from benchmarks.runs import Results, RunResult, RunSpec

DEPTHS = (3, 4)
MODES = ("adaptive", "shape", "quantile", "all")
PEERS = ("contree", "streed")
# What widening is compared with, by the number of change points.
OTHERS = {1: (*MODES, *PEERS), 3: ("adaptive", "shape")}
MINE = "widening"
EVERY_ROW = 1.0


def dataset_names(folder: Path) -> list[str]:
    """Return the datasets of a folder, the small ones first, so that most of the table is filled early."""
    files = sorted(folder.glob("*.csv.gz"), key=lambda path: (path.stat().st_size, path.name))
    return [path.name.removesuffix(".csv.gz") for path in files]


def spec_of(name: str, dataset: str, depth: int, changepoints: int, limit: float) -> RunSpec:
    """Return the run of widening, of a single mode or of a peer."""
    if name in PEERS:
        return RunSpec(name, dataset, depth, limit, train_share=EVERY_ROW)
    options = {"candidates": name, "max_changepoints": changepoints}
    return RunSpec("literati-numbers", dataset, depth, limit, options, train_share=EVERY_ROW)


def specs(datasets: Iterable[str], limit: float) -> list[RunSpec]:
    """Return every run of the comparison, those of one dataset one after another."""
    return [
        spec_of(name, dataset, depth, changepoints, limit)
        for dataset in datasets
        for depth in DEPTHS
        for changepoints, others in OTHERS.items()
        for name in (MINE, *others)
    ]


def table(results: Results, datasets: Iterable[str], limit: float) -> str:
    """Return the training errors of every run as Markdown, and below the table every loss.

    A `*` means that the errors are proven optimal in the solver's space. Fewer errors than widening are bold.
    """
    rows, losses = [], []
    names = (*MODES, *PEERS)
    for dataset in datasets:
        for depth in DEPTHS:
            for changepoints, others in OTHERS.items():
                problem = (dataset, depth, changepoints, limit)
                mine = results.get(spec_of(MINE, *problem))
                runs = {name: results.get(spec_of(name, *problem)) for name in others}
                if mine is None:
                    continue
                better = [name for name, run in runs.items() if _is_better(run, mine)]
                cells = [_cell(runs.get(name), bold=name in better) for name in names]
                space = str(mine.details.get("proven_space", "")) or "none"
                rows.append([dataset, str(depth), str(changepoints), _cell(mine), *cells, space])
                losses += [_loss(runs[name], mine, name, dataset, depth, changepoints) for name in better]
    header = ("dataset", "D", "K", MINE, *names, "proven by widening")
    told = "\n".join(f"- {loss}" for loss in losses) or "None."
    return f"{markdown_table(header, rows)}\n{len(losses)} losses in {len(rows)} rows:\n\n{told}\n"


def _is_better(run: RunResult | None, mine: RunResult) -> bool:
    if run is None or run.objective is None:
        return False
    return mine.objective is None or run.objective < mine.objective


def _cell(run: RunResult | None, bold: bool = False) -> str:
    if run is None:
        return ""
    if run.objective is None:
        return run.status
    text = f"{run.objective}{'*' if run.status == 'proven' else ''}"
    return f"**{text}**" if bold else text


def _loss(
    run: RunResult | None, mine: RunResult, name: str, dataset: str, depth: int, changepoints: int
) -> str:
    assert run is not None
    found = "" if run.seconds_to_tree is None else f", found after {run.seconds_to_tree:.3g} s"
    ended = mine.details.get("space", "?")
    disturbed = "; this run of widening had to share its core" if mine.disturbed else ""
    return (
        f"{dataset} D={depth} K={changepoints}: {name} {run.objective}{found}; widening {mine.objective}, "
        f"which ended in the space {ended}{disturbed}"
    )
