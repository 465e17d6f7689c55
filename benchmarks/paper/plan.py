"""Which runs each section needs, in an order such that an interrupted benchmark has the most useful part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from benchmarks import process
from benchmarks.criteria.speed import ADAPTIVE
from benchmarks.paper.data import BY_NAME
from benchmarks.paper.spaces import SPACES
from benchmarks.runs import RunSpec

Options = dict[str, Any]

OURS, OURS_NUMBERS = "literati", "literati-numbers"
HEAVY: Options = {**ADAPTIVE, "polish": False}  # B_d = 16: a proof is about this space, so no polishing
LIGHT: Options = {**HEAVY, "candidate_leaves": [17, 9, 5]}  # B_1 = 16, B_2 = 8, B_d = 4
POLISHED: Options = {**HEAVY, "polish": True}
CHANGEPOINTS = (1, 3, 2)  # in the order of the runs
ABLATED = ("eye-movements", "avila", "page", "fault", "rice")
DRAWN = ("eeg", "magic13k")
VALIDATION_CHILD = "benchmarks.paper.child"
SEARCH_GRACE = 30.0  # seconds after the limit at which a run is killed
GREEDY_GRACE = 600.0  # greedy methods have no time limit of their own, and shall not fail because of ours
VALIDATION_GRACE = 240.0  # seconds: the last trial of a method without a time limit may take so long
FIRST_FOLD = 0
ANY_DEPTH = 0  # of a spec: the depth is tuned


@dataclass(frozen=True)
class Method:
    """A row of a table of optimization."""

    name: str
    changepoints: int
    solver: str
    options: Options = field(default_factory=dict)
    quoted: str = ""  # its name in the paper's table
    searches: bool = True

    @property
    def label(self) -> str:
        return f"{self.name}, K={self.changepoints}"

    @property
    def is_ours(self) -> bool:
        return self.solver.startswith("literati")

    def spec(self, dataset: str, depth: int, fold: int, limit: float) -> RunSpec:
        # Without dummy variables, both encodings are the same numbers, and one run is enough.
        same = self.solver == OURS_NUMBERS and not BY_NAME[dataset].encoded
        solver = OURS if same else self.solver
        grace = SEARCH_GRACE if self.searches else GREEDY_GRACE
        return RunSpec(solver, dataset, depth, limit, self.options, grace=grace, fold=fold)


def ours(name: str, solver: str, space: Options, changepoints: int) -> Method:
    return Method(name, changepoints, solver, {**space, "max_changepoints": changepoints}, "Literati")


PEERS = (
    Method("CART", 1, "cart", quoted="CART", searches=False),
    Method("ConTree", 1, "contree", quoted="ConTree"),
    Method("STreeD", 1, "streed", quoted="STreeD"),
    Method("DL8.5", 1, "pytrees-dl85"),
    Method("LDS-DL8.5", 1, "pytrees-dl85-lds", quoted="LDS-DL8.5"),
    Method("CA-DL8.5 (Top-k)", 1, "pytrees-dl85-topk", quoted="CADL8.5"),
    Method("LGDT", 1, "pytrees-lgdt", searches=False),
    Method("ShapeCART", 3, "shapecart", quoted="ShapeCART", searches=False),
    Method("ShapeTAO", 3, "shapecart+tao", quoted="ShapeTAO", searches=False),
)
OURS_HEAVY = tuple(ours("Literati", OURS_NUMBERS, HEAVY, k) for k in CHANGEPOINTS)
OURS_NATIVE = tuple(ours("Literati, native columns", OURS, HEAVY, k) for k in CHANGEPOINTS)
OURS_LIGHT = tuple(ours("Literati, light", OURS_NUMBERS, LIGHT, k) for k in CHANGEPOINTS)
OURS_POLISHED = (ours("Literati, polished", OURS_NUMBERS, POLISHED, 3),)
ON_GRID = Method("Literati, quantile", 1, "literati-grid", {"max_changepoints": 1, "polish": False})
STREED = next(method for method in PEERS if method.solver == "streed")

# The series of the ablation figures, by the name in the legend. OR selection and AND selection vary together
# as in the paper; the heuristics are those of the full configuration; the last lines are beyond the paper.
SELECTIONS: dict[str, Options] = {
    f"{chosen}, {order.replace('_', ' ')}": {"or_selection": chosen, "and_selection": order}
    for chosen, order in product(
        ("informative", "admissible"), ("round_robin", "worst_primal", "worst_heuristic")
    )
}
FULL: Options = {"or_selection": "informative", "and_selection": "round_robin"}
HEURISTICS: dict[str, Options] = {
    "CART heuristic": FULL,
    "primal heuristic": {**FULL, "heuristic": "primal"},
    "impurity heuristic": {**FULL, "heuristic": "impurity"},
}
BEYOND: dict[str, Options] = {
    "paper's full configuration": FULL,
    "default (mixed)": {},
    "polish": {"polish": True},
    "widening": {"candidates": "widening", "polish": True},
    "two threads": {"n_threads": 2},
}
ABLATIONS = {
    "selection": ("Selection at OR and AND nodes", SELECTIONS),
    "heuristic": ("Informative heuristic", HEURISTICS),
    "beyond": ("Beyond the paper", BEYOND),
}
ABLATION_SPACE: Options = {**HEAVY, "max_changepoints": 3}


@dataclass(frozen=True)
class Scope:
    """The size of the benchmark."""

    title: str
    name: str  # of the files
    datasets: tuple[str, ...]  # that are there, of those that the scope allows
    limit: float
    folds: tuple[int, ...] = (0,)
    depths: tuple[int, ...] = (3, 4, 5, 6)
    ablation_depth: int = 6
    path_depths: tuple[int, ...] = (4, 6)
    drawn: tuple[str, ...] = ()  # datasets whose trees are drawn

    def only(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.datasets]


SHORT_DATASETS = ("bank", "mushroom", "raisin", "rice")


def long(available: Sequence[str], limit: float, folds: int) -> Scope:
    return Scope(
        "The paper's experiments",
        "paper",
        tuple(available),
        limit,
        tuple(range(folds)),
        drawn=_drawn(available),
    )


def short(available: Sequence[str], limit: float, folds: int) -> Scope:
    """Return a part that takes less than 20 minutes with a limit of 5 s and one fold."""
    names = tuple(name for name in available if name in SHORT_DATASETS)
    title = f"The paper's experiments, short form ({len(names)} datasets, D = 3 and 4)"
    return Scope(
        title, "paper-short", names, limit, tuple(range(folds)), (3, 4), 4, (4,), drawn=_drawn(available)
    )


def _drawn(available: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in DRAWN if name in available)


FORMS = {"long": (long, 60.0), "short": (short, 5.0)}  # the scope and its limit unless one is given


def optimization(methods: Sequence[Method], scope: Scope) -> list[RunSpec]:
    return [
        method.spec(dataset, depth, fold, scope.limit)
        for fold in scope.folds
        for depth in scope.depths
        for dataset in scope.datasets
        for method in methods
    ]


def _table1(scope: Scope) -> list[RunSpec]:
    """Return K = 1 with the peers of K = 1, then K = 3 with its peers, then K = 2, fold by fold."""
    specs = []
    for fold in scope.folds:
        one = replace(scope, folds=(fold,))
        for changepoints in CHANGEPOINTS:
            own = [*OURS_HEAVY, *OURS_NATIVE, *PEERS]
            specs += optimization([method for method in own if method.changepoints == changepoints], one)
    return specs


def ablation_spec(series: Options, dataset: str, fold: int, scope: Scope) -> RunSpec:
    options = {**ABLATION_SPACE, **series}
    if options["candidates"] == "widening":
        options.pop("candidate_leaves")  # it chooses the numbers itself
    return RunSpec(OURS, dataset, scope.ablation_depth, scope.limit, options, fold=fold)


def _ablations(scope: Scope) -> list[RunSpec]:
    return [
        ablation_spec(options, dataset, fold, scope)
        for fold in scope.folds
        for dataset in scope.only(ABLATED)
        for _, series in ABLATIONS.values()
        for options in series.values()
    ]


def path_spec(dataset: str, depth: int, changepoints: int, limit: float) -> RunSpec:
    options = {"candidate_leaves": LIGHT["candidate_leaves"], "max_changepoints": changepoints}
    return RunSpec("literati-path", dataset, depth, limit, options, fold=FIRST_FOLD)


def _paths(scope: Scope) -> list[RunSpec]:
    return [
        path_spec(dataset, depth, changepoints, scope.limit)
        for depth in scope.path_depths
        for dataset in scope.only(ABLATED)
        for changepoints in sorted(CHANGEPOINTS)
    ]


def validation_spec(method: str, dataset: str, fold: int, limit: float) -> RunSpec:
    """Return a random search of a method over the paper's hyperparameters."""
    if method == OURS_NUMBERS and not BY_NAME[dataset].encoded:
        method = OURS  # the same numbers
    options = {"search": "validation"}
    return RunSpec(method, dataset, ANY_DEPTH, limit, options, grace=VALIDATION_GRACE, fold=fold)


