"""Write the page from whatever runs there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.paper import figures, quoted, reading, tables, texts
from benchmarks.paper.anytime import Distances, Paths
from benchmarks.paper.child import TRIAL_SHARE
from benchmarks.paper.generalization import Generalization, Tuning
from benchmarks.paper.plan import (
    ABLATIONS,
    ANY_DEPTH,
    OURS_HEAVY,
    OURS_LIGHT,
    OURS_NATIVE,
    OURS_POLISHED,
    PEERS,
    SECTIONS,
    Method,
    Scope,
    planned,
)
from benchmarks.paper.records import Origin, Records
from benchmarks.paper.scores import Scores
from benchmarks.paper.spaces import MAX_TRIALS
from benchmarks.runs import Results, RunResult

NOTHING = "No runs yet.\n"
# Methods of the paper without a distribution on PyPI that could be run here.
NOT_ON_PYPI = ("AxTAO", "Branches", "DPDT")
HEAVY = sorted(OURS_HEAVY, key=lambda method: method.changepoints)
LIGHT = sorted(OURS_LIGHT, key=lambda method: method.changepoints)
TABLE1 = (*PEERS, *HEAVY)
NATIVE_PAIRS = tuple(zip(OURS_HEAVY, OURS_NATIVE, strict=True))


class Page:
    """The sections of the page. Pictures are written to the folder of the page."""

    def __init__(self, records: Records, scope: Scope, out: Path, tuning: Tuning | None) -> None:
        self.records, self.scope, self.out = records, scope, out
        self.scores = Scores(records.results, scope)
        self.generalization = Generalization(records.results, scope)
        self.tuning = tuning
        known = [records.results.get(spec) for spec, _ in planned(scope, list(SECTIONS))]
        self.runs: list[RunResult] = [run for run in known if run is not None]
        self.origins: list[Origin] = [records.origins[run.spec.key] for run in self.runs]

    def text(self) -> str:
        sections: dict[str, Callable[[], str]] = {
            "Aims": self._aims,
            "Where we are ahead, equal and behind": self._reading,
            "What the proofs mean": lambda: texts.PROOFS,
            "What could not be reproduced": self._not_reproduced,
            "Table 1: optimization": self._table1,
            "Light and heavy schedules": self._light,
            "Pre-discretized columns": self._quantile,
            "Native columns beside dummy variables": self._native,
            "Polished trees": self._polished,
            "Ablations": self._ablations,
            "Accuracy against leaves": self._paths,
            "Generalization, the paper's protocol": self._generalization,
            "Generalization, cross-validated paths": self._tuning,
            "Trees to look at": self._trees,
            "Table 1 by dataset": self._by_dataset,
            "Datasets": lambda: tables.datasets(self.scope),
            "Where the numbers come from": self._provenance,
        }
        parts = [f"# {self.scope.title}\n", self._about()]
        for title, section in sections.items():
            parts += [f"## {title}\n", section()]
        return "\n".join(parts)

    def _has(self, methods: Sequence[Method]) -> bool:
        """Return whether any of these methods has enough runs to be compared."""
        return any(self.scores.table(methods, depth) for depth in self.scope.depths)

    def _about(self) -> str:
        folds = _count(len(self.scope.folds), "fold")
        rows = []
        for name, section in SECTIONS.items():
            specs = planned(self.scope, [name])
            done = sum(self.records.results.get(spec) is not None for spec, _ in specs)
            rows.append([section.title, name, f"{done} of {len(specs)}"])
        says = texts.ABOUT.format(limit=self.scope.limit, folds=folds, conditions=quoted.CONDITIONS)
        return "\n".join([says, report.markdown_table(("section", "name", "runs"), rows)])

    def _aims(self) -> str:
        ranked = {
            f"training accuracy, D={depth}": self.scores.table(TABLE1, depth) for depth in self.scope.depths
        }
        ranked["test accuracy, the paper's protocol"] = self.generalization.scores()
        if self.tuning is not None:
            ranked["test accuracy, cross-validated paths"] = self.tuning.scores()
        dirty = sum("dirty" in origin.commit or origin.commit == "unknown" for origin in self.origins)
        return "\n".join(
            [
                texts.ACCURACY_AIMS,
                reading.accuracy_aims(self.scores),
                "Runs with a proof, in our space of adaptive thresholds:\n",
                reading.proof_aims(self.scores),
                "First in mean rank:\n",
                reading.rank_aims(ranked),
                texts.TRACEABLE.format(file=self.records.path.name, dirty=dirty, runs=len(self.runs)),
            ]
        )

    def _reading(self) -> str:
        table, behind = reading.against_peers(self.scores)
        return "\n".join(
            [texts.READING, table, f"Behind in {_count(len(behind), 'run')}:\n", reading.listed(behind)]
        )

    def _not_reproduced(self) -> str:
        lacking = reading.missing_datasets(self.scope.datasets)
        failed = [
            f"{_name(run)}: {run.status}"
            for run in self.runs
            if run.status in ("failed", "killed", "absent") and run.spec.depth != ANY_DEPTH
        ]
        contradictions = [
            f"{_name(run)}: {run.error}" for run in self.runs if run.error and run.objective is not None
        ]
        return "\n".join(
            [
                texts.NOT_REPRODUCED.format(
                    lacking=", ".join(lacking) or "none",
                    not_on_pypi=", ".join(NOT_ON_PYPI),
                    limit=self.scope.limit,
                ),
                texts.NO_TREE.format(mark=tables.MARK),
                reading.listed(failed),
                texts.CONTRADICTIONS,
                reading.listed(contradictions),
            ]
        )

    def _table1(self) -> str:
        if not self._has(TABLE1):
            return NOTHING
        return "\n".join(
            [
                texts.TABLE1,
                tables.optimization(self.scores, TABLE1, quoted.OPTIMALITY, NOT_ON_PYPI),
                texts.RANKS,
                tables.ranks(self.scores, TABLE1),
                *_pictures(figures.train_diagrams(self.scores, TABLE1, self.out, "cd-train")),
            ]
        )

    def _light(self) -> str:
        if not self._has(LIGHT):
            return NOTHING
        both = [*HEAVY, *LIGHT]
        return "\n".join(
            [
                texts.LIGHT,
                tables.optimization(self.scores, LIGHT, quoted.LIGHT, ("DPDT",)),
                "Both schedules on the same datasets:\n",
                tables.optimization(self.scores, both, ()),
                *_pictures(figures.train_diagrams(self.scores, both, self.out, "cd-light")),
            ]
        )

    def _quantile(self) -> str:
        wrong = tables.disagreements(self.scores)
        verdict = "Wherever both have a proof, both have the same number of errors.\n"
        if wrong:
            verdict = f"**They prove different optima:**\n\n{reading.listed(wrong)}"
        return "\n".join([texts.QUANTILE, tables.quantile(self.scores), verdict])

    def _native(self) -> str:
        return "\n".join([texts.NATIVE, tables.native(self.scores, NATIVE_PAIRS)])

    def _polished(self) -> str:
        if not self._has(OURS_POLISHED):
            return NOTHING
        plain = [method for method in HEAVY if method.changepoints == OURS_POLISHED[0].changepoints]
        return "\n".join([texts.POLISHED, tables.optimization(self.scores, [*plain, *OURS_POLISHED], ())])

    def _ablations(self) -> str:
        distances = Distances(self.records.results, self.scope)
        drawn = figures.ablations(distances, self.out)
        if not drawn:
            return NOTHING
        parts = [texts.ABLATIONS.format(depth=self.scope.ablation_depth)]
        for name, path in drawn.items():
            parts += [f"### {ABLATIONS[name][0]}\n", distances.table(name), *_pictures([path])]
        if short := distances.short_of_cores():
            parts.append(f"Two threads had only one core on {', '.join(short)}.\n")
        return "\n".join(parts)

    def _paths(self) -> str:
        found = Paths(self.records.results, self.scope)
        if not found.curves:
            return NOTHING
        return "\n".join(
            [
                texts.PATHS,
                found.table(),
                reading.listed(found.sentences()),
                *_pictures(figures.paths(found, self.out, self.scope.name)),
            ]
        )

    def _generalization(self) -> str:
        found = self.generalization
        if not found.methods:
            return NOTHING
        picture = self.out / f"{self.scope.name}-cd-test.svg"
        problems = [
            f"{method} on {dataset}: {status}" for (method, dataset), status in found.problems.items()
        ]
        return "\n".join(
            [
                texts.GENERALIZATION.format(
                    trials=MAX_TRIALS,
                    limit=self.scope.limit,
                    share=TRIAL_SHARE,
                    counted=len(found.datasets),
                    planned=len(self.scope.datasets),
                    names=", ".join(found.datasets) or "none",
                ),
                found.summary(),
                *_pictures(figures.diagram(found.scores(), picture, "Test accuracy, the paper's protocol")),
                "Test accuracy by dataset, in percent:\n",
                found.by_dataset(),
                "Searches without a finished trial:\n",
                reading.listed(problems),
            ]
        )

    def _tuning(self) -> str:
        if self.tuning is None or not self.tuning.scores():
            return "The form `tuning` has no results for these datasets yet.\n"
        compared = self.tuning.compared
        picture = self.out / f"{self.scope.name}-cd-tuning.svg"
        return "\n".join(
            [
                texts.TUNING.format(
                    limit=self.tuning.limit, splits=len(compared.splits), counted=len(compared.counted)
                ),
                self.tuning.summary(),
                *_pictures(figures.diagram(self.tuning.scores(), picture, "Test accuracy, cross-validated")),
                self.tuning.by_dataset(),
            ]
        )

    def _trees(self) -> str:
        drawn = figures.trees(self.records.results, self.scope, self.out)
        if not drawn:
            return NOTHING
        shown = [f"{name}:\n\n![{name}]({path.name})\n" for name, path in drawn.items()]
        return "\n".join([texts.TREES, *shown])

    def _by_dataset(self) -> str:
        parts = [texts.BY_DATASET.format(mark=tables.MARK)]
        for depth in self.scope.depths:
            parts += [f"### D = {depth}\n", tables.by_dataset(self.scores, TABLE1, depth)]
        return "\n".join(parts)

    def _provenance(self) -> str:
        commits = self.records.commits({run.spec.key for run in self.runs})
        machines = sorted(
            {", ".join(f"{k} {v}" for k, v in origin.machine.items()) for origin in self.origins}
        )
        disturbed = sum(run.disturbed for run in self.runs)
        return "\n".join(
            [
                report.markdown_table(("commit", "runs"), [[name, str(n)] for name, n in commits.items()]),
                *(f"- Machine: {machine}." for machine in machines),
                f"- {disturbed} of {len(self.runs)} runs had to share their core.\n",
                report.versions(self.runs),
            ]
        )


def _name(run: RunResult) -> str:
    depth = f", D={run.spec.depth}" if run.spec.depth else ""
    return f"{run.spec.label} on {run.spec.dataset}, fold {run.spec.fold}{depth}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _pictures(paths: list[Path]) -> list[str]:
    return [f"![{path.stem}]({path.name})\n" for path in paths]


def write(records: Records, scope: Scope, out: Path, tuning_file: Path) -> Path:
    """Write the page and its pictures, and return the page."""
    tuning = None
    if tuning_file.exists():
        tuning = Tuning(Results(report.read_json(tuning_file)), scope, scope.limit)
    path = out / f"{scope.name}.md"
    path.write_text(Page(records, scope, out, tuning).text())
    return path
