"""Search the same data with one penalty after another."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.table import TrainingTable
from literati.search.costs import EXACT_BITS, ExactCosts, choose_scale, whole_weights
from literati.search.incumbent import IncumbentKeeper
from literati.search.options import Heuristic, SearchLimits, SolverOptions
from literati.search.search import Search
from literati.search.tree_encoder import encode_nodes
from literati.tree.model import ShapeTree
from literati.tree.tree_builder import build_nodes


@dataclass(frozen=True)
class KnownTree:
    """A tree of the searched space with what it costs: errors, and the size that penalties multiply.

    Errors are in units of weight, so that they are whole numbers.
    """

    errors: int
    splits: int
    changepoints: int  # after the first one of each split
    tree: ShapeTree
    nodes: npt.NDArray[Any]  # of the engine

    def size(self, ratio: Fraction) -> Fraction:
        """Return what a penalty of 1 adds to the errors if a change point costs `ratio` of a split."""
        return self.splits + ratio * self.changepoints

    def cost(self, penalty: Fraction, ratio: Fraction) -> Fraction:
        """Return what the tree costs at a penalty, in units of weight."""
        return self.errors + penalty * self.size(ratio)


class PenaltySearch(Search):
    """A search of encoded data, without polish, whose penalty can change. It begins with the penalty 0.

    A split costs the penalty and a change point `ratio` times the penalty. Penalties are fractions, and
    costs are counted in units in which they are whole, so that trees of equal cost are recognised as such.
    The engine keeps what does not depend on the penalty; see `_engine/_envelope.pxd`.
    """

    def __init__(
        self, table: TrainingTable, ratio: Fraction, options: SolverOptions, limits: SearchLimits
    ) -> None:
        self.ratio = ratio
        self._complexities = ratio.denominator, ratio.numerator
        self.penalty = Fraction(0)
        self._factor = 1  # units of cost in a unit of weight
        self._open(table, limits, options, None)

    def _default_scale(self, binary_only: bool = False) -> float:
        """Return units of weight that leave room for the denominators of penalties."""
        weights, n_rows = self.table.weights, self.table.n_rows
        return choose_scale(weights, n_rows, (0.0,), bits=EXACT_BITS - self.max_factor.bit_length())

    @property
    def max_factor(self) -> int:
        """The largest denominator of a penalty at which two trees cost the same."""
        split, changepoint = self._complexities
        return ((1 << self.options.max_depth) - 1) * (
            split + (self.options.max_changepoints - 1) * changepoint
        )

    @property
    def weight_units(self) -> float:
        """Units of weight in one row of weight 1."""
        return self._scale

    def factor_of(self, penalty: Fraction) -> int:
        """Return how many units of cost are in a unit of weight: with them every cost is whole."""
        return math.lcm(penalty.denominator, (penalty * self.ratio).denominator)

    def change_penalty(self, penalty: Fraction, start: KnownTree, heuristic: Heuristic) -> None:
        """Search with another penalty, in units of weight, from a known tree on."""
        split, changepoint = penalty, penalty * self.ratio
        factor = self.factor_of(penalty)
        settings = replace(
            self.settings,
            split_penalty=float(split * factor),
            changepoint_penalty=float(changepoint * factor),
        )
        scale = self._scale * factor
        costs = ExactCosts(self._table_in_units(factor), settings, scale)
        upper = start.cost(penalty, self.ratio) * factor
        assert upper.denominator == 1
        self._engine.change_costs(
            factor, int(split * factor), int(changepoint * factor), scale, start.nodes, int(upper), heuristic
        )
        self.penalty, self._factor = penalty, factor
        rows = self._stages.options
        shown = replace(
            rows,
            split_penalty=float(split / Fraction(self._scale)),
            changepoint_penalty=float(changepoint / Fraction(self._scale)),
        )
        self._best = IncumbentKeeper(self._engine, costs, shown, self._clock)

    def _table_in_units(self, factor: int) -> TrainingTable:
        table = self.table
        weights = (
            np.ones(table.n_rows) if table.weights is None else whole_weights(table.weights, self._scale)
        )
        return replace(table, weights=weights * factor)

    def is_better_than(self, tree: KnownTree) -> bool:
        """Return whether the search has found a tree that costs less at this penalty."""
        known = tree.cost(self.penalty, self.ratio) * self._factor
        return bool(round(self._engine.upper * self._scale * self._factor) < known)

    def lower_bound(self) -> Fraction:
        """Return the exact lower bound of the cost at this penalty, in units of weight."""
        return Fraction(round(self._engine.lower * self._scale * self._factor), self._factor)

    def known_tree(self) -> KnownTree:
        """Return the best tree at this penalty."""
        tree = self.incumbent()
        errors = sum(node.error for node in tree.nodes if node.split is None)
        return _known(round(errors * self._scale), tree, self._engine.nodes())

    def known_tree_of(self, tree: ShapeTree) -> KnownTree:
        """Return a tree of another search that lies in the space. Raise ValueError if it is of other data."""
        same_data = tree.schema == self.table.schema and tree.classes.tolist() == self.table.classes.tolist()
        nodes = encode_nodes(tree.nodes, self.table, self.options.max_changepoints) if same_data else None
        if nodes is None or tree.depth > self.options.max_depth:
            raise ValueError("start: a tree of the path does not fit the data or the parameters of this one")
        free = replace(self.settings, split_penalty=0.0, changepoint_penalty=0.0)
        return _known(round(build_nodes(nodes, self._table_in_units(1), free)[0].cost), tree, nodes)


def _known(errors: int, tree: ShapeTree, nodes: npt.NDArray[Any]) -> KnownTree:
    splits = [node.split for node in tree.nodes if node.split is not None]
    changepoints = sum(split.changepoints - 1 for split in splits)
    return KnownTree(errors, len(splits), changepoints, tree, nodes)
