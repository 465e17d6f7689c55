"""Copy the bounds of the nodes of one tree to another tree on the same rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from literati.data.table import Poll, TrainingTable
from literati.tree.nodes import Node, depths
from literati.tree.routing import leaves_by_numpy


def transfer_bounds(
    nodes: tuple[Node, ...],
    searched: tuple[Node, ...],
    table: TrainingTable,
    max_depth: int,
    poll: Poll | None = None,
) -> tuple[Node, ...]:
    """Return the nodes with the bounds and proofs that `searched` has for the same rows at the same depth.

    A polished tree sends other rows to some of its nodes. The bounds of the search do not hold there, so
    such a node gets only the bounds that hold for any rows.
    """
    known = dict(zip(_keys(searched, table, poll), searched, strict=True))
    result = []
    for key, node in zip(_keys(nodes, table, poll), nodes, strict=True):
        same = known.get(key)
        if same is not None:
            result.append(replace(node, bound=same.bound, proven=same.proven))
        elif node.error == 0 or key[0] == max_depth:
            result.append(replace(node, bound=node.error, proven=True))
        else:
            result.append(replace(node, bound=0.0, proven=False))
    return tuple(result)


def _keys(nodes: tuple[Node, ...], table: TrainingTable, poll: Poll | None) -> list[tuple[int, int]]:
    """Return (depth, hash of the rows) of each node. The hash of a set is the sum of its rows' hashes."""
    leaves = leaves_by_numpy(nodes, table.schema, table.column_values, table.n_rows, poll)
    hashes = np.random.default_rng(0).integers(0, 1 << 63, table.n_rows, dtype=np.uint64)
    at_leaves = np.zeros(len(nodes), dtype=np.uint64)
    np.add.at(at_leaves, leaves, hashes)
    sums: list[int] = at_leaves.tolist()
    for index in range(len(nodes) - 1, -1, -1):
        split = nodes[index].split
        if split is not None:
            sums[index] = (sums[split.left] + sums[split.right]) % (1 << 64)
    return list(zip(depths(nodes), sums, strict=True))
