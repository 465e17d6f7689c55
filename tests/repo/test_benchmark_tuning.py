"""The benchmark of tuned classifiers, on a toy table and without any peer."""

from __future__ import annotations

import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.tree import DecisionTreeClassifier

from benchmarks import __main__ as command
from benchmarks import process, report
from benchmarks.runs import Results, RunResult, RunSpec
from benchmarks.tuning import protocol, search, splits
from benchmarks.tuning.methods import METHODS
from benchmarks.tuning.packages import PACKAGES
from benchmarks.tuning.summary import table

METHOD_NAMES = (*protocol.TREES, *protocol.CEILINGS)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with a toy table of 60 rows and a larger one of 90."""
    for name, n in (("toy", 60), ("atoll", 90)):
        random = np.random.default_rng(5)
        rows = [
            f"{a:.3f},{b:.3f},{c},{int(a + b > 1)}"
            for a, b, c in zip(*random.random((2, n)), "xyz" * (n // 3), strict=True)
        ]
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt") as stream:
            stream.write("\n".join(["a,b,c,target", *rows]) + "\n")
    return tmp_path


# Protocol


def test_small_datasets_come_first_and_large_ones_not_at_all(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert protocol.dataset_names(data) == ["toy", "atoll"]
    monkeypatch.setattr(protocol, "MAX_ROWS", 60)
    assert protocol.dataset_names(data) == ["toy"]


def test_every_method_has_its_run_on_every_split() -> None:
    specs = protocol.specs(["toy", "atoll"], 2.0)
    assert len({spec.key for spec in specs}) == len(specs) == 2 * 5 * 8
    assert {spec.solver for spec in specs} == set(METHODS) == set(METHOD_NAMES)
    assert specs[0].label == "literati(split=0)"


def test_the_split_is_stratified_and_the_same_for_every_encoding(data: Path) -> None:
    native, numbers = (splits.load("toy", data, 3, categories=kind) for kind in ("native", "one_hot"))
    assert native.y_test.tolist() == numbers.y_test.tolist()
    assert native.X_train[:, 0].tolist() == numbers.X_train[:, 0].tolist()
    assert len(native.y_test) == 12
    assert abs(native.y_test.mean() - native.y_train.mean()) < 0.05
    other = splits.load("toy", data, 4, categories="native")
    assert other.X_test[:, 0].tolist() != native.X_test[:, 0].tolist()


def test_folds_cover_all_training_rows_once() -> None:
    y = np.repeat([0, 1], 20)
    folds = splits.inner_folds(y)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(40))
    assert all(y[test].tolist().count(1) == 4 for _, test in folds)
    again = splits.inner_folds(y)
    assert all(a[1].tolist() == b[1].tolist() for a, b in zip(folds, again, strict=True))


# Random search

X = np.arange(40.0)[:, None]
Y = (X[:, 0] >= 20).astype(np.int64)
FOLDS = splits.inner_folds(Y)


def build(parameters: dict[str, Any], _: float) -> Any:
    return DecisionTreeClassifier(random_state=0, **parameters)


def leaves(model: Any) -> int:
    return int(model.get_n_leaves())


def test_every_point_of_a_grid_is_drawn_once_in_a_fixed_order() -> None:
    grid = {"a": (1, 2, None), "b": ("x", "y")}
    drawn = list(search.draws(grid, 0))
    assert len({tuple(point.items()) for point in drawn}) == len(drawn) == 6
    assert drawn == list(search.draws(grid, 0))
    assert drawn != list(search.draws(grid, 1))


def test_the_best_mean_is_chosen_and_of_equal_ones_the_smallest_tree() -> None:
    noisy = np.where(np.arange(40) % 13 == 5, 1 - Y, Y)
    grid = {"max_depth": (1, 2, 6), "min_samples_leaf": (1, 30)}
    found = search.random_search(build, grid, X, noisy, FOLDS, 30.0, 0, leaves)
    assert found.best.parameters == {"max_depth": 1, "min_samples_leaf": 1}
    assert (found.trials, found.failures, leaves(found.model)) == (6, [], 2)
    assert found.model.n_features_in_ == 1
    assert found.model.tree_.n_node_samples[0] == 40  # fitted to all rows


def test_parameters_that_fail_are_left_out_and_an_error_says_if_all_do() -> None:
    found = search.random_search(build, {"max_depth": (-1, 2)}, X, Y, FOLDS, 30.0, 0, leaves)
    assert (found.trials, len(found.failures), found.best.parameters) == (1, 1, {"max_depth": 2})
    with pytest.raises(RuntimeError, match="every trial failed"):
        search.random_search(build, {"max_depth": (-1, -2)}, X, Y, FOLDS, 30.0, 0)


class Slow(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that takes at least 0.04 seconds."""

    def fit(self, X: Any, y: Any) -> Slow:
        time.sleep(0.04)
        super().fit(X, y)
        return self


