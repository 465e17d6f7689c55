"""The repetition of the paper's experiments: its plan, statistics and page, without any peer but CART."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from importlib import import_module, metadata
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks import child as optimization_child
from benchmarks import datasets, process
from benchmarks.paper import __main__ as command
from benchmarks.paper import child, critical_difference, page, plan, quoted, reading, tables
from benchmarks.paper.anytime import Distances, LeafCurve
from benchmarks.paper.data import BY_NAME, DATASETS, available
from benchmarks.paper.generalization import Generalization, choose
from benchmarks.paper.records import TRACE_POINTS, Origin, Records
from benchmarks.paper.scores import Scores
from benchmarks.paper.spaces import MAX_TRIALS, SPACES
from benchmarks.paper.statistics import groups, holm, mean_ranks, pairwise
from benchmarks.progress import TimeLeft
from benchmarks.runners.pytrees import labelled
from benchmarks.runs import Results, RunResult, RunSpec
from benchmarks.tuning import splits
from literati import LiteratiClassifier

NAMES = tuple(dataset.name for dataset in DATASETS)
SCOPE = replace(plan.long(("raisin", "bank", "rice"), 1.0, 1), depths=(3,))
HERE = Origin("abc", {"processor": "a processor", "cores": 1, "python": "3.11"}, {"numpy": "2"})
LITERATI = {method.changepoints: method for method in plan.OURS_HEAVY}
CART = reading.CART
DISTRIBUTIONS = {distribution.name for distribution in metadata.distributions()}
INSTALLED = [name for name, space in SPACES.items() if space.distribution in DISTRIBUTIONS]  # CART at least


def result(
    method: plan.Method, dataset: str, errors: int | None, *, proven: bool = True, n: int = 100
) -> RunResult:
    """Return a run at D = 3; without errors it has no tree."""
    spec = method.spec(dataset, 3, 0, SCOPE.limit)
    if errors is None:
        return RunResult(spec, "killed", error="killed")
    return RunResult(
        spec,
        "proven" if proven else "limit",
        objective=errors,
        train_accuracy=1 - errors / n,
        seconds=0.5,
        seconds_to_proof=0.5 if proven else None,
        n_train=n,
        details={"leaf_accuracy": 0.6},
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with toy tables under two names of the paper."""
    random = np.random.default_rng(5)
    rows = [
        f"{a:.3f},{b:.3f},{c},{int(a + b > 1)}"
        for a, b, c in zip(*random.random((2, 120)), "xyz" * 40, strict=True)
    ]
    for name in ("eeg", "mushroom"):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt") as stream:
            stream.write("\n".join(["a,b,c,target", *rows]) + "\n")
    return tmp_path


def test_mean_ranks_share_ties() -> None:
    scores = {"a": [3.0, 2.0, 1.0], "b": [2.0, 2.0, 5.0], "c": [1.0, 0.0, 0.0]}
    assert mean_ranks(scores) == {"a": 1.5, "b": 1.5, "c": 3.0}
    # Differences of rounding are no differences.
    assert mean_ranks({"a": [0.1 + 0.2], "b": [0.3]}) == {"a": 1.5, "b": 1.5}


def test_holm_adjusts_p_values_in_their_order() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.6]) == [1.0, 1.0]


