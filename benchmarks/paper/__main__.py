"""Repeat the paper's experiments: `python -m benchmarks.paper --data DIR --out DIR`."""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

from benchmarks import datasets, process
from benchmarks.__main__ import RESULTS
from benchmarks.paper import page
from benchmarks.paper.data import available
from benchmarks.paper.plan import FORMS, SECTIONS, Scope, planned
from benchmarks.paper.records import Origin, Records
from benchmarks.progress import Progress, TimeLeft
from benchmarks.runs import RunSpec

MAX_FOLDS = 5


def main(arguments: list[str] | None = None) -> None:
    options = _options(arguments)
    data = datasets.find_folder(options.data)
    build, default_limit = FORMS[options.form]
    scope = build(available(data), options.limit or default_limit, options.folds)
    options.out.mkdir(parents=True, exist_ok=True)
    records = Records(options.out / f"{scope.name}.jsonl")
    tuning = RESULTS / f"tuning-{scope.limit:g}s.json"
    try:
        if not options.page:
            run(records, scope, options.section or list(SECTIONS), data, options.core)
    finally:
        print(page.write(records, scope, options.out, tuning))


def run(records: Records, scope: Scope, sections: list[str], data: Path, core: int | None) -> None:
    """Make the runs that the file does not have. A package that was absent is tried again."""
    with_trace = {spec.key for spec, _ in planned(scope, ["ablations"])}
    origin = Origin.here()
    plan = planned(scope, sections)
    left = TimeLeft(spec for spec, _ in plan)
    waiting = []
    for spec, module in plan:
        known = records.results.get(spec)
        if known is None or known.status == "absent":
            waiting.append((spec, module))
        else:
            left.add(spec, known.seconds or spec.time_limit)
    progress = Progress(len(plan), time_left=left.seconds)
    progress.done = len(plan) - len(waiting)
    try:
        for spec, module in waiting:
            start = time.monotonic()
            result = process.run(spec, data, core, partial(progress.running, spec), module)
            result.details["cores"] = _cores(spec, core)
            records.add(result, origin, keep_trace=spec.key in with_trace)
            left.add(spec, time.monotonic() - start)
            progress.finished(result)
    finally:
        progress.close()


def _cores(spec: RunSpec, core: int | None) -> int | None:
    cores = process.cores_of(spec, core)
    return None if cores is None else len(cores)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    sections = "\n".join(f"  {name:15} {section.title}" for name, section in SECTIONS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper",
        description="Repeat the paper's experiments. An interrupted benchmark goes on where it was.",
        epilog=f"sections:\n{sections}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--form", choices=FORMS, default="long", help="short ends within 20 minutes")
    parser.add_argument("--limit", type=float, help="seconds of a run (60, in the short form 5)")
    parser.add_argument(
        "--folds", type=int, default=1, choices=range(1, MAX_FOLDS + 1), help="number of folds"
    )
    parser.add_argument("--section", action="append", choices=SECTIONS, help="run only this one (repeatable)")
    parser.add_argument("--page", action="store_true", help="only write the page from the runs there are")
    parser.add_argument(
        "--data", type=Path, help=f"folder of csv.gz files (or set {datasets.FOLDER_VARIABLE})"
    )
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for runs, page and pictures")
    parser.add_argument("--core", type=int, default=process.default_core(), help="core on which to run")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