@pytest.mark.parametrize(("limit", "trials", "folds"), [(1.0, 1, 5), (0.1, 0, 1)])
def test_the_search_ends_with_its_budget(limit: float, trials: int, folds: int) -> None:
    start = time.perf_counter()
    grid = {"max_depth": tuple(range(1, 100))}
    found = search.random_search(lambda given, _: Slow(**given), grid, X, Y, FOLDS, limit, 0)
    assert time.perf_counter() - start < limit + 1
    assert trials <= found.trials < 20
    assert len(found.best.scores) >= folds  # whole trials come before those that were cut short


def test_solvers_with_a_time_limit_get_a_part_of_the_budget() -> None:
    given: list[float] = []

    def noting(parameters: dict[str, Any], seconds: float) -> Any:
        given.append(seconds)
        return build(parameters, seconds)

    search.random_search(noting, {"max_depth": (1,)}, X, Y, FOLDS, 50.0, 0)
    assert given[:5] == [1.0] * 5
    assert 45 < given[5] <= 50  # nothing else needs the time


def test_the_grids_contain_the_defaults_of_cart() -> None:
    assert {"max_depth": None, "min_samples_leaf": 1, "ccp_alpha": 0.0} in search.draws(
        PACKAGES["cart"].grid, 0
    )


# Runs


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cart", "literati"])
def test_a_run_is_measured_on_held_out_rows(data: Path, method: str) -> None:
    spec = protocol.spec_of(method, "toy", 1, 1.0)
    measured = process.run(spec, data, process.default_core(), None, protocol.CHILD)
    assert (measured.status, measured.error, measured.n_train) == ("finished", None, 48)
    details = measured.details
    assert details["trials"] >= 1
    assert details["leaves"] >= 2
    assert 0.5 < details["fold_accuracy"] <= 1
    assert measured.test_accuracy is not None
    if method == "cart":
        split = splits.load("toy", data, 1, categories="one_hot")
        tree = DecisionTreeClassifier(random_state=0, **details["parameters"]).fit(
            split.X_train, split.y_train
        )
        predicted = tree.predict(split.X_test)
        assert measured.test_accuracy == pytest.approx(np.mean(predicted == split.y_test))
        assert details["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(split.y_test, predicted))
        assert details["log_loss"] == pytest.approx(log_loss(split.y_test, tree.predict_proba(split.X_test)))
        assert details["leaves"] == tree.get_n_leaves()


def fake(spec: RunSpec, accuracy: float | None, leaves: int = 4) -> RunResult:
    details = {
        "balanced_accuracy": accuracy,
        "log_loss": 0.5,
        "leaves": leaves,
        "fold_leaves": 3.0,
        "trials": 7,
    }
    status = "failed" if accuracy is None else "finished"
    return RunResult(spec, status, test_accuracy=accuracy, seconds=1.0, cpu_seconds=1.0, details=details)  # type: ignore[arg-type]


def test_the_form_goes_on_where_it_was(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run(spec: RunSpec, *more: object) -> RunResult:
        assert more[-1] == protocol.CHILD
        ran.append(spec.key)
        if len(ran) == 8:
            raise KeyboardInterrupt
        return fake(spec, 0.9)

    monkeypatch.setattr(process, "run", run)
    arguments = ["tuning", "--data", str(data), "--out", str(tmp_path / "out"), "--limit", "2"]
    with pytest.raises(KeyboardInterrupt):
        command.main([*arguments, "--only", "toy"])
    assert command.main([*arguments, "--only", "toy"]) == 0
    assert (len(ran), len(set(ran))) == (41, 40)  # the run that was interrupted is repeated
    assert command.main(arguments) == 0
    assert len(set(ran)) == 80
    assert len(report.read_json(tmp_path / "out" / "tuning-2s.json")) == 80
    page = (tmp_path / "out" / "tuning-2s.md").read_text()
    assert "2 of 2 datasets count" in page
    assert "within 2 s on the same five folds" in page
    assert "2 of 2 datasets count" in capsys.readouterr().out


# The page


def compared(accuracies: dict[str, dict[str, float | None]]) -> str:
    """Return the page for the accuracy of each method on each dataset, which is 0.8 if it is not given."""
    results = Results(
        [
            fake(
                protocol.spec_of(method, dataset, seed, 2.0),
                given.get(method, 0.8),
                2 if method == "literati" else 8,
            )
            for dataset, given in accuracies.items()
            for method in METHOD_NAMES
            for seed in protocol.SPLIT_SEEDS
        ]
    )
    return table(results, [*accuracies, "absent"], 2.0)


def test_the_summary_says_who_is_better() -> None:
    page = compared(
        {
            "one": {"literati": 0.85, "literati-best": 0.9, "cart": 0.856},
            "two": {"literati": 0.86, "literati-best": 0.9, "cart": 0.86},
        }
    )
    rows = {
        line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:]]
        for line in page.splitlines()
        if "|" in line
    }
    assert rows["one"][:3] == ["2.0", "8.0", "8.0"]  # the last table by dataset: leaves
    assert "**0.9000**" in page
    assert "absent" not in page
    ranks = {method: rows[method][0] for method in METHOD_NAMES if method != "cart"}
    assert ranks["literati-best"] == "1.00"
    assert ranks["literati"] == "2.75"  # third, and second together with CART
    assert ranks["streed"] == ranks["contree"] == "5.00"
    assert ranks["forest"] == "–"
    assert (
        "literati is more than half a point below tuned CART on 1 of 2 datasets: one (-0.60 points)" in page
    )
    assert "literati-best is more than half a point below tuned CART on 0 of 2 datasets." in page
    assert "best other tree method on average is cart; literati differs from it by -0.30 points" in page
    assert '"one_standard_error" has 0.25 times the leaves' in page
    assert "its accuracy differs by -4.50 points" in page
    assert "0 of 80 runs had to share their core" in page


def test_datasets_with_missing_runs_do_not_count() -> None:
    page = compared({"one": {}, "two": {"contree": None}, "three": {"forest": None}})
    assert "2 of 3 datasets count" in page
    assert "These do not: two." in page
    assert "– (failed)" in page
    nothing = compared({"two": {"contree": None}})
    assert "0 of 1 datasets count" in nothing
    assert "points" not in nothing


def test_an_unfinished_benchmark_compares_finished_splits() -> None:
    """The second split was not run on the last dataset, so it does not count on the first one either."""
    runs = [
        fake(protocol.spec_of(method, dataset, seed, 60.0), 0.9 if seed == 0 else 0.1)
        for method in METHOD_NAMES
        for dataset, seed in (("toy", 0), ("atoll", 0), ("toy", 1))
    ]
    page = table(Results(runs), ["toy", "atoll"], 60.0)
    assert "counted here: 1 of 5 splits" in page
    assert "2 of 2 datasets count" in page
    assert "0.5000" not in page, "the mean of both splits"
