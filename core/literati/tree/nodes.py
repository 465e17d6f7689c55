"""The parts of a tree: splits, nodes, and what is proven about the tree."""

from __future__ import annotations

from dataclasses import dataclass

SPACES = {
    "adaptive": "the adaptive candidates (thresholds of a CART of at most {leaves} leaves on each state)",
    "shape": "the adaptive candidates ({leaves} leaves) with each feature's own best thresholds",
    "quantile": "a grid of at most {leaves} quantiles a feature",
    "all": "every threshold of every feature",
}
# Every place that shows a cost beside the bounds explains `beyond_space` with this sentence.
BEYOND_SPACE = (
    "This tree was improved beyond the searched space, so it costs less than the upper bound; "
    "both bounds are only about trees of that space."
)


@dataclass(frozen=True, slots=True)
class Split:
    """A shape function: it sends each value of one column to the left or to the right.

    A number or boolean goes right if it is greater than an odd number of thresholds. Without thresholds every
    known value goes left and only missing values can go right. A category goes right if it is listed.
    """

    column: int  # index into the schema's columns
    thresholds: tuple[float, ...]  # ascending; empty for categories
    right_categories: tuple[int, ...]  # ascending indices into the column's categories
    changepoints: int  # the number that the objective counts, at least 1
    missing_right: bool
    missing_seen: bool  # whether training rows with a missing value reached this node
    unknown_right: bool  # whether a category that training did not see goes right, as most training rows did
    left: int  # index of the child node
    right: int

    def intervals(self) -> list[tuple[float | None, float | None, bool]]:
        """Return (above, up to, goes right) for each interval of the range. None means no limit."""
        edges = [None, *self.thresholds, None]
        return [(edges[i], edges[i + 1], i % 2 == 1) for i in range(len(edges) - 1)]


@dataclass(frozen=True, slots=True)
class Node:
    """A node with the statistics of its training rows."""

    rows: int  # training rows that reach it
    counts: tuple[float, ...]  # their weight by class
    label: int  # index of the class with the largest count; the lowest index in a tie
    error: float  # weight misclassified if this were a leaf
    cost: float  # weight misclassified by the leaves of the subtree, plus its penalties
    bound: float  # no subtree of the searched space costs less on these rows
    proven: bool  # the search proved that no subtree of the space costs less than this one
    split: Split | None = None  # None for a leaf

    @property
    def weight(self) -> float:
        return sum(self.counts)

    @property
    def share(self) -> float:
        """Return the share of the training weight of this node that has the label."""
        return self.counts[self.label] / self.weight


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters that define the cost, the size and the probabilities of a tree."""

    max_depth: int
    max_changepoints: int
    split_penalty: float
    changepoint_penalty: float
    min_samples_leaf: int = 1  # rows in every interval of a split
    probability_smoothing: float = 0.0  # added to the weight of each class in a leaf

    @property
    def penalties(self) -> tuple[float, float]:
        return self.split_penalty, self.changepoint_penalty

    def penalty(self, changepoints: int) -> float:
        """Return the penalty of a split with this number of change points."""
        return self.split_penalty + self.changepoint_penalty * (changepoints - 1)


@dataclass(frozen=True, slots=True)
class StageProof:
    """The widest space that a stage of a search has proven, if its last stage is not proven."""

    proven_space: str  # a key of SPACES
    candidate_leaves: tuple[int, ...]
    optimum: float  # no tree of the space costs less, and one costs this


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proven. The objective is the cost of this tree; the bounds hold for the searched space."""

    objective: float
    upper_bound: float
    lower_bound: float
    proven_optimal: bool
    proven_space: str  # the searched space, a key of SPACES
    candidate_leaves: tuple[int, ...] = ()
    stage_proof: StageProof | None = None

    @property
    def beyond_space(self) -> bool:
        """Whether the tree costs less than the upper bound; see `BEYOND_SPACE`."""
        return is_beyond_space(self.objective, self.upper_bound)

    def statement(self) -> str:
        """Return sentences that say what is proven, and that explain a tree beyond the space."""
        space = _describe(self.proven_space, self.candidate_leaves)
        stage = self.stage_proof
        if stage is not None and (stage.proven_space, stage.candidate_leaves) == (
            self.proven_space,
            self.candidate_leaves,
        ):
            known = (
                f"Proven: no tree over {space} costs less than {stage.optimum:g}; this tree costs "
                f"{self.objective:g}. Wider spaces were not searched."
            )
        elif not self.proven_optimal:
            known = (
                f"Not proven optimal: this tree costs {self.objective:g}; the best over {space} "
                f"costs between {self.lower_bound:g} and {self.upper_bound:g}."
            )
            if stage is not None:
                space = _describe(stage.proven_space, stage.candidate_leaves)
                known += f" Proven: no tree over {space} costs less than {stage.optimum:g}."
        elif self.beyond_space:
            known = (
                f"Proven: no tree over {space} costs less than {self.upper_bound:g}; "
                f"this tree costs {self.objective:g}."
            )
        else:
            known = f"Proven optimal: no tree over {space} costs less than {self.objective:g}."
        return f"{known} {BEYOND_SPACE}" if self.beyond_space else known


def _describe(space: str, candidate_leaves: tuple[int, ...]) -> str:
    return SPACES[space].format(leaves=", ".join(str(n) for n in candidate_leaves) or "?")


def is_beyond_space(objective: float, upper_bound: float) -> bool:
    """Return whether a tree costs less than the best known tree of the searched space."""
    return objective < upper_bound


def depths(nodes: tuple[Node, ...]) -> list[int]:
    """Return the depth of each node, 0 for the root. Parents come before their children."""
    depth = [0] * len(nodes)
    for index, node in enumerate(nodes):
        if node.split is not None:
            depth[node.split.left] = depth[node.split.right] = depth[index] + 1
    return depth
