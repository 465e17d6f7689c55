"""Write the files of v0.1.0. This was run once, with version 0.1.0 of literati."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import literati
from literati import LiteratiClassifier, Search, SearchLimits

FOLDER = Path(__file__).parent / "v0.1.0"
ROWS = 160
CASES: dict[str, dict[str, Any]] = {
    "adaptive": {"max_depth": 3},
    "shape": {"max_depth": 3, "candidates": "shape", "candidate_leaves": [9, 5], "heuristic": "impurity"},
    "quantile": {"max_depth": 3, "candidates": "quantile", "candidate_leaves": 9, "categories": "one_hot"},
    "all": {"max_depth": 3, "candidates": "all", "max_changepoints": 1, "polish": False},
    "weighted": {"max_depth": 3, "split_penalty": 0.3, "changepoint_penalty": 0.1, "class_weight": {"b": 3}},
}


def main() -> None:
    assert literati.__version__ == "0.1.0"
    rng = np.random.default_rng(7)
    data = pd.DataFrame(
        {
            "size": rng.normal(size=ROWS).round(2),
            "mass": rng.integers(0, 40, ROWS).astype(float),
            "colour": rng.choice(["red", "green", "blue", "grey", "black"], ROWS),
            "ripe": rng.random(ROWS) < 0.5,
        }
    )
    data.loc[::7, "size"] = np.nan
    data.loc[::11, "colour"] = None
    y, weight = rng.choice(["a", "b", "c"], ROWS), rng.integers(1, 9, ROWS) / 8
    stored = {name: [None if pd.isna(cell) else cell for cell in data[name].tolist()] for name in data}
    (FOLDER / "data.json").write_text(json.dumps({"X": stored, "y": y.tolist(), "weight": weight.tolist()}))
    expected = {}
    for name, options in CASES.items():
        weights = weight if name == "weighted" else None
        search = Search(data, y, sample_weight=weights, limits=SearchLimits(max_expansions=8), **options)
        report = search.run()
        assert not report.proven_optimal, name
        (FOLDER / f"{name}.checkpoint").write_bytes(search.checkpoint())
        search = Search(data, y, sample_weight=weights, **options)
        report = search.run()
        assert report.proven_optimal, name
        tree = search.incumbent()
        (FOLDER / f"{name}.tree.json").write_text(tree.to_json())
        expected[name] = {
            "upper_bound": report.upper_bound,
            "objective": tree.objective,
            "classes": tree.predict(data).tolist(),
            "probabilities": tree.predict_proba(data).round(12).tolist(),
        }
    (FOLDER / "expected.json").write_text(json.dumps(expected))
    (FOLDER / "tree.pickle").write_bytes(pickle.dumps(tree))
    model = LiteratiClassifier(max_depth=2, class_weight={"b": 2.0}).fit(data, y, weight)
    (FOLDER / "estimator.pickle").write_bytes(pickle.dumps(model))
    (FOLDER / "estimator.tree.json").write_text(model.tree_.to_json())


if __name__ == "__main__":
    main()
