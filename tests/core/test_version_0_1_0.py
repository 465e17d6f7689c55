"""Files that version 0.1.0 wrote open in this version. tests/data/write_v0_1_0.py made them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from literati import LiteratiClassifier, Search, SearchLimits, ShapeTree
from literati.search.checkpoint import unpack
from tests.data.write_v0_1_0 import CASES, FOLDER

EXPECTED = json.loads((FOLDER / "expected.json").read_text())
DATA = json.loads((FOLDER / "data.json").read_text())
X, Y = pd.DataFrame(DATA["X"]), np.array(DATA["y"])
# Files keep the value that was the default when they were written.
OLD_DEFAULTS: dict[str, Any] = {"or_selection": "informative"}


def weights(name: str) -> Any:
    return DATA["weight"] if name == "weighted" else None


def assert_predicts(tree: ShapeTree, name: str) -> None:
    assert tree.objective == EXPECTED[name]["objective"]
    assert tree.predict(X).tolist() == EXPECTED[name]["classes"]
    np.testing.assert_allclose(tree.predict_proba(X), EXPECTED[name]["probabilities"], atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_a_tree(name: str) -> None:
    text = (FOLDER / f"{name}.tree.json").read_text()
    tree = ShapeTree.from_json(text)
    assert_predicts(tree, name)
    written = tree.to_dict()
    del written["summary"], written["proof"]["beyond_space"]  # version 0.1.0 did not write them
    assert written == json.loads(text)


@pytest.mark.parametrize("name", CASES)
def test_a_search_in_the_middle(name: str) -> None:
    blob = (FOLDER / f"{name}.checkpoint").read_bytes()
    search = Search.resume(X, Y, blob, sample_weight=weights(name), limits=SearchLimits())
    assert search.report().expansions == 8
    report = search.run()
    assert report.proven_optimal
    # Version 0.1.0 rounded penalties such as 0.1 to binary fractions.
    assert report.upper_bound == pytest.approx(EXPECTED[name]["upper_bound"], abs=1e-9)
    assert search.options == Search(X, Y, sample_weight=weights(name), **OLD_DEFAULTS, **CASES[name]).options


def test_a_pickled_tree() -> None:
    assert_predicts(pickle.loads((FOLDER / "tree.pickle").read_bytes()), "weighted")


def test_a_pickled_estimator() -> None:
    model = pickle.loads((FOLDER / "estimator.pickle").read_bytes())
    assert isinstance(model, LiteratiClassifier)
    assert model.get_params() == {
        **LiteratiClassifier().get_params(),
        **OLD_DEFAULTS,
        "max_depth": 2,
        "class_weight": {"b": 2.0},
    }
    tree = ShapeTree.from_json((FOLDER / "estimator.tree.json").read_text())
    assert model.tree_ == tree
    assert model.predict(X).tolist() == tree.predict(X).tolist()
    assert model.proven_optimal_
    assert model.fit(X, Y, DATA["weight"]).objective_ == tree.objective


@pytest.mark.parametrize("name", ["adaptive", "weighted"])
def test_a_checkpoint_has_few_new_fields(name: str) -> None:
    """So that it is known what a later version has to read."""
    search = Search(X, Y, sample_weight=weights(name), limits=SearchLimits(max_expansions=8), **CASES[name])
    search.run()
    written, _ = unpack(search.checkpoint())
    before, _ = unpack((FOLDER / f"{name}.checkpoint").read_bytes())
    decimals = name == "weighted"  # penalties of 0.3 and 0.1 rows are exact in this version
    assert written.keys() - before.keys() == {"explored"} | ({"scale"} if decimals else set())
    for part in ("options", "limits", "tree"):
        assert written[part].keys() == before[part].keys()
    assert written["tree"]["proof"].keys() == before["tree"]["proof"].keys()


@pytest.mark.parametrize("path", sorted(Path(FOLDER).glob("*.pickle")), ids=lambda path: path.stem)
def test_new_pickles_name_the_package_only(path: Path) -> None:
    text = pickle.dumps(pickle.loads(path.read_bytes()))
    assert b"literati." not in text.replace(b"literati.json", b"")
    assert pickle.loads(text) is not None
