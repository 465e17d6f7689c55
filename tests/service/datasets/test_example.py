"""The example table of the README: its script writes it, it gives no warning and suits a shape tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from literati import LiteratiClassifier
from tests.support.http.uploads import made
from tests.support.paths import ROOT
from worker.blobs.local import Blobs
from worker.training.tables import load

EXAMPLES = ROOT / "examples"


def test_the_script_writes_the_file(tmp_path: Path) -> None:
    script = tmp_path / "make_loans.py"
    script.write_text((EXAMPLES / "make_loans.py").read_text())
    subprocess.run([sys.executable, script], check=True)
    assert (tmp_path / "loans.csv").read_bytes() == (EXAMPLES / "loans.csv").read_bytes()


def test_it_is_read_without_a_warning_and_suits_a_shape_tree(tmp_path: Path) -> None:
    dataset = made(tmp_path, (EXAMPLES / "loans.csv").read_bytes(), target="repaid")
    assert dataset.warnings == []
    assert dataset.rows == 600
    kinds = {column.name: column.type for column in dataset.columns}
    assert kinds["employment"] == "category"
    assert kinds["has_savings"] == "boolean"
    assert any(column.missing for column in dataset.columns)
    loaded = load(Blobs(tmp_path / "blobs").path(dataset.blob), dataset)
    ours = LiteratiClassifier(max_depth=3, max_changepoints=2).fit(loaded.X, loaded.y)
    rows = ours.tree_.schema.encode(loaded.X).matrix
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, loaded.y)
    wrong = int(np.count_nonzero(cart.predict(rows) != loaded.y))
    assert ours.proven_optimal_
    assert ours.objective_ < 0.7 * wrong
