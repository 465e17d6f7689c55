"""What a search knows about the nodes of its own tree, said of another tree on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .nodes import Node, depths
from .routing import leaves_by_numpy
from .table import TrainingTable


def transfer_bounds(
    nodes: tuple[Node, ...],
    searched: tuple[Node, ...],
    table: TrainingTable,
    max_depth: int,
    poll: Callable[[], None] | None = None,
) -> tuple[Node, ...]:
    """Bounds and proofs of the search for the same rows at the same depth; elsewhere only what is plain.

    A polished tree sends other rows to some of its nodes: what is known of the old rows says nothing there.
    """
    known = dict(zip(_keys(searched, table, poll), searched, strict=True))
    result = []
    for key, node in zip(_keys(nodes, table, poll), nodes, strict=True):
        twin = known.get(key)
        if twin is not None:
            result.append(replace(node, bound=twin.bound, proven=twin.proven))
        elif node.error == 0 or key[0] == max_depth:
            result.append(replace(node, bound=node.error, proven=True))
        else:
            result.append(replace(node, bound=0.0, proven=False))
    return tuple(result)


def _keys(
    nodes: tuple[Node, ...], table: TrainingTable, poll: Callable[[], None] | None
) -> list[tuple[int, int]]:
    """(depth, hash of the rows) of each node; the hash of a set is the sum of its rows' hashes."""
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
