"""Checkpoint and resume of a Search: nothing lost, nothing believed that is not so."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from literati import CheckpointError, Search, SearchLimits, ShapeTree, StopReason
from literati.search.checkpoint import pack, unpack


def hard(rows: int = 600, columns: int = 8, seed: int = 0) -> tuple[Any, Any]:
    """Noise: a search on it does not end by itself within a test."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.integers(0, 3, rows)


def test_resume_goes_on_and_ends_at_the_same_bound() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    options: dict[str, Any] = {"max_depth": 4, "max_changepoints": 1}
    whole = Search(X, y, **options).run()
    search = Search(X, y, limits=SearchLimits(max_expansions=20), **options)
    before = search.run()
    assert before.stop_reason is StopReason.EXPANSION_LIMIT
    resumed = Search.resume(X, y, search.checkpoint(), limits=SearchLimits())
    after = resumed.report()
    assert after.upper_bound <= before.upper_bound
    assert after.lower_bound >= before.lower_bound
    assert after.objective == before.objective
    assert after.expansions >= before.expansions
    assert after.elapsed_seconds >= before.elapsed_seconds
    assert resumed.incumbent().nodes[0].counts == search.incumbent().nodes[0].counts
    final = resumed.run()
    assert final.stop_reason is StopReason.PROVEN_OPTIMAL
    assert final.upper_bound == whole.upper_bound
    trace = resumed.trace()
    assert (np.diff(trace["upper"]) <= 0).all()
    assert (np.diff(trace["lower"]) >= 0).all()
    assert (np.diff(trace["seconds"]) >= 0).all()
    assert (np.diff(trace["expansions"]) >= 0).all()


def test_a_resume_with_other_threads() -> None:
    X, y = hard()
    search = Search(X, y, max_depth=4, limits=SearchLimits(max_expansions=20), class_weight={1: 2.0})
    search.run()
    blob = search.checkpoint()
    assert Search.resume(X, y, blob).options == search.options
    resumed = Search.resume(X, y, blob, n_threads=2, limits=SearchLimits(max_expansions=40))
    assert resumed.options.n_threads == 2
    assert resumed.options.to_json() == {**search.options.to_json(), "n_threads": 2}
    assert resumed.run().expansions == 40
    with pytest.raises(ValueError, match="n_threads: expected -1 or an integer from 1 to 16, got 0"):
        Search.resume(X, y, blob, n_threads=0)


def test_time_and_parameters_survive_a_resume() -> None:
    X, y = hard()
    weights = np.linspace(0.5, 2.0, len(y))
    search = Search(
        X, y, sample_weight=weights, limits=SearchLimits(time_limit=0.5), max_depth=5, class_weight={1: 2.0}
    )
    before = search.run()
    assert before.stop_reason is StopReason.TIME_LIMIT
    blob = search.checkpoint()
    spent = Search.resume(X, y, blob, sample_weight=weights)
    assert spent.limits == SearchLimits(time_limit=0.5)
    assert spent.options == search.options
    assert spent.run().stop_reason is StopReason.TIME_LIMIT  # the seconds before the resume count
    longer = Search.resume(X, y, blob, sample_weight=weights, limits=SearchLimits(time_limit=1.5))
    report = longer.run()
    assert 1.2 <= report.elapsed_seconds < 2.5  # a fifth, at most, is for finishing the tree
    assert report.objective <= before.objective


def test_a_polished_tree_survives_a_resume() -> None:
    X, y = hard(300, 4)
    search = Search(X, y, max_depth=3)
    report = search.run()
    resumed = Search.resume(X, y, search.checkpoint())
    assert resumed.run().objective == report.objective
    assert resumed.incumbent().objective == report.objective


def some_checkpoint() -> bytes:
    X, y = load_iris(return_X_y=True)
    search = Search(X, y, max_depth=2)
    search.run()
    return search.checkpoint()


def test_other_data_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    blob = some_checkpoint()
    changed = X.copy()
    changed[0, 0] += 0.05
    for bad in (changed, X[:, ::-1], pd.DataFrame(X, columns=list("abcd"))):
        with pytest.raises(CheckpointError, match="blob: the checkpoint belongs to other data"):
            Search.resume(bad, y, blob)
    with pytest.raises(CheckpointError, match="belongs to other data"):
        Search.resume(X, y, blob, sample_weight=np.linspace(1, 2, 150))


def test_damaged_checkpoints_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    blob = some_checkpoint()
    rng = np.random.default_rng(0)
    for position in [*rng.integers(0, len(blob), 40).tolist(), 0, 17, 21, len(blob) - 1]:
        broken = bytearray(blob)
        broken[position] ^= 0x41
        with pytest.raises(CheckpointError, match="blob: "):
            Search.resume(X, y, bytes(broken))
    for length in (0, 5, 16, 40, len(blob) // 2, len(blob) - 1):
        with pytest.raises(CheckpointError, match="blob: "):
            Search.resume(X, y, blob[:length])
    with pytest.raises(CheckpointError, match="blob: "):
        Search.resume(X, y, blob + b"x")
    with pytest.raises(TypeError, match="blob: expected bytes, got str"):
        Search.resume(X, y, "blob")  # type: ignore[arg-type]


def test_checkpoints_with_a_false_inside_are_refused() -> None:
    """The checksum is right, what it covers is not."""
    X, y = load_iris(return_X_y=True)
    header, payload = unpack(some_checkpoint())
    other_tree = Search(X[:, :2], y + 1, max_depth=2).incumbent().to_dict()
    cheap = json.loads(json.dumps(header["tree"]))
    cheap["nodes"] = [
        {**cheap["nodes"][0], "split": None, "counts": [150.0, 0.0, 0.0], "error": 0.0, "cost": 0.0}
    ]
    cheap["proof"] |= {"objective": 0.0, "upper_bound": 0.0, "lower_bound": 0.0}
    ShapeTree.from_dict(cheap)  # a good tree, of other rows
    changes: list[dict[str, Any]] = [
        {"options": {**header["options"], "max_depth": "deep"}},
        {"options": {}},
        {"limits": {"time": 3}},
        {"tree": None},
        {"tree": {**header["tree"], "nodes": []}},
        {"trace": [["a"]]},
        {"elapsed_seconds": "long"},
        {"elapsed_seconds": -1.0},
        {"expansions": -1},
        {"idle_seconds": None},
        {"tree": other_tree},
        {"tree": {**header["tree"], "classes": other_tree["classes"]}},
        {"tree": cheap},
        {"fingerprint": "0"},
    ]
    for change in changes:
        with pytest.raises(CheckpointError, match="blob: "):
            Search.resume(X, y, pack({**header, **change}, payload))
    with pytest.raises(CheckpointError, match=r"blob: version .* wrote the field 'more'"):
        Search.resume(X, y, pack({**header, "more": 1}, payload))
    for bad in (b"", payload[:-3], b"\x00" * len(payload), payload + b"\x00"):
        with pytest.raises(CheckpointError, match="blob: the engine cannot read"):
            Search.resume(X, y, pack(header, bad))
    blob = bytearray(some_checkpoint())
    blob[16] = 9
    with pytest.raises(CheckpointError, match="reads checkpoints of version 1, this one has 9"):
        Search.resume(X, y, bytes(blob))
