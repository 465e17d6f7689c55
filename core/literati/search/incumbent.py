"""Build the best tree of a search from the engine's nodes, check its cost, and keep it."""

from __future__ import annotations

import math
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy.typing as npt

from literati.data.table import Poll
from literati.errors import Interrupted, SearchInvariantError
from literati.search.costs import ExactCosts
from literati.search.interruptible import call_interruptibly
from literati.search.node_bounds import transfer_bounds
from literati.search.options import SolverOptions
from literati.search.stopwatch import Stopwatch
from literati.search.tree_encoder import encode_nodes
from literati.search.warm_start import refit_nodes
from literati.tree.model import ShapeTree
from literati.tree.tree_builder import build_nodes

BUILD_SECONDS = 3e-8  # expected for each cell of the table, until a tree has been built


class IncumbentKeeper:
    """Keep the best tree, its cost, and when it was found.

    The tree costs less than the engine's upper bound if polishing or another search found it. Inside the
    search costs are in units; those of a kept tree are in misclassified rows.
    """

    def __init__(self, engine: Any, costs: ExactCosts, options: SolverOptions, clock: Stopwatch) -> None:
        self._engine = engine
        self._costs = costs
        self._options = options
        self._clock = clock
        self.build_seconds = BUILD_SECONDS * costs.table.codes.size
        self._tree: ShapeTree | None = None
        self._built_at: tuple[int, float] | None = None  # state of the engine when the bounds were read
        self.objective = math.inf
        self.improvements = 0
        self.improved_at = 0.0  # search seconds
        self.note(engine.upper)

    @property
    def is_current(self) -> bool:
        """Whether the tree is built with the bounds that the engine knows now."""
        return self._tree is not None and self._built_at == self._engine_state()

    def _engine_state(self) -> tuple[int, float]:
        return int(self._engine.expansions), float(self._engine.upper)

    def note(self, objective: float) -> None:
        """Count an improvement if a tree of this cost is the best so far."""
        if objective < self.objective:
            self.improvements += 1
            self.improved_at = self._clock.seconds
            self.objective = objective

    def note_run(self) -> None:
        """Count the improvements of the engine's last run."""
        self.note(self._engine.upper)
        if self._engine.improvements:
            self.improvements += self._engine.improvements - 1
            self.improved_at = self._engine.improved_at

    def build(self, poll: Poll | None = None, seconds: float = math.inf) -> ShapeTree:
        """Return the best tree with the bounds of its nodes that are known now.

        With `poll`, the engine can be stopped, and is stopped after `seconds`; this raises Interrupted.
        """
        if self._tree is not None and self.is_current:
            return self._tree
        engine, state, interruptible = self._engine, self._engine_state(), poll is not None
        nodes = call_interruptibly(
            lambda: engine.nodes(interruptible=interruptible), engine.request_stop, seconds
        )
        if nodes is None:
            raise Interrupted
        searched = self.tree_of(nodes, poll)
        if self._tree is None or searched.objective < self._tree.objective:
            self._tree = searched
        else:
            bounds = transfer_bounds(
                self._tree.nodes, searched.nodes, self._costs.table, self._options.max_depth, poll
            )
            # The tree may be of an earlier stage.
            proof = replace(
                self._tree.proof,
                proven_space=self._options.candidates,
                candidate_leaves=self._options.leaves,
            )
            self._tree = replace(self._tree, nodes=bounds, proof=proof)
        self._built_at = state
        self.note(self._tree.objective)
        return self._tree

    def start_of(self, space: SolverOptions, poll: Poll, seconds: float) -> tuple[npt.NDArray[Any], float]:
        """Return the best tree that lies in a wider space, as the engine's nodes, and its cost.

        It is the engine's own tree, or over every threshold the best of all. Raise Interrupted like `build`.
        """
        engine, costs, tree = self._engine, self._costs, self._tree
        if space.candidates == "all" and tree is not None and tree.objective < engine.upper:
            encoded = encode_nodes(tree.nodes, costs.table, space.max_changepoints, poll)
            if encoded is not None:
                cost = build_nodes(encoded, costs.table, costs.settings, poll)[0].cost / costs.scale
                if cost < engine.upper:
                    return encoded, cost
        nodes = call_interruptibly(lambda: engine.nodes(interruptible=True), engine.request_stop, seconds)
        if nodes is None:
            raise Interrupted
        return nodes, engine.upper

    def change_space(self, space: SolverOptions) -> None:
        """Take the bounds of nodes from the search of another space from now on."""
        self._options, self._built_at = space, None

    def offer(self, tree: ShapeTree) -> bool:
        """Keep a tree that the engine did not find if it is better, and return whether it is."""
        if self._tree is not None and tree.objective >= self._tree.objective:
            return False
        self._tree, self._built_at = tree, None
        self.note(tree.objective)
        return True

    def tree_of(self, nodes: npt.NDArray[Any], poll: Poll | None = None) -> ShapeTree:
        """Return the tree of the engine's nodes or of polished nodes."""
        engine, start = self._engine, perf_counter()
        tree = ShapeTree.from_nodes(
            nodes,
            self._costs.table,
            settings=self._costs.settings,
            upper_bound=engine.upper,
            lower_bound=engine.lower,
            proven_optimal=bool(engine.proven),
            proven_space=self._options.candidates,
            candidate_leaves=self._options.leaves,
            poll=poll,
        )
        tree = self._checked(tree, poll)
        self.build_seconds = max(self.build_seconds, perf_counter() - start)
        if tree.objective > engine.upper:
            raise SearchInvariantError(
                f"the tree found costs {tree.objective!r} on the training rows, "
                f"not {engine.upper!r} as the search says"
            )
        return tree

    def refitted(self, tree: ShapeTree) -> ShapeTree:
        """Return a tree of another search with the counts and costs that it has on this data."""
        nodes = refit_nodes(tree.nodes, tree.schema, self._costs.table, self._costs.settings)
        return self._checked(replace(self.build(), nodes=nodes, settings=self._costs.settings))

    def _checked(self, tree: ShapeTree, poll: Poll | None = None) -> ShapeTree:
        """Check that a tree costs exactly what it says, and return it with costs in misclassified rows."""
        cost = tree.evaluate_table(self._costs.table, poll)
        if cost != tree.nodes[0].cost:
            raise SearchInvariantError(
                f"a tree said to cost {tree.nodes[0].cost!r} units costs {cost!r} on the training rows"
            )
        nodes = self._costs.in_rows(tree.nodes)
        proof = replace(tree.proof, objective=nodes[0].cost)
        return replace(tree, nodes=nodes, settings=self._options.settings, proof=proof)