def test_pairs_are_compared_with_wilcoxon_and_corrected() -> None:
    random = np.random.default_rng(0)
    base = random.random(12)
    scores = {"a": base + 0.1, "b": base, "c": base + random.normal(0, 0.05, 12)}
    raw = [
        stats.wilcoxon(scores[one] - scores[two], zero_method="zsplit").pvalue
        for one, two in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    found = pairwise({name: values.tolist() for name, values in scores.items()})
    assert [found[frozenset(pair)] for pair in ("ab", "ac", "bc")] == pytest.approx(holm(raw))
    assert pairwise({"a": [1.0, 2.0], "b": [1.0, 2.0]}) == {frozenset("ab"): 1.0}


def test_groups_join_methods_that_do_not_differ() -> None:
    random = np.random.default_rng(1)
    base = random.random(20)
    scores = {
        "worse": base.tolist(),
        "best": (base + 0.5).tolist(),
        "also best": (base + 0.5 + random.normal(0, 0.01, 20)).tolist(),
    }
    assert [sorted(group) for group in groups(scores)] == [["also best", "best"]]
    assert groups({"a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.0]}) == [["a", "b"]]


def test_the_diagram_names_every_method_and_is_reproducible(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    scores = {"first": [3.0, 3.0, 3.0], "second": [2.0, 2.0, 2.0], "third": [1.0, 1.0, 1.0]}
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for path in files:
        critical_difference.draw(scores, path, "a title")
    assert files[0].read_bytes() == files[1].read_bytes()
    text = files[0].read_text()
    assert all(f"{name}  " in text or f"  {name}" in text for name in scores)


def test_a_fold_has_the_shares_of_the_paper_and_the_test_rows_of_tuning(data: Path) -> None:
    X, y = datasets.read_for_fold("mushroom", data, categories="one_hot")
    assert X.shape == (120, 4)  # two numbers, and two of three categories
    train, validation, test = datasets.fold_rows(y, 3)
    assert [len(train), len(validation), len(test)] == [84, 12, 24]
    assert sorted([*train, *validation, *test]) == list(range(120))
    outer = splits.load("mushroom", data, 3, categories="native")
    native = datasets.read_for_fold("mushroom", data, categories="native")[0]
    assert outer.X_test.tolist() == native[test].tolist()
    fold = datasets.load("mushroom", data, categories="native", fold=3)
    assert fold.X_train.tolist() == native[train].tolist()


def test_coded_columns_become_dummies_and_stay_numbers_natively(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "electricity.csv.gz", "wt") as stream:
        stream.write("day,price,target\n" + "".join(f"{i % 7 + 1},{i}.5,{i % 2}\n" for i in range(14)))
    assert datasets.read_for_fold("electricity", tmp_path, categories="one_hot")[0].shape == (14, 7)
    assert datasets.read_for_fold("electricity", tmp_path, categories="native")[0].shape == (14, 2)


def test_the_plan_begins_with_one_change_point_and_repeats_no_run() -> None:
    scope = plan.long(available_names(), 60.0, 2)
    runs = plan.planned(scope, list(plan.SECTIONS))
    keys = [spec.key for spec, _ in runs]
    assert len(keys) == len(set(keys))
    first = runs[0][0]
    assert (first.depth, first.fold, first.options["max_changepoints"]) == (3, 0, 1)
    table1 = [spec for spec, _ in plan.planned(scope, ["table1"])]
    assert [spec.fold for spec in table1] == sorted(spec.fold or 0 for spec in table1)
    # One-hot runs only where they differ from native ones.
    encoded = {spec.dataset for spec in table1 if spec.solver == "literati-numbers"}
    assert encoded == {name for name in available_names() if BY_NAME[name].encoded}
    # The default of the ablations is a run of Table 1, and STreeD's runs are too.
    known = {spec.key for spec in table1}
    assert plan.ablation_spec({}, "rice", 0, scope).key in known
    assert all(plan.STREED.spec(name, 4, 0, 60.0).key in known for name in available_names())


def available_names() -> tuple[str, ...]:
    return tuple(name for name in NAMES if name not in ("bean", "gas-drift", "mini-boone", "occupancy"))


def test_the_short_form_fits_into_twenty_minutes() -> None:
    runs = plan.planned(plan.short(available_names(), 5.0, 1), list(plan.SECTIONS))
    assert {spec.dataset for spec, _ in runs} == {*plan.SHORT_DATASETS, *plan.DRAWN}
    at_most = sum(spec.time_limit + 2.5 for spec, _ in runs if spec.solver not in ("cart", "pytrees-lgdt"))
    assert len(runs) < 220
    assert at_most < 1500  # most runs end with a proof before their limit


def test_the_estimators_accept_the_options_of_the_plan() -> None:
    scope = plan.long(available_names(), 60.0, 1)
    for spec, _ in plan.planned(scope, ["table1", "light", "ablations", "polish", "trees"]):
        if spec.solver.startswith("literati"):
            LiteratiClassifier(max_depth=spec.depth, **spec.options).get_params()
            plan_options = {**spec.options, "max_depth": spec.depth}
            assert plan_options.get("candidates") != "widening" or "candidate_leaves" not in plan_options


def test_the_space_of_literati_counts_change_points_as_the_paper_does() -> None:
    space = SPACES["literati"]
    trials = list(space.trials())
    assert len(trials) == MAX_TRIALS
    assert all(trial["alpha"] <= trial["lambda"] for trial in trials)
    assert trials == list(space.trials())
    trial = {**trials[0], "lambda": 8, "alpha": 2, "max_order": 3, "cart_nodes_list": (17, 9)}
    model = space.load()(trial, 1000, 5.0)
    assert (model.split_penalty, model.changepoint_penalty) == (10, 2)
    assert (model.max_changepoints, model.candidate_leaves) == (3, [17, 9, 4])


def test_the_search_on_validation_rows_measures_every_trial(data: Path) -> None:
    spec = plan.validation_spec("cart", "mushroom", 1, 0.2)
    run = child.measure(spec, data)
    assert run.status == "finished"
    trials = run.details["trials"]
    assert 1 < len(trials) <= MAX_TRIALS
    assert run.details["rows"] == [84, 12, 24]
    number, validation, test, _ = trials[-1]
    X, y = datasets.read_for_fold("mushroom", data, categories="one_hot")
    rows = datasets.fold_rows(y, 1)
    parameters = list(SPACES["cart"].trials())[int(number)]
    model = SPACES["cart"].load()(parameters, 84, 1.0).fit(X[rows[0]], y[rows[0]])
    assert validation == np.sum(model.predict(X[rows[1]]) != y[rows[1]])
    assert test == np.sum(model.predict(X[rows[2]]) != y[rows[2]])


@pytest.mark.filterwarnings("ignore::UserWarning")  # of other packages, which the benchmark ignores too
@pytest.mark.parametrize("method", INSTALLED)
def test_every_method_accepts_its_hyperparameters(data: Path, method: str) -> None:
    space = SPACES[method]
    X, y = datasets.read_for_fold("mushroom", data, categories=space.categories)
    build = space.load()
    for parameters in islice(space.trials(), 3):
        assert len(build(parameters, len(y), 5.0).fit(X, y).predict(X)) == len(y)


if find_spec("pytrees"):

    def test_leaves_without_a_class_get_the_most_frequent_one() -> None:
        dl85 = import_module("pytrees").DL85Classifier
        random = np.random.default_rng(0)
        X = random.integers(0, 2, (4000, 60)).astype(np.float64)
        y = (X[:, :5].sum(axis=1) + 2 * random.random(4000) > 2).astype(np.int64)
        model = dl85(max_depth=6, max_time=0.3, heuristic="gini").fit(X, y)
        assert model.status_ == "time_limit"
        assert np.sum(labelled(model, X, y)(X) != y) == model.train_error_


def searched(trials: list[list[float]], fold: int) -> RunResult:
    spec = plan.validation_spec("cart", "bank", fold, 1.0)
    return RunResult(spec, "finished", seconds=1.0, details={"trials": trials, "rows": [70, 10, 20]})


def test_a_trial_is_chosen_by_its_mean_over_folds() -> None:
    # Trial 0 is best on the first fold, trial 2 was not finished on the second one.
    first = searched([[0, 0, 5, 0.1], [1, 1, 4, 0.1], [2, 0, 0, 0.1]], 0)
    second = searched([[0, 6, 5, 0.1], [1, 2, 6, 0.3]], 1)
    chosen = choose([first, second])
    assert chosen is not None
    assert chosen.test_accuracy == pytest.approx(100 * (1 - (4 + 6) / 40))
    assert chosen.trials == 2
    assert chosen.fit_seconds == pytest.approx(0.2)
    assert choose([first, searched([], 1)]) is None
    found = Generalization(Results([first]), replace(SCOPE, datasets=("bank",)))
    assert found.methods == ["cart"]
    assert found.scores() == {"cart": [pytest.approx(75.0)]}  # of trials 0 and 2, which are equal, the first
    assert "87.6" in found.summary()


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("literati-path", {"max_changepoints": 2}),
        ("literati-grid", {"max_changepoints": 1, "polish": False}),
        ("literati-tree", {"max_changepoints": 2}),
    ],
)
def test_our_special_runs_count_their_errors(data: Path, solver: str, options: dict[str, Any]) -> None:
    run = optimization_child.measure(RunSpec(solver, "eeg", 2, 5.0, options, fold=0), data)
    assert (run.status, run.error) == ("proven", None)
    assert run.details["leaf_accuracy"] < (run.train_accuracy or 0)
    if solver == "literati-path":
        curve = LeafCurve.of(run)
        assert curve is not None
        assert curve.points[0][0] == 1
        assert curve.points[0][1] == pytest.approx(100 * run.details["leaf_accuracy"])
        assert curve.points[-1][1] == pytest.approx(100 * (run.train_accuracy or 0))
        assert curve.leaves_for(curve.points[-1][1]) == curve.points[-1][0]


def test_the_file_survives_a_killed_writer_and_the_last_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "paper.jsonl"
    records = Records(path)
    rows = [[0.001 * i, i, 1000 - i, 0.0] for i in range(1, 900)]
    traced = result(LITERATI[1], "bank", 3)
    traced.details |= {"trace": rows, "trace_columns": ["seconds", "expansions", "upper", "lower"]}
    records.add(result(CART, "bank", 9), HERE, keep_trace=False)
    records.add(traced, HERE, keep_trace=True)
    records.add(result(CART, "bank", 8), HERE, keep_trace=False)
    with path.open("a") as stream:
        stream.write('{"spec": {"solver"')
    read = Records(path)
    assert [run.objective for run in read.results.all()] == [8, 3]
    kept = read.results.get(traced.spec)
    assert kept is not None
    assert TRACE_POINTS / 2 < len(kept.details["trace"]) < 2 * TRACE_POINTS
    assert path.read_text().endswith("}\n")
    read.add(result(CART, "rice", 1), HERE, keep_trace=False)
    assert [json.loads(line)["origin"]["commit"] for line in path.read_text().splitlines()] == ["abc"] * 4


def made_up() -> Results:
    """Return runs in which CART lacks a dataset and ConTree has no tree on another one."""
    contree = next(method for method in plan.PEERS if method.solver == "contree")
    return Results(
        [
            *(
                result(LITERATI[1], name, errors)
                for name, errors in (("raisin", 10), ("bank", 20), ("rice", 30))
            ),
            *(result(CART, name, errors) for name, errors in (("raisin", 12), ("bank", 20))),
            result(contree, "raisin", 8, proven=False),
            result(contree, "bank", None),
            result(contree, "rice", 31),
        ]
    )


def test_averages_are_over_the_datasets_that_all_have() -> None:
    scores = Scores(made_up(), SCOPE)
    chosen, units = scores.compared(page.TABLE1, 3)
    assert [method.label for method in chosen] == ["CART, K=1", "ConTree, K=1", "Literati, K=1"]
    assert units == [("bank", 0), ("raisin", 0)]
    table = scores.table(page.TABLE1, 3)
    assert table["Literati, K=1"] == pytest.approx([80.0, 90.0])
    assert table["ConTree, K=1"] == pytest.approx([60.0, 92.0])  # one leaf on bank
    shown = tables.optimization(scores, page.TABLE1, quoted.OPTIMALITY, ("DPDT",))
    assert "2 at D=3" in shown
    assert "76.00†" in shown
    assert "Literati, K=3 at D=3 (0 of 3 datasets)" in shown
    assert "83.56" in shown  # quoted


def test_the_page_tells_what_there_is_and_what_is_behind(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    records = Records(tmp_path / "paper.jsonl")
    for run in made_up().all():
        records.add(run, replace(HERE, commit="abc-dirty"), keep_trace=False)
    text = page.write(records, SCOPE, tmp_path, tmp_path / "absent.json").read_text()
    words = " ".join(text.split())
    assert "| Table 1, optimization | table1 | 8 of 36 |" in words
    assert "Behind in 1 run:\n\n- raisin, fold 0, D=3: ConTree, K=1 92.00 %, ours 90.00 % (proven" in text
    assert "8 of 8 runs are of a changed" in words
    assert "contree on bank, fold 0, D=3: killed" in text
    assert "No runs yet." in text
    assert "mini-boone" in text
    assert "nan" not in text


def test_averages_of_few_datasets_get_no_verdict_beside_the_paper() -> None:
    assert "too few datasets" in reading.accuracy_aims(Scores(made_up(), SCOPE))
    scope = replace(SCOPE, datasets=available_names())
    runs = [
        result(method, name, errors)
        for name in available_names()
        for method, errors in ((LITERATI[1], 14), (CART, 20))
    ]
    verdicts = reading.accuracy_aims(Scores(Results(runs), scope))
    assert "not below the paper's average; not less above CART" in verdicts
    worse = [result(LITERATI[1], name, 18) for name in available_names()]
    verdicts = reading.accuracy_aims(Scores(Results([*runs, *worse]), scope))
    assert "below it, by less than datasets can explain; less above CART" in verdicts


def test_proofs_of_different_optima_are_told() -> None:
    runs = [result(plan.ON_GRID, "bank", 5), result(plan.STREED, "bank", 5)]
    assert tables.disagreements(Scores(Results(runs), SCOPE)) == []
    runs[1] = result(plan.STREED, "bank", 6)
    assert tables.disagreements(Scores(Results(runs), SCOPE)) == ["bank, fold 0, D=3: 5 errors, STreeD 6"]
    runs[1] = result(plan.STREED, "bank", 6, proven=False)
    assert tables.disagreements(Scores(Results(runs), SCOPE)) == []


def test_distances_are_to_the_best_run_of_the_same_figures() -> None:
    def traced(options: plan.Options, upper: list[float], objective: float) -> RunResult:
        spec = plan.ablation_spec(options, "rice", 0, SCOPE)
        rows = [[0.1 * (i + 1), 10 * i, cost, 0.0] for i, cost in enumerate(upper)]
        columns = ["seconds", "expansions", "upper", "lower"]
        details = {"trace": rows, "trace_columns": columns, "objective": objective}
        return RunResult(spec, "limit", n_train=200, details=details)

    results = Results(
        [
            traced(plan.FULL, [50, 40], 40),
            traced({**plan.FULL, "heuristic": "primal"}, [50, 44], 44),
            traced(plan.BEYOND["polish"], [50, 42], 30),
        ]
    )
    distances = Distances(results, SCOPE)
    assert distances.points("heuristic", "CART heuristic", "rice", 0, "seconds") == [(0.1, 5.0), (0.2, 0.0)]
    assert distances.points("heuristic", "primal heuristic", "rice", 0, "expansions")[-1] == (10.0, 2.0)
    assert distances.points("beyond", "polish", "rice", 0, "seconds")[-1][1] == 0.0
    assert distances.points("beyond", "paper's full configuration", "rice", 0, "seconds")[-1][1] == 5.0
    assert "2.000" in distances.table("heuristic")


def test_the_time_left_is_learned_from_finished_runs() -> None:
    specs = [RunSpec("cart", name, depth, 60.0) for name in ("a", "b") for depth in (3, 4)]
    left = TimeLeft([*specs, RunSpec("streed", "a", 3, 60.0)])
    assert left.seconds() == 5 * 60
    left.add(specs[0], 2.0)
    assert left.seconds() == 3 * 2.0 + 60
    left.add(specs[1], 4.0)
    assert left.seconds() == 2.0 + 4.0 + 60


def test_a_section_is_run_once_and_the_page_is_written(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert available(data) == ["mushroom", "eeg"]
    out = tmp_path / "out"
    arguments = ["--form", "short", "--limit", "2", "--data", str(data), "--out", str(out)]
    if (core := process.default_core()) is not None:
        arguments += ["--core", str(core)]
    command.main([*arguments, "--section", "trees"])
    lines = (out / "paper-short.jsonl").read_text().splitlines()
    assert len(lines) == 1
    line = json.loads(lines[0])
    assert line["spec"]["fold"] == 0
    assert line["origin"]["machine"]["python"]
    assert line["origin"]["commit"]
    assert (out / "paper-short-tree-eeg.svg").read_text().startswith("<svg")
    assert "paper-short-tree-eeg.svg" in (out / "paper-short.md").read_text()
    command.main([*arguments, "--section", "trees"])
    assert (out / "paper-short.jsonl").read_text().splitlines() == lines
