"""The trees that a sweep found on its folds, and what the chosen ones predict for the rows held out."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np
import pyarrow as pa

from literati import ShapeTree
from worker.blobs.local import BlobNotFoundError, Blobs
from worker.domain.datasets import Dataset, label_text
from worker.domain.sweeps import Sweep
from worker.store import Store
from worker.store.sweeps import SweepResults
from worker.training import tables
from worker.training.folds import draw_test_rows, held_rows
from worker.training.path_trees import unpack_trees


class NoTreeOfFoldError(LookupError):
    """The job of this setting and fold has not ended, or its trees were not saved."""


def fold_tree(
    store: Store,
    blobs: Blobs,
    sweep: Sweep,
    results: SweepResults,
    setting: int,
    fold: int,
    penalty: float | None = None,
) -> dict[str, Any]:
    """Return the JSON model of a fold's tree; with a path, the one at a penalty for all rows.

    Raise NoTreeOfFoldError if there is none.
    """
    place = setting, fold
    job_id, scores = results.jobs.get(place), results.scores.get(place)
    if job_id is None or scores is None:
        raise NoTreeOfFoldError("its job has not ended")
    if not sweep.spec.is_path:
        found = store.jobs.incumbent(sweep.spec.tenant, job_id)
        if found is None:
            raise NoTreeOfFoldError("its tree is not kept any more")
        return found.tree
    job = store.jobs.get(sweep.spec.tenant, job_id)
    if job is None or job.snapshot is None:
        raise NoTreeOfFoldError("its trees were not saved")
    try:
        trees = unpack_trees(blobs.get(job.snapshot))
    except BlobNotFoundError:
        raise NoTreeOfFoldError("its trees are not kept any more") from None
    starts = [start / scores.weight for start, _ in trees]
    return trees[max(0, bisect_right(starts, 0.0 if penalty is None else penalty) - 1)][1]


def held_out_predictions(store: Store, blobs: Blobs, sweep: Sweep, dataset: Dataset) -> pa.Table:
    """Return a line for each row that a fold held out: its class, and what the chosen fold's tree predicts.

    With repetitions a row has several lines. Rows that no fold held out have none.
    """
    assert sweep.choice is not None
    spec, choice = sweep.spec, sweep.choice
    results = store.sweeps.results(spec.id)
    rows = tables.load(blobs.path(dataset.blob), dataset)
    tested = draw_test_rows(rows, spec.test)
    labels = np.unique(rows.y).tolist()
    index = {label: place for place, label in enumerate(labels)}
    parts = []
    for fold in range(spec.n_folds):
        found = fold_tree(
            store, blobs, sweep, results, choice.setting, fold, choice.parameters["split_penalty"]
        )
        tree = ShapeTree.from_dict(found)
        held = held_rows(rows, spec.validation, fold, tested)
        part = rows.select(held)
        probabilities = np.zeros((part.n_rows, len(labels)))
        probabilities[:, [index[label] for label in tree.classes.tolist()]] = tree.predict_proba(part.X)
        columns: dict[str, Any] = {
            "row": np.flatnonzero(held),
            "fold": np.full(part.n_rows, fold),
            "target": [label_text(label) for label in part.y.tolist()],
            "prediction": [label_text(label) for label in tree.predict(part.X).tolist()],
        }
        columns |= {
            f"probability_{label_text(label)}": probabilities[:, place] for label, place in index.items()
        }
        parts.append(pa.table(columns))
    return pa.concat_tables(parts).sort_by([("row", "ascending"), ("fold", "ascending")])
