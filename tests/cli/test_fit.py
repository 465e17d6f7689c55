"""`fit`, `predict` and `export`, which need no server."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from literati import LiteratiClassifier, LiteratiClassifierCV, ShapeTree
from literati.cli import cart_baseline
from literati.cli.fit import command
from literati.cli.parameters import DEFINITIONS, given_parameters
from literati.tuning.paths_of_folds import PathsOfFolds
from tests.cli.conftest import Run
from tests.support.records.jobs import easy


def columns(result: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_a_tree(run: Run, loans: Path, tmp_path: Path) -> None:
    result = run("fit", loans, "--target", "repaid", "--depth", "2")
    tree = ShapeTree.from_json((tmp_path / "model.json").read_text())
    assert result.stdout == tree.to_text()
    assert tree.proof.proven_optimal
    assert tree.objective == 0
    assert tree.feature_names == ("age", "job")
    assert (tmp_path / "tree.svg").read_text() == tree.to_svg()
    lines = result.stderr.splitlines()
    assert lines[0].startswith("Warning: Column 'opened' holds dates or times and was left out.")
    assert lines[1].startswith("Proven optimal after 0.")
    assert "upper 0  lower 0  gap 0.00 %  explored 100.0 %" in lines[1]
    assert lines[2].startswith("Right on 100.0 % of the training rows; --tune measures it")
    assert lines[3] == "Wrote model.json and tree.svg."


def test_json(run: Run, loans: Path) -> None:
    facts = json.loads(run("fit", loans, "-t", "repaid", "--json", "-o", "out").stdout)
    assert facts["proven_optimal"] is True
    assert facts["stop_reason"] == "PROVEN_OPTIMAL"
    assert (facts["objective"], facts["upper_bound"], facts["lower_bound"]) == (0.0, 0.0, 0.0)
    assert facts["model"] == "out/model.json"
    assert Path(facts["drawing"]).exists()


def test_the_parameters_are_those_of_the_estimator(run: Run, tmp_path: Path) -> None:
    table = easy(200)
    names = [name for name in table if name != "label"]
    rows = zip(*(table[name].tolist() for name in (*names, "label")), strict=True)
    with (tmp_path / "easy.csv").open("w") as file:
        csv.writer(file).writerows([(*names, "label"), *rows])
    given: dict[str, Any] = {
        "max_depth": 2,
        "max_changepoints": 1,
        "split_penalty": 1.5,
        "candidates": "quantile",
        "candidate_leaves": 7,
        "max_expansions": 50,
        "time_limit": None,
        "polish": False,
        "class_weight": {"in": 2.0, "out": 1.0},
        "n_threads": -1,
    }
    run(
        *("fit", "easy.csv", "-t", "label", "--max-depth=2", "--max-changepoints=1", "--split-penalty=1.5"),
        *("--candidates=quantile", "--candidate-leaves=7", "--max-expansions=50", "--time-limit=none"),
        *("--no-polish", "--class-weight", "in=2,out=1", "--n-threads=-1"),
    )
    X = np.column_stack([table[name] for name in names])
    expected = LiteratiClassifier(**given).fit(X, table["label"].astype(object)).tree_
    found = ShapeTree.from_json(Path("model.json").read_text())
    assert found.nodes == expected.nodes
    assert found.settings == expected.settings


def test_what_is_not_given_is_left_to_the_estimator(loans: Path) -> None:
    context = command.make_context("fit", [str(loans), "-t", "repaid"])
    assert given_parameters(context.params) == {}


def test_every_parameter_is_an_option(run: Run) -> None:
    told = run("fit", "--help").stdout
    assert {"max_depth", "time_limit", "n_threads"} <= DEFINITIONS.keys()
    for name in DEFINITIONS:
        assert f"--{name.replace('_', '-')}" in told
    assert "[default: 4]" in " ".join(told.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-depth", "13"], "expected an integer from 1 to 12, got '13'"),
        (["--max-depth", "two"], "expected an integer from 1 to 12, got 'two'"),
        (["--max-depth", "2.5"], "expected an integer"),
        (["--time-limit", "nan"], "expected none or a finite number"),
        (["--candidates", "some"], "expected one of adaptive, shape"),
        (["--candidate-leaves", "3,x"], "expected an integer or a list"),
        (["--class-weight", "yes"], "expected none, 'balanced' or a mapping"),
        (["--class-weight", "yes=1,yes=5"], "--class-weight: class yes has two weights; give it one."),
        (["--class-weight", "maybe=2"], "there is no class 'maybe'; the classes are no, yes"),
        (["--max-depth", "2,3"], "Several values of --max-depth need --tune"),
        (["--cv", "3"], "--cv needs --tune"),
        (
            ["--tune", "--cv", "6"],
            "No class has as many rows as there are folds, 6; use fewer folds with --cv",
        ),
        (["--tune", "--split-penalty", "1"], "--split-penalty cannot be combined with --tune"),
        (["--type", "age"], "expected NAME:TYPE with one of the types number, boolean, category"),
        (["--type", "age:number", "--type", "age:category"], "column 'age' has two types"),
        (["--candidates", "widening", "--candidate-leaves", "5"], "candidate_leaves: expected the default"),
        (["--target", "repayed"], "Did you mean 'repaid'?"),
        (["--api-key", "x"], "No such option"),
    ],
)
def test_options_that_cannot_be_used(run: Run, loans: Path, options: list[str], words: str) -> None:
    result = run("fit", loans, "--target", "repaid", *options, code=2)
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert not Path("model.json").exists()


def test_files_that_cannot_be_used(run: Run, loans: Path) -> None:
    assert "does not exist" in run("fit", "gone.csv", "-t", "y", code=2).stderr
    Path("model.json").write_text("{}")
    result = run("fit", loans, "-t", "repaid", code=2)
    assert "model.json exists and was not written by `literati fit`; choose another --output" in result.stderr
    Path("file").touch()
    assert "cannot be created" in run("fit", loans, "-t", "repaid", "-o", "file/x", code=2).stderr
    assert "is not a model" in run("predict", loans, loans, code=2).stderr


def test_a_proof_is_required(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        ",".join(f"{cell:.3f}" for cell in row) + f",{row[0] > rng.normal()}"
        for row in rng.normal(size=(300, 6))
    ]
    (tmp_path / "noise.csv").write_text("\n".join(["a,b,c,d,e,f,y", *rows]))
    result = run("fit", "noise.csv", "-t", "y", "--depth=5", "--max-expansions=1", "--require-proof", code=9)
    assert result.stdout.startswith("Shape tree")
    assert "The limit of expansions was reached" in result.stderr
    assert result.stderr.endswith("give the search more time or a smaller depth.\n")
    assert Path("model.json").exists()
    run("fit", "noise.csv", "-t", "y", "--depth=1", "--require-proof")


def test_tuning(run: Run, tmp_path: Path) -> None:
    table = easy(200)
    rows = [
        f"{x},{z},{label}"
        for x, z, label in zip(*(table[n].tolist() for n in ("x", "z", "label")), strict=True)
    ]
    (tmp_path / "easy.csv").write_text("\n".join(["x,z,label", *rows]))
    words = (
        "fit",
        "easy.csv",
        "-t",
        "label",
        "--tune",
        "--depth=1,2",
        "--max-changepoints=2",
        "--cv=3",
        "--json",
    )
    result = run(*words)
    facts = json.loads(result.stdout)
    tuning = facts["tuning"]
    assert tuning["folds"] == 3
    assert 0.8 < tuning["score"] <= 1
    assert 0 <= tuning["standard_error"] < 0.1
    assert tuning["parameters"]["max_depth"] in (1, 2)
    lines = result.stderr.splitlines()
    assert lines[0] == tuning["choice"]
    assert lines[1].startswith(f"Cross-validated accuracy: {tuning['score']:.4f} with a standard error of ")
    assert lines[1].endswith(f"The tree has {facts['leaves']} leaves.")
    depth = tuning["parameters"]["max_depth"]
    X, y = np.column_stack([table["x"], table["z"]]), table["label"]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0)
    expected = cross_val_score(cart, X, y, cv=folds).mean()
    assert tuning["held_out_accuracy"] == pytest.approx({"tree": tuning["score"], "cart": expected})
    assert lines[2] == (
        f"Accuracy on held-out rows: {tuning['score']:.4f}; that of scikit-learn's CART with depth {depth} "
        f"on the same folds: {expected:.4f}."
    )
    assert ShapeTree.from_json(Path("model.json").read_text()).n_leaves == facts["leaves"]


def test_the_comparison_with_cart(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights, missing cells, categories and very large numbers are no obstacle; large tables are."""
    lines = [f"{n % 7},{'uvw'[n % 3] if n % 5 else ''},{n or 1e300},{1 + n % 2},{n > 20}" for n in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,w,y", *lines]))
    words = (
        "fit",
        "t.csv",
        "-t",
        "y",
        "--weight=w",
        "--tune",
        "--depth=1",
        "--cv=2",
        "--scoring=f1",
        "--json",
    )
    accuracy = json.loads(run(*words, "--class-weight=true=2").stdout)["tuning"]["held_out_accuracy"]
    assert 0.8 < accuracy["cart"] <= 1
    assert 0.8 < accuracy["tree"] <= 1
    monkeypatch.setattr(cart_baseline, "MAX_CELLS", 100)
    result = run(*words)
    assert json.loads(result.stdout)["tuning"]["held_out_accuracy"] is None
    assert "CART" not in result.stderr


def test_tuning_that_is_interrupted(run: Run, loans: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C before the first path leaves nothing to choose from; two of them at once count as one."""

    def interrupted(self: PathsOfFolds, n_jobs: int, watch: Callable[[], object]) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert watch()
        return False

    monkeypatch.setattr(PathsOfFolds, "run", interrupted)
    result = run("fit", loans, "-t", "repaid", "--tune", "--cv", "2", code=130)
    assert result.stderr.endswith("Stopped before there was a tree.\n")
    assert not Path("model.json").exists()


def test_ctrl_c_during_the_last_fit_of_tuning(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last fit, which is given ten minutes, ends with its best tree."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(1500, 10)).round(3)
    labels = np.where(rng.random(1500) < 0.8, cells[:, 0] + cells[:, 1] > 0, cells[:, 2] > 0)
    rows = [",".join(map(str, [*row, label])) for row, label in zip(cells.tolist(), labels, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,e,f,g,h,i,j,y", *rows]))
    original = LiteratiClassifierCV._refit
    pressed: list[float] = []

    def refit(self: LiteratiClassifierCV, data: Any, seconds: float, *others: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        pressed.append(time.monotonic())
        original(self, data, 600.0, *others)

    monkeypatch.setattr(LiteratiClassifierCV, "_refit", refit)
    words = ("--depth=4", "--max-changepoints=3", "--cv=2", "--select=best", "--time-limit=2")
    result = run("fit", "t.csv", "-t", "y", "--tune", *words)
    assert time.monotonic() - pressed[0] < 5  # a second and the files, on a machine that may be busy
    tree = ShapeTree.from_json(Path("model.json").read_text())
    assert result.stdout == tree.to_text()
    assert tree.n_leaves > 1
    assert not tree.proof.proven_optimal
    assert "Stopped after " in result.stderr


def test_predictions(run: Run, loans: Path) -> None:
    run("fit", loans, "-t", "repaid", "--depth=2")
    tree = ShapeTree.from_json(Path("model.json").read_text())
    rows = columns(run("predict", "model.json", loans, "--probabilities"))
    actual = [line.rpartition(",")[2] for line in loans.read_text().splitlines()[1:]]
    assert [row["prediction"] for row in rows] == actual
    shares = [[float(row[f"probability_{name}"]) for name in tree.classes] for row in rows]
    assert [tree.classes[np.argmax(row)] for row in shares] == actual
    assert np.allclose(np.sum(shares, axis=1), 1)
    found = json.loads(run("predict", "model.json", loans, "--json").stdout)
    assert found == {"predictions": actual}
    assert "Wrote 8 predictions" in run("predict", "model.json", loans, "-o", "out.csv").stderr
    assert Path("out.csv").read_text().split() == ["prediction", *actual]


def test_rows_that_differ_from_the_training_rows(run: Run, tmp_path: Path) -> None:
    cells = [("1", 1, "a"), ("2", 2, "b"), ("2", 3, "b"), ("x", 4, "a")] * 5
    (tmp_path / "t.csv").write_text("\n".join(["code,n,y", *(f"{c},{n},{y}" for c, n, y in cells)]))
    run("fit", "t.csv", "-t", "y", "--drop", "n")
    (tmp_path / "new.csv").write_text("more;code\n1;1\n2;2\n3;q\n")
    result = run("predict", "model.json", "new.csv")
    assert [row["prediction"] for row in columns(result)][:2] == ["a", "b"]
    assert result.stderr == "Warning: Column 'code' has categories that were not in the training data: 'q'.\n"
    (tmp_path / "new.csv").write_text("Code,n\n1,1\n")
    message = "The tree needs the column 'code', which the file does not have. Did you mean 'Code'?"
    assert message in run("predict", "model.json", "new.csv", code=2).stderr
    run("fit", "t.csv", "-t", "y", "--drop", "code")
    (tmp_path / "new.csv").write_text("n\n3\nmany\n")
    assert "'n' is not a number in row 2: 'many'" in run("predict", "model.json", "new.csv", code=2).stderr


def test_whole_numbers_and_booleans_as_classes(run: Run, tmp_path: Path) -> None:
    for zero, one in (("0", "1"), ("false", "true"), ("007", "7")):
        lines = [f"{n},{one if n > 5 else zero}" for n in range(10)]
        (tmp_path / "t.csv").write_text("\n".join(["n,y", *lines]))
        run("fit", "t.csv", "-t", "y")
        rows = columns(run("predict", "model.json", "t.csv"))
        assert [row["prediction"] for row in rows] == [zero] * 6 + [one] * 4


@pytest.mark.parametrize(
    ("labels", "given"),
    [
        (("false", "true"), "true=3,false=2"),
        (("FALSE", "TRUE"), "True=3,FALSE=2"),
        (("0", "1"), "1.0=3,0=2"),
        (("0.0", "1.0"), "1=3,0.0=2"),
        (("no", "yes"), "yes=3,no=2"),
    ],
)
def test_class_weights_name_the_labels(run: Run, tmp_path: Path, labels: tuple[str, str], given: str) -> None:
    lines = [f"{n},{labels[n > 5]}" for n in range(10)]
    (tmp_path / "t.csv").write_text("\n".join(["n,y", *lines]))
    run("fit", "t.csv", "-t", "y", "--class-weight", given)
    root = ShapeTree.from_json(Path("model.json").read_text()).nodes[0]
    assert list(root.counts) == [12, 12]
    words = ("fit", "t.csv", "-t", "y", "--class-weight")
    known = ", ".join(label.lower() for label in labels)
    told = run(*words, "other=2", code=2).stderr
    assert told == f"Error: --class-weight: there is no class 'other'; the classes are {known}.\n"
    if labels == ("false", "true"):
        assert "class true has two weights" in run(*words, "true=2,True=3", code=2).stderr


def test_exports(run: Run, loans: Path, tmp_path: Path) -> None:
    run("fit", loans, "-t", "repaid")
    namespace: dict[str, Any] = {}
    exec(run("export", "model.json", "--format", "python").stdout, namespace)
    tree = ShapeTree.from_json(Path("model.json").read_text())
    assert namespace["predict"]({"age": 20, "job": "clerk"}) == tree.predict([[20, "clerk"]])[0]
    assert run("export", "model.json", "-f", "mlflow", "-o", "m.zip").stderr == "Wrote m.zip.\n"
    assert (tmp_path / "m.zip").read_bytes().startswith(b"PK")
    assert "is not one of 'sql-ansi'" in run("export", "model.json", "-f", "cobol", code=2).stderr


def test_what_the_library_says_about_the_data(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,y\n1,1,u\n1,2,v\n")
    assert "Warning: Constant columns are ignored: 'a'.\n" in run("fit", "t.csv", "-t", "y").stderr
    told = run("fit", "t.csv", "-t", "y", "--drop", "b", "-o", "new", code=2).stderr
    assert told == "Error: Every column is constant or has no value at all; expected one that varies.\n"
