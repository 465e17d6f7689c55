"""Run the benchmarks: `python -m benchmarks [form] --data DIR --out DIR`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import criteria, datasets, path, plots, process, report, smoothing, time_left, widening
from benchmarks.claims import Claim, Judgement, claims_table, judge, needed_runs, summary
from benchmarks.criteria import FULL, NUMERIC, PEERS, QUICK, Scope
from benchmarks.progress import Progress
from benchmarks.runs import Results, RunSpec
from benchmarks.tuning import protocol as tuning
from benchmarks.tuning import summary as tuning_summary

CLAIMS = {
    "speed": criteria.speed,
    "anytime": criteria.anytime,
    "memory": criteria.memory,
    "scale": criteria.scale,
    "encoding": criteria.encoding,
    "growth": criteria.growth,
    "threads": criteria.threads,
}
FORMS = {
    "quick": "a part of most claims with short limits, in less than five minutes",
    "full": "every claim, every plot, and every solver on every dataset, in some hours",
    "claims": "every claim",
    "speed": "claims about speed and training errors",
    "anytime": "claims about the first ten seconds, and the ablation plots",
    "memory": "claim about the memory limit",
    "scale": "claims about many rows",
    "encoding": "claims about encoding and predicting tables, which need no data folder",
    "growth": "claims about wide and tall tables: time and memory when a dimension is doubled",
    "threads": "claims about two threads, which need two free cores",
    "ablations": "plots of the bounds over time, one option changed at a time",
    "figures": "every plot of bounds over time: ablations, threads, widening",
    "time-left": "a plot of estimated against true seconds to the proof, on ten searches",
    "widening": "candidates='widening' beside every mode, ConTree and STreeD, on all rows, in some hours",
    "path": "a regularization path beside separate fits, one in each of its segments",
    "smoothing": "log loss on held-out rows by probability_smoothing",
    "tuning": "accuracy on held-out rows of tuned trees, a forest and boosting, in about half a day",
    "peers": "every other solver that the claims need, without Literati",
}


@dataclass(frozen=True)
class Resumable:
    """A form that goes on with the runs that the JSON file of an earlier session lacks."""

    title: str
    about: Callable[[float], str]  # by the limit of a run
    dataset_names: Callable[[Path], list[str]]
    specs: Callable[[list[str], float], list[RunSpec]]
    table: Callable[[Results, list[str], float], str]
    module: str = process.CHILD  # that measures a run


RESUMABLE = {
    "widening": Resumable(
        "Widening",
        lambda _: "All rows, training errors.",
        widening.dataset_names,
        widening.specs,
        widening.table,
    ),
    "tuning": Resumable(
        "Tuning",
        tuning_summary.about,
        tuning.dataset_names,
        tuning.specs,
        tuning_summary.table,
        tuning.CHILD,
    ),
}


def _time_left(data: Path, out: Path) -> None:
    for name, near in time_left.measure(data, out).items():
        print(f"{name}: {near:.0%} of the estimates are within a factor of 2")


def _path(data: Path, out: Path) -> None:
    text = path.table(path.measure(data))
    about = f"{report.machine()['processor']}, all rows. {path.ABOUT}"
    (out / "path.md").write_text(f"# Regularization paths\n\n{about}\n\n{text}")
    print(text)


def _smoothing(data: Path, out: Path) -> None:
    text = smoothing.table(smoothing.measure(data, widening.dataset_names(data)))
    (out / "smoothing.md").write_text(f"# Smoothing of probabilities\n\n{smoothing.ABOUT}\n\n{text}")
    print(text)


SINGLE = {"time-left": _time_left, "path": _path, "smoothing": _smoothing}  # forms that run in this process
REUSED = "The results of the other solvers are from an earlier session, so ratios of speed prove nothing."
RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    data = Path() if options.form == "encoding" else datasets.find_folder(options.data)
    if options.form in RESUMABLE:
        return _resume(RESUMABLE[options.form], options, data)
    if options.form in SINGLE:
        options.out.mkdir(parents=True, exist_ok=True)
        SINGLE[options.form](data, options.out)
        return 0
    scope = QUICK if options.form == "quick" else FULL
    claims = _claims(options.form, scope)
    specs = _specs(options.form, scope, claims)
    if options.only:
        specs = [spec for spec in specs if spec.dataset in options.only.split(",")]
    earlier = _earlier(options.reuse)
    options.out.mkdir(parents=True, exist_ok=True)
    name = options.out / options.form
    results = _run(specs, earlier, data, options.core, name.with_suffix(".json"))
    judgements = judge(claims, results)
    caution = REUSED if options.reuse else ""
    name.with_suffix(".md").write_text(_page(options.form, results, judgements, caution))
    plots.draw(results, options.out)
    print(report.results_table(results.all()))
    if judgements:
        print(claims_table(judgements))
        print(summary(judgements), caution)
    return 1 if any(judgement.passed is False for judgement in judgements) else 0


def _resume(form: Resumable, options: argparse.Namespace, data: Path) -> int:
    """Run what is not in the JSON file of an earlier session, and write the table of all that is known."""
    names = form.dataset_names(data)
    chosen = [name for name in names if not options.only or name in options.only.split(",")]
    options.out.mkdir(parents=True, exist_ok=True)
    name = options.out / f"{options.form}-{options.limit:g}s"
    saved, page = name.with_suffix(".json"), name.with_suffix(".md")
    known = Results(report.read_json(saved) if saved.exists() else [])
    specs = form.specs(chosen, options.limit)
    results = _run(specs, known, data, options.core, saved, known, form.module)
    shown = form.table(results, names, options.limit)
    about = f"One core of {report.machine()['processor']}. {form.about(options.limit)}"
    page.write_text(f"# {form.title}, {options.limit:g} s\n\n{about}\n\n{shown}")
    print(shown)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    forms = "\n".join(f"  {form:10} {text}" for form, text in FORMS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare Literati with other solvers.",
        epilog=f"forms:\n{forms}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("form", nargs="?", default="quick", choices=FORMS)
    parser.add_argument("--data", type=Path, help="folder of csv.gz files (or set LITERATI_BENCH_DATA)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for JSON, tables and plots")
    parser.add_argument("--core", type=int, default=process.default_core(), help="core on which to run")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds of a run, in the forms widening and tuning"
    )
    parser.add_argument("--only", help="datasets to run, separated by commas")
    parser.add_argument("--reuse", type=Path, help="JSON file from which to take results of other solvers")
    return parser.parse_args(arguments)


def _claims(form: str, scope: Scope) -> list[Claim]:
    chosen = list(CLAIMS) if form in ("quick", "full", "claims") else [form]
    return [claim for name in chosen if name in CLAIMS for claim in CLAIMS[name](scope)]


def _specs(form: str, scope: Scope, claims: list[Claim]) -> list[RunSpec]:
    specs = needed_runs(claims)
    specs += plots.specs(form)
    if form == "full":
        specs += [
            RunSpec(solver, dataset, depth, scope.limit)
            for depth in (3, 4)
            for dataset in (*NUMERIC, "mushroom")
            for solver in ("literati", *PEERS)
        ]
    if form == "peers":
        wanted = needed_runs(_claims("claims", scope))
        specs = [spec for spec in wanted if not _is_ours(spec)]
    return list({spec.key: spec for spec in specs}.values())


def _is_ours(spec: RunSpec) -> bool:
    return spec.solver.startswith("literati")


def _earlier(path: Path | None) -> Results:
    found = [] if path is None else report.read_json(path)
    return Results([result for result in found if not _is_ours(result.spec)])


def _run(
    specs: list[RunSpec],
    earlier: Results,
    data: Path,
    core: int | None,
    saved: Path,
    kept: Results | None = None,
    module: str = process.CHILD,
) -> Results:
    """Run what `earlier` does not have, and save all results after every run, with those of `kept`."""
    results = Results([] if kept is None else kept.all())
    progress = Progress(len(specs))
    try:
        for spec in specs:
            tick = partial(progress.running, spec)
            result = earlier.get(spec) or process.run(spec, data, core, tick, module)
            results.add(result)
            progress.finished(result)
            report.write_json(saved, results.all())
    finally:
        progress.close()
    return results


def _page(form: str, results: Results, judgements: list[Judgement], caution: str) -> str:
    machine = report.machine()
    parts = [
        f"# Benchmark, form {form}\n",
        f"One core of {machine['processor']}, Python {machine['python']}. Every run has its own process and "
        "trains on 80 % of the rows (seed 0). Errors are training errors. "
        f"Seconds cover the whole fit, including the encoding of the data. {caution}".rstrip()
        + "\n",
    ]
    if judgements:
        parts += ["## Claims\n", claims_table(judgements), summary(judgements) + "\n"]
    parts += [
        "## Runs\n",
        report.results_table(results.all()),
        "## Versions\n",
        report.versions(results.all()),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
