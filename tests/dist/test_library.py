"""The wheels of the library, each in a clean environment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.clean_environment import PYTHONS, VERSION, CleanEnvironment

LEVELS = ("none", "avx2", "avx512", "vbmi2")
SCRIPT = """
import json
import literati
from literati import LiteratiClassifier
from literati._engine._engine import simd
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
clf = LiteratiClassifier(max_depth=2, max_changepoints=2, candidates="all", n_threads=2)
clf.fit(X.tolist(), y.astype(str).tolist())
print(json.dumps([literati.__version__, clf.proven_optimal_, clf.objective_, simd(), clf.tree_.to_text()]))
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_it_fits_a_tree(python: str, tmp_path: Path) -> None:
    clean = CleanEnvironment(tmp_path / "environment", python, f"literati-trees=={VERSION}")
    assert [name for name in ("cc", "gcc", "clang") if shutil.which(name, path=clean.variables["PATH"])] == []
    trees = set()
    for level in LEVELS:
        done = clean.run("python", "-I", "-c", SCRIPT, folder=tmp_path, LITERATI_SIMD=level)
        assert done.returncode == 0, done.stderr
        version, proven, objective, found, tree = json.loads(done.stdout)
        assert (version, proven, objective) == (VERSION, True, 3.0)
        assert LEVELS.index(found) <= LEVELS.index(level)  # a machine may have less
        trees.add(tree)
    assert len(trees) == 1
    assert VERSION in clean.run("literati", "--version").stdout
    serve = clean.run("literati", "serve")
    assert serve.returncode == 1
    assert "literati-trees[service]" in serve.stderr