def _generalization(scope: Scope) -> list[RunSpec]:
    return [
        validation_spec(method, dataset, fold, scope.limit)
        for fold in scope.folds
        for dataset in scope.datasets
        for method in SPACES
    ]


def tree_spec(dataset: str, limit: float) -> RunSpec:
    return RunSpec("literati-tree", dataset, 3, limit, {**HEAVY, "max_changepoints": 2}, fold=FIRST_FOLD)


@dataclass(frozen=True)
class Section:
    """A part that can be run alone."""

    title: str
    specs: Callable[[Scope], list[RunSpec]]
    module: str = process.CHILD  # that measures a run


SECTIONS = {
    "table1": Section("Table 1, optimization", _table1),
    "light": Section("Light schedule", lambda scope: optimization(OURS_LIGHT, scope)),
    "quantile": Section(
        "Pre-discretized columns", lambda scope: optimization([ON_GRID, STREED], scope)
    ),  # STreeD's runs are those of Table 1
    "ablations": Section("Ablations", _ablations),
    "paths": Section("Accuracy against leaves", _paths),
    "generalization": Section("Generalization, the paper's protocol", _generalization, VALIDATION_CHILD),
    "trees": Section("Trees", lambda scope: [tree_spec(dataset, scope.limit) for dataset in scope.drawn]),
    "polish": Section("Polished trees", lambda scope: optimization(OURS_POLISHED, scope)),
}


def planned(scope: Scope, sections: Sequence[str]) -> list[tuple[RunSpec, str]]:
    """Return every run once, with the module that measures it, in the order of the sections."""
    found: dict[str, tuple[RunSpec, str]] = {}
    for name in sections:
        for spec in SECTIONS[name].specs(scope):
            found.setdefault(spec.key, (spec, SECTIONS[name].module))
    return list(found.values())
